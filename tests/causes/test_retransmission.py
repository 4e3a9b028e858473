"""`retransmission`: lost data was being repaired."""

import pytest

from tests.causes.triple import NOT_A_STALL_MS, causes, fires, look_alike, near_miss
from tests.scene import Scene, between
from tests.scene.network import Tap

FLIGHT = tuple(range(0, 60_000, 1_448))


@fires
def test_a_whole_lost_flight_waits_for_the_timeout(scene: Scene, tap: Tap) -> None:
    scene.handshake(rtt_ms=20)
    scene.download(60_000, lose=FLIGHT[10:])
    assert scene.lost_ms("server", tap)["retransmission"] > 150


@fires
@pytest.mark.parametrize("position", [30_000, 45_000])
def test_a_lost_segment_inside_a_flight_waits_for_its_repair(scene: Scene, tap: Tap, position: int) -> None:
    scene.server.congestion.ssthresh = 20
    scene.handshake(rtt_ms=20)
    scene.download(120_000, lose=(position,))
    assert "retransmission" in causes(scene, tap) or scene.flow(tap)["time_ns"].get("retransmission", 0) > 0


@fires
def test_a_lost_last_segment_waits_for_the_tail_loss_probe(scene: Scene, tap: Tap) -> None:
    scene.handshake(rtt_ms=20)
    scene.download(20_000, lose=(19_999,))
    scene.closes()
    assert scene.stalls("server", tap, over_ms=NOT_A_STALL_MS)[-1].cause == "retransmission"
    assert scene.lost_ms("server", tap)["retransmission"] in between(200, 290)


@near_miss
def test_a_segment_that_was_overtaken_needed_no_repair(scene: Scene, tap: Tap) -> None:
    scene.handshake(rtt_ms=20)
    scene.download(100_000, tso=1, late=((30_000, 3),))
    assert scene.flow(tap)["directions"]["server"]["retransmitted_bytes"] == 0
    assert causes(scene, tap) == ["cwnd-limited"]


@look_alike
def test_a_pause_as_long_as_a_timeout_without_any_repair_is_the_applications(scene: Scene, tap: Tap) -> None:
    scene.handshake(rtt_ms=20)
    scene.client_sends(147)
    scene.server_acks()
    scene.server_writes((0, 5_000), (224, 5_000))
    assert causes(scene, tap) == ["app-limited"]


@near_miss
def test_what_follows_a_repair_that_is_over_is_not_repair(scene: Scene, tap: Tap) -> None:
    scene.handshake(rtt_ms=20)
    scene.download(20_000, lose=(19_999,))
    scene.wait_ms(1_000)
    scene.server_transfers(5_000)
    lost = scene.lost_ms("server", tap)
    assert lost["retransmission"] in between(200, 290)
    assert lost["app-limited"] in between(970, 1_010)


@fires
def test_a_fin_that_is_sent_again_for_a_minute_stays_with_its_connection(scene: Scene) -> None:
    scene.handshake(rtt_ms=20)
    scene.download(5_000)
    scene.client_closes()
    scene.server_sends(31, lost=True)
    scene.server_closes()
    for wait_s in (0.3, 0.6, 1.2, 2.4, 4.8, 9.6, 19.2, 38.4):
        scene.wait_ms(1_000 * wait_s)
        scene.server_repeats(5_000, 31, lost=True)
    assert scene.lost_ms("server", "server")["retransmission"] in between(76_000, 77_000)
