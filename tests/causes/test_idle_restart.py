"""`idle-restart`: an idle period had lowered the congestion window."""

from itertools import accumulate, pairwise

from tests.causes.triple import NOT_A_STALL_MS, causes, fires, look_alike, near_miss
from tests.scene import Scene, Stall, between
from tests.scene.network import Tap


@fires
def test_three_idle_seconds_send_a_grown_connection_back_to_ten_segments(scene: Scene, tap: Tap) -> None:
    scene.handshake(rtt_ms=20)
    scene.download(250_000)
    scene.wait_ms(3_000)
    scene.download(250_000)
    stalls = scene.stalls("server", tap, over_ms=NOT_A_STALL_MS)
    idle = next(i for i, stall in enumerate(stalls) if stall.cause == "app-limited")
    assert stalls[idle + 1] == Stall("idle-restart", between(19, 21))


@fires
def test_the_acks_of_an_answer_s_end_have_grown_the_window_that_an_idle_lowers(scene: Scene, tap: Tap) -> None:
    """Ten segments and seven leave a window of 27, which halves to 13."""
    scene.handshake(rtt_ms=20)
    for _ in range(2):
        scene.download(24_000)
        scene.wait_ms(320)
    *_, restarted = (row for row in scene.flow(tap)["stalls"] if row["evidence"]["in_flight_segments"] == 13)
    assert restarted["cause"] == "idle-restart"
    assert restarted["evidence"]["cwnd_before_idle_segments"] == 27


@near_miss
def test_an_idle_shorter_than_the_retransmission_timer_restarts_nothing(scene: Scene, tap: Tap) -> None:
    scene.handshake(rtt_ms=20)
    scene.download(250_000)
    scene.wait_ms(120)
    scene.download(250_000)
    assert scene.lost_ms("server", tap)["idle-restart"] == 0


@look_alike
def test_a_sender_that_keeps_its_window_over_the_idle_is_not_restarted(scene: Scene, tap: Tap) -> None:
    scene.handshake(rtt_ms=20)
    scene.download(250_000)
    scene.wait_ms(3_000)
    scene.download(250_000, slow_start_after_idle=False)
    assert scene.lost_ms("server", tap)["idle-restart"] == 0
    assert scene.lost_ms("server", tap)["app-limited"] in between(2_975, 3_045)


@look_alike
def test_a_window_that_a_timeout_left_below_the_restart_window_was_not_restarted(scene: Scene, tap: Tap) -> None:
    """An idle period leaves the initial window at least (RFC 5681 §4.1): three segments are what the loss left."""
    scene.handshake(rtt_ms=16)
    scene.client_sends(147)
    for flight in (10, 15, 22):
        scene.server_sends(flight * 1_448, tso=1, push=False)
        scene.client_acks()
    left = scene.server.nxt - scene.server.isn - 1
    scene.server_sends(1_448, push=False)
    scene.server_sends(3 * 1_448, tso=1, lost=True)
    scene.wait_ms(230)
    scene.server_repeats(left, 1_448, lost=True)
    scene.client_acks(upto=left + 1_448)
    for piece in (1, 2, 3):
        scene.server_repeats(left + piece * 1_448, 1_448)
    scene.client_acks()
    scene.wait_ms(4_000)
    for flight in (3, 3, 4, 4, 5, 5, 6):
        scene.server_sends(flight * 1_448, tso=1, push=False)
        scene.client_acks()
    assert scene.lost_ms("server", tap)["idle-restart"] == 0
    assert causes(scene, "server")[-1] == "cwnd-limited"


@look_alike
def test_a_restarted_window_is_unsure_once_a_queue_stands(scene: Scene) -> None:
    """On a slow path the restarted window fills the path after two waits: then ACKs take two base round trips."""
    scene.handshake(rtt_ms=20)
    scene.path(rtt_ms=20, server_mbit=2)
    scene.download(250_000)
    scene.wait_ms(3_000)
    scene.download(250_000)
    rows = [row for row in scene.flow("server")["stalls"] if row["cause"] == "idle-restart"]
    assert [row["confidence"] > 0.9 for row in rows] == [True, True] + [False] * (len(rows) - 2)
    assert len(rows) > 3


