"""`pacing`: the sender spaced its segments out on purpose."""

import pytest

from tests.causes.triple import SYNS, causes, fires, look_alike, near_miss, share
from tests.scene import Scene
from tests.scene.network import Tap


@fires
def test_a_rate_below_two_segments_a_round_trip_leaves_even_gaps(scene: Scene, tap: Tap) -> None:
    scene.handshake(rtt_ms=20)
    scene.download(120_000, pace=155_000.0)
    assert share(scene, "pacing", tap) > 0.8


@fires
def test_a_spacing_just_above_what_counts_as_a_gap_goes_on_with_those_just_below(scene: Scene) -> None:
    """30 % of the round trip is 6 ms; two segments leave every 5.8 ms, and one pair comes 0.4 ms late."""
    scene.handshake(rtt_ms=20)
    scene.download(300_000, pace=2_896 / 0.0058, late=((14_480 + 30 * 2_896, 400), (14_480 + 31 * 2_896 - 1, 400)))
    assert causes(scene, "client") == ["cwnd-limited", "pacing"]


@fires
def test_a_pace_that_follows_each_ack_by_the_same_time_is_no_jitter_of_the_path(scene: Scene, tap: Tap) -> None:
    """A pair leaves every 6.9 ms: always 2.9 ms after an ACK, by a round trip of 17.8 ms."""
    scene.handshake(rtt_ms=17.8)
    scene.download(400_000, pace=2_896 / 0.0069)
    assert share(scene, "pacing", tap) > 0.8


@fires
def test_packets_that_fill_ethernet_show_whole_segments_without_the_handshake(scene: Scene) -> None:
    scene.handshake(rtt_ms=20)
    scene.download(120_000, pace=155_000.0)
    assert share(scene, "pacing", "client", drop=SYNS) > 0.8


@near_miss
def test_packets_that_do_not_fill_ethernet_may_be_writes_without_the_handshake(scene: Scene) -> None:
    scene.handshake(rtt_ms=20, mss=1_420)
    scene.download(120_000, pace=155_000.0)
    assert "pacing" not in causes(scene, "client", drop=SYNS)


@look_alike
def test_an_even_rate_may_be_that_of_acks_which_the_capture_lacks(scene: Scene) -> None:
    scene.handshake(rtt_ms=20)
    scene.download(120_000, pace=155_000.0)
    bare = [number for number, (_, packet) in enumerate(scene.packets("server"), 1) if not packet.payload]
    assert "pacing" not in causes(scene, "server", drop=bare)


@look_alike
def test_bursts_of_four_segments_far_apart_are_no_pace_away_from_the_sender(scene: Scene) -> None:
    """A window that hardly grows also sends about as much in each round trip."""
    scene.handshake(rtt_ms=80)
    scene.request()
    scene.server_writes(*((70.0 * i, 4 * 1_448) for i in range(16)))
    assert "pacing" not in causes(scene, "client")


@near_miss
def test_gaps_far_below_the_round_trip_are_no_stalls(scene: Scene, tap: Tap) -> None:
    scene.handshake(rtt_ms=20)
    scene.download(120_000, pace=2_000_000.0)
    assert "pacing" not in causes(scene, tap)


@look_alike
def test_an_application_that_writes_small_pieces_evenly_is_not_paced(scene: Scene, tap: Tap) -> None:
    scene.handshake(rtt_ms=20)
    scene.request()
    scene.server_writes(*((30.0 * i, 2_000) for i in range(15)))
    assert share(scene, "app-limited", tap) > 0.8


@look_alike
def test_a_pause_of_the_application_in_a_paced_transfer_is_the_application(scene: Scene, tap: Tap) -> None:
    scene.handshake(rtt_ms=20)
    scene.request()
    scene.server_writes((0, 150_000), (400, 150_000), pace=500_000.0)
    assert causes(scene, tap) == ["cwnd-limited", "app-limited"]


