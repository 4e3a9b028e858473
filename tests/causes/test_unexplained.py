"""`unexplained`: the evidence does not decide."""

from tests.causes.triple import NOT_A_STALL_MS, causes, fires, look_alike, near_miss
from tests.scene import Scene, Stall
from tests.scene.network import Tap


def slow_start(scene: Scene) -> None:
    scene.handshake(rtt_ms=20)
    scene.download(600_000)


@fires
def test_a_capture_that_begins_in_mid_transfer_cannot_tell_what_filled_the_flight(scene: Scene, tap: Tap) -> None:
    slow_start(scene)
    before = sum(time < scene.start_ns + 75_000_000 for time, _ in scene.packets(tap))
    stalls = scene.stalls("server", tap, over_ms=NOT_A_STALL_MS, drop=range(1, before + 1))
    assert stalls
    assert Stall("unexplained") in stalls


@near_miss
def test_the_same_transfer_seen_from_its_start_is_decided(scene: Scene, tap: Tap) -> None:
    slow_start(scene)
    assert causes(scene, tap) == ["cwnd-limited"]


@look_alike
def test_an_idle_second_explains_itself_even_without_a_handshake(scene: Scene, tap: Tap) -> None:
    scene.handshake(rtt_ms=20)
    scene.download(10_000)
    scene.wait_ms(1_000)
    scene.download(10_000)
    assert causes(scene, tap, drop=range(1, 4)) == ["app-limited"]
