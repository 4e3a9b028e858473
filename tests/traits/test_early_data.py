"""Two directions that were captured by clocks that differ: the capture holds ACKs after the data that they released."""

from dataclasses import replace
from typing import Any

import pytest

from tests.properties.frames import read_frames, write_frames
from tests.properties.rewriting import end_of, in_order
from tests.scene import Plan, Scene
from tests.scene.transfer import transfer
from tests.scene.verdict import flows_of

ORDER = "the order of ACKs and data: ACKs come just after data that they may have released, without timestamps"


def waits(scene: Scene, early_us: int) -> list[dict[str, Any]]:
    """The server's stalls over a millisecond, whose clock is so much slow."""
    path = scene.capture("server")
    frames = read_frames(path)
    server = end_of(frames, client=False)
    moved = [replace(frame, time_ns=frame.time_ns - early_us * 1_000 * (frame.source == server)) for frame in frames]
    [flow] = flows_of(write_frames(path, in_order(moved)))
    return [row for row in flow["stalls"] if row["sender"] == "server" and row["duration_ns"] > 1e6]


def full_buffer(scene: Scene, *, timestamps: bool) -> None:
    scene.handshake(rtt_ms=20, timestamps=timestamps)
    scene.download(600_000, send_buffer=29_200)


@pytest.mark.parametrize("early_us", [20, 60, 200])
def test_data_that_comes_just_before_acks_was_released_by_them_perhaps(scene: Scene, early_us: int) -> None:
    full_buffer(scene, timestamps=False)
    rows = waits(scene, early_us)
    assert len(rows) > 15
    assert {row["cause"] for row in rows[5:]} == {"sndbuf-limited"}
    assert all(row["confidence"] <= 0.75 and ORDER in row["missing"] for row in rows[5:])


@pytest.mark.parametrize(("timestamps", "early_us"), [(True, 60), (True, 0), (False, 0)])
def test_stamps_or_the_order_itself_show_what_an_ack_released(scene: Scene, timestamps: bool, early_us: int) -> None:
    full_buffer(scene, timestamps=timestamps)
    rows = waits(scene, early_us)
    assert not any(ORDER in row["missing"] for row in rows)
    assert {row["cause"] for row in rows[5:]} <= {"sndbuf-limited", "cwnd-limited"}


def written(scene: Scene, tick_ms: float) -> list[dict[str, Any]]:
    """Writes of one segment at a tick, on a path of 20 ms."""
    scene.handshake(rtt_ms=20, timestamps=False)
    scene.request()
    writes = tuple((number * tick_ms, 700) for number in range(30))
    transfer(scene.server, scene.client, Plan(writes, nodelay=True, ack_every=1))
    return waits(scene, 0)


def test_a_tick_as_long_as_the_round_trip_is_unsure(scene: Scene) -> None:
    rows = written(scene, 19.9)
    assert len(rows) > 20
    assert all(row["confidence"] <= 0.75 for row in rows[2:])


def test_a_tick_of_its_own_meets_no_acks(scene: Scene) -> None:
    rows = written(scene, 13.0)
    assert len(rows) > 20
    assert not any(ORDER in row["missing"] for row in rows)
