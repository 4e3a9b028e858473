"""The figures behind a full send buffer and an idle restart."""

from typing import Any

import pytest

from tests.scene import Scene, between
from tests.scene.network import Tap


def rows(scene: Scene, cause: str, tap: Tap | None = None) -> list[dict[str, Any]]:
    return [row for row in scene.flow(tap)["stalls"] if row["cause"] == cause and row["sender"] == "server"]


@pytest.mark.parametrize("buffer", [16_000, 20_000])
def test_a_plateau_gives_its_rate_and_the_option_that_explains_it(scene: Scene, tap: Tap, buffer: int) -> None:
    scene.handshake(rtt_ms=20)
    scene.download(1_000_000, tso=1, send_buffer=buffer)
    evidence = [row for row in rows(scene, "sndbuf-limited", tap) if row["detail"] == "plateau"][-1]["evidence"]
    plateau = evidence["plateau_bytes"]
    assert plateau in between(buffer - 1_448, buffer + 1_448)
    assert evidence["ceiling_bytes_per_s"] in between(plateau * 50 * 0.98, plateau * 50)
    assert evidence["buffer_low_bytes"] <= plateau // 2, "the option is doubled"
    assert evidence["buffer_high_bytes"] == plateau
    assert evidence["buffer_needed_bytes"] >= 2 * plateau


def test_flights_that_swing_with_the_writers_wake_ups_have_a_level_too(scene: Scene, tap: Tap) -> None:
    scene.handshake(rtt_ms=20)
    scene.download(1_000_000, tso=1, send_buffer=40_000)
    blocked = rows(scene, "sndbuf-limited", tap)
    assert all(row["evidence"]["buffer_high_bytes"] in between(28_000, 41_448) for row in blocked)
    assert len({row["evidence"]["plateau_bytes"] for row in blocked}) == 1


def test_two_waits_are_no_level(scene: Scene, tap: Tap) -> None:
    scene.handshake(rtt_ms=20)
    scene.download(130_000, tso=1, send_buffer=40_000)
    blocked = rows(scene, "sndbuf-limited", tap)
    assert 0 < len(blocked) < 3
    assert all("ceiling_bytes_per_s" not in row["evidence"] for row in blocked)


def test_a_plateau_above_the_largest_frame_bounds_the_option_from_below(scene: Scene, tap: Tap) -> None:
    scene.handshake(rtt_ms=20)
    scene.download(6_000_000, tso=1, send_buffer=400_000)
    evidence = [row for row in rows(scene, "sndbuf-limited", tap) if row["detail"] == "plateau"][-1]["evidence"]
    assert evidence["plateau_bytes"] > 200_000
    assert evidence["buffer_low_bytes"] == (evidence["plateau_bytes"] - 65_536) // 2


def test_a_congestion_window_has_no_buffer_to_size(scene: Scene, tap: Tap) -> None:
    scene.handshake(rtt_ms=20)
    scene.download(150_000)
    assert all("buffer_high_bytes" not in row["evidence"] for row in rows(scene, "cwnd-limited", tap))


def restarted(scene: Scene, size: int, **how: Any) -> None:
    scene.handshake(rtt_ms=20)
    scene.download(250_000)
    scene.wait_ms(3_000)
    scene.download(size, **how)


def test_a_restart_tells_the_windows_and_the_round_trips_that_it_cost(scene: Scene, tap: Tap) -> None:
    restarted(scene, 130_000)
    climb = rows(scene, "idle-restart", tap)
    evidence = climb[0]["evidence"]
    assert evidence["cwnd_before_idle_segments"] > 90
    assert evidence["cwnd_after_idle_segments"] == 10
    # 90 segments fit into the old window at once; from ten they take 10 + 20 + 40 + 20.
    assert evidence["extra_round_trips"] == 3 == len(climb)
    assert all("extra_round_trips" not in row["evidence"] for row in climb[1:])


def test_waits_that_the_old_window_would_have_cost_as_well_are_not_extra(scene: Scene, tap: Tap) -> None:
    restarted(scene, 3_000_000)
    # Five waits for 10 + 20 + 40 + 80 + 160 segments; for these and one more flight the old window of 190 needs two.
    assert rows(scene, "idle-restart", tap)[0]["evidence"]["extra_round_trips"] == 3


def test_each_idle_has_its_own_cost(scene: Scene, tap: Tap) -> None:
    restarted(scene, 130_000)
    scene.wait_ms(3_000)
    scene.download(130_000)
    costs = [row["evidence"].get("extra_round_trips") for row in rows(scene, "idle-restart", tap)]
    assert [cost for cost in costs if cost is not None] == [3, 3]


def test_a_timeout_is_no_idle_restart(scene: Scene, tap: Tap) -> None:
    scene.handshake(rtt_ms=20)
    scene.download(250_000, lose=tuple(range(100_000, 250_000, 1_448)))
    assert rows(scene, "idle-restart", tap) == []


def test_chunks_that_never_filled_the_window_pay_nothing_for_their_idles(scene: Scene, tap: Tap) -> None:
    scene.handshake(rtt_ms=20)
    for _ in range(6):
        scene.download(8_000)
        scene.wait_ms(1_000)
    assert rows(scene, "idle-restart", tap) == []


def test_a_sender_without_slow_start_after_idle_pays_nothing(scene: Scene, tap: Tap) -> None:
    restarted(scene, 130_000, slow_start_after_idle=False)
    assert rows(scene, "idle-restart", tap) == []
