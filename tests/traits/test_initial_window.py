"""The initial window, learnt from the first flight that growth went on from."""

from tests.causes.triple import NOT_A_STALL_MS, causes, fires, look_alike, near_miss
from tests.scene import Scene, Stall, between
from tests.scene.network import Tap


@fires
def test_three_segments_that_doubled_were_the_initial_window(scene: Scene, tap: Tap) -> None:
    scene.handshake(rtt_ms=20)
    scene.download(200_000, initial_window=3)
    first, *_ = scene.stalls("server", tap, over_ms=NOT_A_STALL_MS)
    assert first == Stall("cwnd-limited", between(19, 21))
    assert causes(scene, tap) == ["cwnd-limited"]


@near_miss
def test_an_answer_of_three_segments_shows_no_window(scene: Scene, tap: Tap) -> None:
    scene.handshake(rtt_ms=20)
    scene.download(3 * 1_448, initial_window=3)
    assert "cwnd-limited" not in causes(scene, tap)


@look_alike
def test_a_first_flight_that_never_grows_is_a_buffer(scene: Scene, tap: Tap) -> None:
    scene.handshake(rtt_ms=20)
    scene.download(100_000, tso=1, send_buffer=5 * 1_448)
    assert causes(scene, tap) == ["sndbuf-limited"]
