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


def fourth_answer(scene: Scene, tap: Tap, first: int, *, push: bool = False) -> str:
    """Cause of the wait after an answer's first segments, which their ACKs let a whole one and the rest follow."""
    scene.handshake(rtt_ms=20)
    for size in (500, 700, 600):
        scene.request()
        scene.server_sends(size)
        scene.client_acks()
    scene.request()
    scene.server_sends(first * 1_448, tso=1, push=push)
    scene.client_acks()
    scene.server_sends(1_448, push=False)
    scene.client_acks()
    scene.server_sends(800)
    scene.client_acks()
    rows = [row for row in scene.flow(tap)["stalls"] if row["sender"] == "server"]
    return str(next(row["cause"] for row in rows if row["evidence"]["in_flight_bytes"] == first * 1_448))


@fires
def test_three_segments_in_mid_write_fill_a_window_though_the_rest_shows_no_growth(scene: Scene) -> None:
    """A full buffer is sent to its end, which has PSH."""
    assert fourth_answer(scene, "server", 3) == "cwnd-limited"


@near_miss
def test_six_segments_are_no_usual_initial_window(scene: Scene) -> None:
    assert fourth_answer(scene, "server", 6) == "unexplained"


@look_alike
def test_three_segments_with_psh_may_be_all_that_was_written(scene: Scene) -> None:
    assert fourth_answer(scene, "server", 3, push=True) != "cwnd-limited"


def counted_in_bytes(scene: Scene, tap: Tap, *, more: int = 0) -> list[str]:
    """Causes of flights of one, three and eight announced segments of 1,460 bytes, each of which carries 1,448."""
    scene.handshake(rtt_ms=20)
    scene.request()
    for segments in (1, 3, 8):
        size = segments * 1_460 + more
        scene.server_sends(size, tso=1, push=False)
        scene.client_acks()
    return causes(scene, tap)


@fires
def test_a_window_that_counts_announced_segments_in_bytes_cuts_the_last_one(scene: Scene, tap: Tap) -> None:
    """RFC 5681 §2: the window counts bytes; RFC 6691: the announced segment includes the options."""
    assert counted_in_bytes(scene, tap)[0] == "cwnd-limited"


@near_miss
def test_flights_a_few_bytes_longer_show_no_such_window(scene: Scene, tap: Tap) -> None:
    assert "cwnd-limited" not in counted_in_bytes(scene, tap, more=7)[:1]


def climbing(scene: Scene, tap: Tap, *flights: int) -> list[str]:
    """Causes of the waits after flights of so many whole segments of a sender that never sets PSH."""
    scene.handshake(rtt_ms=20)
    scene.request()
    for segments in flights:
        scene.server_sends(segments * 1_448, tso=1, push=False)
        scene.client_acks()
    return [stall.cause for stall in scene.stalls("server", tap, over_ms=NOT_A_STALL_MS)]


@fires
def test_the_largest_flight_so_far_that_later_ones_exceed_fills_a_window_that_grows(scene: Scene, tap: Tap) -> None:
    """By a law that the model does not know: three segments for each that was acknowledged."""
    assert climbing(scene, tap, 2, 8, 26)[:2] == ["cwnd-limited"] * 2


@near_miss
def test_a_flight_smaller_than_one_before_it_shows_no_window_that_grows(scene: Scene, tap: Tap) -> None:
    assert climbing(scene, tap, 8, 6, 26)[1] == "unexplained"


@look_alike
def test_the_largest_flight_of_all_shows_no_window_that_grows(scene: Scene, tap: Tap) -> None:
    assert climbing(scene, tap, 2, 8, 2, 8)[1] == "unexplained"


@fires
def test_a_first_flight_as_rfc_3390_lets_it_be_may_stand_before_it_grows(scene: Scene, tap: Tap) -> None:
    """Three segments of 1,448 bytes: 4,380 bytes at most."""
    assert climbing(scene, tap, 3, 3, 3, 3, 4, 4, 5, 5)[0] == "cwnd-limited"


@near_miss
def test_a_first_flight_of_another_size_that_stands_may_be_a_buffers(scene: Scene, tap: Tap) -> None:
    assert climbing(scene, tap, 5, 5, 5, 5, 6, 6, 7, 7)[0] != "cwnd-limited"
