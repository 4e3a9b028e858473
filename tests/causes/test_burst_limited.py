"""`burst-limited`: the stack cut a burst short of the congestion window."""

from collections import Counter
from itertools import pairwise
from typing import Any

import pytest

from tests.causes.triple import NOT_A_STALL_MS, causes, fires, look_alike, near_miss, share
from tests.scene import Scene
from tests.scene.network import Tap

CAP = 6
"""Packets in flight + 6: burst moderation of old BIC."""
SEGMENT = 1_448


def exchanges(scene: Scene, count: int, size: int, *, cwnd: int, **how: Any) -> None:
    scene.handshake(rtt_ms=20)
    window = scene.server.congestion
    window.cwnd = cwnd
    if cwnd < window.initial:
        window.initial = window.ssthresh = cwnd
    for _ in range(count):
        scene.download(size, request=21, slow_start_after_idle=False, **how)


def after_acks(scene: Scene, *turns: tuple[int, ...], cap: int, timestamps: bool = True) -> None:
    """Slow start up to 40 segments; then ACKs of so many segments come together, and each lets the `cap` go."""
    scene.handshake(rtt_ms=20, client_window=3_000_000, timestamps=timestamps)
    scene.request()
    full = SEGMENT if timestamps else SEGMENT + 12
    sent = acked = 0
    flights = [(10, (1,) * 10), (20, (1,) * 20), (40, turns[0]), *((cap * len(a), b) for a, b in pairwise(turns))]
    for segments, acks in [*flights, (cap * len(turns[-1]), ())]:
        scene.server_sends(segments * full, tso=1, push=False)
        sent += segments
        for covered in acks:
            acked += covered
            scene.client_acks(upto=acked * full)


def waits(scene: Scene, tap: Tap) -> Counter[str]:
    return Counter(stall.cause for stall in scene.stalls("server", tap, over_ms=NOT_A_STALL_MS))


@fires
def test_the_first_burst_of_every_answer_stops_at_six_segments_although_all_were_acknowledged(
    scene: Scene, tap: Tap
) -> None:
    exchanges(scene, 8, 16_000, cwnd=20, burst_cap=CAP)
    assert share(scene, "burst-limited", tap) > 0.5


@fires
@pytest.mark.parametrize(("size", "cuts"), [(9_356, 1), (50_000, 2)])
def test_each_of_two_hundred_exchanges_takes_round_trips_more(scene: Scene, tap: Tap, size: int, cuts: int) -> None:
    exchanges(scene, 200, size, cwnd=40, burst_cap=CAP)
    assert waits(scene, tap) == {"burst-limited": 200 * cuts}


@fires
def test_its_evidence_is_the_cap_and_how_often_it_cut(scene: Scene) -> None:
    exchanges(scene, 20, 50_000, cwnd=40, burst_cap=CAP)
    rows = [row for row in scene.flow()["stalls"] if row["cause"] == "burst-limited"]
    assert {row["evidence"]["burst_cap_segments"] for row in rows} == {CAP}
    assert {row["evidence"]["exchanges_cut_alike"] for row in rows} == {20}
    assert [row["detail"] for row in rows[:2]] == [None, "partial-ack"]
    assert "bictcp_moderation = 0" in rows[0]["advice"]


@fires
def test_each_ack_lets_four_segments_go_although_it_covered_more(scene: Scene, tap: Tap) -> None:
    after_acks(scene, (10,) * 4, (8, 8), (8,), *[(4,)] * 6, cap=4)
    assert waits(scene, tap)["burst-limited"] == 8
    rows = [row for row in scene.flow(tap)["stalls"] if row["cause"] == "burst-limited"]
    assert {(row["detail"], row["evidence"]["burst_cap_segments"]) for row in rows} == {("partial-ack", 4)}


@near_miss
@pytest.mark.parametrize("timestamps", [False, True])
def test_where_packets_are_missing_and_no_stamp_dates_the_acks_it_is_unsure(scene: Scene, timestamps: bool) -> None:
    after_acks(scene, (10,) * 4, (8, 8), (8,), *[(4,)] * 9, cap=4, timestamps=timestamps)
    found = {
        lacking: [
            row["confidence"]
            for row in scene.flow("server", drop=lacking)["stalls"]
            if row["cause"] == "burst-limited" and row["detail"] == "partial-ack"
        ]
        for lacking in ((), (12,))
    }
    assert max(found[()]) >= 0.8
    assert (max(found[12,]) >= 0.8) == timestamps


@near_miss
def test_two_such_waits_may_be_an_accident(scene: Scene, tap: Tap) -> None:
    after_acks(scene, (10,) * 4, (8, 8), (8,), cap=4)
    assert "burst-limited" not in causes(scene, tap)


