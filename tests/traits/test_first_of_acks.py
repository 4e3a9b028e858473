"""The first of several ACKs that come together, as a full congestion window opens."""

from collections.abc import Iterable

import pytest

from tests.causes.triple import causes, fires, near_miss
from tests.scene import Scene


def train(scene: Scene, acked: Iterable[int], released: Iterable[int]) -> None:
    """ACKs of so many segments each, 20 µs apart, and the segments that each lets go."""
    begin, segment = scene.client.acts_ns(), scene.server.segment_bytes()
    upto = scene.server.una - scene.server.isn - 1
    for number, (segments, more) in enumerate(zip(acked, released, strict=True)):
        scene.client.now_ns = scene.client.heard_ns = begin + 20_000 * number
        upto += segments * segment
        scene.client_acks(upto=upto)
        scene.server_sends(more * segment, tso=1, push=False)


def third_wait(scene: Scene, *, at_first: bool) -> str:
    """Cause of the wait of 40 segments, the modelled window, after which the first four ACKs let nothing go."""
    scene.handshake(rtt_ms=20, timestamps=False)
    scene.client_sends(147)
    scene.server_sends(10 * 1_460, tso=1, push=False)
    train(scene, [1] * 10, [2] * 10 if at_first else [0, 4] * 5)
    train(scene, [1] * 20, [2] * 20 if at_first else [0, 4] * 10)
    train(scene, [1, 1, 1, 1, 10], [0, 0, 0, 0, 16])
    scene.client_acks()
    rows: list[str] = [row["cause"] for row in scene.flow("server")["stalls"] if row["sender"] == "server"]
    return rows[2]


@fires
def test_a_full_window_opens_at_the_first_ack_and_not_at_the_fifth(scene: Scene) -> None:
    assert third_wait(scene, at_first=True) != "cwnd-limited"


@near_miss
def test_a_host_that_takes_acks_in_by_batches_shows_no_first_one(scene: Scene) -> None:
    assert third_wait(scene, at_first=False) == "cwnd-limited"


def confidence_before(scene: Scene, rest: int, *, at: int) -> float:
    """Confidence of the first wait, of a full initial window, whose data leaves at that one of ten ACKs."""
    scene.handshake(rtt_ms=20, timestamps=False)
    scene.client_sends(147)
    scene.server_sends(10 * 1_460, tso=1, push=False)
    begin = scene.client.acts_ns()
    for number in range(10):
        scene.client.now_ns = scene.client.heard_ns = begin + 20_000 * number
        scene.client_acks(upto=1_460 * (number + 1))
        if number == at:
            scene.server_sends(rest)
    scene.client_acks()
    (row,) = [row for row in scene.flow("server")["stalls"] if row["cause"] == "cwnd-limited"]
    return float(row["confidence"])


@fires
def test_the_short_end_of_a_write_that_let_acks_pass_was_perhaps_held_back(scene: Scene) -> None:
    """Nagle's algorithm may hold it while much is out (RFC 1122 §4.2.3.4); a full window opens at the first ACK."""
    assert confidence_before(scene, 300, at=4) < 0.8


@near_miss
@pytest.mark.parametrize(("rest", "at"), [(300, 0), (1_460, 4)])
def test_what_leaves_at_the_first_ack_or_a_whole_segment_was_not(scene: Scene, rest: int, at: int) -> None:
    assert confidence_before(scene, rest, at=at) > 0.8


def silence_after_acks(scene: Scene, *, wait_ms: float, last: int = 20 * 1_448) -> list[str]:
    """Causes where the ACK of the burst before still comes, then nothing, and a frame of new data leaves."""
    scene.handshake(rtt_ms=20)
    scene.client_sends(147)
    scene.server_sends(10 * 1_448)
    scene.client_acks()
    scene.server_sends(20 * 1_448)
    scene.client_acks(upto=29 * 1_448)
    scene.server_sends(last, tso=10)
    scene.client_acks(upto=30 * 1_448)
    scene.wait_ms(wait_ms)
    scene.server_sends(8 * 1_448, tso=8)
    scene.client_acks()
    return causes(scene, "server")


@fires
def test_a_probe_that_takes_new_data_along_counts_from_the_last_ack(scene: Scene) -> None:
    """46 ms after the ACK of the burst before: two round trips and a tick (RFC 8985 §7.2); a burst is overdue."""
    assert "retransmission" in silence_after_acks(scene, wait_ms=56)


@near_miss
@pytest.mark.parametrize(("wait_ms", "last"), [(90, 20 * 1_448), (56, 20 * 1_448 + 700)])
def test_another_time_or_the_short_end_of_a_write_is_no_probe(scene: Scene, wait_ms: float, last: int) -> None:
    assert "retransmission" not in silence_after_acks(scene, wait_ms=wait_ms, last=last)


def answer(scene: Scene, *, more: bool) -> float:
    """Lost time by the repair of an answer's third segment, ms: reported after 40 ms, sent again 10 ms later."""
    scene.handshake(rtt_ms=40)
    scene.client_sends(147)
    scene.server_sends(2 * 1_448)
    scene.server_sends(1_448, lost=True)
    scene.server_sends(4 * 1_448 + 300)
    scene.client_acks(upto=2 * 1_448, sack=[(3 * 1_448, 7 * 1_448 + 300)])
    scene.wait_ms(30)
    scene.server_repeats(2 * 1_448, 1_448)
    if more:
        scene.client_acks(upto=7 * 1_448 + 300)
    else:
        scene.client.rcv_nxt = scene.server.nxt
        scene.client_sends(147)
    scene.server_sends(3 * 1_448)
    scene.client.rcv_nxt = scene.server.nxt
    scene.client_acks()
    return scene.lost_ms("server")["retransmission"]


@fires
def test_the_round_trip_until_the_report_is_not_lost_where_the_answer_was_all_there_was(scene: Scene) -> None:
    assert 45 < answer(scene, more=False) < 60


@near_miss
def test_it_is_part_of_the_wait_where_more_followed_at_once(scene: Scene) -> None:
    assert answer(scene, more=True) > 80
