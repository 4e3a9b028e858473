"""A first flight that is no number of whole segments, and the next one larger by exactly what its ACKs allow."""

import pytest

from tests.causes.triple import NOT_A_STALL_MS, fires, look_alike, near_miss
from tests.scene import Scene

SEGMENT = 1_448


def waits(scene: Scene, *flights: int, request: bool = False) -> list[str]:
    """The causes of the waits of a sender that never sets PSH, whose ACKs cover a flight each."""
    scene.handshake(rtt_ms=20)
    scene.request()
    for flight in flights:
        scene.server_sends(flight, tso=1, push=False)
        scene.client_acks()
        if request:
            scene.request()
    scene.server_sends(900, tso=1, push=False)
    return [stall.cause for stall in scene.stalls("server", "server", over_ms=NOT_A_STALL_MS)]


@fires
@pytest.mark.parametrize("second", [2_048 + SEGMENT, 2 * 2_048])
def test_a_segment_for_the_ack_or_all_that_it_covered_is_slow_start(scene: Scene, second: int) -> None:
    assert waits(scene, 2_048, second, second)[:2] == ["cwnd-limited", "cwnd-limited"]


@near_miss
def test_a_step_of_another_size_shows_no_window(scene: Scene) -> None:
    assert "cwnd-limited" not in waits(scene, 2_048, 2_048 + SEGMENT - 100, 3_000)


@look_alike
def test_answers_of_such_sizes_are_the_applications(scene: Scene) -> None:
    assert "cwnd-limited" not in waits(scene, 2_048, 2_048 + SEGMENT, 3_000, request=True)
