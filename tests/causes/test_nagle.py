"""`nagle`: a small segment was held until earlier data was acknowledged."""

from tests.causes.triple import NOT_A_STALL_MS, causes, fires, look_alike, near_miss
from tests.scene import Scene, Stall, between
from tests.scene.network import Tap


@fires
def test_the_second_small_write_waits_for_the_first_ones_ack(scene: Scene, tap: Tap) -> None:
    scene.handshake(rtt_ms=20)
    scene.client_writes((0, 100), (0.1, 100))
    assert scene.stalls("client", tap, over_ms=NOT_A_STALL_MS) == [Stall("nagle", between(19, 21))]


@near_miss
def test_with_nodelay_both_writes_leave_at_once(scene: Scene, tap: Tap) -> None:
    scene.handshake(rtt_ms=20)
    scene.client_writes((0, 100), (0.1, 100), nodelay=True)
    assert causes(scene, tap, sender="client") == []


@look_alike
def test_the_single_byte_beyond_an_initial_window_is_not_held_by_nagle(scene: Scene, tap: Tap) -> None:
    scene.handshake(rtt_ms=20)
    scene.download(14_481)
    assert causes(scene, tap) == ["cwnd-limited"]
