"""`rwnd-limited`: the receive window was full."""

from itertools import pairwise
from pathlib import Path

from tests.causes.triple import NOT_A_STALL_MS, SYNS, causes, fires, look_alike, near_miss, share
from tests.scene import Reader, Scene, Stall, between
from tests.scene.network import Tap
from tests.scene.verdict import flows_of


@fires
def test_a_small_receive_buffer_binds_every_round(scene: Scene, tap: Tap) -> None:
    scene.handshake(rtt_ms=20, client_scale=0, client_window=8_688)
    scene.download(100_000, reader=Reader(buffer=8_688))
    assert causes(scene, tap) == ["rwnd-limited"]


@fires
def test_a_rest_of_the_window_below_a_segment_is_a_full_window(scene: Scene, tap: Tap) -> None:
    scene.server.congestion.cwnd = scene.server.congestion.initial = 100
    scene.handshake(rtt_ms=20, client_scale=0, client_window=64_256)
    scene.download(100_000, reader=Reader(buffer=64_256))
    first = scene.stalls("server", tap, over_ms=NOT_A_STALL_MS)[0]
    assert first == Stall("rwnd-limited", between(19, 21))


@fires
def test_a_window_that_clocks_a_sender_whose_stamps_lose_time_is_no_queue(scene: Scene, tap: Tap) -> None:
    """Darwin's clock loses a part of each millisecond: its segments echo the ACK before them, so nothing held them."""
    scene.server.tick_ns = 1_008_000
    scene.handshake(rtt_ms=20, client_scale=0, client_window=2_896)
    scene.download(400_000, reader=Reader(buffer=2_896))
    assert causes(scene, tap) == ["rwnd-limited"]


RECEIVER, SENDER = "10.0.0.2.40000", "10.0.0.1.80"


def after_an_unseen_ack(folder: Path, window: int) -> str:
    """Cause of the last wait of a response, at the receiver: after byte 17,129, until more data comes, without any ACK.

    The ACK before it gave a window of so many bytes from byte 1,449 on.
    """
    said = [
        (0.0, RECEIVER, "[S]", "seq 0, win 64240, options [mss 1460,sackOK,TS val 340 ecr 0,nop,wscale 0]", 0),
        (10.0, SENDER, "[S.]", "seq 0, ack 1, win 65160, options [mss 1460,sackOK,TS val 54 ecr 340,nop,wscale 0]", 0),
        (10.1, RECEIVER, "[P.]", "seq 1:148, ack 1, win 64240, options [nop,nop,TS val 350 ecr 54]", 147),
        (20.3, SENDER, "[P.]", "seq 1:1449, ack 148, win 65160, options [nop,nop,TS val 64 ecr 350]", 1_448),
        (20.4, RECEIVER, "[.]", "ack 1449, win 7240, options [nop,nop,TS val 360 ecr 64]", 0),
        (25.2, RECEIVER, "[.]", f"ack 1449, win {window}, options [nop,nop,TS val 365 ecr 64]", 0),
        (30.5, SENDER, "[P.]", "seq 1449:8689, ack 148, win 65160, options [nop,nop,TS val 74 ecr 360]", 7_240),
        (35.3, SENDER, "[P.]", "seq 8689:17129, ack 148, win 65160, options [nop,nop,TS val 79 ecr 365]", 8_440),
        (40.1, RECEIVER, "[.]", f"ack 17129, win {window}, options [nop,nop,TS val 380 ecr 79]", 0),
        (40.6, SENDER, "[P.]", "seq 17129:21473, ack 148, win 65160, options [nop,nop,TS val 84 ecr 370]", 4_344),
    ]
    path = folder / "unseen-ack.txt"
    lines = (
        f"10:00:00.{at_ms * 1_000:06.0f} IP {one} > {SENDER if one == RECEIVER else RECEIVER}: "
        f"Flags {flags}, {rest}, length {length}\n"
        for at_ms, one, flags, rest, length in said
    )
    path.write_text("".join(lines))
    (flow,) = flows_of(path)
    return str([row["cause"] for row in flow["stalls"] if row["sender"] == "server"][-1])


