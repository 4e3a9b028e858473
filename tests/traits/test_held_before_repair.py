"""The end of a write that Nagle's algorithm held behind a flight of which a part was lost."""

import pytest

from tests.causes.triple import fires, look_alike, near_miss
from tests.scene import Scene


def held_tail(scene: Scene, *, tail: int = 300, push: bool = False) -> list[str]:
    """Causes where the last of eight whole segments is lost, a timer repairs it, and more of the write follows."""
    scene.handshake(rtt_ms=20)
    scene.client_sends(147)
    scene.server_sends(7 * 1_448, tso=1, push=False)
    scene.server_sends(1_448, lost=True, push=push)
    for segments in range(1, 8):
        scene.client_acks(upto=segments * 1_448)
    scene.wait_ms(230)
    scene.server_repeats(7 * 1_448, 1_448)
    scene.client_acks()
    scene.server_sends(tail)
    scene.client_acks()
    return [row["cause"] for row in scene.flow("server")["stalls"] if row["sender"] == "server"]


@fires
def test_the_end_of_a_write_was_held_before_a_loss_stretched_the_wait(scene: Scene) -> None:
    """Seven ACKs let nothing go, with room in both windows: RFC 896 holds the rest behind any data."""
    assert held_tail(scene)[:2] == ["nagle", "retransmission"]


@near_miss
@pytest.mark.parametrize("tail", [1_448, 4_000])
def test_whole_segments_were_not_held_before_a_loss(scene: Scene, tail: int) -> None:
    assert "nagle" not in held_tail(scene, tail=tail)


@look_alike
def test_behind_the_end_of_a_write_nothing_was_held(scene: Scene) -> None:
    assert "nagle" not in held_tail(scene, push=True)
