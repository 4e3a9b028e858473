"""`burst-limited`: the stack cut a burst short of the congestion window."""

from tests.causes.triple import causes, fires, look_alike, near_miss, share
from tests.scene import Scene
from tests.scene.network import Tap


@fires
def test_the_first_burst_of_every_answer_stops_at_six_segments_although_all_were_acknowledged(
    scene: Scene, tap: Tap
) -> None:
    scene.handshake(rtt_ms=20)
    scene.server.congestion.cwnd = 20
    for _ in range(8):
        scene.download(16_000, burst_cap=6, slow_start_after_idle=False)
    assert share(scene, "burst-limited", tap) > 0.5


@near_miss
def test_answers_below_the_cap_are_not_cut(scene: Scene, tap: Tap) -> None:
    scene.handshake(rtt_ms=20)
    scene.server.congestion.cwnd = 20
    for _ in range(8):
        scene.download(8_000, burst_cap=6, slow_start_after_idle=False)
    assert "burst-limited" not in causes(scene, tap)


@look_alike
def test_a_small_initial_window_that_grows_is_cwnd(scene: Scene, tap: Tap) -> None:
    scene.handshake(rtt_ms=20)
    scene.server.congestion.cwnd = scene.server.congestion.initial = 6
    scene.download(60_000)
    assert "burst-limited" not in causes(scene, tap)