@fires
def test_data_beyond_the_window_shows_an_ack_that_the_capture_lacks(tmp_path: Path) -> None:
    assert after_an_unseen_ack(tmp_path, window=15_680) == "rwnd-limited"


@near_miss
def test_data_within_the_window_shows_no_such_ack(tmp_path: Path) -> None:
    assert after_an_unseen_ack(tmp_path, window=60_000) != "rwnd-limited"


@near_miss
def test_a_window_with_a_segment_to_spare_did_not_stop_the_sender(scene: Scene, tap: Tap) -> None:
    scene.handshake(rtt_ms=20, client_scale=0, client_window=14_480 + 3 * 1_448)
    scene.download(20_000, reader=Reader(buffer=14_480 + 3 * 1_448))
    assert causes(scene, tap) == ["cwnd-limited"]


@look_alike
def test_a_flight_that_a_send_buffer_holds_flat_is_not_the_windows_fault(scene: Scene, tap: Tap) -> None:
    scene.handshake(rtt_ms=20)
    scene.download(400_000, tso=1, send_buffer=20_000, reader=Reader(buffer=65_536))
    assert share(scene, "rwnd-limited", tap) < 0.05


@look_alike
def test_the_window_of_a_multipath_connection_is_not_the_subflows_own(scene: Scene) -> None:
    scene.handshake(rtt_ms=20, client_scale=0, client_window=8_688)
    scene.download(100_000, reader=Reader(buffer=8_688))
    path = scene.capture(kind="text")
    path.write_text(path.read_text().replace("options [mss", "options [mptcp capable v1,mss"))
    (flow,) = flows_of(path)
    rows = [row for row in flow["stalls"] if row["cause"] == "rwnd-limited"]
    assert "mptcp" in flow["notes"]
    assert rows
    assert all(row["confidence"] < 0.9 and "other subflows" in row["missing"][0] for row in rows)


def ledger(scene: Scene, buffer: int) -> dict[str, int]:
    """A transfer whose bottleneck spreads the flight over the round trip: no pause is long enough for a stall."""
    scene.handshake(rtt_ms=36, client_scale=7, client_window=buffer)
    scene.path(rtt_ms=36, server_mbit=5)
    scene.download(600_000, reader=Reader(buffer=buffer), ack_every=1)
    times: dict[str, int] = scene.flow("server")["time_ns"]
    return times


def test_a_sender_that_the_window_clocks_without_a_pause_is_limited_by_it_in_the_ledger(scene: Scene) -> None:
    times = ledger(scene, 20_000)
    assert times["rwnd-limited"] > 0.5 * sum(times.values()), times


def test_a_window_that_is_never_full_takes_no_time_in_the_ledger(scene: Scene) -> None:
    assert ledger(scene, 400_000).get("rwnd-limited", 0) == 0


@fires
def test_without_its_handshake_a_window_that_holds_no_segment_is_waited_for(scene: Scene, tap: Tap) -> None:
    scene.handshake(rtt_ms=4, mss=1_024, client_scale=None, client_window=1_418, timestamps=False)
    for window, widened in ((394, 1_866), (842, 1_418), (394, 1_900), (876, 1_866), (842, 1_418)):
        scene.server_sends(1_024)
        scene.client_acks(window=window)
        scene.wait_ms(700)
        scene.client_acks(window=widened)
    scene.server_sends(1_024)
    waits = [row for row in scene.flow(tap, drop=(1, 2, 3))["stalls"] if row["duration_ns"] > 5e8]
    assert [row["cause"] for row in waits] == ["app-limited", *["rwnd-limited"] * 4]
    assert all(row["confidence"] <= 0.8 for row in waits)


@near_miss
def test_without_its_handshake_small_writes_fill_no_window(scene: Scene, tap: Tap) -> None:
    """The field alone says 126 to 128 bytes: no receiver keeps a window of less than two segments open."""
    scene.handshake(rtt_ms=4, client_scale=9)
    for _ in range(8):
        scene.server_sends(100)
        scene.client_acks(window=126 << 9)
        scene.client_acks(window=128 << 9)
        scene.wait_ms(40)
    waits = scene.flow(tap, drop=(1, 2, 3))["stalls"]
    assert len(waits) >= 6
    assert "rwnd-limited" not in {row["cause"] for row in waits}


