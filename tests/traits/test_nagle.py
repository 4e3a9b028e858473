"""Nagle's algorithm, learnt from the short ends of writes: Minshall's variant, or RFC 896's."""

from tests.causes.triple import causes, fires, look_alike, near_miss
from tests.scene import Scene
from tests.scene.network import Tap

TAPS: tuple[Tap, ...] = ("server", "client")
WRITE = 6 * 1_448 + 500


@fires
def test_the_short_end_of_each_write_waits_until_nothing_is_out(scene: Scene, tap: Tap) -> None:
    scene.handshake(rtt_ms=20)
    scene.server_writes(*((120.0 * turn, WRITE) for turn in range(4)), tso=1, nagle="rfc896")
    assert causes(scene, tap) == ["nagle", *["app-limited", "nagle"] * 3]


def ends_beside_whole_segments(scene: Scene, *, close: bool) -> list[str]:
    """Four such writes, then a short end that leaves by itself while whole segments are out."""
    scene.handshake(rtt_ms=20)
    scene.server_writes(*((120.0 * turn, WRITE) for turn in range(4)), tso=1, nagle="rfc896")
    scene.wait_ms(120)
    scene.server_sends(2 * 1_448, tso=1, push=False)
    scene.wait_ms(10)
    scene.server_sends(500, close=close)
    return causes(scene, "server")


@fires
def test_an_end_that_leaves_with_the_fin_does_not_show_that_ends_are_not_held(scene: Scene) -> None:
    """A sender that has closed holds nothing back (4.4BSD `tcp_output`, Linux `tcp_nagle_test`)."""
    assert "nagle" in ends_beside_whole_segments(scene, close=True)


@near_miss
def test_an_end_that_leaves_beside_whole_segments_shows_that_ends_are_not_held(scene: Scene) -> None:
    assert "nagle" not in ends_beside_whole_segments(scene, close=False)


@look_alike
def test_a_sender_with_short_writes_beside_each_other_holds_none_back(scene: Scene, tap: Tap) -> None:
    scene.handshake(rtt_ms=20)
    for _ in range(2):
        scene.server_sends(300)
        scene.server_sends(300)
        scene.client_acks()
        scene.wait_ms(60)
    scene.server_sends(300)
    scene.client_acks()
    scene.server_sends(200)
    assert "nagle" not in causes(scene, tap)


@look_alike
def test_two_short_writes_in_flight_are_not_held_although_each_fills_most_of_a_segment(scene: Scene, tap: Tap) -> None:
    scene.handshake(rtt_ms=20)
    scene.server_sends(1_374)
    scene.server_sends(1_374)
    scene.client_acks()
    scene.server_sends(986)
    assert "nagle" not in causes(scene, tap)


@look_alike
def test_what_follows_an_ack_within_a_short_round_trip_may_follow_it_by_chance(scene: Scene) -> None:
    scene.handshake(rtt_ms=0.4)
    scene.server_sends(300)
    scene.client_acks()
    scene.server_sends(200)
    sure = {tap: [row["confidence"] for row in scene.flow(tap)["stalls"] if row["cause"] == "nagle"] for tap in TAPS}
    assert min(sure["server"]) > 0.8 > max(sure["client"])


@near_miss
def test_minshalls_variant_lets_the_short_end_go(scene: Scene, tap: Tap) -> None:
    scene.handshake(rtt_ms=20)
    scene.server_writes(*((120.0 * turn, WRITE) for turn in range(4)), tso=1)
    assert "nagle" not in causes(scene, tap)


@look_alike
def test_the_rest_beyond_a_full_congestion_window_is_the_windows(scene: Scene, tap: Tap) -> None:
    scene.handshake(rtt_ms=20)
    scene.download(10 * 1_448 + 500, tso=1)
    assert causes(scene, tap) == ["cwnd-limited"]


def behind(scene: Scene, *, room: int) -> float:
    """Confidence that a short end was held behind so many segments fewer than the window holds, by a sender that holds
    the end of each write. The ACKs come within a millisecond, and the first of them makes room for the end."""
    scene.handshake(rtt_ms=20)
    scene.server_writes(*((120.0 * turn, WRITE) for turn in range(4)), tso=1, nagle="rfc896")
    scene.wait_ms(120)
    segments = scene.server.congestion.cwnd - room
    scene.server_sends(segments * 1_448, tso=1, push=False)
    begin = scene.client.acts_ns()
    for number in range(1, segments + 1):
        scene.client.now_ns = scene.client.heard_ns = begin + 60_000 * number
        scene.client_acks(upto=4 * WRITE + number * 1_448)
    scene.server_sends(500)
    scene.client_acks()
    rows = [row for row in scene.flow("server")["stalls"] if row["cause"] == "nagle"]
    return float(rows[-1]["confidence"])


@look_alike
def test_the_end_behind_a_full_window_waited_for_the_window_first(scene: Scene) -> None:
    """Stacks ask the congestion window before Nagle's algorithm (Linux `tcp_write_xmit`)."""
    assert behind(scene, room=0) < 0.8


@fires
def test_the_end_behind_a_window_with_room_was_held(scene: Scene) -> None:
    assert behind(scene, room=4) > 0.8


