"""`app-limited`: the application had nothing to send."""

import pytest

from tests.causes.triple import NOT_A_STALL_MS, SYNS, causes, fires, look_alike, near_miss, share
from tests.scene import Scene, Stall, between
from tests.scene.network import Tap


@fires
def test_an_application_that_writes_now_and_then_waits_for_itself(scene: Scene, tap: Tap) -> None:
    scene.handshake(rtt_ms=20)
    scene.request()
    scene.server_writes((0, 5_000), (100, 5_000), (200, 5_000))
    assert scene.stalls("server", tap, over_ms=NOT_A_STALL_MS) == [
        Stall("app-limited", between(98, 102)),
        Stall("app-limited", between(98, 102)),
    ]


@fires
def test_a_server_that_thinks_before_it_answers(scene: Scene, tap: Tap) -> None:
    scene.handshake(rtt_ms=20)
    scene.download(5_000, think_ms=300)
    assert scene.lost_ms("server", tap)["app-limited"] in between(295, 325)


@fires
def test_a_server_waits_for_its_request_and_then_thinks(scene: Scene, tap: Tap) -> None:
    scene.handshake(rtt_ms=20)
    scene.download(5_000)
    scene.wait_ms(7_000)
    scene.download(5_000, think_ms=800)
    rows = [row for row in scene.flow(tap)["stalls"] if row["sender"] == "server" and row["duration_ns"] > 5e8]
    assert [row["detail"] for row in rows] == ["awaiting-peer", "think-time"]
    waited, thought = (row["duration_ns"] / 1e6 for row in rows)
    assert waited in between(6_950, 7_050)
    assert thought in between(780, 830)
    assert rows[0]["end_ns"] == rows[1]["start_ns"]


@near_miss
def test_an_answer_at_once_leaves_only_the_round_trip_which_is_nobodys_fault(scene: Scene, tap: Tap) -> None:
    scene.handshake(rtt_ms=20)
    scene.download(5_000)
    scene.closes()
    assert scene.flow(tap)["time_ns"].get("app-limited", 0) / 1e6 < 1


@look_alike
def test_a_small_write_that_nagle_holds_was_written_in_time(scene: Scene, tap: Tap) -> None:
    scene.handshake(rtt_ms=20)
    scene.client_writes((0, 100), (0.1, 100))
    assert "app-limited" not in causes(scene, tap, sender="client")


@near_miss
@pytest.mark.parametrize("seen_at", ["client", "between"])
def test_a_server_cannot_think_about_a_request_that_was_lost(scene: Scene, seen_at: Tap) -> None:
    scene.handshake(rtt_ms=20)
    scene.download(5_000)
    scene.wait_ms(500)
    scene.client_sends(147, lost=True)
    for attempt in range(3):
        scene.wait_ms(300 << attempt)
        scene.client_repeats(147, 147, lost=attempt < 2)
    scene.server_acks()
    scene.wait_ms(50)
    scene.server_transfers(5_000)
    rows = scene.flow(seen_at)["stalls"]
    thinking = [row for row in rows if (row["detail"], row["sender"]) == ("think-time", "server")]
    assert thinking[-1]["duration_ns"] / 1e6 in between(45, 80)


@near_miss
def test_away_from_a_lossy_sender_a_long_silence_is_hardly_sure_to_be_idle(scene: Scene) -> None:
    scene.handshake(rtt_ms=20)
    scene.download(60_000, lose=(30_000,))
    scene.wait_ms(3_000)
    scene.server_transfers(5_000)
    by_tap = {tap: max(scene.flow(tap)["stalls"], key=lambda row: row["duration_ns"]) for tap in ("server", "client")}
    assert {row["cause"] for row in by_tap.values()} == {"app-limited"}
    assert by_tap["client"]["confidence"] < 0.9 <= by_tap["server"]["confidence"]


def behind_a_full_window(scene: Scene, *, shut_ms: float, silent_ms: float) -> list[float]:
    """Confidence that the application waited, after a full window of `shut_ms` and a silence of `silent_ms`."""
    scene.handshake(rtt_ms=20, client_scale=0, client_window=3_000)
    scene.client_sends(147)
    scene.server_sends(2 * 1_448)
    scene.wait_ms(shut_ms)
    scene.client_acks(window=20_000)
    scene.wait_ms(silent_ms)
    scene.server_sends(4 * 1_448)
    rows = [row for row in scene.flow("server")["stalls"] if row["sender"] == "server" and row["duration_ns"] > 50e6]
    assert [row["cause"] for row in rows] == ["app-limited"]
    return [row["confidence"] for row in rows]