@fires
def test_a_short_segment_that_fills_the_window_to_the_byte_waited_for_the_window(scene: Scene) -> None:
    """A window of 4,096 bytes holds two segments and 1,200 bytes, which the sender sends only after an ACK."""
    scene.handshake(rtt_ms=40, client_scale=0, client_window=4_096)
    scene.request()
    scene.server_sends(2 * 1_448)
    scene.client_acks(window=1_200)
    scene.server_sends(1_200)
    assert causes(scene, "server") == ["rwnd-limited"]


@near_miss
def test_a_short_segment_that_leaves_room_in_the_window_did_not_wait_for_the_window(scene: Scene) -> None:
    scene.handshake(rtt_ms=40, client_scale=0, client_window=4_096)
    scene.request()
    scene.server_sends(2 * 1_448)
    scene.client_acks(window=1_200)
    scene.server_sends(900)
    assert "rwnd-limited" not in causes(scene, "server")


def one_spared(scene: Scene, *windows: int, spared: int = 1, options: bool = True) -> list[tuple[str, float]]:
    """Flights as large as windows of so many segments, but for some: (cause, confidence) of the waits for ACKs."""
    size = 1_448 if options else 1_460
    scene.handshake(rtt_ms=20, client_scale=0, client_window=windows[0] * size, timestamps=options)
    scene.request()
    for window, following in pairwise((*windows, windows[-1])):
        scene.server_sends((window - spared) * size, tso=1, push=False)
        scene.client_acks(window=following * size)
    scene.server_sends(size)
    rows = [row for row in scene.flow("server")["stalls"] if row["sender"] == "server"]
    return [(row["cause"], row["confidence"]) for row in rows if row["cause"] != "handshake"]


@fires
def test_a_sender_that_wants_the_mss_of_the_syns_leaves_a_segment_of_each_window_unused(scene: Scene) -> None:
    """Options make its segments shorter than the MSS: 1,448 bytes of room are less than 1,460."""
    found = one_spared(scene, 3, 3, 4, 4, 5, 5, 3, 4)
    assert found[1:] == [("rwnd-limited", 0.85)] * 7


@fires
def test_a_segment_of_a_window_that_never_changes_is_left_by_a_sender_or_missing_in_its_buffer(scene: Scene) -> None:
    assert set(one_spared(scene, *[4] * 10)[1:]) == {("rwnd-limited", 0.7)}


@near_miss
def test_a_sender_that_left_one_segment_of_two_windows_is_not_known_to_want_more(scene: Scene) -> None:
    assert "rwnd-limited" not in dict(one_spared(scene, 3, 4))


@look_alike
def test_without_options_a_segment_of_room_is_as_large_as_the_mss(scene: Scene) -> None:
    assert "rwnd-limited" not in dict(one_spared(scene, 3, 3, 4, 4, 5, 5, 3, 4, options=False))


@look_alike
def test_two_segments_of_room_are_no_full_window(scene: Scene) -> None:
    assert "rwnd-limited" not in dict(one_spared(scene, 4, 4, 5, 5, 6, 6, 4, 5, spared=2))


@near_miss
def test_a_window_that_shrinks_when_all_was_said_and_acknowledged_is_waited_for_by_nobody(scene: Scene) -> None:
    """The window of the FIN holds no segment; the client, whose request was answered, resets."""
    scene.handshake(rtt_ms=20, client_scale=None, server_scale=None, server_window=8_192)
    scene.request(72)
    scene.server_sends(544)
    scene.client_acks()
    scene.wait_ms(8_000)
    scene.server.window = 114
    scene.server_closes()
    scene.client_acks()
    scene.client_closes()
    scene.client_resets()
    scene.server_acks()
    assert causes(scene, "client", sender="client") == []