@look_alike
def test_acks_that_mostly_let_more_go_meet_no_cap(scene: Scene, tap: Tap) -> None:
    """A buffer of twelve segments that its writer fills by turns in steps of eight and of twelve."""
    scene.handshake(rtt_ms=20, client_window=3_000_000)
    scene.request()
    for segments in (10, 20, *[8, 12] * 6):
        scene.server_sends(segments * SEGMENT, tso=1, push=False)
        scene.client_acks()
    assert "burst-limited" not in causes(scene, tap)


@near_miss
def test_answers_below_the_cap_are_not_cut(scene: Scene, tap: Tap) -> None:
    exchanges(scene, 8, 8_000, cwnd=20, burst_cap=CAP)
    assert "burst-limited" not in causes(scene, tap)


@near_miss
def test_a_few_exchanges_do_not_show_that_the_count_never_grows(scene: Scene, tap: Tap) -> None:
    exchanges(scene, 4, 16_000, cwnd=20, burst_cap=CAP)
    assert "burst-limited" not in causes(scene, tap)


@look_alike
def test_a_small_initial_window_that_grows_is_cwnd(scene: Scene, tap: Tap) -> None:
    scene.handshake(rtt_ms=20)
    scene.server.congestion.cwnd = scene.server.congestion.initial = 6
    scene.download(60_000)
    assert "burst-limited" not in causes(scene, tap)


@look_alike
@pytest.mark.parametrize("size", [9_356, 50_000])
def test_a_count_that_grows_from_exchange_to_exchange_is_cwnd(scene: Scene, tap: Tap, size: int) -> None:
    exchanges(scene, 200, size, cwnd=3)
    assert list(waits(scene, tap)) == ["cwnd-limited"]


@look_alike
def test_a_send_buffer_of_whole_segments_is_no_cap(scene: Scene, tap: Tap) -> None:
    exchanges(scene, 50, 50_000, cwnd=40, send_buffer=CAP * 1_448, tso=1)
    assert "burst-limited" not in causes(scene, tap)


@look_alike
def test_an_idle_that_lowers_the_window_before_each_exchange_is_a_restart(scene: Scene, tap: Tap) -> None:
    scene.handshake(rtt_ms=20)
    scene.download(300_000)
    for _ in range(12):
        scene.wait_ms(3_000)
        scene.download(60_000)
    assert "burst-limited" not in causes(scene, tap)


@look_alike
@pytest.mark.parametrize(("size", "sure"), [(4 * 1_448 + 200, False), (6 * 1_448, True)])
def test_a_short_end_that_waits_until_nothing_is_in_flight_may_be_held_by_rfc_896(
    scene: Scene, tap: Tap, size: int, sure: bool
) -> None:
    exchanges(scene, 20, size, cwnd=40, burst_cap=4)
    found = [row["confidence"] for row in scene.flow(tap)["stalls"] if row["cause"] == "burst-limited"]
    assert len(found) == 20
    assert {confidence >= 0.8 for confidence in found} == {sure}


@look_alike
def test_bursts_of_the_largest_frames_stop_where_the_window_has_no_room_for_another(scene: Scene) -> None:
    exchanges(scene, 8, 170_000, cwnd=110, burst_cap=90, tso=45)
    assert "burst-limited" not in causes(scene, "server")


@look_alike
@pytest.mark.parametrize(("rest", "sure"), [(400, False), (2 * SEGMENT, True)])
def test_a_short_end_that_leaves_at_the_first_ack_may_be_held_by_nagles_algorithm(
    scene: Scene, rest: int, sure: bool
) -> None:
    """Mirage's TCP holds a short segment behind any data, and lets it go at the next ACK, whatever is still out."""
    scene.handshake(rtt_ms=20)
    scene.server.congestion.cwnd = 40
    position = 0
    for _ in range(12):
        scene.request()
        scene.server_sends(8 * SEGMENT, tso=1)
        scene.client_acks(upto=position + 4 * SEGMENT)
        scene.server_sends(rest, tso=1)
        scene.client_acks()
        position += 8 * SEGMENT + rest
    found = [row["confidence"] for row in scene.flow("server")["stalls"] if row["cause"] == "burst-limited"]
    assert found
    assert {confidence >= 0.8 for confidence in found} == {sure}


@look_alike
@pytest.mark.parametrize(("cap", "sure"), [(10, True), (20, False)])
def test_a_cap_beyond_an_initial_window_may_be_a_window_that_exchanges_do_not_fill(
    scene: Scene, tap: Tap, cap: int, sure: bool
) -> None:
    exchanges(scene, 12, 30 * SEGMENT, cwnd=60, burst_cap=cap)
    found = [row["confidence"] for row in scene.flow(tap)["stalls"] if row["cause"] == "burst-limited"]
    assert len(found) >= 11
    assert (max(found) >= 0.8) == sure
