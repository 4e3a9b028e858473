"""Flights that stand although a congestion window would have grown, and buffers whose writer each ACK wakes."""

import pytest

from tests.causes.triple import causes, fires, look_alike, near_miss
from tests.scene import Scene
from tests.scene.network import Tap

SEGMENT = 1_448


def after_idle(scene: Scene, tap: Tap, *flights: int) -> list[tuple[str, bool]]:
    """Answers in flights of so many segments, the last after an idle second: (cause, sure) of its waits."""
    scene.handshake(rtt_ms=40)
    for idle_ms in (80, 80, 80, 1_000):
        scene.wait_ms(idle_ms)
        scene.request()
        for segments in flights:
            scene.server_sends(segments * SEGMENT, tso=1, push=False)
            scene.client_acks()
    rows = [row for row in scene.flow(tap)["stalls"] if row["sender"] == "server" and 35e6 < row["duration_ns"] < 60e6]
    return [(row["cause"], row["confidence"] >= 0.8) for row in rows[-len(flights) + 1 :]]


@look_alike
def test_a_buffer_of_ten_segments_is_no_window_that_an_idle_second_lowered(scene: Scene, tap: Tap) -> None:
    """Ten segments are what an idle period leaves, and what the buffer holds: the next flight is no larger."""
    assert "idle-restart" not in [cause for cause, _ in after_idle(scene, tap, 10, 10, 10, 6)]


@fires
def test_where_the_flights_grow_after_the_idle_second_the_window_was_lowered(scene: Scene, tap: Tap) -> None:
    assert after_idle(scene, tap, 10, 20, 40)[0][0] == "idle-restart"


@near_miss
def test_without_a_larger_flight_before_it_a_restart_is_unsure(scene: Scene, tap: Tap) -> None:
    assert ("idle-restart", True) not in after_idle(scene, tap, 10, 3)


def marked(scene: Scene, segments: int, *, each: bool) -> float:
    """Milliseconds of a window where so many segments stand and each ACK of one releases the next."""
    scene.handshake(rtt_ms=20)
    scene.request()
    sent = 0
    for _ in range(segments):
        scene.server_sends(SEGMENT, tso=1, push=each)
    for _ in range(12):
        for _ in range(segments):
            sent += SEGMENT
            scene.client_acks(upto=sent)
            scene.wait_ms(0.1)
            scene.server_sends(SEGMENT, tso=1, push=each)
    return scene.lost_ms("server", "server")["cwnd-limited"]


@look_alike
def test_a_stack_that_marks_each_segment_may_wake_its_writer_at_each_ack(scene: Scene) -> None:
    assert marked(scene, 20, each=True) == 0


@fires
def test_a_stack_that_marks_the_ends_of_writes_wakes_no_writer_at_each_ack(scene: Scene) -> None:
    assert marked(scene, 20, each=False) > 100


def shrinking(scene: Scene, *, lacks: int, tso: int = 1) -> float:
    """Milliseconds of a window where each ACK releases a segment, but every third round lacks some such releases."""
    scene.handshake(rtt_ms=20)
    scene.request()
    sent = acked = 0
    for turn in range(13):
        for segment in range(20):
            if turn:
                acked += SEGMENT
                scene.client_acks(upto=acked)
                scene.wait_ms(0.1)
            missing, made_up = turn % 3 == 1 and segment < lacks, turn % 3 == 2 and segment < lacks
            if segment % tso == 0 and not missing:
                count = tso * (2 if made_up else 1)
                scene.server_sends(count * SEGMENT, tso=tso, push=False)
                sent += count * SEGMENT
    return scene.lost_ms("server", "server")["cwnd-limited"]


@look_alike
def test_flights_that_get_smaller_without_a_loss_are_no_congestion_windows(scene: Scene) -> None:
    assert shrinking(scene, lacks=1) == 0


def dipping(scene: Scene, *, times: int) -> float:
    """Milliseconds of a window where each ACK releases a segment, but so often two release one, and the next two."""
    scene.handshake(rtt_ms=20)
    scene.request()
    scene.server_sends(12 * SEGMENT, tso=1, push=False)
    steps = [1, 1, 0, 1, 2] * times + [1] * 40
    for step, segments in enumerate(steps, 1):
        scene.client_acks(upto=step * SEGMENT)
        scene.wait_ms(0.1)
        if segments:
            scene.server_sends(segments * SEGMENT, tso=1, push=False)
    return scene.lost_ms("server", "server")["cwnd-limited"]


@look_alike
def test_two_smaller_flights_are_no_accident(scene: Scene) -> None:
    assert dipping(scene, times=2) == 0


@near_miss
def test_one_smaller_flight_may_be_an_accident(scene: Scene) -> None:
    assert dipping(scene, times=1) > 100


@near_miss
def test_flights_that_stand_may_be_a_congestion_windows(scene: Scene) -> None:
    assert shrinking(scene, lacks=0) > 100


def small(scene: Scene, tap: Tap, segments: int, rounds: int) -> set[str]:
    """Causes of the waits while so many segments stand for some round trips, and each ACK releases what it covers."""
    scene.server.congestion.cwnd = scene.server.congestion.initial = segments
    scene.path(rtt_ms=20, server_mbit=100)
    scene.handshake()
    scene.download(segments * rounds * SEGMENT, tso=1, grow=False)
    return set(causes(scene, tap))


