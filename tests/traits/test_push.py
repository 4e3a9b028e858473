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


def answers(scene: Scene, *answers: Sequence[int], later_ms: float = 0) -> list[str]:
    """An answer's flights, in segments, leave at the ACKs of those before, PSH marks its end; then the causes.

    From the second flight of the last answer on, the path is longer by `later_ms`."""
    scene.handshake(rtt_ms=20)
    for number, flights in enumerate(answers):
        scene.request(200)
        for at, segments in enumerate(flights):
            if number + 1 == len(answers) and at == 1:
                scene.path(rtt_ms=20 + later_ms)
            scene.server_sends(segments * SEGMENT, tso=1, push=at + 1 == len(flights))
            scene.client_acks()
    return [stall.cause for stall in scene.stalls("server", "client", over_ms=5) if stall.cause != "app-limited"]


@fires
def test_what_was_queued_behind_a_flight_that_grew_waited_for_the_window(scene: Scene) -> None:
    """Below a usual initial window, in a later answer, and 5 ms later after the ACK than the path was long before."""
    assert answers(scene, (1,), (1,), (2, 4, 7), later_ms=5)[0] == "cwnd-limited"


@near_miss
def test_a_flight_that_did_not_grow_shows_no_window(scene: Scene) -> None:
    assert "cwnd-limited" not in answers(scene, (1,), (1,), (2, 2, 2), later_ms=5)


@look_alike
def test_where_more_was_out_before_another_limit_holds_what_is_queued(scene: Scene) -> None:
    assert answers(scene, (1,), (9,), (2, 4, 7), later_ms=5)[0] != "cwnd-limited"


@near_miss
def test_a_flight_cut_without_a_mark_was_perhaps_a_windows(scene: Scene) -> None:
    """The sender marked the end of its data once: that shows no habit, and the silence no application."""
    assert answers(scene, (2, 2), later_ms=5) == ["unexplained"]


def amid_data(scene: Scene, tap: Tap, *, push: bool, marks: bool = True) -> list[bool]:
    """Sureness that the application waited 9 ms after two short segments, the first of which is still in flight."""
    scene.handshake(rtt_ms=20)
    scene.request()
    scene.server_sends(2 * SEGMENT, push=marks)
    scene.client_acks()
    scene.wait_ms(60)
    scene.server_sends(900, push=push)
    scene.wait_ms(9)
    scene.server_sends(700, push=push)
    scene.wait_ms(9)
    scene.server_sends(500, push=marks)
    scene.client_acks()
    rows = [row for row in scene.flow(tap)["stalls"] if row["evidence"]["in_flight_bytes"] == 1_600]
    return [row["confidence"] >= 0.8 for row in rows if row["cause"] == "app-limited"]


@look_alike
def test_far_from_the_sender_a_short_segment_without_it_may_have_been_cut_by_a_window(scene: Scene) -> None:
    assert amid_data(scene, "client", push=False) == [False]


@near_miss
def test_far_from_the_sender_a_short_segment_with_it_ended_a_write(scene: Scene) -> None:
    assert amid_data(scene, "client", push=True) == [True]


@near_miss
def test_far_from_a_sender_that_never_sets_it_a_short_segment_was_not_cut(scene: Scene) -> None:
    assert amid_data(scene, "client", push=False, marks=False) == [True]
