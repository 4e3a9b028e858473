"""Send buffers of small stacks: flights of few segments, alike to the byte, and PSH on each segment."""

import pytest

from tests.causes.triple import causes, fires, look_alike, near_miss
from tests.scene import Scene
from tests.scene.network import Tap

SEGMENT = 1_448


@fires
def test_a_buffer_of_less_than_two_segments_shows_to_the_byte(scene: Scene, tap: Tap) -> None:
    """2,848 bytes: a window counted in segments would hold two of 1,448."""
    scene.handshake(rtt_ms=20)
    scene.request()
    for _ in range(12):
        scene.server_sends(SEGMENT)
        scene.server_sends(1_400)
        scene.client_acks()
    assert causes(scene, tap) == ["sndbuf-limited"]


@near_miss
def test_a_few_such_flights_show_none(scene: Scene) -> None:
    scene.handshake(rtt_ms=20)
    scene.request()
    for end in (1_400, 1_400, 900, 1_300):
        scene.server_sends(SEGMENT)
        scene.server_sends(end)
        scene.client_acks()
    assert "sndbuf-limited" not in causes(scene, "server")


def one_by_one(scene: Scene, rounds: int) -> list[str]:
    """Causes where each full segment leaves at the ACK of the one before."""
    scene.handshake(rtt_ms=20)
    scene.request()
    for _ in range(rounds):
        scene.server_sends(SEGMENT)
        scene.client_acks()
    assert all(row["confidence"] < 0.8 for row in scene.flow("server")["stalls"][1:])
    return causes(scene, "server")


@fires
def test_one_full_segment_at_a_time_over_many_rounds_is_all_that_the_sender_keeps(scene: Scene) -> None:
    assert one_by_one(scene, 14) == ["sndbuf-limited"]


@near_miss
def test_a_few_full_segments_one_at_a_time_show_no_buffer(scene: Scene) -> None:
    assert one_by_one(scene, 6) == ["unexplained"]


def marked(scene: Scene, *ends: int) -> float:
    """Highest confidence in a buffer where ACKs free half a flight: five full segments and an end, each with PSH."""
    scene.handshake(rtt_ms=100)
    scene.request()
    halves = [5 * SEGMENT + end for end in ends]
    for number, end in enumerate(ends):
        for size in (*[SEGMENT] * 5, end):
            scene.server_sends(size)
        if number > 0:
            scene.client_acks(upto=sum(halves[:number]))
    rows = scene.flow("server")["stalls"]
    return max((row["confidence"] for row in rows if row["cause"] == "sndbuf-limited"), default=0)


@look_alike
@pytest.mark.parametrize("end", [700, 900])
def test_ends_of_writes_of_a_sender_that_marks_each_segment_show_no_sure_buffer(scene: Scene, end: int) -> None:
    whole = SEGMENT, SEGMENT
    assert marked(scene, *whole, 900, *whole, end, *whole, 1_000, *whole) < 0.8


@fires
def test_flights_alike_to_the_byte_are_sure_although_each_segment_is_marked(scene: Scene) -> None:
    assert marked(scene, *[350] * 14) >= 0.8
