"""A congestion window that counts two segments at most for each ACK (RFC 3465 §2.3), while ACKs are merged."""

from collections.abc import Iterable
from itertools import accumulate, cycle, takewhile

from tests.causes.triple import NOT_A_STALL_MS, fires, look_alike, near_miss
from tests.scene import Scene

SEGMENT = 1_448
COVERED = (1, 1, 1, 5)
"""Segments that the ACKs cover in turn: of eight that are acknowledged, the window grows by five."""


def flights(
    scene: Scene, sizes: Iterable[int], covered: Iterable[int] = COVERED
) -> list[tuple[str, float, int | None]]:
    """Cause, confidence and modelled window of the wait after each flight of so many segments."""
    scene.handshake(rtt_ms=20, client_window=3_000_000)
    scene.request()
    acked = 0
    for size in sizes:
        scene.server_sends(size * SEGMENT, tso=1, push=False)
        ends = takewhile(size.__gt__, accumulate(cycle(covered)))
        for end in [*ends, size]:
            scene.client_acks(upto=(acked + end) * SEGMENT)
        acked += size
    scene.server_sends(SEGMENT)
    rows = [row for row in scene.flow("server")["stalls"] if row["sender"] == "server"]
    rows = [row for row in rows if row["end_ns"] - row["start_ns"] > NOT_A_STALL_MS * 1e6]
    return [(row["cause"], row["confidence"], row["evidence"]["cwnd_estimate_segments"]) for row in rows]


@fires
def test_flights_that_grow_by_two_segments_an_ack_fill_the_congestion_window(scene: Scene) -> None:
    found = flights(scene, (10, 17, 28, 47, 77, 127))
    assert {cause for cause, _, _ in found} == {"cwnd-limited"}
    assert [window for _, _, window in found] == [10, 17, 28, 47, 77, 127]
    assert all(confidence >= 0.8 for _, confidence, _ in found)


@near_miss
def test_one_flight_that_fills_such_a_window_shows_none(scene: Scene) -> None:
    """A send buffer may hold as much by accident."""
    cause, _, window = flights(scene, (10, 12, 20), covered=(2, 8))[-1]
    assert (cause == "cwnd-limited", window) == (False, 30)


@near_miss
def test_flights_below_such_a_window_are_no_full_congestion_window(scene: Scene) -> None:
    found = flights(scene, (10, 17, 20, 20, 20, 20, 20))
    assert not [row for row in found[2:] if row[0] == "cwnd-limited" and row[1] >= 0.8]


@look_alike
def test_a_sender_that_once_had_more_out_counts_all_that_is_acknowledged(scene: Scene) -> None:
    found = flights(scene, (10, 20, 24, 36, 36))
    assert [window for _, _, window in found][1] == 20
    assert found[2][2] != 24


def small_start(scene: Scene, merged: Iterable[int], *sizes: int) -> list[tuple[str, float]]:
    """Cause and confidence of the waits from the third on: ACKs of the third flight, of 12 segments, are `merged`."""
    scene.handshake(rtt_ms=20, client_window=3_000_000)
    scene.request()
    acked = 0
    for size, covered in zip((3, 6, 12, *sizes), ((1,), (1,), merged, *((1,) for _ in sizes)), strict=True):
        scene.server_sends(size * SEGMENT, tso=1, push=False)
        for end in takewhile(size.__ge__, accumulate(cycle(covered))):
            scene.client_acks(upto=(acked + end) * SEGMENT)
        acked += size
    scene.server_sends(SEGMENT)
    rows = [row for row in scene.flow("server")["stalls"] if row["sender"] == "server"]
    rows = [row for row in rows if row["end_ns"] - row["start_ns"] > NOT_A_STALL_MS * 1e6]
    return [(row["cause"], row["confidence"]) for row in rows[2:]]


@fires
def test_a_climb_goes_on_by_what_merged_acks_count_for(scene: Scene) -> None:
    """Two ACKs cover the flight: the window grows by four, to 16."""
    found = small_start(scene, (5, 7), 16, 5)
    assert [cause for cause, _ in found[:2]] == ["cwnd-limited"] * 2
    assert found[1][1] <= 0.75


@look_alike
def test_flights_that_stand_from_there_on_were_held_by_something_else(scene: Scene) -> None:
    assert small_start(scene, (5, 7), 16, 16, 16)[1][0] != "cwnd-limited"


@near_miss
def test_a_flight_that_no_law_of_growth_explains_goes_on_with_no_climb(scene: Scene) -> None:
    assert small_start(scene, (1, 1, 1, 1, 1, 1, 6), 16, 5)[1][0] != "cwnd-limited"
