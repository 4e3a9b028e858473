"""Repairs of losses in kinds: what began each repair, what showed it needless, and what only looks like one."""

from typing import Any

import pytest

from tests.scene import Scene, between
from tests.scene.network import Tap

SEGMENT = 1_448
SENDERS: list[Tap] = ["server", "between"]
"""Taps that see what is lost on its way."""


def repairs(scene: Scene, tap: Tap | None = None) -> list[dict[str, Any]]:
    return [row for row in scene.flow(tap)["stalls"] if row["cause"] == "retransmission"]


def attempts(row: dict[str, Any]) -> list[tuple[str, float]]:
    """(kind, ms of silence before it) of each attempt."""
    return [(attempt["kind"], round(attempt["waited_ns"] / 1e6)) for attempt in row["attempts"]]


def opened(scene: Scene, sent: int = 4 * SEGMENT) -> int:
    """A request, and a first answer that is acknowledged; gives how much was sent."""
    scene.handshake(rtt_ms=20)
    scene.client_sends(147)
    scene.server_sends(sent, tso=1)
    scene.client_acks()
    return sent


def test_timeouts_of_the_same_segment_are_a_chain_that_doubles(scene: Scene) -> None:
    edge = opened(scene)
    scene.server_sends(SEGMENT, lost=True)
    for wait in (224, 448, 896):
        scene.wait_ms(wait)
        scene.server_repeats(edge, SEGMENT, lost=wait < 896)
    scene.client_acks()
    scene.server_sends(SEGMENT)
    probed, timed_out = repairs(scene)
    assert attempts(probed) == [("tail-loss", 224)]
    assert attempts(timed_out) == [("timeout", 448), ("timeout", 896)]
    assert timed_out["evidence"]["timeouts"] == 2


def test_the_timer_after_a_lost_fast_retransmission_has_its_own_share_of_the_wait(scene: Scene) -> None:
    edge = opened(scene)
    scene.server_sends(SEGMENT, lost=True)
    scene.server_sends(3 * SEGMENT, tso=1)
    for count in (1, 2, 3):
        scene.client_acks(upto=edge, sack=((edge + SEGMENT, edge + (1 + count) * SEGMENT),))
    scene.server_repeats(edge, SEGMENT, lost=True)
    scene.wait_ms(230)
    scene.server_repeats(edge, SEGMENT)
    scene.client_acks(upto=edge + 4 * SEGMENT)
    scene.server_sends(SEGMENT)
    fast, timer = repairs(scene)
    assert (fast["detail"], fast["duration_ns"] / 1e6 < 60) == ("fast-retransmit", True)
    assert (timer["detail"], timer["duration_ns"] / 1e6 in between(200, 260)) == ("timeout", True)
    assert timer["evidence"]["timeouts"] == 1


@pytest.mark.parametrize("tap", SENDERS)
def test_the_congestion_point_is_the_flight_when_the_first_lost_segment_was_first_sent(scene: Scene, tap: Tap) -> None:
    edge = opened(scene)
    scene.server_sends(2 * SEGMENT, tso=1)
    scene.server_sends(SEGMENT, lost=True)
    scene.server_sends(4 * SEGMENT, tso=1)
    lost = edge + 2 * SEGMENT
    scene.client_acks(upto=lost, sack=((lost + SEGMENT, lost + 5 * SEGMENT),))
    scene.server_repeats(lost, SEGMENT)
    scene.client_acks(upto=lost + 5 * SEGMENT)
    scene.server_sends(SEGMENT)
    (row,) = repairs(scene, tap)
    assert row["detail"] == "fast-retransmit"
    assert row["evidence"]["congestion_point_bytes"] == 3 * SEGMENT


def test_a_dsack_shows_that_a_timeout_was_needless(scene: Scene) -> None:
    edge = opened(scene)
    scene.server_sends(2 * SEGMENT, tso=1)
    scene.wait_ms(230)
    scene.server_repeats(edge, SEGMENT)
    scene.client_acks(upto=edge + 2 * SEGMENT, sack=((edge, edge + SEGMENT),))
    scene.server_sends(SEGMENT)
    (row,) = repairs(scene)
    assert (row["detail"], row["evidence"]["needless_retransmissions"]) == ("spurious", 1)
    assert attempts(row)[0][0] == "timeout"


@pytest.mark.parametrize(("begins", "needless"), [(51, None), (0, 1)], ids=["end", "whole"])
def test_a_dsack_of_the_end_of_a_copy_shows_that_its_beginning_was_lost(
    scene: Scene, begins: int, needless: int | None
) -> None:
    """One copy of two short writes: the second had arrived, the first perhaps not."""
    edge = opened(scene)
    scene.server_sends(51, lost=begins > 0)
    scene.server_sends(69)
    scene.client_acks(upto=edge, sack=((edge + 51, edge + 120),) if begins else ())
    scene.wait_ms(230)
    scene.server_repeats(edge, 120)
    scene.client_acks(upto=edge + 120, sack=((edge + begins, edge + 120),))
    scene.server_sends(SEGMENT)
    (row,) = repairs(scene)
    assert (row["detail"] == "spurious") == (needless is not None)
    assert row["evidence"].get("needless_retransmissions") == needless