@look_alike
@pytest.mark.parametrize("queue", [30, 60])
def test_the_spacing_of_a_bottleneck_is_not_the_senders(scene: Scene, tap: Tap, queue: int) -> None:
    """Even gaps at either tap, but the round trip has grown."""
    scene.handshake(rtt_ms=20)
    scene.path(rtt_ms=20, server_mbit=1)
    scene.server.congestion.ssthresh = queue
    scene.download(300_000, ack_every=1)
    assert share(scene, "bandwidth-limited", tap) > 0.8
    assert "pacing" not in causes(scene, tap)


@look_alike
def test_pairs_that_leave_faster_than_the_pauses_between_them_are_not_paced(scene: Scene) -> None:
    """A device that writes two segments 20 ms apart, then rests: the rate over each pause is the same."""
    scene.handshake(rtt_ms=100)
    scene.request()
    starts = [400.0 * pair for pair in range(16)]
    scene.server_writes(*((start + late, 1_448) for start in starts for late in (0.0, 20.0)))
    assert share(scene, "app-limited", "client") > 0.8


@look_alike
def test_whole_segments_written_at_an_even_beat_are_the_applications(scene: Scene, tap: Tap) -> None:
    """Each is acknowledged before the next and ends with PSH: a host that paces one long write marks its end alone."""
    scene.handshake(rtt_ms=100)
    scene.request()
    scene.server_writes(*((150.0 * i, 1_448) for i in range(24)))
    assert share(scene, "app-limited", tap) > 0.8


@fires
def test_one_long_write_at_less_than_a_segment_a_round_trip_is_paced(scene: Scene) -> None:
    scene.handshake(rtt_ms=20)
    scene.download(24 * 1_448, pace=1_448 / 0.030)
    assert share(scene, "pacing", "server") > 0.8


@look_alike
def test_a_writer_whose_silences_do_not_depend_on_what_was_sent_is_not_paced(scene: Scene, tap: Tap) -> None:
    """RFC 896 rounds each write of 2,500 bytes to one or two segments; the beat stays 30 ms."""
    scene.handshake(rtt_ms=50)
    scene.request()
    scene.server_writes(*((30.0 * i, 2_500) for i in range(15)), nagle="rfc896", tso=1)
    assert share(scene, "pacing", tap) < 0.2


@look_alike
def test_small_writes_that_fill_segments_up_are_not_paced(scene: Scene) -> None:
    """389 bytes every 20 ms: a segment is full after three writes or after four."""
    scene.handshake(rtt_ms=150)
    scene.request()
    scene.server_writes(*((20.0 * i, 389) for i in range(60)), nagle="rfc896", tso=1)
    assert share(scene, "pacing", "server") < 0.2


@near_miss
def test_a_handful_of_even_pauses_is_not_surely_paced(scene: Scene) -> None:
    scene.handshake(rtt_ms=20)
    scene.download(10 * 1_448 + 8 * 1_448, pace=1_448 / 0.030)
    sure = [row for row in scene.flow("server")["stalls"] if row["cause"] == "pacing" and row["confidence"] >= 0.8]
    assert not sure


@look_alike
@pytest.mark.parametrize("size", [1_448, 1_000])
def test_segments_that_each_end_a_write_are_written_at_that_pace(scene: Scene, size: int) -> None:
    """A slow host computes each piece before it writes it; the pieces take about equally long."""
    scene.handshake(rtt_ms=100)
    scene.request()
    times = [(0.0, size)] + [(40.0 * number + 2.0 * (number * 7 % 3 - 1), size) for number in range(1, 40)]
    scene.server_writes(*times, tso=1, nodelay=True)
    assert "pacing" not in causes(scene)


@near_miss
def test_bursts_of_four_segments_far_apart_are_never_surely_a_pace(scene: Scene) -> None:
    """A kernel that paces so slowly sends two segments at a time (Linux `tcp_tso_autosize`)."""
    scene.handshake(rtt_ms=80)
    scene.request()
    scene.server_writes(*((70.0 * i, 4 * 1_448) for i in range(16)))
    paces = [stall for stall in scene.flow("server")["stalls"] if stall["cause"] == "pacing"]
    assert paces
    assert all(stall["confidence"] < 0.8 for stall in paces)


