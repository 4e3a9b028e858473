"""`cwnd-limited`: the congestion window was full."""

import re
from itertools import cycle

import pytest

from tests.causes.triple import NOT_A_STALL_MS, causes, fires, look_alike, near_miss, share
from tests.scene import Reader, Scene, Stall, between
from tests.scene.network import Tap
from tests.scene.verdict import flows_of


@fires
def test_slow_start_waits_a_round_trip_for_each_doubling(scene: Scene, tap: Tap) -> None:
    scene.handshake(rtt_ms=20)
    scene.download(200_000)
    assert scene.stalls("server", tap, over_ms=NOT_A_STALL_MS) == [
        Stall("cwnd-limited", between(19, 21), detail="initial-window"),
        Stall("cwnd-limited", between(19, 21), detail="slow-start"),
        Stall("cwnd-limited", between(19, 21), detail="slow-start"),
    ]


@fires
def test_one_byte_beyond_the_initial_window_waits(scene: Scene, tap: Tap) -> None:
    scene.handshake(rtt_ms=20)
    scene.download(14_481)
    assert scene.stalls("server", tap, over_ms=NOT_A_STALL_MS) == [Stall("cwnd-limited", between(19, 21))]


@fires
def test_an_initial_window_of_six_segments_that_doubles_is_a_window_too(scene: Scene, tap: Tap) -> None:
    scene.server.congestion.cwnd = scene.server.congestion.initial = 6
    scene.handshake(rtt_ms=20)
    scene.download(60_000)
    assert causes(scene, tap) == ["cwnd-limited"]


@fires
def test_congestion_avoidance_without_a_loss_creeps(scene: Scene, tap: Tap) -> None:
    """Slow start ended at 20 segments, by a route's ssthresh say: the flights grow by a segment a round trip."""
    scene.server.congestion.ssthresh = 20
    scene.handshake(rtt_ms=20)
    scene.download(400_000)
    assert causes(scene, tap) == ["cwnd-limited"]


@look_alike
def test_a_subflows_window_grows_with_those_of_the_others(scene: Scene) -> None:
    scene.handshake(rtt_ms=20)
    scene.download(200_000)
    path = scene.capture(kind="text")
    path.write_text(path.read_text().replace("options [mss", "options [mptcp capable v1,mss"))
    (flow,) = flows_of(path)
    rows = [row for row in flow["stalls"] if row["cause"] == "cwnd-limited"]
    assert rows
    assert all(row["confidence"] <= 0.6 and "other subflows" in row["missing"][0] for row in rows)


def parted(scene: Scene, *segments: int) -> float:
    """Share of a window at the client, after flights of so many segments, one of them the short end of a write."""
    scene.handshake(rtt_ms=40)
    scene.request()
    scene.client_acks(window=400_000)
    for at, flight in enumerate((10, 20, *segments)):
        scene.server_sends(300 + 97 * at)
        scene.server_sends((flight - 1) * 1_448, push=False)
        scene.client_acks()
    return share(scene, "cwnd-limited", "client")


@fires
def test_flights_that_creep_are_a_windows_although_writes_end_in_them(scene: Scene) -> None:
    """CUBIC after slow start: a twentieth more in each round trip."""
    assert parted(scene, 40, 42, 44, 46, 49, 51, 54, 57, 60) > 0.7


@near_miss
def test_a_segment_more_may_be_the_short_end_of_another_write(scene: Scene) -> None:
    assert parted(scene, 20, 21, 21, 22, 20, 20, 21, 21, 22) < 0.5


@fires
def test_a_window_that_cannot_grow_lets_each_ack_release_data(scene: Scene) -> None:
    """As flat as a send buffer, but a blocked writer would sleep until a third of its buffer is free.

    The link keeps ACKs further apart than a writer takes to wake up.
    """
    scene.server.congestion.cwnd = scene.server.congestion.initial = 40
    scene.path(rtt_ms=20, server_mbit=400)
    scene.handshake()
    scene.download(600_000, grow=False)
    assert share(scene, "cwnd-limited", "server") > 0.8