@look_alike
def test_a_little_silence_after_a_long_full_window_is_hardly_the_applications(scene: Scene) -> None:
    assert max(behind_a_full_window(scene, shut_ms=100, silent_ms=30)) <= 0.6


@fires
def test_a_long_silence_after_a_full_window_is_the_applications(scene: Scene) -> None:
    assert min(behind_a_full_window(scene, shut_ms=30, silent_ms=300)) >= 0.9


@fires
def test_the_first_answer_of_a_capture_that_began_in_mid_life_was_thought_about(scene: Scene) -> None:
    scene.handshake(rtt_ms=20)
    scene.request()
    scene.wait_ms(3_000)
    scene.server_sends(1_000)
    (row,) = (row for row in scene.flow("server", drop=range(1, 4))["stalls"] if row["sender"] == "server")
    assert row["cause"] == "app-limited"
    assert row["duration_ns"] / 1e6 in between(2_980, 3_010)
    assert row["confidence"] < 0.8


@fires
def test_the_first_words_of_a_client_in_mid_life_answer_what_came_before(scene: Scene) -> None:
    scene.handshake(rtt_ms=20)
    scene.server_sends(124)
    scene.client_acks()
    scene.wait_ms(10_000)
    scene.client_sends(36)
    scene.server_acks()
    assert scene.lost_ms("client", drop=[1, 2, 3])["app-limited"] > 9_900


@fires
def test_a_silence_longer_than_any_path_is_idle_wherever_the_tap_was(scene: Scene) -> None:
    scene.handshake(rtt_ms=300, timestamps=False)
    scene.client_sends(45)
    scene.server_acks()
    scene.wait_ms(4_000)
    scene.client_sends(399)
    scene.server_sends(358)
    scene.wait_ms(26)
    scene.client_sends(344)
    scene.server_acks()
    row, *_ = (row for row in scene.flow("client", drop=range(1, 4))["stalls"] if row["sender"] == "client")
    assert row["cause"] == "app-limited"


@fires
def test_a_clock_that_runs_slow_makes_no_writer_next_to_the_tap_unexplained(scene: Scene) -> None:
    """Some hosts' TSvals advance 97 times in 100 ms: nothing holds its segments before its own tap."""
    scene.server.tick_ns = 1_030_000
    scene.handshake(rtt_ms=20)
    for _ in range(60):
        scene.client_sends(100)
        scene.server_sends(300)
        scene.wait_ms(30)
        scene.server_sends(200)
        scene.client_acks()
        scene.wait_ms(40)
    assert causes(scene, "server") == ["app-limited"]


@pytest.mark.parametrize("answered", [True, False])
def test_a_keep_alive_at_the_beginning_of_a_capture_is_no_data(scene: Scene, answered: bool) -> None:
    scene.handshake(rtt_ms=20)
    scene.server_sends(1, push=False)
    for _ in range(4):
        if answered:
            scene.client_acks(upto=1)
        scene.wait_ms(45_000)
        scene.server_repeats(0, 1)
    flow = scene.flow("client", drop=SYNS)
    assert flow["directions"]["server"]["bytes"] == flow["directions"]["server"]["retransmitted_bytes"] == 0
    assert "retransmission" not in causes(scene, "client", drop=SYNS)


def test_after_its_own_reset_nobody_waits(scene: Scene) -> None:
    scene.handshake(rtt_ms=20)
    scene.download(5_000)
    scene.server_sends(31, lost=True)
    scene.wait_ms(300)
    scene.server_repeats(5_000, 31, lost=True)
    scene.wait_ms(700)
    scene.server_resets()
    for _ in range(5):
        scene.wait_ms(10_000)
        scene.client_sends(100)
    assert scene.lost_ms("server", "server")["retransmission"] in between(950, 1_100)


@look_alike
def test_bursts_that_duplicate_acks_released_show_no_beat(scene: Scene) -> None:
    """In recovery each duplicate ACK releases data, as far apart as the ACKs release it later."""
    scene.handshake(rtt_ms=20)
    scene.request()
    scene.server_sends(1_448, lost=True)
    scene.server_sends(9 * 1_448, tso=1)
    for round_trip in range(4):
        scene.client_acks(upto=0, sack=[(1_448, (10 + 2 * round_trip) * 1_448)])
        scene.server_sends(2 * 1_448, tso=1)
    scene.server_repeats(0, 1_448)
    for flight in range(6):
        scene.client_acks(upto=18 * 1_448 + flight * 20_000)
        scene.server_sends(20_000, tso=1)
    scene.client_acks(upto=18 * 1_448 + 6 * 20_000)
    assert "app-limited" not in causes(scene)


