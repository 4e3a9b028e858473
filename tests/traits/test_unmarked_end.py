"""PSH, or its absence, on the segments around what Nagle's algorithm may have held."""

import pytest

from tests.causes.triple import NOT_A_STALL_MS, fires, look_alike, near_miss
from tests.scene import Scene

SEGMENT = 1_448


def released(scene: Scene, *, marked: bool, close: bool = False) -> list[str]:
    """The causes of the waits where a short segment leaves alone at the ACK of one before it."""
    scene.handshake(rtt_ms=20)
    scene.request()
    scene.server_sends(2 * SEGMENT + 588, tso=1, push=marked)
    scene.client_acks()
    scene.server_sends(2 * SEGMENT + 588, tso=1, push=marked)
    scene.client_acks(upto=2 * (2 * SEGMENT + 588))
    scene.server_sends(600, tso=1, push=marked, close=close)
    return [stall.cause for stall in scene.stalls("server", "server", over_ms=NOT_A_STALL_MS)]


@near_miss
def test_the_end_of_a_write_that_leaves_with_the_fin_was_not_held(scene: Scene) -> None:
    assert "nagle" not in released(scene, marked=True, close=True)


@fires
def test_the_end_of_a_write_that_leaves_at_the_ack_of_a_short_segment_was_held(scene: Scene) -> None:
    assert "nagle" in released(scene, marked=True)


def sure_of_nagle(scene: Scene) -> float:
    rows = [row for row in scene.flow("server")["stalls"] if row["cause"] == "nagle"]
    return max((row["confidence"] for row in rows), default=0.0)


@look_alike
def test_a_short_segment_without_push_may_be_cut_by_a_window(scene: Scene) -> None:
    released(scene, marked=False)
    assert sure_of_nagle(scene) < 0.8


def written(scene: Scene, *, push: bool) -> float:
    """Confidence that the application made a sender wait that goes on with a whole segment while a short one is out."""
    scene.handshake(rtt_ms=20)
    scene.request()
    scene.server_sends(3 * SEGMENT + 253, tso=1)
    scene.server.now_ns += 15_000_000
    scene.server_sends(SEGMENT, tso=1, push=push)
    scene.server_sends(3 * SEGMENT, tso=1)
    rows = [row for row in scene.flow("server")["stalls"] if row["cause"] == "app-limited" and row["duration_ns"] > 1e7]
    return max((row["confidence"] for row in rows if row["sender"] == "server"), default=0.0)


@pytest.mark.parametrize("push", [True, False])
def test_only_a_whole_segment_with_push_may_have_filled_up_a_held_write(scene: Scene, push: bool) -> None:
    assert (written(scene, push=push) >= 0.8) is not push
