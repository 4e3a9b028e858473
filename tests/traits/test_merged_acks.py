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
