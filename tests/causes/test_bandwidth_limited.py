"""`bandwidth-limited`: the path carried all it could."""

from typing import Any

import pytest

from tests.causes.triple import causes, fires, look_alike, near_miss, share
from tests.scene import Reader, Scene
from tests.scene.network import Tap
from tests.scene.verdict import flows_of

MBIT = 125_000
"""Bytes a second."""
PAYLOAD_SHARE = 1448 / 1514


def ledger_share(flow: dict[str, Any], owner: str) -> float:
    whole: int = flow["end_ns"] - flow["start_ns"]
    return flow["time_ns"].get(owner, 0) / whole  # type: ignore[no-any-return]


@fires
def test_acks_at_an_even_rate_and_a_growing_round_trip_are_a_full_path(scene: Scene) -> None:
    scene.handshake(rtt_ms=20)
    scene.path(rtt_ms=20, server_mbit=1)
    scene.download(200_000, ack_every=1)
    assert share(scene, "bandwidth-limited") > 0.6


@fires
def test_a_busy_path_owns_the_time_although_nothing_stalls(scene: Scene, tap: Tap) -> None:
    scene.handshake(rtt_ms=20)
    scene.path(rtt_ms=20, server_mbit=10)
    scene.server.congestion.ssthresh = 60
    scene.download(1_000_000)
    flow = scene.flow(tap)
    way = flow["directions"]["server"]
    assert ledger_share(flow, "bandwidth-limited") > 0.75
    assert "bandwidth-limited" not in causes(scene, tap)
    assert way["bottleneck_bytes_per_s"] == pytest.approx(10 * MBIT * PAYLOAD_SHARE, rel=0.03)
    assert way["bdp_bytes"] == pytest.approx(way["bottleneck_bytes_per_s"] * 0.02, rel=0.1)
    assert way["queue_delay_ns"] > 20_000_000
    assert way["bandwidth_limited_ns"] == pytest.approx(flow["time_ns"]["bandwidth-limited"], rel=0.02)


@fires
def test_a_window_above_the_bdp_is_full_all_the_time_and_a_larger_one_would_buy_nothing(scene: Scene, tap: Tap) -> None:
    scene.handshake(rtt_ms=20)
    scene.path(rtt_ms=20, server_mbit=10)
    scene.download(1_000_000, reader=Reader(buffer=100_000))
    flow = scene.flow(tap)
    assert ledger_share(flow, "bandwidth-limited") > 0.8
    assert ledger_share(flow, "rwnd-limited") < 0.05


@fires
def test_a_send_buffer_above_the_bdp_is_full_all_the_time_and_a_larger_one_would_buy_nothing(
    scene: Scene, tap: Tap
) -> None:
    scene.handshake(rtt_ms=20)
    scene.path(rtt_ms=20, server_mbit=10)
    scene.download(1_000_000, send_buffer=100_000)
    flow = scene.flow(tap)
    assert ledger_share(flow, "bandwidth-limited") > 0.75
    assert ledger_share(flow, "sndbuf-limited") < 0.05


@fires
def test_segments_held_before_the_tap_that_pass_at_one_rate_came_through_a_queue(scene: Scene) -> None:
    """By their timestamps; too few are in flight for a queue to show in the round trip (Linux TSQ: two frames)."""
    scene.handshake(rtt_ms=0.2)
    scene.path(rtt_ms=0.2, server_mbit=8)
    scene.download(400_000, send_buffer=6_000)
    assert share(scene, "bandwidth-limited", "client") > 0.2


@look_alike
def test_full_segments_on_a_beat_that_left_when_they_were_stamped_were_held_nowhere(scene: Scene) -> None:
    scene.handshake(rtt_ms=0.2)
    for _ in range(40):
        scene.wait_ms(6)
        scene.server_sends(1448)
        scene.client_acks()
    assert "bandwidth-limited" not in causes(scene, "client")


@look_alike
def test_data_that_leaves_at_acks_with_the_stamps_of_its_write_was_held_nowhere(scene: Scene, tap: Tap) -> None:
    """Some stacks queue whole segments with their headers in the send buffer, against RFC 7323 §3.2."""
    scene.handshake(rtt_ms=80)
    for i in range(40):
        if i % 10 == 0:
            now_ms = scene.server.acts_ns() // 1_000_000
            scene.server.written = (scene.server.clock_ms + now_ms, scene.server.peer_clock)
        scene.server_sends(1448 * 4)
        scene.client_acks(window=1448 * 4)
    assert "bandwidth-limited" not in causes(scene, tap)