def framed(scene: Scene, segments: int, ends: tuple[int, ...] = ()) -> float:
    """Share of a window in the time lost at the client, where forty segments stand and left in frames of so many.

    Each flight ends with as many bytes more as `ends` says, in turn.
    """
    scene.handshake(rtt_ms=20)
    scene.request()
    for flight, end in zip((10, 20, *[40] * 8), cycle(ends or (0,)), strict=False):
        for _ in range(flight // segments):
            scene.server_sends(segments * 1_448, tso=1)
        if end:
            scene.server_sends(end)
        scene.client_acks()
    return share(scene, "cwnd-limited", "client")


@fires
@pytest.mark.parametrize("segments", [2, 5])
def test_a_window_that_cannot_grow_sends_a_frame_for_each_ack(scene: Scene, segments: int) -> None:
    """Linux marks the end of each frame with PSH, and each ACK of as many segments lets one go."""
    assert framed(scene, segments) > 0.8


@fires
def test_a_window_that_stands_is_full_too_while_the_path_lengthens(scene: Scene) -> None:
    """At the receiver each flight comes later after its ACKs than the distance of the flights before says."""
    scene.handshake(rtt_ms=20)
    scene.request()
    for at, flight in enumerate((10, 20, *[40] * 8)):
        scene.path(rtt_ms=20 + 3 * max(0, at - 4))
        for _ in range(flight // 2):
            scene.server_sends(2 * 1_448, tso=1)
        scene.client_acks()
    assert share(scene, "cwnd-limited", "client") > 0.9


@near_miss
def test_a_window_that_held_a_short_segment_more_had_room_for_a_whole_one(scene: Scene) -> None:
    assert framed(scene, 2, ends=(0, 600)) < 0.4


@near_miss
def test_where_each_segment_is_marked_no_frame_shows(scene: Scene) -> None:
    assert framed(scene, 1) < 0.4


@look_alike
def test_a_writer_that_a_third_of_its_buffer_wakes_sends_larger_frames(scene: Scene) -> None:
    """As large as a millisecond's data at the rate of a window of eighty segments: eight."""
    assert framed(scene, 10) < 0.5


@near_miss
def test_a_send_buffer_of_whole_segments_is_as_flat_but_frees_a_third_at_once(scene: Scene) -> None:
    scene.server.congestion.cwnd = scene.server.congestion.initial = 100
    scene.path(rtt_ms=20, server_mbit=400)
    scene.handshake()
    scene.download(600_000, send_buffer=40 * 1_448)
    assert share(scene, "sndbuf-limited", "server") > 0.8


@near_miss
def test_a_response_of_exactly_the_initial_window_waits_for_nothing(scene: Scene, tap: Tap) -> None:
    scene.handshake(rtt_ms=20)
    scene.download(14_480)
    assert causes(scene, tap) == []


@look_alike
def test_a_window_of_ten_segments_stops_the_first_burst_whatever_cwnd_is(scene: Scene, tap: Tap) -> None:
    scene.handshake(rtt_ms=20, client_scale=0, client_window=14_480)
    scene.download(100_000, reader=Reader(buffer=14_480))
    assert "cwnd-limited" not in causes(scene, tap)


@fires
def test_a_window_counted_in_bytes_cuts_the_last_segment_of_a_flight(scene: Scene) -> None:
    scene.handshake(rtt_ms=80)
    scene.request()
    for flight in (4_344, 8_725, 17_450, 34_900):
        scene.server_sends(flight, tso=1)
        scene.client_acks()
    assert causes(scene, "server") == ["cwnd-limited"]


@fires
def test_congestion_avoidance_from_one_segment_grows_by_half_a_segment_a_round(scene: Scene) -> None:
    scene.handshake(rtt_ms=500)
    scene.request()
    for segments in (1, 2, 2, 2, 3, 3, 4, 4, 4, 5):
        scene.server_sends(1_448 * segments, tso=1)
        scene.client_acks()
    assert causes(scene, "server") == ["cwnd-limited"]


@fires
def test_a_garbled_syn_ack_leaves_the_segments_whole(scene: Scene) -> None:
    scene.server.congestion.cwnd = scene.server.congestion.initial = 2
    scene.handshake(rtt_ms=80)
    scene.download(60_000)
    path = scene.capture(kind="text")
    text = re.sub(r"(Flags \[S\.\].*),TS val \d+ ecr \d+", r"\1,nop", path.read_text())
    path.write_text(text)
    (flow,) = flows_of(path)
    assert flow["directions"]["server"]["mss_bytes"] == 1_448
    assert {row["cause"] for row in flow["stalls"] if row["sender"] == "server"} <= {"cwnd-limited", "app-limited"}


def silent_end(scene: Scene, after_ms: float) -> list[str]:
    """An initial window of which nothing is acknowledged, and the RST that ends the capture."""
    scene.handshake(rtt_ms=20)
    scene.client_sends(147)
    scene.server_sends(14_480)
    scene.wait_ms(after_ms)
    scene.client_resets()
    return [stall.cause for stall in scene.stalls("server", "client") if not stall.ended]


@fires
def test_a_full_window_that_a_reset_cuts_short_is_a_full_window(scene: Scene) -> None:
    assert silent_end(scene, 300) == ["cwnd-limited"]


@near_miss
def test_no_window_holds_a_sender_for_longer_than_its_timer(scene: Scene) -> None:
    """For 40 s nothing came although nothing was acknowledged: what the timer sent again never passed this tap."""
    assert silent_end(scene, 40_000) == ["unexplained"]


def flights(scene: Scene, *segments: int) -> None:
    """Each flight leaves at the ACK of the one before; PSH marks the end of the last alone."""
    for at, count in enumerate(segments):
        scene.server_sends(count * 1_448, tso=1, push=at + 1 == len(segments))
        scene.client_acks()


@fires
def test_a_window_that_falls_without_a_loss_is_no_buffer(scene: Scene) -> None:
    """TCP Vegas and LEDBAT lower it as the delay grows: a buffer of six segments would never have held twelve."""
    scene.handshake(rtt_ms=20)
    scene.request()
    flights(scene, 10, 13, 11, 9, 7, *[6] * 12)
    assert causes(scene, "server")[-1] == "cwnd-limited"
    assert share(scene, "cwnd-limited", "server") > 0.8


@near_miss
def test_one_larger_flight_may_be_the_first_write_of_a_small_buffer(scene: Scene) -> None:
    scene.handshake(rtt_ms=20)
    scene.request()
    flights(scene, 9, *[6] * 12)
    assert causes(scene, "server")[-1] == "sndbuf-limited"


def released(scene: Scene, *, push: bool) -> None:
    """Eight segments stay in flight: each ACK of two lets two more go, the second of them with PSH or without."""
    scene.handshake(rtt_ms=20)
    scene.request()
    start = scene.server.nxt - scene.server.isn - 1
    scene.server_sends(8 * 1_448, tso=1, push=push)
    for round_trip in range(12):
        for ack in range(1, 5):
            scene.client_acks(upto=start + (8 * round_trip + 2 * ack) * 1_448)
            scene.server_sends(2 * 1_448, tso=1, push=push)
        scene.wait_ms(20)


@look_alike
def test_a_writer_that_each_ack_wakes_and_that_sends_all_it_has_is_no_full_window(scene: Scene) -> None:
    released(scene, push=True)
    assert causes(scene, "server")[-1] == "sndbuf-limited"


@near_miss
def test_without_another_loss_a_window_falls_no_further(scene: Scene, tap: Tap) -> None:
    """After the repair twenty-eight segments are out, and now and then sixteen: a buffer swings."""
    segment = 1_448
    scene.handshake(rtt_ms=40)
    scene.request()
    scene.client_acks(window=400_000)
    for flight in (10, 20, 40):
        scene.server_sends(flight * segment, push=False)
        scene.client_acks()
    sent = 70 * segment
    scene.server_sends(segment, lost=True, push=False)
    scene.server_sends(39 * segment, push=False)
    scene.client_acks(upto=sent, sack=((sent + segment, sent + 40 * segment),))
    scene.server_repeats(sent, segment)
    sent += 40 * segment
    scene.client_acks(upto=sent)
    for flight in (28, 28, 16, 28, 16, 28):
        scene.server_sends(flight * segment, push=False)
        sent += flight * segment
        scene.client_acks(upto=sent)
    waits = [row for row in scene.flow(tap)["stalls"] if row["evidence"].get("in_flight_segments") == 16]
    assert [row["cause"] for row in waits] == ["sndbuf-limited", "sndbuf-limited"]


def test_what_a_report_of_a_loss_releases_had_been_queued(scene: Scene) -> None:
    scene.handshake(rtt_ms=100)
    scene.request()
    scene.server_sends(1_448, lost=True, push=False)
    scene.server_sends(1_448)
    scene.client_acks(upto=0, sack=[(1_448, 2_896)])
    scene.server_sends(1_448)
    assert causes(scene, "server") == ["cwnd-limited"]


def test_flights_that_grow_from_the_first_one_on_are_slow_starts_on_a_path_that_jitters(scene: Scene) -> None:
    scene.handshake(rtt_ms=24)
    scene.request()
    for segments in (3, 5, 9, 14, 20):
        scene.server.now_ns = scene.server.acts_ns() + 2_300_000
        scene.server_sends(segments * 1_448, tso=1)
        scene.client_acks(upto=scene.server.nxt - scene.server.isn - 1 - 1_448)
        scene.client_acks()
    assert causes(scene, "client") == ["cwnd-limited"]


@look_alike
def test_acks_of_half_a_flight_that_released_nothing_had_found_no_full_window(scene: Scene) -> None:
    """A writer that a full buffer blocked goes on at the fourth ACK of five, three milliseconds after the first."""
    scene.handshake(rtt_ms=20)
    scene.request()
    sent = 0
    for segments in (10, 15, 20, 25):
        scene.server_sends(segments * 1_448, push=False)
        for ack in range(1, 5):
            scene.wait_ms(1)
            scene.client_acks(upto=sent + ack * segments // 5 * 1_448)
        sent += segments * 1_448
    assert set(causes(scene, "server")) <= {"sndbuf-limited", "app-limited"}


@look_alike
def test_a_short_end_after_flights_that_doubled_may_be_held_by_rfc_896(scene: Scene, tap: Tap) -> None:
    """Two, four and seven segments, and less than one, two milliseconds before the next write."""
    scene.handshake(rtt_ms=30)
    scene.request()
    for segments in (2, 4, 7):
        scene.server_sends(segments * 1_448, tso=1, push=False)
        scene.client_acks()
    scene.server_sends(1_020)
    scene.server.now_ns = scene.server.acts_ns() + 2_000_000
    scene.server_sends(14_480, tso=1)
    scene.client_acks()
    assert scene.flow(tap)["stalls"][-1]["confidence"] < 0.8


def confidences(scene: Scene, tap: Tap) -> list[float]:
    return [row["confidence"] for row in scene.flow(tap)["stalls"] if row["cause"] == "cwnd-limited"]


@pytest.mark.parametrize(("second", "sure"), [(20, True), (18, False)])
@near_miss
def test_a_flight_with_room_for_a_segment_more_is_unsure(scene: Scene, second: int, sure: bool) -> None:
    scene.handshake(rtt_ms=20)
    scene.request()
    for segments in (10, second, 40):
        scene.server_sends(segments * 1_448, push=False)
        scene.client_acks()
    assert [confidence > 0.8 for confidence in confidences(scene, "server")] == [True, sure]


@near_miss
def test_acks_of_half_the_flight_that_let_nothing_go_have_met_no_full_window(scene: Scene) -> None:
    """More follows 40 ms later, at no ACK: a timer against small segments held it, or the application."""
    scene.handshake(rtt_ms=60)
    scene.request()
    scene.server_sends(10 * 1_448, tso=1, push=False)
    for segments in (2, 4, 6):
        scene.client_acks(upto=segments * 1_448)
    scene.wait_ms(70)
    scene.server_sends(1_448)
    rows = [row for row in scene.flow("server")["stalls"] if row["sender"] == "server" and row["duration_ns"] > 60e6]
    assert [row["cause"] for row in rows] != ["cwnd-limited"]


def before_an_end(scene: Scene, *, last: int) -> float:
    """Confidence in the window that ten segments fill, where so many bytes leave once all of those are acknowledged."""
    scene.handshake(rtt_ms=20)
    scene.request()
    scene.server_sends(10 * 1_448, push=False)
    scene.client_acks()
    scene.server_sends(last)
    row = next(row for row in scene.flow("server")["stalls"] if row["cause"] == "cwnd-limited")
    return float(row["confidence"])


@near_miss
def test_a_short_end_may_have_waited_for_the_acks_alone(scene: Scene) -> None:
    """Nagle's algorithm as RFC 896 has it holds the end back while anything is out, whatever the window."""
    assert before_an_end(scene, last=500) < 0.8


@fires
def test_a_whole_segment_waited_for_the_window(scene: Scene) -> None:
    assert before_an_end(scene, last=1_448) >= 0.9