@look_alike
def test_writes_as_long_as_some_scale_makes_the_window_fill_none(scene: Scene) -> None:
    """No SYN shows the scale; 1,009 times two is 18 bytes more than each write, which ends with a short segment."""
    scene.handshake(rtt_ms=20, client_scale=6, client_window=1_009 << 6)
    for _ in range(10):
        scene.server_sends(1_448, push=False)
        scene.server_sends(552)
        scene.client_acks()
        scene.wait_ms(130)
    assert "rwnd-limited" not in causes(scene, "client", drop=SYNS)


@near_miss
def test_flights_alike_to_the_byte_under_a_window_that_grows_are_not_filled_by_it(scene: Scene) -> None:
    scene.handshake(rtt_ms=50, client_scale=3, client_window=16_584)
    scene.request()
    for growth in range(12):
        for size in (456, *[1_448] * 11):
            scene.server_sends(size, push=size == 456)
        scene.client_acks(window=16_584 + 120 * growth)
    assert "rwnd-limited" not in causes(scene, "client", drop=SYNS)


def last_write(scene: Scene, *, idle_ms: float) -> list[tuple[str, bool, int]]:
    """A request that leaves in two pieces, because of a window below a segment. Its end is acknowledged, and the client
    closes later. (Cause, sure, seconds) of the client's long waits.
    """
    scene.handshake(rtt_ms=120, server_scale=0, server_window=14_480)
    scene.client_sends(404)
    scene.server_acks(window=980)
    scene.wait_ms(480)
    scene.client_sends(980, push=False)
    scene.server_acks(window=1_102)
    scene.client_sends(261)
    scene.server_acks(window=1_226)
    scene.wait_ms(idle_ms)
    scene.client_closes()
    scene.server_closes()
    scene.client_acks()
    rows = [row for row in scene.flow("client")["stalls"] if row["sender"] == "client" and row["cause"] != "handshake"]
    return [(row["cause"], row["confidence"] >= 0.8, round(row["duration_ns"] / 1e9)) for row in rows]


@near_miss
def test_after_the_last_write_nobody_waits_for_a_small_window(scene: Scene) -> None:
    assert last_write(scene, idle_ms=20_000)[1:] == [("rwnd-limited", True, 0)]


@look_alike
def test_a_small_window_may_hold_a_sender_for_a_second_after_the_last_ack(scene: Scene) -> None:
    assert last_write(scene, idle_ms=800)[1:] == [("rwnd-limited", True, 0), ("rwnd-limited", True, 1)]


@look_alike
def test_a_write_that_fills_a_window_below_a_segment_late_is_unsure(scene: Scene) -> None:
    assert last_write(scene, idle_ms=0)[0] == ("rwnd-limited", False, 1)