@fires
def test_a_pace_whose_acks_happen_to_come_just_before_each_frame_is_a_pace(scene: Scene, tap: Tap) -> None:
    """Two segments every 5.9 ms over 16.9 ms: the ACKs of the third frame before come 0.8 ms before each frame."""
    scene.handshake(rtt_ms=16.9)
    scene.download(300_000, pace=490_000, tso=2)
    assert share(scene, "pacing", tap) > 0.8


def kept_back(scene: Scene, *, push: bool) -> list[str]:
    """Causes where whole segments leave at no ACK and at no one rate, and the end of each answer has PSH."""
    scene.handshake(rtt_ms=100)
    for answer in (((2, 40), (4, 70), (1, 31)), ((3, 45), (1, 33), (4, 60)), ((1, 36), (4, 52), (2, 38))):
        scene.client_sends(147)
        for segments, wait_ms in answer:
            scene.server_sends(segments * 1_448, tso=1, push=push)
            scene.wait_ms(wait_ms)
        scene.server_sends(1_448)
        scene.client_acks()
    return causes(scene, "server")


@fires
def test_whole_segments_kept_back_in_the_middle_of_a_write_are_held_by_the_senders_timer(scene: Scene) -> None:
    """FreeBSD's RACK rests after a burst in proportion to it and to a window that grows: no rate is the same twice."""
    assert "pacing" in kept_back(scene, push=False)
    rows = [row for row in scene.flow("server")["stalls"] if row["cause"] == "pacing"]
    assert len(rows) == 9
    assert all(row["confidence"] < 0.8 for row in rows)


@near_miss
def test_whole_segments_that_each_end_a_write_are_not_kept_back(scene: Scene) -> None:
    assert "pacing" not in kept_back(scene, push=True)


@look_alike
@pytest.mark.parametrize(("timestamps", "sure"), [(False, False), (True, True)])
def test_without_timestamps_a_slow_link_before_the_tap_looks_like_a_pace(
    scene: Scene, timestamps: bool, sure: bool
) -> None:
    """30 % of the round trip is 6 ms; two segments come every 5.8 ms, and one pair 0.4 ms later."""
    scene.handshake(rtt_ms=20, timestamps=timestamps)
    pair = 2_896 if timestamps else 2_920
    late = ((5 * pair + 30 * pair, 400), (5 * pair + 31 * pair - 1, 400))
    scene.download(300_000, pace=pair / 0.0058, late=late)
    found = [row["confidence"] for row in scene.flow("client")["stalls"] if row["cause"] == "pacing"]
    assert found
    assert (max(found) >= 0.8) == sure


def frames(
    scene: Scene, segments: int, *, each_ms: float = 2.86, rtt_ms: float = 1.4, count: int = 40, first: float = 1.0
) -> None:
    """A frame of so many segments again and again, each acknowledged before the next, and with PSH at its end."""
    scene.handshake(rtt_ms=rtt_ms)
    scene.request()
    times = (0.0, *(each_ms * (i + first) for i in range(count - 1)))
    scene.server_writes(*((ms, segments * 1_448) for ms in times), tso=segments)


@fires
def test_frames_as_large_as_linux_cuts_them_at_their_rate_are_paced_although_nothing_is_out(
    scene: Scene, tap: Tap
) -> None:
    """8.1 MB/s are 7.9 KB a millisecond; a round trip of 1.4 ms adds 16 KB (`tcp_tso_autosize`)."""
    frames(scene, 16)
    assert share(scene, "pacing", tap) > 0.8


@fires
def test_frames_of_half_the_congestion_window_are_paced_although_nothing_is_out(scene: Scene, tap: Tap) -> None:
    """At 5.1 MB/s a frame could hold 14 segments, but half a window of 20 is 10 (Linux `tcp_cwnd_test`): the first
    flight of 10 doubled the window once, and a paced flight never fills it again."""
    frames(scene, 10)
    assert share(scene, "pacing", tap) > 0.8


