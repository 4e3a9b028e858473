"""A clock that advances in steps of milliseconds, as an old kernel's tick: what is closer together has one time."""

from dataclasses import replace
from typing import Any

import pytest

from tests.properties.frames import read_frames, write_frames
from tests.scene import Scene
from tests.scene.network import Tap
from tests.scene.verdict import flows_of

STEPS = "time: the stamps advance in steps of milliseconds"


def waits(scene: Scene, tap: Tap, step_ns: int) -> list[dict[str, Any]]:
    """The server's stalls, as a clock of such steps stamps its packets."""
    path = scene.capture(tap)
    frames = [replace(frame, time_ns=frame.time_ns // step_ns * step_ns) for frame in read_frames(path)]
    [flow] = flows_of(write_frames(path, frames))
    return [row for row in flow["stalls"] if row["sender"] == "server"]


@pytest.mark.parametrize(("step_ms", "rtt_ms"), [(4, 3.1), (4, 5.3), (4, 7.3), (10, 5.3), (10, 7.3)])
def test_a_step_after_an_ack_is_not_surely_a_pause_of_the_application(
    scene: Scene, tap: Tap, step_ms: int, rtt_ms: float
) -> None:
    """Some answers seem to take a step, and others none."""
    scene.handshake(rtt_ms=rtt_ms)
    scene.download(400_000)
    rows = waits(scene, tap, step_ms * 1_000_000)
    assert rows
    assert not [row for row in rows if row["cause"] == "app-limited" and row["confidence"] >= 0.8]


def test_data_with_a_later_stamp_than_an_ack_answers_it_perhaps(scene: Scene) -> None:
    scene.handshake(rtt_ms=33.1)
    scene.download(400_000)
    rows = waits(scene, "client", 10_000_000)
    later = [row for row in rows if (row["evidence"]["freed_to_data_ns"] or 0) > 0]
    assert later
    assert all(row["confidence"] <= 0.75 and STEPS in row["missing"] for row in later)


def test_times_that_are_no_steps_apart_are_those_of_a_fine_clock(scene: Scene, tap: Tap) -> None:
    """Writes at whole milliseconds do not make the clock coarse: the handshake and the ACKs are between them."""
    scene.handshake(rtt_ms=7.3)
    scene.request()
    for _ in range(8):
        scene.server_sends(500)
        scene.client_acks()
        scene.wait_ms(100)
    rows = waits(scene, tap, 1_000)
    assert [row for row in rows if row["cause"] == "app-limited" and row["confidence"] >= 0.8]
    assert not any(STEPS in row["missing"] for row in rows)
