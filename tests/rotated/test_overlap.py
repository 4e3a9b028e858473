"""Packets that two files of a set hold count once; capture points apart are merged by time."""

import json
from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import given
from hypothesis import strategies as st

from tcpstall import _core
from tests.properties.frames import Frame
from tests.rotated.cutting import CAPTURES, as_one, flows, of_fixture, of_many_flows, warned, write

MANY = of_many_flows()


@given(st.data())
def test_files_that_overlap_give_the_flows_of_the_whole(data: st.DataObject) -> None:
    count = data.draw(st.integers(2, 5))
    ends = sorted(data.draw(st.lists(st.integers(1, len(MANY)), min_size=count - 1, max_size=count - 1)))
    bounds = []
    for place in range(count):
        start = 0 if place == 0 else data.draw(st.integers(max(0, ends[place - 1] - 200), ends[place - 1]))
        bounds.append((start, ends[place] if place < count - 1 else len(MANY)))
    with TemporaryDirectory() as name:
        folder = Path(name)
        whole = _core.analyze([write(folder / "whole", MANY)])
        paths = [write(folder / str(start), MANY[start:end]) for start, end in bounds if start < end]

        read = as_one(paths)

    assert flows(read) == flows(whole)
    held = sum(json.loads(status.json)["packets"] for status in read.captures)
    assert sum(found.get("overlap", 0) for found in warned(read)) == held - len(MANY)


def test_a_file_given_twice_counts_once_and_that_is_said(tmp_path: Path) -> None:
    path = write(tmp_path / "a", MANY)

    read = as_one([path, path])

    assert flows(read) == flows(_core.analyze([path]))
    assert warned(read) == [{}, {"overlap": len(MANY)}]


def test_directions_captured_apart_are_one_conversation(tmp_path: Path) -> None:
    frames = of_fixture(CAPTURES[0])
    source = frames[0].source
    there = write(tmp_path / "there", [frame for frame in frames if frame.source == source])
    back = write(tmp_path / "back", [frame for frame in frames if frame.source != source])

    apart, merged = _core.analyze([there, back]), as_one([there, back])

    assert len(apart) == 2
    assert len(merged) == 1
    assert flows(merged) == flows(_core.analyze([write(tmp_path / "whole", frames)]))


def test_packets_that_differ_are_never_taken_for_one(tmp_path: Path) -> None:
    frames = of_fixture(CAPTURES[0])
    other = [frame.with_ip_id((frame.ip_id or 0) + 1) for frame in frames]

    read = as_one([write(tmp_path / "a", frames), write(tmp_path / "b", other)])

    assert warned(read)[1].get("overlap") is None
    assert sum(read.flows.column("segments")) == 2 * len(frames)


def test_copies_in_one_file_stay_copies(tmp_path: Path) -> None:
    frames: list[Frame] = [frame for frame in of_fixture(CAPTURES[0]) for _ in range(2)]
    doubled = write(tmp_path / "doubled", frames)

    assert flows(as_one([doubled, doubled])) == flows(_core.analyze([doubled]))
