"""`idle-restart`: an idle period had lowered the congestion window."""

from tests.causes.triple import NOT_A_STALL_MS, fires, look_alike, near_miss
from tests.scene import Scene, Stall, between
from tests.scene.network import Tap


@fires
def test_three_idle_seconds_send_a_grown_connection_back_to_ten_segments(scene: Scene, tap: Tap) -> None:
    scene.handshake(rtt_ms=20)
    scene.download(250_000)
    scene.wait_ms(3_000)
    scene.download(250_000)
    stalls = scene.stalls("server", tap, over_ms=NOT_A_STALL_MS)
    idle = next(i for i, stall in enumerate(stalls) if stall.cause == "app-limited")
    assert stalls[idle + 1] == Stall("idle-restart", between(19, 21))


@near_miss
def test_an_idle_shorter_than_the_retransmission_timer_restarts_nothing(scene: Scene, tap: Tap) -> None:
    scene.handshake(rtt_ms=20)
    scene.download(250_000)
    scene.wait_ms(120)
    scene.download(250_000)
    assert scene.lost_ms("server", tap)["idle-restart"] == 0


@look_alike
def test_a_sender_that_keeps_its_window_over_the_idle_is_not_restarted(scene: Scene, tap: Tap) -> None:
    scene.handshake(rtt_ms=20)
    scene.download(250_000)
    scene.wait_ms(3_000)
    scene.download(250_000, slow_start_after_idle=False)
    assert scene.lost_ms("server", tap)["idle-restart"] == 0
    assert scene.lost_ms("server", tap)["app-limited"] in between(2_975, 3_045)
