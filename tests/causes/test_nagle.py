"""`nagle`: a small segment was held until earlier data was acknowledged."""

import pytest

from tests.causes.triple import NOT_A_STALL_MS, causes, fires, look_alike, near_miss, share
from tests.scene import Scene, Stall, between
from tests.scene.network import Tap


@fires
def test_the_second_small_write_waits_for_the_first_ones_ack(scene: Scene, tap: Tap) -> None:
    scene.handshake(rtt_ms=20)
    scene.client_writes((0, 100), (0.1, 100))
    assert scene.stalls("client", tap, over_ms=NOT_A_STALL_MS) == [Stall("nagle", between(19, 21))]


@fires
def test_small_writes_fill_a_segment_up_while_an_earlier_one_is_out(scene: Scene, tap: Tap) -> None:
    """The gap before a full segment is Nagle's too: its bytes had been written long before."""
    scene.handshake(rtt_ms=20)
    scene.client_writes(*((3.7 * i, 300) for i in range(60)))
    assert scene.lost_ms("client", tap)["nagle"] > 100


@fires
def test_the_tail_of_a_large_write_is_held_until_the_next_write(scene: Scene, tap: Tap) -> None:
    scene.client.congestion.cwnd = scene.client.congestion.initial = 200
    scene.handshake(rtt_ms=40)
    scene.client_writes(*((25 * i, 60_000) for i in range(8)))
    assert "nagle" in causes(scene, tap, sender="client")
    assert "sndbuf-limited" not in causes(scene, tap, sender="client")


