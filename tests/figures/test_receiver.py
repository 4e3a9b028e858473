"""The figures behind a full or shut window: who must act, how fast the reader was, what became of the probes."""

from typing import Any

import pytest

from tests.scene import Reader, Scene, between
from tests.scene.network import Tap


def rows(scene: Scene, cause: str, tap: Tap | None = None) -> list[dict[str, Any]]:
    return [row for row in scene.flow(tap)["stalls"] if row["cause"] == cause and row["sender"] == "server"]


def details(scene: Scene, cause: str, tap: Tap | None = None) -> set[str | None]:
    return {row["detail"] for row in rows(scene, cause, tap)}


def test_a_window_that_stands_at_its_plateau_is_a_small_buffer(scene: Scene, tap: Tap) -> None:
    scene.handshake(rtt_ms=20, client_scale=0, client_window=8_688)
    scene.download(100_000, reader=Reader(buffer=8_688))
    assert details(scene, "rwnd-limited", tap) == {"small-buffer"}
    evidence = rows(scene, "rwnd-limited", tap)[-1]["evidence"]
    assert evidence["ceiling_bytes_per_s"] in between(8_688 * 50 * 0.98, 8_688 * 50)
    assert (evidence["buffer_low_bytes"], evidence["buffer_high_bytes"]) == (5_792, 8_688)
    assert evidence["buffer_needed_bytes"] >= 2 * 8_688
    assert "drain_bytes_per_s" not in evidence


@pytest.mark.parametrize("bytes_per_ms", [300, 800, 1_500])
def test_a_reader_that_lags_has_its_rate_told(scene: Scene, tap: Tap, bytes_per_ms: int) -> None:
    scene.handshake(rtt_ms=20)
    scene.download(1_000_000, reader=Reader(buffer=65_536, bytes_per_ms=bytes_per_ms))
    slow = [row for row in rows(scene, "rwnd-limited", tap) if row["detail"] == "slow-reader"]
    assert slow
    rate = bytes_per_ms * 1_000
    assert slow[0]["evidence"]["drain_bytes_per_s"] in between(0.9 * rate, 1.1 * rate)
    assert slow[0]["evidence"]["window_plateau_bytes"] in between(60_000, 65_536)
    assert "buffer_high_bytes" not in slow[0]["evidence"]


def test_one_nap_makes_no_slow_reader(scene: Scene, tap: Tap) -> None:
    scene.handshake(rtt_ms=20)
    scene.download(600_000, reader=Reader(buffer=65_536, pauses=((200_000, 8),)))
    assert "slow-reader" not in details(scene, "rwnd-limited", tap)


def test_a_window_of_overhead_that_never_comes_back_is_no_slow_reader(scene: Scene, tap: Tap) -> None:
    scene.handshake(rtt_ms=20, client_scale=0, client_window=60_000)
    scene.client_sends(100)
    for window in (60_000, *[14_480] * 12):
        scene.server_sends(14_480)
        scene.client_acks(window=window)
    assert "slow-reader" not in details(scene, "rwnd-limited", tap)


def shut(scene: Scene) -> None:
    scene.handshake(rtt_ms=20)
    scene.client_sends(100)
    scene.server_sends(14_480)
    scene.client_acks(window=0)


def test_probes_that_nobody_answers_are_counted_to_the_silent_end(scene: Scene) -> None:
    shut(scene)
    for wait in (200, 400, 800, 1_600):
        scene.wait_ms(wait)
        scene.server_probes(lost=True)
    (row,) = rows(scene, "zero-window", "server")
    evidence = row["evidence"]
    assert (row["ended"], row["detail"]) == (False, "never-reopened")
    assert (evidence["window_probes"], evidence["probes_unanswered"], evidence["probes_since_heard"]) == (4, 4, 4)
    assert (evidence["probe_bytes"], evidence["closed_window_bytes"]) == (0, 0)
    assert evidence["closed_ns"] in between(2_980e6, 3_010e6)


