"""`cwnd-limited` away from the sender, where the path stands between an ACK and its answer."""

from typing import Any

import pytest

from tests.causes.triple import NOT_A_STALL_MS, causes, fires, look_alike, near_miss
from tests.scene import Scene


def on_a_path_that_lengthens(scene: Scene, **how: Any) -> list[str]:
    """What holds the server's flights, seen at the client, while the round trip grows from 30 to 60 ms."""
    scene.path(rtt_ms=30)
    scene.handshake()
    for rtt_ms, size in ((30, 600_000), (36, 150_000), (42, 150_000), (48, 150_000), (54, 150_000), (60, 600_000)):
        scene.path(rtt_ms=rtt_ms)
        scene.wait_ms(50)
        scene.download(size, slow_start_after_idle=False, **how)
    return [stall.cause for stall in scene.stalls("server", "client", over_ms=NOT_A_STALL_MS)]


@fires
def test_flights_alike_to_the_byte_are_one_window_although_the_path_lengthens(scene: Scene) -> None:
    found = on_a_path_that_lengthens(scene, initial_window=40, grow=False)
    assert found.count("cwnd-limited") > 25
    assert "sndbuf-limited" not in found


@look_alike
def test_a_buffer_remains_one_while_the_path_lengthens(scene: Scene) -> None:
    found = on_a_path_that_lengthens(scene, send_buffer=60_000)
    assert found.count("sndbuf-limited") > 20


@near_miss
def test_waits_of_a_part_of_a_round_trip_are_unsure_away_from_the_sender(scene: Scene) -> None:
    """The server fills each window at once; a link collects frames and delivers the last ones 16 ms later."""
    scene.handshake(rtt_ms=40)
    scene.request()
    for frames in (5, 10, 20):
        for frame in range(frames):
            scene.server_sends(2 * 1_448, push=False, late_ms=16 if 5 * frame >= 3 * frames else 0)
        scene.client_acks()
    short = [row for row in scene.flow("client")["stalls"] if row["duration_ns"] < 20_000_000]
    assert short
    assert max(row["confidence"] for row in short) < 0.8


@fires
@pytest.mark.parametrize(("rtt_ms", "mbit"), [(180, 5), (190, 3), (200, 3)])
def test_ten_segments_over_a_slow_line_are_an_initial_window_at_the_receiver(
    scene: Scene, rtt_ms: int, mbit: int
) -> None:
    """Full segments take milliseconds longer than SYNs, so half of the ACKs seem to have come before the wait."""
    scene.path(rtt_ms=180)
    scene.handshake()
    scene.path(rtt_ms=rtt_ms, server_mbit=mbit)
    scene.download(16_000)
    assert causes(scene, "client") == ["cwnd-limited"]


@near_miss
def test_seven_segments_over_a_slow_line_are_none(scene: Scene) -> None:
    scene.path(rtt_ms=180, server_mbit=5)
    scene.handshake()
    scene.request()
    for segments in (7, 3):
        scene.server_sends(segments * 1_448, tso=1)
        scene.client_acks()
    assert "cwnd-limited" not in causes(scene, "client")