@near_miss
def test_a_send_buffer_about_the_bdp_lets_the_queue_drain(scene: Scene) -> None:
    scene.handshake(rtt_ms=20)
    scene.path(rtt_ms=20, server_mbit=10)
    scene.download(500_000, send_buffer=26_000)
    assert ledger_share(scene.flow(), "sndbuf-limited") > 0.7


@fires
def test_the_rate_is_that_of_the_time(scene: Scene) -> None:
    """Evidence speaks of the rate then, not of the flow's mean."""
    scene.handshake(rtt_ms=20)
    scene.server.congestion.ssthresh = 40
    for mbit in (2, 1):
        scene.path(rtt_ms=20, server_mbit=mbit)
        scene.download(300_000, ack_every=2)
    rows = [row for row in scene.flow()["stalls"] if row["cause"] == "bandwidth-limited"]
    rates = [row["evidence"]["bottleneck_bytes_per_s"] / (MBIT * PAYLOAD_SHARE) for row in rows]
    assert rates[0] == pytest.approx(2, rel=0.1)
    assert rates[-1] == pytest.approx(1, rel=0.1)
    last = rows[-1]["evidence"]
    assert last["in_flight_bytes"] > last["bdp_bytes"] > 0
    assert last["queue_ns"] > 20_000_000


@near_miss
def test_a_path_that_carries_the_flight_in_a_fraction_of_the_round_trip_is_not_full(scene: Scene, tap: Tap) -> None:
    scene.handshake(rtt_ms=20)
    scene.path(rtt_ms=20, server_mbit=200)
    scene.download(100_000)
    assert causes(scene, tap) == ["cwnd-limited"]


@near_miss
def test_a_window_below_the_bdp_leaves_the_path_idle(scene: Scene, tap: Tap) -> None:
    scene.handshake(rtt_ms=20)
    scene.path(rtt_ms=20, server_mbit=100)
    scene.download(500_000, reader=Reader(buffer=64_000))
    flow = scene.flow(tap)
    assert ledger_share(flow, "bandwidth-limited") < 0.05
    assert ledger_share(flow, "rwnd-limited") > 0.4
    assert flow["directions"]["server"]["bottleneck_bytes_per_s"] is None


@look_alike
@pytest.mark.parametrize("rate", [155_000.0, 1_000_000.0])
def test_a_sender_that_paces_itself_does_not_fill_the_path(scene: Scene, tap: Tap, rate: float) -> None:
    scene.handshake(rtt_ms=20)
    scene.path(rtt_ms=20, server_mbit=20)
    scene.download(300_000, pace=rate)
    assert "bandwidth-limited" not in scene.flow(tap)["time_ns"]


@look_alike
@pytest.mark.parametrize("size", [1_448, 4_344, 10_000])
def test_an_application_that_writes_evenly_does_not_fill_the_path(scene: Scene, tap: Tap, size: int) -> None:
    scene.handshake(rtt_ms=20)
    scene.path(rtt_ms=20, server_mbit=100)
    scene.request()
    scene.server_writes(*((4.0 * i, size) for i in range(150)))
    assert "bandwidth-limited" not in scene.flow(tap)["time_ns"]


@look_alike
def test_a_slow_reader_is_no_slow_path(scene: Scene, tap: Tap) -> None:
    scene.handshake(rtt_ms=20)
    scene.path(rtt_ms=20, server_mbit=100)
    scene.download(600_000, reader=Reader(buffer=65_536, bytes_per_ms=1_000))
    assert "bandwidth-limited" not in scene.flow(tap)["time_ns"]


@look_alike
def test_held_back_acks_are_no_queue(scene: Scene, tap: Tap) -> None:
    scene.handshake(rtt_ms=20)
    scene.request()
    scene.server_writes(*((70.0 * i, 1_448) for i in range(40)), delayed_ack_ms=40)
    assert "bandwidth-limited" not in scene.flow(tap)["time_ns"]


