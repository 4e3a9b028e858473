"""`handshake`: the connection was not yet established."""

from dataclasses import replace

from tests.causes.triple import causes, fires, look_alike, near_miss
from tests.scene import Scene, between
from tests.scene.network import Tap


@fires
def test_a_lost_syn_costs_the_client_a_second(scene: Scene) -> None:
    scene.handshake(rtt_ms=20, lost_syns=1)
    scene.download(5_000)
    assert scene.lost_ms("client", "client")["handshake"] in between(1_015, 1_025)


@fires
def test_a_lost_syn_ack_is_seen_at_both_ends(scene: Scene, tap: Tap) -> None:
    scene.handshake(rtt_ms=20, lost_syn_acks=1)
    scene.download(5_000)
    assert scene.lost_ms("client", tap)["handshake"] in between(1_015, 1_025)


@fires
def test_attempts_that_nobody_answers_last_until_the_last_one(scene: Scene) -> None:
    scene.handshake(rtt_ms=20, lost_syns=3, answered=False)
    flow = scene.flow("client")
    assert not flow["handshake"]["complete"]
    assert flow["handshake"]["duration_ns"] / 1e6 in between(6_990, 7_010)


@near_miss
def test_an_established_connection_that_thinks_is_past_its_handshake(scene: Scene, tap: Tap) -> None:
    scene.handshake(rtt_ms=20)
    scene.download(5_000, think_ms=300)
    assert scene.lost_ms("client", tap)["handshake"] in between(19, 22)


@near_miss
def test_an_ack_of_data_that_the_capture_lacks_came_long_after_the_handshake(scene: Scene, tap: Tap) -> None:
    """A filter kept the SYNs and the end."""
    scene.handshake(rtt_ms=20)
    scene.download(5_000)
    scene.wait_ms(3_000)
    scene.network.passages[2:] = [replace(passage, unseen=True) for passage in scene.network.passages[2:]]
    scene.client_sends(30)
    assert scene.lost_ms("client", tap)["handshake"] < 21


@look_alike
def test_a_client_that_connects_early_and_asks_late_is_no_slow_handshake(scene: Scene, tap: Tap) -> None:
    scene.handshake(rtt_ms=20)
    scene.wait_ms(1_000)
    scene.download(5_000)
    assert scene.lost_ms("client", tap)["handshake"] in between(19, 22)
    assert causes(scene, tap, sender="client")[:1] == ["app-limited"]


@fires
def test_a_refused_connection_ends_at_the_reset(scene: Scene) -> None:
    scene.handshake(rtt_ms=20, refused=True)
    flow = scene.flow("client")
    assert (flow["state"], flow["stalls"][0]["detail"]) == ("reset", "refused")
    assert flow["handshake"]["duration_ns"] / 1e6 in between(19, 22)


@near_miss
def test_a_reset_of_the_ports_former_connection_does_not_end_the_new_one(scene: Scene) -> None:
    scene.handshake(rtt_ms=20, answered=False)
    scene.server.nxt, scene.server.rcv_nxt = 77_000_000, 55_000_000
    scene.server_acks()
    scene.client.nxt = 55_000_000
    scene.client_resets()
    scene.wait_ms(1_000)
    scene.server.nxt, scene.server.rcv_nxt = scene.server.isn, 0
    scene.handshake(rtt_ms=20)
    scene.download(5_000)
    flow = scene.flow("client")
    assert (flow["state"], flow["handshake"]["complete"]) == ("open", True)
    assert flow["handshake"]["duration_ns"] / 1e6 in between(1_000, 1_070)


@fires
def test_a_client_that_tries_a_refused_port_again_waits_until_the_last_reset(scene: Scene) -> None:
    """Windows sends the same SYN again half a second after each RST."""
    for _ in range(3):
        scene.handshake(rtt_ms=20, refused=True)
        scene.wait_ms(480)
    flow = scene.flow("client")
    assert (flow["state"], flow["stalls"][0]["detail"]) == ("reset", "refused")
    assert flow["handshake"]["duration_ns"] / 1e6 in between(999, 1_030)