def test_nobody_waits_for_a_needless_copy_while_it_is_the_peers_turn(scene: Scene, tap: Tap) -> None:
    edge = opened(scene)
    scene.server_sends(SEGMENT)
    scene.client_acks()
    scene.wait_ms(230)
    scene.server_repeats(edge, SEGMENT)
    scene.client_acks(upto=edge + SEGMENT, sack=((edge, edge + SEGMENT),))
    scene.wait_ms(1_500)
    scene.request()
    scene.server_sends(SEGMENT)
    flow = scene.flow(tap)
    assert "retransmission" not in flow["time_ns"]
    assert flow["directions"]["server"]["needless_retransmissions"] == 1
    waits = {(row["sender"], row["detail"]) for row in flow["stalls"] if row["duration_ns"] > 10**9}
    assert waits == {("server", "awaiting-peer"), ("client", "think-time")}


def test_a_dsack_of_something_else_proves_nothing(scene: Scene) -> None:
    edge = opened(scene)
    scene.server_sends(SEGMENT, lost=True)
    scene.server_sends(SEGMENT)
    scene.wait_ms(230)
    scene.server_repeats(edge, SEGMENT)
    scene.client_acks(upto=edge + 2 * SEGMENT, sack=((edge - SEGMENT, edge),))
    scene.server_sends(SEGMENT)
    (row,) = repairs(scene)
    assert (row["detail"], row["evidence"].get("needless_retransmissions")) == ("timeout", None)


def test_a_fast_retransmission_of_a_segment_that_was_only_late_is_undone(scene: Scene, tap: Tap) -> None:
    scene.handshake(rtt_ms=20)
    scene.download(400_000, tso=1, late=((60_000, 15_000),))
    server = scene.flow(tap)["directions"]["server"]
    assert server["fast_retransmits"] + server["retransmitted_bytes"] > 0
    assert server["needless_retransmissions"] == 1


def test_reordering_without_a_repair_is_counted_where_the_tap_sees_it(scene: Scene) -> None:
    scene.handshake(rtt_ms=20)
    scene.download(100_000, tso=1, late=((30_000, 3),))
    server = scene.flow("client")["directions"]["server"]
    assert (server["reordered_segments"], server["retransmitted_bytes"]) == (1, 0)
    assert 0 < server["reordering_bytes"] <= 10 * SEGMENT
    assert 0 < server["reordering_ns"] < 5_000_000


@pytest.mark.parametrize(
    ("how", "timestamps", "reordered"),
    [({"late": ((30_000, 9_000),)}, True, 1), ({"late": ((30_000, 9_000),)}, False, 0), ({"lose": (30_000,)}, True, 0)],
    ids=["late", "late-without-a-clock", "lost"],
)
def test_the_senders_clock_tells_late_data_from_data_sent_again(
    scene: Scene, how: dict[str, Any], timestamps: bool, reordered: int
) -> None:
    """No IP-ID tells, and the data comes after SACK blocks had asked for it."""
    scene.server.ip_ids = "zero"
    scene.handshake(rtt_ms=20, timestamps=timestamps)
    scene.download(100_000, tso=1, pace=1e6, **how)
    assert scene.flow("client")["directions"]["server"]["reordered_segments"] == reordered


def test_keep_alives_are_not_retransmissions(scene: Scene, tap: Tap) -> None:
    edge = opened(scene)
    for _ in range(3):
        scene.wait_ms(1_000)
        scene.server_repeats(edge - 1, 1)
        scene.client_acks()
    scene.server_sends(SEGMENT)
    assert repairs(scene, tap) == []
    assert scene.flow(tap)["directions"]["server"]["retransmitted_bytes"] == 0


def test_a_probe_of_a_closed_window_is_no_retransmission_even_if_its_byte_is_taken_at_last(
    scene: Scene, tap: Tap
) -> None:
    edge = opened(scene)
    scene.client_acks(window=0)
    for _ in range(3):
        scene.wait_ms(300)
        scene.server_repeats(edge, 1)
        scene.client_acks(upto=edge, window=0)
    scene.wait_ms(300)
    scene.server_repeats(edge, 1)
    scene.client_acks(upto=edge + 1, window=65_536)
    scene.server.nxt += 1
    scene.server_sends(4 * SEGMENT)
    flow = scene.flow(tap)
    assert repairs(scene, tap) == []
    assert flow["directions"]["server"]["retransmitted_bytes"] == 0
    assert {row["cause"] for row in flow["stalls"] if row["duration_ns"] > 100e6} == {"zero-window"}
    assert (flow["directions"]["server"]["bytes"], flow["notes"]) == (edge + 1 + 4 * SEGMENT, [])


