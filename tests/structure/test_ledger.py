"""The ledger of time: every nanosecond of a flow has exactly one owner."""

import tempfile
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tcpstall import _core
from tests.scene import Scene
from tests.scene.gallery import EVERYTHING
from tests.scene.network import Tap
from tests.scene.strategies import acts
from tests.scene.verdict import flows_of


def expect_whole_ledger(flow: dict[str, Any]) -> None:
    assert flow["time_ns"].keys() <= set(_core.owners())
    assert all(span >= 0 for span in flow["time_ns"].values())
    assert sum(flow["time_ns"].values()) == flow["end_ns"] - flow["start_ns"]


def expect_stalls_apart(flow: dict[str, Any]) -> None:
    for sender in ("client", "server"):
        own = [row for row in flow["stalls"] if row["sender"] == sender and row["cause"] != "handshake"]
        own.sort(key=lambda row: row["start_ns"])
        assert all(row["duration_ns"] == row["end_ns"] - row["start_ns"] > 0 for row in own)
        assert all(later["start_ns"] >= earlier["end_ns"] for earlier, later in pairwise(own))


@pytest.mark.parametrize("name", EVERYTHING)
def test_it_sums_to_the_length_of_a_scene(name: str, scene: Scene, tap: Tap) -> None:
    EVERYTHING[name](scene)
    flow = scene.flow(tap)
    expect_whole_ledger(flow)
    expect_stalls_apart(flow)


@given(act=acts(lossy=True), link=st.sampled_from([None, 250_000, 1_250_000]))
def test_it_sums_to_the_length_of_any_scene(act: Callable[[Scene], None], link: int | None) -> None:
    with tempfile.TemporaryDirectory() as folder:
        scene = Scene(Path(folder))
        act(scene)
        for tap in get_args(Tap):
            for flow in flows_of(scene.capture(tap), link_bytes_per_s=link):
                expect_whole_ledger(flow)
                expect_stalls_apart(flow)
                busy = sum(way["bandwidth_limited_ns"] for way in flow["directions"].values())
                assert busy <= 2 * (flow["end_ns"] - flow["start_ns"])


def test_it_sums_to_the_length_of_every_flow_in_the_fixtures(fixture_capture: Path) -> None:
    for flow in flows_of(fixture_capture, exit_codes=(0, 4, 5)):
        expect_whole_ledger(flow)
        expect_stalls_apart(flow)


def test_owners_are_the_causes_and_three_states_in_which_nobody_waits() -> None:
    assert _core.owners() == [*(info.name for info in _core.causes()), "sending", "in-transit", "closing"]
