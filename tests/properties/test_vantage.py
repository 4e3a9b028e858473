"""The place of the path's delay, before the tap, behind it or on both sides, does not change a cause."""

from itertools import groupby
from pathlib import Path

import pytest

from tests.properties.comparison import Flow, causes_of, moved_points, wrong_and_sure
from tests.properties.findings import MOVED, cases, marked
from tests.properties.rewriting import moved_towards, split
from tests.properties.stage import CLIENT, ONE_WAY_NS, SCENES, SEGMENT, SERVER, TAPS, diagnosed, staged, traced
from tests.scene.network import Tap

TRACE_CLIENT, TRACE_SERVER = "192.168.247.130", "192.168.247.129"
TRACE_ONE_WAY_NS = 1_600_000
"""Half of the least round trip from the trace's tap: 3.225 ms to the server and back, 3.206 ms to the client."""
POINTS = 2.0


def in_turn(flow: Flow) -> list[tuple[str, str]]:
    """The causes, neighbours of one cause once: where a repair's kinds meet depends on which attempt the tap saw."""
    return [cause for cause, _ in groupby(causes_of(flow))]


SHARES = (0.1, 0.25, 0.5, 0.75, 0.9, 1.0)
"""Distance by which the tap moves from one end of the path to the other (of the trace: from its middle to an end)."""


@pytest.mark.parametrize("share", SHARES)
@pytest.mark.parametrize("towards", [TRACE_CLIENT, TRACE_SERVER])
def test_the_7_ms_trace_keeps_its_causes_wherever_the_delay_is(tmp_path: Path, towards: str, share: float) -> None:
    frames, before = traced()
    after = diagnosed(frames, moved_towards(towards, round(share * TRACE_ONE_WAY_NS)), tmp_path)
    assert causes_of(after) == causes_of(before)
    assert moved_points(before, after) <= POINTS


@pytest.mark.parametrize(("name", "tap", "share"), cases(MOVED, SCENES, TAPS, SHARES))
def test_a_scene_keeps_its_causes_wherever_the_delay_is(tmp_path: Path, name: str, tap: Tap, share: float) -> None:
    frames, before = staged(name, tap)
    by, towards = round(share * ONE_WAY_NS), CLIENT if tap == "server" else SERVER
    after = diagnosed(frames, moved_towards(towards, by), tmp_path)
    later = {"server": by, "client": -by} if tap == "server" else {"server": -by, "client": by}
    assert in_turn(after) == in_turn(before)
    assert wrong_and_sure(before, after, later_ns=later) == []


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=marked(MOVED, where=f"{name} split", what="1.0")) for name in SCENES]
)
def test_wire_packets_at_the_other_end_tell_what_large_frames_at_this_end_told(tmp_path: Path, name: str) -> None:
    sender: Tap = "client" if name == "upload" else "server"
    frames, before = staged(name, sender)
    towards = SERVER if sender == "client" else CLIENT
    after = diagnosed(split(SEGMENT)(frames), moved_towards(towards, ONE_WAY_NS), tmp_path)
    assert in_turn(after) == in_turn(before)