def test_a_burst_after_an_idle_that_begins_with_a_lost_packet_is_no_timeout(scene: Scene) -> None:
    edge = opened(scene)
    scene.wait_ms(700)
    scene.server_sends(SEGMENT, lost=True)
    scene.server_sends(3 * SEGMENT, tso=1)
    scene.client_acks(upto=edge, sack=((edge + SEGMENT, edge + 4 * SEGMENT),))
    scene.server_repeats(edge, SEGMENT)
    scene.client_acks(upto=edge + 4 * SEGMENT)
    scene.server_sends(SEGMENT)
    (idle,) = scene.stalls("server", "client", over_ms=500)
    assert idle.cause == "app-limited"


def test_a_counter_that_other_connections_share_shows_no_loss(scene: Scene) -> None:
    opened(scene, 20 * SEGMENT)
    for _ in range(6):
        scene.server.packets_sent += 3
        scene.server_sends(SEGMENT)
        scene.server.packets_sent += 3
        scene.server_sends(SEGMENT)
        scene.client_acks()
        scene.wait_ms(228)
        scene.server.packets_sent += 3
        scene.server_sends(SEGMENT)
        scene.client_acks()
    assert repairs(scene, "client") == []


def test_repairs_after_the_fin_are_waited_for(scene: Scene) -> None:
    edge = opened(scene)
    scene.server_sends(SEGMENT, lost=True)
    scene.server_closes()
    for wait in (230, 460, 920):
        scene.wait_ms(wait)
        scene.server_repeats(edge, SEGMENT, lost=True)
    (row,) = repairs(scene)
    assert row["duration_ns"] / 1e6 in between(1_600, 1_640)
    assert not row["ended"]


@pytest.mark.parametrize(("duplicates", "kind"), [(2, "timeout"), (3, "fast-retransmit")])
def test_without_sack_a_repair_needs_three_duplicate_acks(scene: Scene, duplicates: int, kind: str) -> None:
    scene.client.sack = scene.server.sack = False
    edge = opened(scene)
    scene.server_sends(SEGMENT, lost=True)
    scene.server_sends(3 * SEGMENT, tso=1)
    for _ in range(duplicates):
        scene.client_acks(upto=edge)
    scene.wait_ms(1 if duplicates == 3 else 100)
    scene.server_repeats(edge, SEGMENT)
    scene.client_acks(upto=edge + 4 * SEGMENT)
    scene.server_sends(SEGMENT)
    (row,) = repairs(scene)
    assert [attempt["kind"] for attempt in row["attempts"]] == [kind]


def test_a_capture_without_acks_shows_no_timer(scene: Scene) -> None:
    scene.handshake(rtt_ms=20)
    for _ in range(5):
        scene.client_sends(100)
        scene.server_sends(300)
    scene.server_sends(2 * SEGMENT, tso=1)
    for _ in range(3):
        scene.wait_ms(44)
        scene.server_sends(SEGMENT, unseen=True)
        scene.server_sends(700)
    scene.client_sends(100)
    assert repairs(scene) == []


def test_no_probe_comes_within_a_tick_of_two_round_trips(scene: Scene) -> None:
    scene.handshake(rtt_ms=0.6)
    scene.server_sends(300)
    scene.client_acks()
    scene.path(rtt_ms=30)
    scene.server_sends(2 * SEGMENT, tso=1)
    scene.wait_ms(1.3)
    scene.server_sends(SEGMENT)
    scene.client_acks()
    assert repairs(scene) == []


@pytest.mark.parametrize(("push", "again"), [(False, 0), (True, 2)], ids=["keep-alive", "data"])
@pytest.mark.parametrize("closed", [False, True], ids=["open", "half-closed"])
def test_a_byte_without_push_at_the_end_of_longer_data_is_no_loss_where_the_acks_are_missing(
    scene: Scene, push: bool, again: int, closed: bool
) -> None:
    """A keep-alive is a byte below the next one to send (RFC 1122 §4.2.3.6); a timer sends whole segments again."""
    scene.handshake(rtt_ms=20)
    scene.client_sends(86)
    if closed:
        scene.client_closes()
        scene.client.nxt -= 1
    for _ in range(2):
        scene.wait_ms(45_000)
        scene.client_repeats(86 if closed else 85, 1, push=push)
    flow = scene.flow("client", drop=(2,))
    causes = {row["cause"] for row in flow["stalls"] if row["sender"] == "client"}
    if not push:
        assert (flow["directions"]["client"]["retransmitted_bytes"], causes & {"retransmission"}) == (0, set())
    elif not closed:
        assert flow["directions"]["client"]["retransmitted_bytes"] == again


@pytest.mark.parametrize("refused", [True, False])
def test_what_is_sent_again_to_a_peer_that_resets_each_copy_is_no_loss(scene: Scene, refused: bool) -> None:
    scene.handshake(rtt_ms=20)
    scene.client_sends(400, lost=not refused)
    for copy in range(4):
        if refused:
            scene.server_resets()
        scene.wait_ms(300 << copy)
        scene.client_repeats(0, 400, lost=not refused)
    flow = scene.flow("client")
    assert flow["directions"]["client"]["retransmitted_bytes"] == (0 if refused else 1_600)
    waits = [row["duration_ns"] for row in flow["stalls"] if row["cause"] == "retransmission"]
    assert bool(waits) != refused
    assert (flow["end_ns"] - flow["start_ns"] < 100e6) == refused
