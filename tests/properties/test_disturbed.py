"""Copies, disorder, offloading and cuts move no label: at most 2 points of a flow's time change their cause."""

from pathlib import Path

import pytest

from tests.properties.comparison import moved_points
from tests.properties.findings import DISTURBED, cases, trace_cases
from tests.properties.rewriting import (
    Rewrite,
    cut_to,
    cut_to_headers,
    delayed,
    duplicated,
    end_of,
    later,
    merged,
    recorded_out_of_order,
    renumbered,
    split,
    stamped_out_of_order,
)
from tests.properties.stage import SCENES, SEGMENT, TAPS, diagnosed, staged, traced
from tests.scene.network import Tap

POINTS = 2.0

REWRITES: dict[str, Rewrite] = {
    "every packet twice": duplicated(1.0),
    "every packet twice, the copy in a VLAN": duplicated(1.0, tagged=True, routed=False),
    "a tenth of the packets twice": duplicated(0.1),
    "a fifth stored before its neighbour": recorded_out_of_order(0.2),
    "a fifth stamped before its neighbour": stamped_out_of_order(0.2),
    "a twentieth up to 1 ms late": delayed(0.05),
    "wire packets": split(SEGMENT),
    "large frames": merged(SEGMENT),
    "frames of 17 segments": merged(SEGMENT, most=17 * SEGMENT),
    "cut to 128 bytes": cut_to(128),
    "cut to 96 bytes": cut_to(96),
    "cut to the headers": cut_to_headers,
    "cut to 68 bytes": cut_to(68),
    "a year later": later(365 * 86_400_000_000_000 + 123_457),
    "server's numbers from 0": lambda frames: renumbered(end_of(frames, client=False), 0)(frames),
    "server's numbers wrap": lambda frames: renumbered(end_of(frames, client=False), 2**32 - 30_000)(frames),
    "client's numbers wrap": lambda frames: renumbered(end_of(frames, client=True), 2**32 - 60)(frames),
}


@pytest.mark.parametrize("rewrite", trace_cases(DISTURBED, REWRITES))
def test_the_7_ms_trace_keeps_its_labels(tmp_path: Path, rewrite: str) -> None:
    frames, before = traced()
    assert moved_points(before, diagnosed(frames, REWRITES[rewrite], tmp_path)) <= POINTS


@pytest.mark.parametrize(("name", "tap", "rewrite"), cases(DISTURBED, SCENES, TAPS, REWRITES))
def test_a_scene_keeps_its_labels(tmp_path: Path, name: str, tap: Tap, rewrite: str) -> None:
    frames, before = staged(name, tap)
    assert moved_points(before, diagnosed(frames, REWRITES[rewrite], tmp_path)) <= POINTS


@pytest.mark.parametrize("tap", TAPS)
@pytest.mark.parametrize("name", SCENES)
def test_pcapng_says_what_pcap_says(tmp_path: Path, name: str, tap: Tap) -> None:
    frames, before = staged(name, tap)
    after = diagnosed(frames, list, tmp_path, kind="pcapng")
    assert (after["stalls"], after["time_ns"]) == (before["stalls"], before["time_ns"])