@fires
def test_large_frames_of_a_slow_pace_on_a_short_path_are_paced(scene: Scene, tap: Tap) -> None:
    """A round trip of 0.7 ms adds 32 KB to a frame at any rate (`tcp_tso_autosize`): half a window each 30 ms."""
    frames(scene, 10, each_ms=30, rtt_ms=0.7)
    assert share(scene, "pacing", tap) > 0.8


@fires
@pytest.mark.parametrize("lost", [range(36, 60), range(41, 42)], ids=["four rounds", "one ACK"])
def test_a_capture_that_loses_packets_changes_no_pace(scene: Scene, tap: Tap, lost: range) -> None:
    """A frame is half the window of twenty that the first flight left, whatever the model makes of the rest."""
    frames(scene, 10, each_ms=30, rtt_ms=0.7, count=60)
    late = scene.stalls("server", tap, drop=lost)[-20:]
    assert {stall.cause for stall in late} == {"pacing"}


@near_miss
def test_data_that_the_capture_lost_grew_no_window(scene: Scene) -> None:
    """Frames of ten segments left over 0.3 s: no flight of a hundred."""
    frames(scene, 10, each_ms=30, rtt_ms=0.7, count=60)
    for lost in ((), range(36, 60)):
        last = scene.flow("server", drop=lost)["stalls"][-1]
        assert last["evidence"]["cwnd_estimate_segments"] == 20


@look_alike
@pytest.mark.parametrize(("each_ms", "rtt_ms"), [(2.86, 1.4), (30, 0.7)])
def test_writes_of_whole_segments_of_another_size_are_an_applications(
    scene: Scene, tap: Tap, each_ms: float, rtt_ms: float
) -> None:
    frames(scene, 4, each_ms=each_ms, rtt_ms=rtt_ms)
    assert share(scene, "app-limited", tap) > 0.8


@fires
def test_a_few_frames_as_large_as_linux_cuts_them_are_paced(scene: Scene, tap: Tap) -> None:
    frames(scene, 2, each_ms=231, rtt_ms=20, count=6)
    assert share(scene, "pacing", tap) > 0.8


@fires
def test_the_first_rest_of_a_pace_may_be_half_as_long(scene: Scene, tap: Tap) -> None:
    """Linux deducts the time before a frame from at most half of its rest (`tcp_update_skb_after_send`)."""
    frames(scene, 10, each_ms=30, rtt_ms=0.7, first=0.5)
    waits = scene.stalls("server", tap, over_ms=10)
    assert len(waits) == 39
    assert {stall.cause for stall in waits} == {"pacing"}


@fires
@pytest.mark.parametrize("first", [0.5, 1.0])
def test_the_first_rest_is_that_of_what_left_last(scene: Scene, first: float) -> None:
    """A window that came before, in a piece of its own, was not paced, and no rest follows it."""
    scene.handshake(rtt_ms=0.7)
    scene.request()
    times = (0.0, 0.9, *(120.0 * (i + first) for i in range(12)))
    scene.server_writes(*((ms, 10 * 1_448) for ms in times), tso=10)
    waits = scene.stalls("server", "client", over_ms=10)
    assert len(waits) == 12
    assert {stall.cause for stall in waits} == {"pacing"}


@pytest.mark.parametrize(("rtt_ms", "cause"), [(0.45, "pacing"), (0.3, "app-limited")])
def test_away_from_the_sender_its_round_trip_is_known_but_for_what_hosts_take(
    scene: Scene, rtt_ms: float, cause: str
) -> None:
    """At 2.3 MB/s Linux cuts 24 segments from a round trip of 512 µs on, twice as many below (`tcp_tso_autosize`)."""
    frames(scene, 24, each_ms=15, rtt_ms=rtt_ms)
    assert share(scene, cause, "client") > 0.8