def exchanges(scene: Scene, *first_bursts: int) -> list[str]:
    """Causes of the server's waits after the first bursts of exchanges, which an ACK continues after idle periods."""
    scene.handshake(rtt_ms=150)
    scene.download(21_720)
    for segments in first_bursts:
        scene.wait_ms(300)
        scene.request()
        acked = scene.server.nxt - scene.server.isn - 1 + (segments - 2) * 1_448
        scene.server_sends(segments * 1_448)
        scene.client_acks(upto=acked)
        scene.server_sends(4 * 1_448)
        scene.client_acks(upto=acked + 2 * 1_448)
        scene.client_acks()
    found = [stall.cause for stall in scene.stalls("server", "server", over_ms=NOT_A_STALL_MS)]
    return [cause for cause in found[1:] if cause != "app-limited"]


@fires
def test_first_bursts_cut_alike_after_idle_periods_show_the_restarted_window(scene: Scene) -> None:
    """By the model an idle period leaves twelve segments each second time, but the first burst is always of ten."""
    assert exchanges(scene, *[10] * 8) == ["idle-restart"] * 8


@near_miss
def test_first_bursts_of_other_sizes_show_none(scene: Scene) -> None:
    assert "idle-restart" not in exchanges(scene, 6, 8, 7, 5, 8, 6, 7, 5)


@look_alike
def test_flights_below_the_restarted_window_were_not_restarted(scene: Scene) -> None:
    """Three segments at a time, where an idle period leaves ten: something else lowered the window."""
    scene.handshake(rtt_ms=20)
    scene.download(150_000)
    scene.wait_ms(3_000)
    scene.request()
    for _ in range(6):
        scene.server_sends(3 * 1_448, tso=3)
        scene.client_acks()
    assert "idle-restart" not in causes(scene, "server")


def restarted(scene: Scene, *, before: int, segments: int) -> list[tuple[str, bool]]:
    """Answers of some size, an idle period, and a flight of so many segments: (cause, sure) of the wait for its ACK."""
    scene.handshake(rtt_ms=20)
    for _ in range(3):
        scene.request()
        scene.server_sends(before, tso=1)
        scene.client_acks()
        scene.wait_ms(100)
    scene.wait_ms(1_400)
    scene.request()
    scene.server_sends(segments * 1_448, tso=1, push=False)
    scene.client_acks()
    scene.server_sends(8 * 1_448, tso=1)
    scene.client_acks()
    rows = scene.flow("server")["stalls"]
    return [(row["cause"], row["confidence"] >= 0.8) for row in rows if "cwnd_after_idle_segments" in row["evidence"]]


@fires
def test_a_flight_of_the_restarted_window_is_held_by_it(scene: Scene) -> None:
    assert ("idle-restart", True) in restarted(scene, before=20_000, segments=10)


@near_miss
def test_a_flight_larger_than_the_restarted_window_and_all_before_it_shows_no_restart(scene: Scene) -> None:
    found = restarted(scene, before=12_000, segments=12)
    assert "idle-restart" not in dict(found)
    # By the model the sender climbs back all the same.
    assert ("cwnd-limited", False) in found
    assert ("cwnd-limited", True) not in found


@near_miss
def test_a_flight_larger_than_the_restarted_window_but_not_than_all_before_it_may_be_of_a_climb(scene: Scene) -> None:
    assert "idle-restart" in dict(restarted(scene, before=20_000, segments=12))


@look_alike
def test_far_from_the_sender_a_silence_of_a_third_of_a_round_trip_is_no_lowered_windows(scene: Scene) -> None:
    """Ten segments are what the idle period left, but the next came sooner than any ACK could have let them go."""
    scene.handshake(rtt_ms=20)
    scene.download(150_000)
    scene.wait_ms(1_400)
    scene.request()
    scene.server_sends(10 * 1_448, tso=1, push=False)
    scene.wait_ms(7)
    scene.server_sends(8 * 1_448, tso=1)
    scene.client_acks()
    assert "idle-restart" not in causes(scene, "client")


def uploads(scene: Scene, size: int) -> list[str]:
    """Short writes, whose ACKs leave a window of twelve segments, and after an idle period so many bytes."""
    scene.handshake(rtt_ms=6, timestamps=False)
    scene.client_sends(250)
    scene.server_sends(250)
    scene.server_acks()
    scene.client_acks()
    ends = list(accumulate((51, 87, 1_382, 935, 38, 38), initial=250))
    for start, end in pairwise(ends):
        scene.client_sends(end - start)
    for end in ends[1:]:
        scene.server_acks(upto=end)
    scene.wait_ms(2_600)
    scene.server_sends(218)
    scene.client_acks()
    scene.client_sends(size, tso=13)
    scene.server_acks(upto=ends[-1] + 1_448)
    scene.client_sends(2 * 1_448, push=False, tso=2)
    scene.server_acks()
    return causes(scene, "client", sender="client")