@look_alike
def test_a_segment_that_options_may_have_shortened_is_not_surely_short(scene: Scene) -> None:
    scene.handshake(rtt_ms=20)
    scene.server_sends(1_430)
    scene.client_acks()
    scene.server_sends(800)
    (row,) = (row for row in scene.flow()["stalls"] if row["sender"] == "server")
    assert (row["cause"], row["confidence"] < 0.8) == ("nagle", True)


@look_alike
def test_a_sender_that_once_held_no_short_write_back_may_hold_none(scene: Scene) -> None:
    scene.handshake(rtt_ms=20)
    scene.server_sends(300)
    scene.server_sends(300)
    scene.client_acks()
    scene.wait_ms(60)
    scene.server_sends(300)
    scene.client_acks()
    scene.server_sends(200)
    rows = [row for row in scene.flow("server")["stalls"] if row["cause"] == "nagle"]
    assert rows
    assert all(row["confidence"] < 0.8 for row in rows)


def a_short_end_amid(scene: Scene, segments: int) -> list[str | None]:
    """An answer with a short end in it, an ACK of its first segment, and one more; from a sender of short writes."""
    scene.server.congestion.cwnd = scene.server.congestion.initial = 400
    scene.handshake(rtt_ms=80)
    scene.client_acks(window=400_000)
    scene.request()
    for _ in range(6):
        scene.server_sends(536)
        scene.client_acks()
        scene.wait_ms(100)
    scene.server_sends(60 * 1_448)
    scene.client_acks()
    scene.wait_ms(300)
    for _ in range(segments):
        scene.server_sends(1_448, push=False)
    scene.server_sends(348)
    scene.server_sends(2 * 1_448)
    scene.client_acks(upto=6 * 536 + 61 * 1_448)
    scene.server_sends(1_448, push=False)
    scene.client_acks()
    scene.closes()
    return [row["detail"] for row in scene.flow("client")["stalls"] if row["cause"] == "nagle"]


@near_miss
def test_with_few_segments_out_the_next_write_may_have_filled_one_up(scene: Scene) -> None:
    assert a_short_end_amid(scene, 4) == ["filled-up"]


@look_alike
def test_an_ack_lets_a_whole_segment_go_amid_many_whatever_was_written(scene: Scene) -> None:
    assert a_short_end_amid(scene, 14) == []


def a_write_behind_a_short_one(scene: Scene, payload: int) -> list[str | None]:
    """Short writes in a capture without its SYNs, and then a longer one than all before while one of them is out."""
    scene.handshake(rtt_ms=80)
    scene.request()
    for size in (137, 109, 137, 61, 137, 109):
        scene.server_sends(size)
        scene.client_acks()
        scene.wait_ms(150)
    scene.server_sends(57)
    scene.wait_ms(60)
    scene.server_sends(payload)
    scene.client_acks()
    scene.closes()
    return [row["detail"] for row in scene.flow("client", drop=range(3))["stalls"] if row["cause"] == "nagle"]


@near_miss
def test_a_packet_that_fills_ethernet_was_filled_up(scene: Scene) -> None:
    assert a_write_behind_a_short_one(scene, 1_448) == ["filled-up"]


@look_alike
def test_the_longest_write_so_far_is_no_full_segment(scene: Scene) -> None:
    assert a_write_behind_a_short_one(scene, 1_079) == []


def last_of_a_write(scene: Scene, *flights: int) -> str:
    """Cause of the last wait: flights of so many segments, one ACK for each, and then less than a segment."""
    scene.handshake(rtt_ms=20, client_window=3_000_000)
    scene.request()
    for flight in flights:
        scene.server_sends(flight * 1_448, tso=1, push=False)
        scene.client_acks()
    scene.server_sends(168)
    scene.client_acks()
    return causes(scene, "server")[-1]


@fires
def test_the_end_of_a_write_behind_a_flight_much_smaller_than_before_was_held(scene: Scene) -> None:
    """Five segments were out where 20 had been: without a loss no window and no buffer shrinks so."""
    assert last_of_a_write(scene, 10, 20, 5) == "nagle"


@near_miss
def test_behind_a_flight_as_large_as_before_a_window_may_have_held_the_end(scene: Scene) -> None:
    assert last_of_a_write(scene, 10, 12, 12) != "nagle"


def after_a_short_one(scene: Scene, size: int) -> list[bool]:
    """Sureness of the wait behind 872 bytes and five whole segments, where the ACK of the former lets `size` go."""
    scene.handshake(rtt_ms=40)
    scene.request()
    scene.server_sends(872)
    scene.server_sends(5 * 1_448, tso=1, push=False)
    scene.client_acks(upto=872)
    scene.server_sends(size)
    scene.client_acks()
    rows = scene.flow("client")["stalls"]
    return [row["confidence"] >= 0.8 for row in rows if row["cause"] == "nagle"]


@near_miss
def test_as_much_as_the_ack_freed_may_be_the_room_in_a_full_buffer(scene: Scene) -> None:
    assert after_a_short_one(scene, 872) == [False]


@fires
def test_less_than_the_ack_freed_had_been_held(scene: Scene) -> None:
    assert after_a_short_one(scene, 500) == [True]
