"""`handshake`: the connection was not yet established."""

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


@look_alike
def test_a_client_that_connects_early_and_asks_late_is_no_slow_handshake(scene: Scene, tap: Tap) -> None:
    scene.handshake(rtt_ms=20)
    scene.wait_ms(1_000)
    scene.download(5_000)
    assert scene.lost_ms("client", tap)["handshake"] in between(19, 22)
    assert causes(scene, tap, sender="client")[:1] == ["app-limited"]
