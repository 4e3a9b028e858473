"""A receiver that scales the window of its SYN-ACK, which RFC 7323 §2.2 forbids."""

import pytest

from tests.causes.triple import NOT_A_STALL_MS
from tests.scene import Reader, Scene
from tests.scene.network import Tap


def first_wait(scene: Scene, tap: Tap, *, window: int, buffer: int) -> tuple[str, float]:
    """Cause and confidence of the client's first wait: three segments are out, the SYN-ACK's field says `window`."""
    scene.handshake(rtt_ms=20, server_scale=3, server_window=window, timestamps=False)
    scene.client.peer_window = buffer
    how = {"growth": "per-ack", "ack_every": 1, "initial_window": 3}
    scene.client_transfers(100_000, tso=1, reader=Reader(buffer=buffer), **how)
    rows = [row for row in scene.flow(tap)["stalls"] if row["cause"] != "handshake"]
    row = next(row for row in rows if row["end_ns"] - row["start_ns"] > NOT_A_STALL_MS * 1e6)
    return row["cause"], row["confidence"]


def test_a_sender_with_more_out_than_the_unscaled_window_read_it_scaled(scene: Scene, tap: Tap) -> None:
    assert first_wait(scene, tap, window=1_792, buffer=14_336)[0] == "cwnd-limited"


def test_a_flight_that_fills_the_unscaled_window_shows_no_reading(scene: Scene, tap: Tap) -> None:
    cause, confidence = first_wait(scene, tap, window=4_500, buffer=36_000)
    assert cause == "rwnd-limited"
    assert confidence == pytest.approx(0.7)


def test_a_window_that_was_no_part_of_the_next_one_was_not_scaled(scene: Scene, tap: Tap) -> None:
    cause, confidence = first_wait(scene, tap, window=4_500, buffer=50_000)
    assert cause == "rwnd-limited"
    assert confidence > 0.9
