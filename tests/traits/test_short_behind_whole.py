"""Darwin's variant of Nagle's algorithm: a short segment may leave behind a whole one, whatever else is out."""

import pytest

from tests.causes.triple import fires, near_miss
from tests.scene import Scene


def waits_of_nagle(scene: Scene, *flight: int) -> list[float]:
    """Their confidences. The client writes 800 bytes at each ACK; each third time it has this flight out."""
    scene.handshake(rtt_ms=20)
    for _ in range(3):
        for sizes in ((800,), (800,), flight):
            for size in sizes:
                scene.client_sends(size)
            scene.server_acks()
    scene.client_sends(800)
    scene.server_acks()
    rows = [row for row in scene.flow("client")["stalls"] if row["sender"] == "client" and row["cause"] == "nagle"]
    return [row["confidence"] for row in rows]


@fires
def test_short_segments_behind_whole_ones_alone_leave_the_next_one_held(scene: Scene) -> None:
    assert waits_of_nagle(scene, 800, 1_448, 246) == [pytest.approx(0.7)] * 6


@near_miss
def test_short_segments_directly_behind_short_ones_show_that_none_is_held(scene: Scene) -> None:
    assert waits_of_nagle(scene, 800, 600, 246) == []