@fires
@pytest.mark.parametrize("rtt_ms", [51.8, 74.2])
def test_the_tails_of_large_writes_on_a_beat_are_held_though_many_segments_are_out(
    scene: Scene, tap: Tap, rtt_ms: float
) -> None:
    """On the longer path an ACK comes a millisecond before each third write."""
    scene.client.congestion.cwnd = scene.client.congestion.initial = 400
    scene.handshake(rtt_ms=rtt_ms)
    scene.client_writes((0, 14_480), *((200 + 25.07 * i, 72_000) for i in range(20)), tso=12)
    found = [stall.cause for stall in scene.stalls("client", tap)]
    assert not {"pacing", "sndbuf-limited"} & set(found[len(found) // 2 :])
    assert share(scene, "nagle", tap, sender="client") > 0.3


@near_miss
def test_writes_of_whole_segments_leave_no_tail(scene: Scene, tap: Tap) -> None:
    scene.client.congestion.cwnd = scene.client.congestion.initial = 200
    scene.handshake(rtt_ms=40)
    scene.client_writes(*((27 * i, 40 * 1_448) for i in range(8)))
    assert "nagle" not in causes(scene, tap, sender="client")


@near_miss
def test_with_nodelay_both_writes_leave_at_once(scene: Scene, tap: Tap) -> None:
    scene.handshake(rtt_ms=20)
    scene.client_writes((0, 100), (0.1, 100), nodelay=True)
    assert causes(scene, tap, sender="client") == []


@look_alike
def test_the_single_byte_beyond_an_initial_window_is_not_held_by_nagle(scene: Scene, tap: Tap) -> None:
    scene.handshake(rtt_ms=20)
    scene.download(14_481)
    assert causes(scene, tap) == ["cwnd-limited"]


@fires
def test_on_a_short_path_whose_host_was_slow_to_open_an_ack_still_frees_what_follows_it(scene: Scene) -> None:
    scene.handshake(rtt_ms=0.9, timestamps=False)
    scene.path(rtt_ms=0.25)
    for _ in range(6):
        scene.server_sends(48)
        scene.wait_ms(40)
        scene.client_acks()
    scene.server_sends(48)
    assert set(causes(scene, "client")) <= {"nagle", "delayed-ack"}


@fires
def test_the_short_end_of_every_answer_that_waits_for_its_first_segments_is_held_by_rfc_896(scene: Scene) -> None:
    """Two writes of 2,000 bytes an answer: two whole segments leave, the rest once they are acknowledged."""
    scene.handshake(rtt_ms=20)
    for _ in range(8):
        scene.request()
        scene.server_sends(2_896)
        scene.client_acks()
        scene.server_sends(1_104)
        scene.client_acks()
    assert causes(scene, "server") == ["nagle"]


@near_miss
def test_a_silence_after_a_held_tail_is_the_applications(scene: Scene) -> None:
    """Writes of 2,000 bytes each 50 ms: the tail waits for an ACK, and what follows that waits for the next write."""
    scene.handshake(rtt_ms=20)
    scene.request()
    for _ in range(8):
        scene.server_sends(1_448)
        scene.client_acks()
        scene.server_sends(552)
        scene.wait_ms(50)
    lost = scene.lost_ms("server", "server")
    assert lost["nagle"] in between(100, 180)
    assert lost["app-limited"] in between(250, 400)


def answer_with_a_short_end(scene: Scene, *, after_acks: int) -> None:
    """Ten whole segments, acknowledged by five ACKs a millisecond apart, and 700 bytes once so many ACKs have come."""
    scene.request()
    start = scene.server.nxt - scene.server.isn - 1
    scene.server_sends(10 * 1_448)
    for ack in range(1, 6):
        scene.client_acks(upto=start + ack * 2 * 1_448)
        scene.wait_ms(1)
        if ack == after_acks:
            scene.server_sends(700)
    scene.wait_ms(60)
    scene.client_acks()


@fires
def test_the_short_end_of_a_write_that_let_four_acks_pass_is_held_by_rfc_896(scene: Scene) -> None:
    """Ten segments fill the first congestion window, and the first ACK opens it."""
    scene.handshake(rtt_ms=20)
    answer_with_a_short_end(scene, after_acks=5)
    assert causes(scene, "server")[0] == "nagle"


@fires
def test_the_short_end_of_a_write_let_pass_the_acks_that_opened_the_peers_window(scene: Scene) -> None:
    scene.handshake(rtt_ms=20, client_scale=0, client_window=10 * 1_448)
    answer_with_a_short_end(scene, after_acks=5)
    assert causes(scene, "server")[0] == "nagle"


@near_miss
def test_the_short_end_of_a_write_that_left_at_the_first_ack_waited_for_the_window(scene: Scene) -> None:
    scene.handshake(rtt_ms=20)
    answer_with_a_short_end(scene, after_acks=1)
    assert causes(scene, "server")[0] == "cwnd-limited"


@fires
def test_writes_on_a_beat_that_leave_as_whole_segments_are_held_by_rfc_896(scene: Scene) -> None:
    """2,500 bytes every 30 ms over 50 ms: one or two segments leave at each beat, the rest waits for the next write."""
    scene.handshake(rtt_ms=50)
    scene.request()
    scene.server_writes(*((30.0 * i, 2_500) for i in range(15)), nagle="rfc896", tso=1)
    assert share(scene, "nagle", "server") > 0.8


@near_miss
def test_writes_on_a_beat_whose_ends_leave_at_once_are_the_applications(scene: Scene) -> None:
    scene.handshake(rtt_ms=32)
    scene.request()
    scene.server_writes(*((30.0 * i, 2_500) for i in range(15)), nodelay=True, tso=1)
    assert share(scene, "app-limited", "server") > 0.8


@look_alike
def test_a_pace_below_two_segments_at_a_time_is_no_beat(scene: Scene) -> None:
    scene.handshake(rtt_ms=50)
    scene.download(60_000, pace=2_500 / 0.030, tso=1)
    assert "nagle" not in causes(scene, "server")


@fires
def test_the_end_of_each_write_after_which_the_writer_rests_is_held_by_rfc_896(scene: Scene, tap: Tap) -> None:
    """Two writes, 3,781 bytes, every 250 ms: flights alike, but a blocked writer would go on at the next ACK."""
    scene.handshake(rtt_ms=20)
    scene.request()
    writes = [(250.0 * i + late, size) for i in range(8) for late, size in ((0, 3_000), (1, 781))]
    scene.server_writes(*writes, nagle="rfc896", tso=1)
    assert set(causes(scene, tap)) == {"nagle", "app-limited"}


@fires
def test_the_end_of_a_write_that_only_the_next_write_took_along_is_held_by_rfc_896(scene: Scene, tap: Tap) -> None:
    """9,000 bytes leave six whole segments and a rest, which leave with the next write: the receiver's timer keeps one
    segment unacknowledged for longer than the writer rests."""
    scene.handshake(rtt_ms=10)
    scene.request()
    writes = [(150.0 * i + late, size) for i in range(9) for late, size in ((0, 9_000), (1, 759))]
    scene.server_writes(*writes, nagle="rfc896", tso=1, delayed_ack_ms=200)
    assert scene.lost_ms("server", tap)["nagle"] > 4 * 130


@near_miss
def test_a_write_whose_end_left_rests_without_nagle(scene: Scene, tap: Tap) -> None:
    scene.handshake(rtt_ms=10)
    scene.request()
    scene.server_writes(*((150.0 * i, 9_000) for i in range(9)), nodelay=True, tso=1, delayed_ack_ms=200)
    assert scene.lost_ms("server", tap)["nagle"] == 0


@look_alike
def test_an_ack_that_the_capture_lacks_is_not_the_next_one(scene: Scene) -> None:
    """The captures of some tools leave bare ACKs out; the next answer acknowledges the data that ended the silence."""
    scene.handshake(rtt_ms=0.2)
    for _ in range(3):
        scene.server_sends(53)
        scene.client_sends(41)
    scene.server_sends(63)
    scene.wait_ms(40)
    scene.client_acks()
    lacking = len(scene.packets("server"))
    scene.wait_ms(3_000)
    scene.server_sends(53)
    scene.client_sends(41)
    assert "nagle" not in causes(scene, "server", drop=[lacking])


def test_among_many_segments_the_next_ones_were_no_held_tail(scene: Scene) -> None:
    scene.handshake(rtt_ms=100)
    scene.download(200_000)
    scene.wait_ms(5)
    scene.server_sends(24)
    scene.server_sends(14 * 1_448, push=False)
    scene.wait_ms(40)
    scene.server_sends(2 * 1_448)
    assert "nagle" not in causes(scene, "server")


@look_alike
def test_segments_of_one_short_size_again_and_again_may_be_a_small_buffers(scene: Scene) -> None:
    scene.handshake(rtt_ms=20)
    scene.download(30 * 1_024, send_buffer=1_024)
    assert {row["confidence"] < 0.8 for row in scene.flow()["stalls"][3:] if row["cause"] == "nagle"} <= {True}


def confidences(scene: Scene, tap: Tap = "server") -> list[float]:
    """Confidences with which waits of the client are Nagle's."""
    rows = [row for row in scene.flow(tap)["stalls"] if row["sender"] == "client" and row["cause"] == "nagle"]
    return [row["confidence"] for row in rows]


@look_alike
@pytest.mark.parametrize("words", [0, 1_000])
def test_words_of_the_peer_that_cross_a_write_released_the_answer_to_them(scene: Scene, words: int) -> None:
    """The server speaks just before the client's write reaches it: its words and its ACK come before the answer."""
    scene.handshake(rtt_ms=50)
    before = scene.server.rcv_nxt
    scene.client_sends(800)
    heard = scene.server.heard_ns, scene.server.rcv_nxt
    if words:
        scene.server.heard_ns, scene.server.rcv_nxt = heard[0] - 200_000, before
        scene.server_sends(words)
    scene.server.heard_ns, scene.server.rcv_nxt = heard
    scene.server_acks()
    scene.client_sends(48)
    assert [confidence >= 0.8 for confidence in confidences(scene)] == [True] * (not words)
    last = scene.flow("server")["stalls"][-1]
    assert (last["cause"], last["also"]) == (("app-limited", ["nagle"]) if words else ("nagle", []))


@look_alike
def test_what_follows_the_peers_fin_is_the_applications_farewell(scene: Scene) -> None:
    scene.handshake(rtt_ms=50)
    scene.client_sends(800)
    scene.server_closes()
    scene.client_sends(42)
    assert confidences(scene) == []
    rows = [row for row in scene.flow("server")["stalls"] if row["sender"] == "client"]
    assert (rows[-1]["cause"], rows[-1]["detail"], rows[-1]["also"]) == ("app-limited", "awaiting-peer", ["nagle"])


def in_mid_life(scene: Scene, writes: tuple[int, ...], tap: Tap, *, largest: int = 1_300) -> list[float]:
    """Confidences of `nagle` where the capture begins after the handshake, so that the segment size is a guess.

    The client makes these writes at once, and a further one when they are acknowledged. Its `largest` segment is a
    guess of that size, unless it fills a packet of Ethernet.
    """
    scene.handshake(rtt_ms=20)
    for number in range(4):
        scene.server_sends(448)
        scene.client_acks()
        scene.client_sends(largest)
        scene.server_acks()
        for size in writes:
            scene.client_sends(size)
        scene.server_acks()
        scene.client_sends(308)
        scene.server_acks()
        scene.wait_ms(900 + 13 * number)
    rows = scene.flow(tap, drop=[1, 2, 3])["stalls"]
    return [row["confidence"] for row in rows if row["sender"] == "client" and row["cause"] == "nagle"]


@fires
def test_in_mid_life_one_short_write_out_holds_the_next_back(scene: Scene) -> None:
    assert in_mid_life(scene, (136,), "client") == [pytest.approx(0.85)] * 4


@near_miss
@pytest.mark.parametrize("writes", [(36, 100), (250, 250)])
def test_in_mid_life_two_short_writes_out_show_that_none_is_held_back(scene: Scene, writes: tuple[int, ...]) -> None:
    """Both together are shorter than any segment size."""
    assert in_mid_life(scene, writes, "client") == []


@look_alike
def test_in_mid_life_two_long_writes_out_may_be_whole_segments(scene: Scene) -> None:
    assert in_mid_life(scene, (400, 400), "client") == [pytest.approx(0.85)] * 4


@near_miss
def test_in_mid_life_two_long_writes_are_short_beside_a_segment_that_fills_ethernet(scene: Scene) -> None:
    assert in_mid_life(scene, (400, 400), "client", largest=1_448) == []


@look_alike
def test_in_mid_life_a_larger_short_write_is_no_whole_segment(scene: Scene) -> None:
    """Everything that this sender says is short: two of its messages leave together, twice."""
    scene.handshake(rtt_ms=20)
    for number in range(6):
        scene.client_sends(116)
        scene.server_acks()
        scene.client_sends(60)
        scene.server_acks()
        if number % 2:
            scene.client_sends(116)
            scene.client_sends(284)
            scene.server_acks()
        scene.wait_ms(900 + 13 * number)
    rows = scene.flow("client", drop=[1, 2, 3])["stalls"]
    assert all(row["confidence"] < 0.8 for row in rows if row["cause"] == "nagle")


@look_alike
def test_bursts_that_duplicate_acks_released_show_no_beat_of_writes(scene: Scene) -> None:
    """Each flight lacks its first segment, and duplicate ACKs release one segment or two (RFC 3042)."""
    scene.handshake(rtt_ms=20)
    scene.request()
    sent = 0
    for flight in range(8):
        scene.server_sends(1_448, lost=True)
        scene.server_sends((6 + flight % 3) * 1_448, tso=1)
        acked, sent = sent, sent + (7 + flight % 3) * 1_448
        scene.client_acks(upto=acked, sack=[(acked + 1_448, sent)])
        scene.server_sends((1 + flight % 2) * 1_448, tso=1)
        sent += (1 + flight % 2) * 1_448
        scene.server_repeats(acked, 1_448)
        scene.client_acks(upto=sent)
    scene.server_sends(700)
    assert "nagle" not in causes(scene, "server")


def ends_at_its_last_ack(scene: Scene, *, silent_ms: float) -> float:
    """Confidence in `nagle`, at the client's tap, of a short end that left alone, after a silence amid the write."""
    scene.handshake(rtt_ms=20)
    for _ in range(3):
        scene.request()
        scene.server_sends(3 * 1_448, push=False)
        scene.client_acks()
        scene.wait_ms(silent_ms)
        scene.server_sends(1_448, push=False)
        scene.client_acks()
        scene.server_sends(2 * 1_448, push=False)
        start = scene.server.nxt - scene.server.isn - 1
        scene.client_acks(upto=start - 1_448)
        scene.wait_ms(1)
        scene.client_acks()
        scene.server_sends(700)
        scene.client_acks()
    rows = [row for row in scene.flow("client", ipv6=True)["stalls"] if row["cause"] == "nagle"]
    return max((row["confidence"] for row in rows), default=0.0)


@near_miss
def test_the_end_of_a_write_after_a_timeout_may_have_waited_for_the_window(scene: Scene) -> None:
    """The tap sees a silence of a timer's time, and one segment: the window began again with that (RFC 5681 §3.1)."""
    assert ends_at_its_last_ack(scene, silent_ms=400) < 0.8


@near_miss
@pytest.mark.parametrize(("rtt_ms", "after_us", "sure"), [(0.4, 40, True), (0.4, 200, False), (0.1, 280, False)])
def test_what_left_long_after_the_ack_may_have_been_written_then(
    scene: Scene, rtt_ms: float, after_us: int, sure: bool
) -> None:
    scene.handshake(rtt_ms=rtt_ms)
    scene.request()
    scene.server_sends(76)
    scene.client_acks()
    scene.server.now_ns = scene.server.acts_ns() + 1_000 * after_us
    scene.server_sends(124)
    rows = [row for row in scene.flow("server")["stalls"] if row["sender"] == "server" and row["cause"] == "nagle"]
    assert [row["confidence"] >= 0.8 for row in rows] == [sure]
