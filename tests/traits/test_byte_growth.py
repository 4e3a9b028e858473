"""A window counted in bytes, which stands in every second round trip, or which is sent in pieces of segments."""

from itertools import cycle

import pytest

from tests.causes.triple import NOT_A_STALL_MS, fires, look_alike, near_miss
from tests.scene import Scene

SEGMENT = 1_448


def waits(scene: Scene, *flights: int) -> list[str]:
    """Causes of the waits of a sender without PSH after its first, whose flights are acknowledged whole."""
    scene.handshake(rtt_ms=20, client_window=3_000_000)
    scene.request()
    for flight in flights:
        scene.server_sends(flight, tso=1, push=False)
        scene.client_acks()
    scene.server_sends(900, push=False)
    return [stall.cause for stall in scene.stalls("server", "server", over_ms=NOT_A_STALL_MS)][1:]


@fires
def test_flights_that_double_in_every_second_round_trip_fill_a_window(scene: Scene) -> None:
    """Vegas: each level stands once, as it does not in a buffer that holds more and more."""
    causes = waits(scene, 14_516, 14_516, 29_032, 29_032, 52_200, 52_200, 80_000)
    assert set(causes[:5]) == {"cwnd-limited"}


@look_alike
def test_flights_that_swing_after_each_level_do_not_grow(scene: Scene) -> None:
    causes = waits(scene, 14_516, 14_516, 21_032, 21_032, 15_200, 15_200, 20_000, 20_000, 14_900)
    assert "cwnd-limited" not in causes[3:]


PIECES = (1_048, 78)


def waits_in_pieces(scene: Scene, *pieces: int, push: bool = False, lost: bool = False) -> set[str]:
    """Causes of the waits of a sender that sends pieces of these sizes in turn, after slow start to 40 segments."""
    scene.handshake(rtt_ms=20, client_window=3_000_000)
    scene.request()
    for flight in (10, 20, 40):
        for _ in range(flight):
            scene.server_sends(SEGMENT, push=push)
        scene.client_acks()
    if lost:
        sent = 70 * SEGMENT
        scene.server_sends(SEGMENT, lost=True, push=push)
        for _ in range(39):
            scene.server_sends(SEGMENT, push=push)
        scene.client_acks(upto=sent, sack=((sent + SEGMENT, sent + 40 * SEGMENT),))
        scene.server_repeats(sent, SEGMENT, push=push)
        scene.client_acks(upto=sent + 40 * SEGMENT)
    sent = (110 if lost else 70) * SEGMENT
    for flight in (19_110, 22_644, 26_602, 30_811, 35_175, 39_654):
        left, sizes = flight, cycle(pieces)
        while left:
            piece = min(next(sizes), left)
            scene.server_sends(piece, push=push)
            left -= piece
        scene.client_acks(upto=(sent := sent + flight))
    scene.server_sends(900, push=push)
    return {stall.cause for stall in scene.stalls("server", "server", over_ms=NOT_A_STALL_MS)[-6:-1]}


@fires
@pytest.mark.parametrize("marked", [False, True])
def test_a_window_sent_in_pieces_grows_by_as_many_segments_as_its_pieces_have_acks(scene: Scene, marked: bool) -> None:
    """Where each piece has PSH, a loss before shows that no buffer grows."""
    assert waits_in_pieces(scene, *PIECES, push=marked, lost=marked) == {"cwnd-limited"}


@near_miss
def test_a_window_sent_in_larger_pieces_does_not_grow_by_so_much(scene: Scene) -> None:
    assert "cwnd-limited" not in waits_in_pieces(scene, 1_448, 984)


@look_alike
def test_pieces_that_each_have_push_may_fill_a_buffer_where_nothing_was_lost(scene: Scene) -> None:
    assert "cwnd-limited" not in waits_in_pieces(scene, *PIECES, push=True)