@fires
def test_a_beat_of_ten_seconds_is_no_path_of_ten_seconds(scene: Scene) -> None:
    scene.handshake(rtt_ms=150)
    for _ in range(8):
        scene.server_sends(700)
        scene.client_acks()
        scene.wait_ms(9_850)
    flow = scene.flow("server", drop=SYNS)
    assert flow["vantage"]["side"] != "client"
    assert causes(scene, "server", drop=SYNS) == ["app-limited"]


@pytest.mark.parametrize(("after_ms", "sure"), [(40, True), (206, False)], ids=["sooner", "the-timer"])
@look_alike
def test_new_data_at_the_time_of_the_probe_timer_shows_no_idle_application(
    scene: Scene, after_ms: float, sure: bool
) -> None:
    """The receiver's host drops the first data behind the tap; a probe carries new data (RFC 8985 §7.3)."""
    scene.handshake(rtt_ms=2)
    scene.client_sends(20)
    scene.wait_ms(after_ms)
    scene.client_sends(185)
    scene.server_acks(upto=0, sack=((20, 205),))
    scene.client_repeats(0, 20)
    scene.server_acks()
    rows = [row for row in scene.flow("server")["stalls"] if row["duration_ns"] >= 20e6]
    assert [(row["cause"], row["confidence"] >= 0.8) for row in rows if row["cause"] == "app-limited"] in (
        [("app-limited", sure)],
        [] if not sure else None,
    )


def talks_into_an_upload(scene: Scene, segments: int, *, then: int, after_ms: float) -> str:
    """Cause of the client's wait of over 10 ms after an upload into which the server says something."""
    scene.handshake(rtt_ms=60)
    scene.client_sends(200)
    scene.server_sends(4_000)
    scene.client_acks()
    scene.wait_ms(500)
    before = scene.server.rcv_nxt
    start = scene.client.acts_ns()
    for _ in range(segments):
        scene.client_sends(1_448, push=False)
    heard = scene.server.heard_ns, scene.server.rcv_nxt
    scene.server.heard_ns, scene.server.rcv_nxt, scene.server.now_ns = start + 1_000_000, before, start
    scene.server_sends(300)
    scene.server.heard_ns, scene.server.rcv_nxt = heard
    scene.server_acks()
    scene.wait_ms(after_ms)
    for _ in range(4):
        scene.client_sends(then, push=False)
    rows = scene.flow("client")["stalls"]
    *_, last = [row["cause"] for row in rows if row["sender"] == "client" and row["duration_ns"] > 10e6]
    return str(last)


@near_miss
def test_an_upload_that_its_ack_lets_go_on_does_not_answer_what_the_peer_said_meanwhile(scene: Scene) -> None:
    assert talks_into_an_upload(scene, 10, then=1_448, after_ms=0) != "app-limited"


@look_alike
@pytest.mark.parametrize(
    ("segments", "then", "after_ms"),
    [(10, 1_448, 40), (2, 1_448, 0), (10, 200, 0)],
    ids=["later", "a-request", "an-answer"],
)
def test_what_may_answer_the_peer_is_the_applications(scene: Scene, segments: int, then: int, after_ms: float) -> None:
    assert talks_into_an_upload(scene, segments, then=then, after_ms=after_ms) == "app-limited"


def pause_with(scene: Scene, last: int) -> float:
    """Confidence that the application waits, with two writes in flight, the last of them so long."""
    scene.handshake(rtt_ms=20)
    scene.request()
    scene.server_sends(2_348)
    scene.wait_ms(4)
    scene.server_sends(last)
    scene.wait_ms(9)
    scene.server_sends(1_000)
    rows = [row for row in scene.flow("server")["stalls"] if row["evidence"]["in_flight_bytes"] == 2_348 + last]
    (confidence,) = (float(row["confidence"]) for row in rows if row["cause"] == "app-limited")
    return confidence


@look_alike
def test_a_flight_of_whole_segments_to_the_byte_may_fill_a_window_that_counts_bytes(scene: Scene) -> None:
    """RFC 5681 §2: the congestion window counts bytes, and may cut the last segment."""
    assert pause_with(scene, 548) < 0.8


@near_miss
def test_a_flight_of_a_byte_more_fills_no_such_window(scene: Scene) -> None:
    assert pause_with(scene, 549) >= 0.8