@fires
def test_a_known_link_is_full_without_a_queue(scene: Scene) -> None:
    """A sender that paces itself at the link's rate leaves no queue: only the user knows that it is the link's."""
    scene.handshake(rtt_ms=20)
    scene.download(600_000, pace=10 * MBIT * PAYLOAD_SHARE)
    path = scene.capture()
    (alone,) = flows_of(path)
    assert "bandwidth-limited" not in alone["time_ns"]
    (known,) = flows_of(path, link_bytes_per_s=10 * MBIT)
    assert ledger_share(known, "bandwidth-limited") > 0.6
    assert sum(known["time_ns"].values()) == known["end_ns"] - known["start_ns"]
    (wider,) = flows_of(path, link_bytes_per_s=20 * MBIT)
    assert "bandwidth-limited" not in wider["time_ns"]
    assert wider["directions"]["server"]["link_share"] < 0.6


def one_by_one(scene: Scene, tap: Tap, *, train: int = 0, timestamps: bool = False) -> list[dict[str, Any]]:
    """A segment of 536 bytes every 86.5 ms, as a modem of 53 kbit/s lets them go; each is acknowledged at once."""
    scene.handshake(rtt_ms=40, mss=536, timestamps=timestamps)
    size = 524 if timestamps else 536
    for _ in range(train):
        scene.client_sends(size, push=False)
    scene.server_acks()
    for _ in range(20):
        scene.client_sends(size, push=False)
        scene.server_acks()
        scene.wait_ms(86.5 - 20)
    rows = [row for row in scene.flow(tap)["stalls"] if row["sender"] == "client" and row["duration_ns"] > 80e6]
    assert len(rows) > 15
    return rows


@fires
def test_segments_one_by_one_far_from_their_sender_are_a_slow_lines(scene: Scene) -> None:
    rows = one_by_one(scene, "server")
    assert {row["cause"] for row in rows} == {"bandwidth-limited"}
    assert max(row["confidence"] for row in rows) < 0.8


@look_alike
def test_at_the_sender_itself_no_line_can_have_spaced_them(scene: Scene) -> None:
    assert "bandwidth-limited" not in {row["cause"] for row in one_by_one(scene, "client")}


@fires
@pytest.mark.parametrize(("train", "timestamps"), [(10, False), (0, True)])
def test_without_a_train_whose_segments_show_when_they_left_they_may_be_a_slow_lines(
    scene: Scene, train: int, timestamps: bool
) -> None:
    """A shaper may let a train pass before it slows down."""
    rows = one_by_one(scene, "server", train=train, timestamps=timestamps)
    assert {row["cause"] for row in rows} == {"bandwidth-limited"}


@look_alike
def test_behind_a_path_that_carried_a_train_faster_segments_that_nothing_held_are_paced(scene: Scene) -> None:
    """Ten segments came together, and each later one as soon after its timestamp."""
    rows = one_by_one(scene, "server", train=10, timestamps=True)
    assert {row["cause"] for row in rows} == {"pacing"}


@fires
@pytest.mark.parametrize("rtt_ms", [1, 20])
def test_a_slow_line_before_the_tap_owns_the_first_round_trips_whose_segments_left_together(
    scene: Scene, rtt_ms: int
) -> None:
    """Twelve milliseconds a segment; the stamps say that the sender sent the whole window at once."""
    scene.path(rtt_ms=rtt_ms, server_mbit=1)
    scene.handshake()
    scene.download(180_000, lose=(20_000,))
    assert scene.lost_ms("server", "between")["app-limited"] < 60
    assert scene.lost_ms("server", "between")["bandwidth-limited"] > 1_000


@look_alike
def test_segments_that_a_clock_of_a_hundred_milliseconds_stamps_alike_did_not_leave_together(scene: Scene) -> None:
    scene.server.tick_ns = 100_000_000
    scene.handshake(rtt_ms=20)
    for _ in range(100):
        scene.wait_ms(30)
        scene.server_sends(300)
        scene.client_acks()
    assert "bandwidth-limited" not in causes(scene, "client")


@look_alike
def test_an_answer_after_data_that_was_sent_again_did_not_leave_with_the_data_before_it(scene: Scene) -> None:
    """The stamp of the repair is nearer to that of the answer."""
    scene.handshake(rtt_ms=20)
    for _ in range(3):
        scene.client_sends(100)
        scene.server_sends(100)
        scene.wait_ms(40)
    scene.client_sends(1_000, lost=True)
    scene.wait_ms(240)
    scene.client_repeats(300, 1_000)
    scene.server_sends(100)
    scene.wait_ms(30)
    scene.client_sends(100)
    assert "bandwidth-limited" not in causes(scene, "client", sender="client")