@look_alike
def test_eight_segments_for_longer_than_any_window_stands_are_a_small_stacks_buffer(scene: Scene, tap: Tap) -> None:
    assert small(scene, tap, 8, 12) == {"sndbuf-limited"}


@near_miss
def test_eight_segments_for_five_round_trips_may_be_a_slow_window(scene: Scene, tap: Tap) -> None:
    assert small(scene, tap, 8, 5) == {"cwnd-limited"}


@near_miss
def test_a_window_of_more_than_sixteen_segments_may_have_left_slow_start(scene: Scene, tap: Tap) -> None:
    assert small(scene, tap, 20, 12) == {"cwnd-limited"}


def in_two_acks(scene: Scene, *flights: int) -> list[str]:
    """Causes of the waits, at the client, in flights of so many segments; the first of two ACKs covers two of them."""
    scene.handshake(rtt_ms=20)
    scene.request()
    sent = 0
    for segments in flights:
        scene.server_sends(segments * SEGMENT, tso=1, push=False)
        scene.client_acks(upto=sent + 2 * SEGMENT)
        scene.wait_ms(1)
        scene.client_acks()
        sent += segments * SEGMENT
    return causes(scene, "client")


@look_alike
def test_flights_as_large_as_before_show_no_window_that_fell(scene: Scene) -> None:
    """When the last ACK came only three of the five were out."""
    assert in_two_acks(scene, *[5] * 9) == ["sndbuf-limited"]


@fires
def test_flights_that_stay_smaller_without_a_loss_show_a_window_that_fell(scene: Scene) -> None:
    assert "cwnd-limited" in in_two_acks(scene, *[10] * 4, *[5] * 6)


def acked_by(segments: int, scene: Scene, first: int) -> float:
    """Milliseconds of a window where eleven segments stand, after so many first; an ACK of a few releases as many."""
    scene.handshake(rtt_ms=20)
    scene.request()
    scene.server_sends(first * SEGMENT, tso=1, push=False)
    acked = first - 11
    if acked:
        scene.client_acks(upto=acked * SEGMENT)
    for _ in range(72):
        acked += segments
        scene.client_acks(upto=acked * SEGMENT)
        scene.wait_ms(0.1)
        scene.server_sends(segments * SEGMENT, tso=1, push=False)
    return scene.lost_ms("server", "server")["cwnd-limited"]


@fires
@pytest.mark.parametrize("segments", [2, 3])
def test_no_buffer_shrinks_to_the_flights_that_stand(scene: Scene, segments: int) -> None:
    """Nor wakes Linux a writer until a third of the buffer is free (`sk_stream_write_space`)."""
    assert acked_by(segments, scene, 14) > 100


@near_miss
def test_an_ack_of_more_than_a_third_may_have_woken_a_writer(scene: Scene) -> None:
    assert acked_by(4, scene, 14) < 30


@look_alike
def test_flights_that_stand_from_the_first_on_may_be_a_small_stacks_buffer(scene: Scene) -> None:
    assert acked_by(2, scene, 11) == 0


def wavering(scene: Scene, *first: int) -> list[str]:
    """Causes of the waits, at the server, in flights of so many segments and then of two to four, each acknowledged."""
    scene.handshake(rtt_ms=20)
    scene.request()
    for segments in (*first, *(2, 3, 4) * 4):
        scene.server_sends(segments * SEGMENT, tso=1, push=False)
        scene.client_acks()
    return causes(scene, "server")


@fires
def test_at_the_sender_small_flights_that_waver_below_two_larger_ones_are_a_windows(scene: Scene) -> None:
    assert wavering(scene, 10, 20) == ["cwnd-limited"]


@near_miss
def test_one_larger_flight_may_be_a_first_write_beyond_the_buffer(scene: Scene) -> None:
    assert "unexplained" in wavering(scene, 10)


HALF_MS = 1.5
"""Time in which an ACK reaches the server."""


def answers(scene: Scene, *late_ms: float) -> list[float]:
    """Confidence in a buffer where all of 5,000 bytes was acknowledged, and as many follow later, by turns."""
    scene.handshake(rtt_ms=2 * HALF_MS)
    scene.request()
    for late in late_ms * 10:
        scene.server_sends(5_000, tso=1)
        scene.client_acks()
        scene.wait_ms(HALF_MS + late)
    rows = scene.flow("server")["stalls"]
    return [row["confidence"] for row in rows if row["cause"] == "sndbuf-limited"]


@fires
def test_a_writer_that_goes_on_at_once_waits_for_its_buffer(scene: Scene) -> None:
    assert max(answers(scene, 0.05, 0.2)) >= 0.8


@near_miss
def test_a_writer_that_is_late_half_of_the_times_may_follow_a_timer(scene: Scene) -> None:
    assert max(answers(scene, 0.2, 0.32, 0.32), default=0) < 0.8


@look_alike
def test_acks_that_come_together_have_let_no_room_pass(scene: Scene) -> None:
    """A host reads ten ACKs at once and answers half a millisecond after the first of them: the window was full."""
    scene.handshake(rtt_ms=40)
    scene.request()
    sent = 0
    for segments in (10, 20):
        scene.server_sends(segments * SEGMENT, push=False)
        for ack in range(1, segments):
            scene.client_acks(upto=sent + ack * SEGMENT)
            scene.wait_ms(0.05)
        sent += segments * SEGMENT
    scene.server_sends(10 * SEGMENT)
    assert causes(scene, "server") == ["cwnd-limited"]