@near_miss
@pytest.mark.parametrize(("late_ms", "sure"), [(1.5, False), (8, True)])
def test_a_host_may_be_a_little_late_to_answer_the_ack_of_whole_segments(
    scene: Scene, late_ms: float, sure: bool
) -> None:
    scene.handshake(rtt_ms=20)
    scene.request()
    scene.server_sends(2 * 1_448)
    scene.client_acks()
    scene.wait_ms(10 + late_ms)
    scene.server_sends(3_000)
    rows = [row for row in scene.flow("server")["stalls"] if row["evidence"]["in_flight_bytes"] == 2 * 1_448]
    assert [(row["cause"], row["confidence"] >= 0.8) for row in rows[:1]] == [("app-limited", sure)]


@fires
def test_a_tap_whose_clock_goes_forward_leaves_the_pauses_after_that_to_the_application(scene: Scene) -> None:
    """As that of a virtual machine after a sleep: the stamps of both ends lack three seconds, nothing was queued."""
    scene.handshake(rtt_ms=20)
    for number in range(20):
        scene.client_sends(26)
        scene.server_acks()
        scene.wait_ms(1_000)
        if number == 9:
            scene.wait_ms(3_000)
            scene.client.clock_ms -= 3_000
            scene.server.clock_ms -= 3_000
    labels = [row["cause"] for row in scene.flow("server")["stalls"] if row["sender"] == "client"]
    assert labels[-8:] == ["app-limited"] * 8


@fires
def test_short_writes_a_little_further_apart_than_a_round_trip_wait_for_no_ack(scene: Scene, tap: Tap) -> None:
    """Each comes 0.9 ms after the ACK of the one before, on a path of 5.2 ms."""
    scene.handshake(rtt_ms=5.2)
    scene.request()
    scene.server_writes(*((6.1 * i, 800) for i in range(40)))
    assert share(scene, "app-limited", tap) > 0.9


def messages(scene: Scene, *, answered: bool) -> set[str]:
    """Causes of flights of one size, each before the end of the last is acknowledged: at an answer, or at an ACK."""
    scene.handshake(rtt_ms=12, client_window=65_535)
    scene.client_sends(147)
    for _ in range(10):
        scene.server_sends(40_019, tso=1)
        begin, left = scene.client.acts_ns(), scene.client.rcv_nxt
        scene.client.rcv_nxt = left - 2_019
        if answered:
            scene.client_sends(2_000)
        else:
            scene.client_acks(upto=left - 2_019 - scene.server.isn - 1)
        heard = scene.server.heard_ns
        scene.client.now_ns = scene.client.heard_ns = begin + 12_000
        scene.client_acks(upto=left - scene.server.isn - 1)
        scene.client.rcv_nxt, scene.server.heard_ns = left, heard
    rows = scene.flow("server")["stalls"]
    return {row["cause"] for row in rows[4:-1] if row["sender"] == "server" and row["confidence"] >= 0.6}


@look_alike
def test_messages_that_answer_messages_fill_no_buffer(scene: Scene) -> None:
    assert messages(scene, answered=True) == {"app-limited"}


@near_miss
def test_flights_of_one_size_without_an_answer_may_fill_one(scene: Scene) -> None:
    assert messages(scene, answered=False) == {"sndbuf-limited"}


@near_miss
@pytest.mark.parametrize(("push", "sure"), [(False, False), (True, True)])
def test_a_window_filled_in_mid_write_may_have_opened_late_on_a_path_that_jitters(
    scene: Scene, push: bool, sure: bool
) -> None:
    scene.handshake(rtt_ms=1)
    scene.request()
    scene.server_sends(10 * 1_448, push=push)
    scene.client_acks()
    scene.server.now_ns = scene.server.acts_ns() + 8_000_000
    scene.server_sends(2 * 1_448)
    rows = [row for row in scene.flow("client")["stalls"] if row["sender"] == "server" and row["duration_ns"] > 7e6]
    assert [(row["cause"], row["confidence"] >= 0.8) for row in rows] == [("app-limited", sure)]


@fires
def test_writes_on_a_beat_a_little_longer_than_the_round_trip_wait_for_no_buffer(scene: Scene, tap: Tap) -> None:
    """All is acknowledged a millisecond before each write: a writer that a buffer blocked wakes while data is out."""
    scene.handshake(rtt_ms=8)
    scene.request()
    scene.server_writes(*((9.2 * i, 11_000) for i in range(40)))
    assert share(scene, "app-limited", tap) > 0.8
    found = [row["confidence"] for row in scene.flow(tap)["stalls"] if row["cause"] == "app-limited"]
    assert sorted(found)[-2] < 0.8