def behind_a_queue(scene: Scene, then: int) -> list[str]:
    """A client fills a slow path; the server's payload comes with an ACK, and `then` bytes follow."""
    scene.handshake()
    scene.path(rtt_ms=20, client_mbit=1)
    scene.client_sends(8 * 1_448, push=False, tso=1)
    for segments in range(1, 60):
        scene.server_acks(upto=segments * 1_448)
        scene.client_sends(1_448, push=False)
    heard, scene.server.rcv_nxt = scene.server.rcv_nxt, scene.client.isn + 1 + 60 * 1_448
    scene.server_sends(900)
    scene.server.rcv_nxt = heard
    scene.client_sends(then)
    scene.server_acks()
    return [stall.cause for stall in scene.stalls("client", "client", over_ms=5)][-2:]


@look_alike
def test_a_short_answer_to_the_peer_was_not_queued_behind_the_path(scene: Scene) -> None:
    before, answer = behind_a_queue(scene, 46)
    assert before == "bandwidth-limited"
    assert answer != "bandwidth-limited"


@near_miss
def test_a_whole_segment_after_the_peers_payload_may_have_been_queued(scene: Scene) -> None:
    assert behind_a_queue(scene, 1_448) == ["bandwidth-limited", "bandwidth-limited"]


def asks_eight_times(scene: Scene) -> None:
    """Answers at once, a tenth of a second apart."""
    scene.handshake(rtt_ms=20)
    for _ in range(8):
        scene.wait_ms(100)
        scene.request()
        scene.server_sends(300)
        scene.client_acks()


@look_alike
def test_an_answer_with_the_stamp_of_what_was_sent_before_the_question_is_the_applications(scene: Scene) -> None:
    """No answer leaves before the question came: its stamp is not of the time when it left."""
    asks_eight_times(scene)
    scene.server.clock_ms -= 150
    scene.wait_ms(150)
    scene.request()
    scene.server_sends(300)
    assert causes(scene, "client")[-1] == "app-limited"
    assert scene.flow("client")["stalls"][-1]["confidence"] < 0.8


@look_alike
@pytest.mark.parametrize(("silent_s", "queued"), [(1, True), (40, False)])
def test_no_queue_holds_data_for_longer_than_any_path_takes(scene: Scene, silent_s: int, queued: bool) -> None:
    """The clock of the sender's stamps rests while it sleeps, as if its data had left with what was sent before."""
    asks_eight_times(scene)
    scene.server.clock_ms -= 900 * silent_s
    scene.wait_ms(1_000 * silent_s)
    scene.server_sends(300)
    assert (causes(scene, "client")[-1] == "bandwidth-limited") == queued


def lagging_acks(scene: Scene, size: int) -> list[str]:
    """Messages whose ACKs each come only after five more, as behind another sender's queue."""
    scene.handshake(rtt_ms=20)
    for count in range(1, 121):
        scene.client_sends(size)
        scene.server_acks(upto=(count - 6 if count > 6 else count) * size)
        scene.wait_ms(2)
    return causes(scene, "server", sender="client")


@near_miss
def test_whole_messages_behind_late_acks_may_stand_in_a_queue(scene: Scene) -> None:
    assert lagging_acks(scene, 400)[-1] == "bandwidth-limited"


@look_alike
def test_less_than_a_segment_in_flight_makes_no_queue(scene: Scene) -> None:
    """Seven messages of 64 bytes are out: nothing held the sender."""
    assert "bandwidth-limited" not in lagging_acks(scene, 64)


@look_alike
def test_a_writer_whose_writes_happen_to_meet_acks_is_not_surely_the_paths(scene: Scene) -> None:
    """16 kB every 1.1 ms on a line that takes longer; one write leaves right after an ACK that covered far less."""
    scene.server.congestion.cwnd = scene.server.congestion.initial = 400
    scene.handshake(rtt_ms=0.5)
    scene.path(rtt_ms=0.5, server_mbit=100)
    scene.request()
    scene.server_writes(*((1.1 * i, 16_384) for i in range(14)), tso=12)
    rows = [row for row in scene.flow("server")["stalls"] if row["cause"] == "bandwidth-limited"]
    assert len(rows) > 5
    assert max(row["confidence"] for row in rows) < 0.9