def last_wait(scene: Scene, *, window: int) -> str:
    """Five flights that fill the window, one that leaves three segments of it free, and a short end at the last ACK."""
    scene.handshake(rtt_ms=20, client_scale=0, client_window=window)
    scene.request()
    for _ in range(5):
        scene.server_sends(window // 1_448 * 1_448, push=False)
        scene.client_acks()
    scene.server_sends((window // 1_448 - 3) * 1_448, push=False)
    scene.client_acks()
    scene.server_sends(1_073)
    return causes(scene, "server")[-1]


@near_miss
def test_room_for_three_segments_held_back_no_lone_short_one(scene: Scene) -> None:
    """Linux defers frames of several segments alone (`tcp_write_xmit`): Nagle's algorithm held the end of the write."""
    scene.server.congestion.cwnd = scene.server.congestion.initial = 40
    assert last_wait(scene, window=13 * 1_448) != "rwnd-limited"


def filled_again(scene: Scene, *, apart_ms: float) -> tuple[str, bool]:
    """Flights fill the window; half of the last one may be acknowledged before the rest. (Cause, sure) of its wait."""
    scene.handshake(rtt_ms=40)
    scene.request()
    for _ in range(5):
        scene.server_sends(8 * 1_448, tso=1, push=False)
        scene.client_acks(window=8 * 1_448)
    half = scene.server.nxt - scene.server.isn - 1 + 4 * 1_448
    scene.server_sends(8 * 1_448, tso=1, push=False)
    if apart_ms > 0:
        scene.client_acks(upto=half)
        scene.wait_ms(apart_ms)
    scene.client_acks()
    scene.server_sends(8 * 1_448, tso=1)
    scene.client_acks()
    row = scene.flow("server")["stalls"][-1]
    return row["cause"], row["confidence"] >= 0.8


@near_miss
def test_a_full_window_that_the_freeing_ack_opens_is_sure(scene: Scene) -> None:
    assert filled_again(scene, apart_ms=0) == ("rwnd-limited", True)


@look_alike
def test_a_window_that_an_earlier_ack_had_opened_is_unsure(scene: Scene) -> None:
    """The sender left room for four segments unused until a later ACK: its own window may have held it by then."""
    assert filled_again(scene, apart_ms=5) == ("rwnd-limited", False)


@near_miss
def test_small_messages_over_a_loopback_whose_segments_are_as_large_as_its_window_do_not_fill_it(scene: Scene) -> None:
    scene.handshake(rtt_ms=0.02, mss=65_495, client_scale=7, server_scale=7, client_window=65_495, server_window=65_483)
    for _ in range(20):
        scene.client_sends(187)
        scene.server_acks()
        scene.wait_ms(0.05)
    assert "rwnd-limited" not in scene.flow("client")["time_ns"]


def messages(scene: Scene, window: int, each: int) -> list[tuple[str, float]]:
    """Three messages of 1,000 bytes beside a window of that size, then `each` again and again: (cause, confidence)."""
    scene.handshake(rtt_ms=20, client_scale=0, client_window=window, timestamps=False)
    scene.request()
    for burst in (3, *[each] * 5):
        for _ in range(burst):
            scene.server_sends(1_000, tso=1)
        scene.client_acks(window=window)
    scene.server_sends(1_000)
    rows = [row for row in scene.flow("server")["stalls"] if row["sender"] == "server"]
    return [(row["cause"], row["confidence"]) for row in rows if row["cause"] != "handshake"]


@fires
def test_a_sender_of_messages_waits_for_room_of_a_whole_segment(scene: Scene) -> None:
    """RFC 9293 §3.8.6.2.1: 1,000 bytes of room are less than the MSS, although a message would fit."""
    assert messages(scene, 4_000, 3)[1:-1] == [("rwnd-limited", 0.7)] * 4


@near_miss
def test_a_sender_of_messages_with_room_for_a_whole_segment_does_not_wait_for_the_window(scene: Scene) -> None:
    assert "rwnd-limited" not in dict(messages(scene, 4_460, 3))


@look_alike
def test_a_message_that_the_room_would_have_held_did_not_wait_for_the_window(scene: Scene) -> None:
    assert "rwnd-limited" not in dict(messages(scene, 2_200, 1)[2:])


@near_miss
def test_a_sender_that_has_more_out_than_the_window_holds_goes_by_another_one(scene: Scene) -> None:
    """Some senders scale the window of the SYN-ACK: ten segments are out beside its 8,192 bytes."""
    scene.handshake(rtt_ms=20, server_scale=2, server_window=8_192, timestamps=False)
    scene.client.peer_window, scene.server.window = 32_768, 30_000
    scene.client_transfers(100_000, tso=1, reader=Reader(buffer=30_000))
    first = next(row for row in scene.flow("client")["stalls"] if row["cause"] == "rwnd-limited")
    assert first["confidence"] < 0.8


@look_alike
def test_a_segment_on_a_beat_long_after_the_window_opened_is_the_applications(scene: Scene, tap: Tap) -> None:
    """Each segment but one fills the window up, and the next comes 40 ms after an ACK that made room for it."""
    scene.handshake(rtt_ms=60, client_scale=0, client_window=4_096)
    scene.request()
    scene.server_writes(*((50 * at, 1_448) for at in range(20)), reader=Reader(buffer=4_096))
    assert "rwnd-limited" not in causes(scene, tap)


@fires
def test_segments_that_each_ack_lets_into_that_window_waited_for_it(scene: Scene, tap: Tap) -> None:
    scene.handshake(rtt_ms=60, client_scale=0, client_window=4_096)
    scene.request()
    scene.server_writes((0, 20 * 1_448), reader=Reader(buffer=4_096))
    assert causes(scene, tap) == ["rwnd-limited"]
