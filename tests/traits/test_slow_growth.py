"""A congestion window that grows by a segment a round trip, although the model's has doubled."""

from collections.abc import Iterable

from tests.causes.triple import NOT_A_STALL_MS, fires, look_alike, near_miss
from tests.scene import Scene

SEGMENT = 1_448


def flights(scene: Scene, sizes: Iterable[int], *, left: int = 0) -> list[str]:
    """Each flight fills up what is `left` in flight, at an ACK of the rest; the causes of the waits after the first."""
    scene.handshake(rtt_ms=20, client_window=3_000_000)
    scene.request()
    scene.server_sends(10 * SEGMENT, push=False)
    scene.client_acks()
    sent = out = 0
    for size in sizes:
        scene.server_sends(size - out, push=False)
        sent, out = sent + size - out, min(left, size)
        scene.client_acks(upto=10 * SEGMENT + sent - out)
    scene.server_sends(20 * SEGMENT, push=False)
    return [stall.cause for stall in scene.stalls("server", "server", over_ms=NOT_A_STALL_MS)][1:]


def whole(*segments: int) -> list[int]:
    return [count * SEGMENT for count in segments]


@fires
def test_a_flight_that_lacks_a_deferred_frame_is_no_end_of_the_growth(scene: Scene) -> None:
    causes = flights(scene, whole(20, 21, 22, 23, 24, 23, 26, 27))
    assert causes == ["cwnd-limited"] * len(causes)


@near_miss
def test_flights_that_fall_back_by_more_than_a_frame_do_not_grow(scene: Scene) -> None:
    causes = flights(scene, whole(20, 21, 22, 23, 24, 19, 26, 27))
    assert causes[-3] != "cwnd-limited"


@look_alike
def test_flights_equal_to_the_byte_among_larger_ones_are_a_buffers(scene: Scene) -> None:
    sizes = [40_729, *[45_494] * 6, 46_336, *[46_521] * 2, *[45_494] * 3]
    causes = flights(scene, sizes, left=20_272)
    assert set(causes[2:]) == {"sndbuf-limited"}


@fires
def test_slow_start_that_ends_without_a_loss_goes_on_by_a_twentieth(scene: Scene) -> None:
    causes = flights(scene, whole(20, 40, 80, 160, 168, 176))
    assert set(causes) == {"cwnd-limited"}


@fires
def test_two_steps_of_a_twentieth_are_enough_after_a_flight_that_another_limit_cut(scene: Scene) -> None:
    causes = flights(scene, whole(20, 40, 80, 148, 155, 163))
    assert causes[-2:] == ["cwnd-limited"] * 2


@near_miss
def test_flights_that_swing_by_less_than_a_twentieth_do_not_grow(scene: Scene) -> None:
    causes = flights(scene, whole(20, 40, 80, 148, 151, 148, 151))
    assert "cwnd-limited" not in causes[-3:]


@fires
def test_a_receiver_that_acknowledges_every_fourth_segment_slows_the_growth_fourfold(scene: Scene) -> None:
    """RFC 5681 §3.1, equation 3: each ACK adds the same part of a segment, so a segment takes four round trips."""
    stairs = [size for size in range(11, 17) for _ in range(4)]
    causes = flights(scene, whole(20, 40, *stairs))
    assert set(causes[3:]) == {"cwnd-limited"}


@near_miss
def test_three_such_steps_may_be_an_accident(scene: Scene) -> None:
    stairs = [size for size in range(11, 14) for _ in range(5)]
    assert "cwnd-limited" not in flights(scene, whole(10, *stairs))[3:-1]


@fires
def test_a_window_in_bytes_climbs_by_a_small_part_of_a_segment(scene: Scene) -> None:
    """RFC 9438, section 4.3: the window takes steps that are fair to Reno, each a small part of a segment."""
    causes = flights(scene, [8_700 + 232 * step for step in range(12)])
    assert causes[:-1] == ["cwnd-limited"] * (len(causes) - 1)


@near_miss
def test_flights_of_a_buffer_that_swings_rise_seven_times_in_a_row_at_most(scene: Scene) -> None:
    causes = flights(scene, [8_700 + 232 * step for step in (0, 1, 2, 3, 4, 5, 6, 3, 0, 1, 2, 3, 4, 5, 6)])
    assert "cwnd-limited" not in causes[:-1]


def opening(scene: Scene, first: int, growth: int, *, announced: int = 1_460) -> list[str]:
    """Causes of the first two waits of a window of `first` bytes; each ACK, one a segment, adds `growth` bytes."""
    scene.handshake(rtt_ms=40, client_window=3_000_000, mss=announced)
    scene.request()
    segment = announced - 12
    cwnd = sent = first
    scene.server_sends(sent, tso=1, push=False)
    ends = [*range(segment, sent, segment), sent]
    for _ in range(2):
        arrived, ends = ends, []
        heard_ns = scene.client.heard_ns
        for acked in arrived:
            scene.client.heard_ns = heard_ns
            scene.client_acks(upto=acked)
            cwnd += growth
            begin, sent = sent, acked + cwnd
            scene.server_sends(sent - begin, tso=1, push=False)
            ends += [*range(begin + segment, sent, segment), sent]
    return [stall.cause for stall in scene.stalls("server", "server", over_ms=NOT_A_STALL_MS)][:2]


@fires
def test_a_window_that_counts_announced_segments_grows_by_one_for_each_ack(scene: Scene) -> None:
    """Timestamps take 12 bytes of the 1,460 announced (RFC 6691): 12 bytes follow the first flight's segment."""
    assert opening(scene, 1_460, 1_460) == ["cwnd-limited"] * 2


@fires
def test_so_does_a_window_of_4380_bytes_which_an_initial_one_may_have(scene: Scene) -> None:
    """RFC 3390: min(4*MSS, max(2*MSS, 4380 bytes)); three segments of 1,436 bytes and 72 bytes more."""
    assert opening(scene, 4_380, 1_448, announced=1_448) == ["cwnd-limited"] * 2


@near_miss
def test_a_second_flight_that_the_acks_do_not_explain_shows_no_such_window(scene: Scene) -> None:
    assert opening(scene, 1_460, 1_600)[1] == "unexplained"


@near_miss
def test_a_first_flight_a_few_bytes_shorter_is_no_usual_window(scene: Scene) -> None:
    assert opening(scene, 4_380 - 7, 1_448, announced=1_448)[0] == "unexplained"
