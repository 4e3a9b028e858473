"""PSH at the end of what is written: after a full segment without it, more was queued than was sent."""

from collections.abc import Sequence

from tests.causes.triple import fires, look_alike, near_miss
from tests.scene import Scene
from tests.scene.network import Tap

SEGMENT = 1_448


def waits(scene: Scene, tap: Tap, bursts: Sequence[tuple[int, bool]]) -> list[str]:
    """A burst and a silence of ten round trips after it, again and again; then the causes of the silences."""
    scene.handshake(rtt_ms=20)
    scene.request(200)
    for size, push in bursts:
        scene.server_sends(size, push=push)
        scene.client_acks()
        scene.wait_ms(200)
    scene.server_sends(SEGMENT)
    scene.client_acks()
    return [stall.cause for stall in scene.stalls("server", tap, over_ms=50)]


@fires
def test_a_silence_in_mid_write_is_not_the_applications(scene: Scene, tap: Tap) -> None:
    found = waits(scene, tap, [(2 * SEGMENT, True), (4 * SEGMENT, True), (2 * SEGMENT, False)])
    assert found[:2] == ["app-limited"] * 2
    assert "app-limited" not in found[2:]


@near_miss
def test_a_sender_that_never_sets_it_shows_nothing(scene: Scene, tap: Tap) -> None:
    assert waits(scene, tap, [(2 * SEGMENT, False), (4 * SEGMENT, False), (2 * SEGMENT, False)]) == ["app-limited"] * 3


@look_alike
def test_a_sender_that_ends_a_write_without_it_shows_nothing(scene: Scene, tap: Tap) -> None:
    bursts = [(2 * SEGMENT, True), (4 * SEGMENT, True), (SEGMENT + 500, False), (2 * SEGMENT, False)]
    assert waits(scene, tap, bursts) == ["app-limited"] * 4