def bursts_of_many_sizes(
    scene: Scene, *, rest_ms: float, beat_ms: float = 0.0, rtt_ms: float = 40, broken_us: int = 0
) -> None:
    """Each burst is acknowledged before the next and has PSH at its end; a rest for each of its segments follows. Of
    every third burst the path delivers the last two segments later by `broken_us`."""
    scene.handshake(rtt_ms=rtt_ms)
    scene.request()
    sizes = [4, 4, 5, 5, 6, 6, 7, 7, 8, 8, 9, 9] * 2
    times = [sum(beat_ms + rest_ms * size for size in sizes[:i]) for i in range(len(sizes))]
    ends = [1_448 * sum(sizes[: i + 1]) for i in range(len(sizes))]
    late = tuple((end - back * 1_448, broken_us) for end in ends[::3] for back in (2, 1)) if broken_us else ()
    scene.server_writes(*((ms, size * 1_448) for ms, size in zip(times, sizes, strict=True)), late=late)


@fires
def test_rests_in_proportion_to_bursts_of_many_sizes_are_a_pace(scene: Scene, tap: Tap) -> None:
    """BBR counts segments for a frame by its model: 100 KB/s, whatever it cuts."""
    bursts_of_many_sizes(scene, rest_ms=14.48)
    assert share(scene, "pacing", tap) > 0.8


@fires
def test_bursts_that_the_path_delivers_in_pieces_rest_in_proportion_as_well(scene: Scene) -> None:
    """Pieces half a millisecond apart are waits of their own on a path of 0.7 ms, and no rests of a pace of 58 ms."""
    bursts_of_many_sizes(scene, rest_ms=14.48, rtt_ms=0.7, broken_us=500)
    assert share(scene, "pacing", "client") > 0.8


@look_alike
@pytest.mark.parametrize(("rtt_ms", "broken_us"), [(40, 0), (0.7, 500)])
def test_bursts_of_many_sizes_on_a_beat_are_an_applications(
    scene: Scene, tap: Tap, rtt_ms: float, broken_us: int
) -> None:
    bursts_of_many_sizes(scene, rest_ms=0, beat_ms=90, rtt_ms=rtt_ms, broken_us=broken_us)
    assert share(scene, "app-limited", tap) > 0.8


@fires
def test_frames_of_a_pace_whose_rate_steps_up_now_and_then_are_no_writers_beat(scene: Scene) -> None:
    """BBR raises its rate for a round trip in eight, and Linux the frames with it: their rests stay alike."""
    scene.handshake(rtt_ms=2.5)
    scene.request()
    scene.server_writes(*((1.2 * i, (5 if i % 8 == 0 else 4) * 1_448) for i in range(120)), tso=5, nodelay=True)
    assert share(scene, "pacing", "server") > 0.8


@fires
def test_a_pace_is_seen_between_many_repairs(scene: Scene) -> None:
    """A shaper with a short queue drops what BBR sends too fast: repairs leave in frames of other sizes."""
    scene.handshake(rtt_ms=2.5)
    scene.request()
    lose = tuple(1_448 * segment for segment in range(20, 480, 16))
    scene.server_writes(*((1.2 * i, 4 * 1_448) for i in range(120)), tso=4, nodelay=True, lose=lose)
    assert share(scene, "pacing", "server") > 0.2


@look_alike
def test_data_that_leaves_at_once_at_the_acks_of_a_slow_link_is_no_sure_pace(scene: Scene) -> None:
    """The ACKs of a slow link come at its rate, and so does what they let go; repairs wait for no ACK of new data."""
    scene.path(rtt_ms=2, server_mbit=1.5)
    scene.handshake()
    lose = tuple(1_448 * segment for segment in range(20, 116, 12))
    scene.download(260_000, tso=1, lose=lose)
    rows = [row for row in scene.flow("server")["stalls"] if row["cause"] == "pacing"]
    assert all(row["confidence"] < 0.8 for row in rows)


@fires
def test_a_pace_that_meets_an_ack_now_and_then_is_sure(scene: Scene) -> None:
    scene.handshake(rtt_ms=20)
    scene.download(300_000, pace=155_000.0)
    assert max(row["confidence"] for row in scene.flow("server")["stalls"] if row["cause"] == "pacing") >= 0.85