def test_probes_that_are_answered_are_not_called_unanswered(scene: Scene, tap: Tap) -> None:
    shut(scene)
    for wait in (200, 400, 800):
        scene.wait_ms(wait)
        scene.server_probes()
        scene.client_acks(window=0)
    (row,) = rows(scene, "zero-window", tap)
    assert (row["ended"], row["detail"]) == (False, "never-reopened")
    assert (row["evidence"]["window_probes"], row["evidence"]["probes_unanswered"]) == (3, 0)


def test_one_probe_that_was_lost_among_answered_ones(scene: Scene) -> None:
    shut(scene)
    for lost in (False, True, False):
        scene.wait_ms(300)
        scene.server_probes(lost=lost)
        if not lost:
            scene.client_acks(window=0)
    scene.wait_ms(300)
    scene.client_acks(window=65_536)
    scene.server_sends(14_480)
    (row,) = rows(scene, "zero-window", "server")
    assert (row["ended"], row["detail"]) == (True, None)
    assert (row["evidence"]["window_probes"], row["evidence"]["probes_unanswered"]) == (3, 1)


def test_probes_of_one_byte_are_probes(scene: Scene) -> None:
    shut(scene)
    for _ in range(2):
        scene.wait_ms(300)
        scene.server_probes(payload=1, lost=True)
    (row,) = rows(scene, "zero-window", "server")
    assert (row["evidence"]["window_probes"], row["evidence"]["probe_bytes"]) == (2, 1)


def test_a_probed_window_below_a_segment_is_named_as_such(scene: Scene, tap: Tap) -> None:
    scene.handshake(rtt_ms=20, client_scale=0)
    scene.client_sends(100)
    scene.server_sends(14_480)
    scene.client_acks(window=700)
    scene.wait_ms(300)
    scene.server_probes()
    scene.client_acks(window=700)
    scene.wait_ms(200)
    scene.client_acks(window=65_535)
    scene.server_sends(14_480)
    (row,) = rows(scene, "zero-window", tap)
    assert (row["detail"], row["evidence"]["closed_window_bytes"]) == ("below-segment", 700)


def test_a_window_below_a_segment_that_is_probed_is_never_surely_shut(scene: Scene) -> None:
    """To one stack it is a full window, to the next a closed one."""
    scene.handshake(rtt_ms=20, client_scale=0)
    scene.client_sends(100)
    scene.server_sends(14_480)
    scene.client_acks(window=700)
    for _ in range(2):
        scene.wait_ms(300)
        scene.server_probes()
        scene.client_acks(window=700)
    still_shut = rows(scene, "zero-window", "server")
    scene.wait_ms(300)
    scene.client_acks(window=65_535)
    scene.server_sends(14_480)
    reopened = rows(scene, "zero-window", "server")
    assert [row["detail"] for row in (*still_shut, *reopened)] == ["never-reopened", "below-segment"]
    assert max(row["confidence"] for row in (*still_shut, *reopened)) < 0.8


def test_a_window_of_exactly_a_segment_is_not_shut(scene: Scene, tap: Tap) -> None:
    scene.handshake(rtt_ms=20, client_scale=0)
    scene.client_sends(100)
    scene.server_sends(14_480)
    scene.client_acks(window=1_448)
    scene.wait_ms(500)
    scene.client_acks(window=65_535)
    scene.server_sends(14_480)
    assert rows(scene, "zero-window", tap) == []


def test_busy_time_and_the_windows_share_of_it(scene: Scene, tap: Tap) -> None:
    scene.handshake(rtt_ms=20, client_scale=0, client_window=8_688)
    scene.download(100_000, reader=Reader(buffer=8_688))
    sender = scene.flow(tap)["directions"]["server"]
    assert sender["busy_ns"] in between(225e6, 245e6), "12 round trips"
    assert sender["rwnd_limited_ns"] / sender["busy_ns"] in between(0.85, 1)


def test_an_idle_sender_is_not_busy(scene: Scene, tap: Tap) -> None:
    scene.handshake(rtt_ms=20)
    scene.download(10_000)
    scene.wait_ms(2_000)
    scene.download(10_000)
    sender = scene.flow(tap)["directions"]["server"]
    assert sender["busy_ns"] in between(38e6, 46e6), "two round trips"
    assert sender["rwnd_limited_ns"] == 0