@near_miss
def test_what_is_below_the_old_window_may_be_the_lowered_one(scene: Scene) -> None:
    assert "idle-restart" in uploads(scene, 10 * 1_448)


@look_alike
def test_a_flight_no_smaller_than_the_old_window_is_no_lowered_one(scene: Scene) -> None:
    """Slow start from the beginning of the connection would allow as much."""
    found = uploads(scene, 13 * 1_448)
    assert "idle-restart" not in found
    assert "cwnd-limited" in found


def after_silence(scene: Scene, *, silence_ms: float, segments: int = 10) -> list[str]:
    """Causes where flights of 10 and 20 segments come before a silence, and so many amid a write after it."""
    scene.handshake(rtt_ms=20)
    scene.client_sends(147)
    for flight, push in ((10, False), (20, True)):
        scene.server_sends(flight * 1_448, tso=1, push=push)
        scene.client_acks()
    scene.wait_ms(silence_ms)
    scene.server_sends(segments * 1_448, tso=1, push=False)
    scene.client_acks()
    scene.server_sends(4 * 1_448, tso=1)
    scene.client_acks()
    return causes(scene, "server")


@fires
def test_a_burst_cut_at_the_initial_window_after_an_idle_is_a_restart_whatever_the_old_window(scene: Scene) -> None:
    """RFC 5681 §4.1: FreeBSD restarts at ten segments, where Linux would halve the window of thirty once."""
    assert "idle-restart" in after_silence(scene, silence_ms=400)


@near_miss
def test_a_burst_cut_at_the_initial_window_after_a_shorter_silence_is_no_restart(scene: Scene) -> None:
    assert "idle-restart" not in after_silence(scene, silence_ms=150)


@near_miss
def test_a_burst_cut_at_another_size_after_an_idle_is_no_restart(scene: Scene) -> None:
    assert "idle-restart" not in after_silence(scene, silence_ms=400, segments=8)


def goes_on(scene: Scene, tap: Tap, *flights: int, last: int) -> list[str]:
    """The server's write goes on by flights of so many segments, the last of which ends it: causes after the idle."""
    for flight in flights:
        scene.server_sends(flight * 1_448, tso=1, push=False)
        scene.client_acks()
    scene.server_sends(last * 1_448, tso=1)
    scene.client_acks()
    found = causes(scene, tap)
    return found[found.index("app-limited") + 1 :]


def slow_growth(scene: Scene, *after: int) -> list[str]:
    """Causes after an idle of one timeout, where each ACK lets the window grow by a segment, whatever it covers."""
    scene.handshake(rtt_ms=50)
    scene.client_sends(147)
    for flight in (4, 6, 9, 13, 19):
        scene.server_sends(flight * 1_448, tso=1, push=flight == 19)
        scene.client_acks()
    scene.wait_ms(350)
    return goes_on(scene, "server", *after, last=2)


@fires
def test_an_idle_halves_a_window_that_grew_more_slowly_than_modelled(scene: Scene) -> None:
    """The model halves 38 segments; Linux up to 3.12 had counted 19, one for each ACK."""
    assert slow_growth(scene, 9, 10, 11, 12) == ["idle-restart"]


@near_miss
def test_no_idle_leaves_less_than_the_initial_window_that_the_flow_has_shown(scene: Scene) -> None:
    assert "idle-restart" not in slow_growth(scene, 3, 4, 5, 6)


def after_a_split_train(scene: Scene, segments: int) -> list[str]:
    """Causes at the client after an idle: so many segments follow, and the first one's ACK leaves before the rest."""
    scene.handshake(rtt_ms=20)
    scene.download(250_000)
    scene.wait_ms(3_000)
    scene.request()
    left = scene.server.nxt - scene.server.isn - 1
    scene.server_sends(segments * 1_448, tso=1, push=False)
    scene.client_acks(upto=left + 1_448)
    scene.wait_ms(1)
    scene.client_acks()
    return goes_on(scene, "client", 20, 40, last=10)


@fires
def test_far_from_the_sender_a_first_ack_apart_from_the_others_hides_no_restart(scene: Scene) -> None:
    """It seems to have let nothing go, so that fewer segments than any idle period leaves had held the sender."""
    assert after_a_split_train(scene, 10) == ["idle-restart"]


@near_miss
def test_far_from_the_sender_fewer_segments_than_any_idle_leaves_show_none(scene: Scene) -> None:
    assert "idle-restart" not in after_a_split_train(scene, 8)
