"""Flows know where packets of a set are missing."""

import json
from itertools import pairwise
from pathlib import Path

import pytest

from tcpstall import _core
from tests.properties.frames import read_frames
from tests.rotated.cutting import as_one, cut, of_fixture, stalls, warned
from tests.scene import Scene

FRAMES = of_fixture("lab/rpc-30k/sender.pcap")


def _three(folder: Path) -> list[str]:
    return cut(folder, FRAMES, [len(FRAMES) // 3, 2 * len(FRAMES) // 3])


def _left_out(report: _core.Report) -> int:
    trusts = [json.loads(status.json)["trust"] for status in report.captures]
    return sum(trust["flows_left_out"] for trust in trusts)


def test_without_one_nothing_is_left_out(tmp_path: Path) -> None:
    assert _left_out(as_one(_three(tmp_path))) == 0


def test_a_file_missing_by_its_number_is_said_and_known_to_the_flows(tmp_path: Path) -> None:
    first, _, last = _three(tmp_path)

    read = as_one([first, last], missing_before=[1])

    assert [found.get("missing-file") for found in warned(read)] == [None, 1]
    assert _left_out(read) == 1
    assert _left_out(as_one([first, last])) == 0


@pytest.mark.parametrize(
    ("content", "exit_code"), [(None, 3), (b"", 4), (b"\x7fELF", 4), (b"\xd4\xc3\xb2\xa1\x02\0\x04\0", 5)]
)
def test_a_file_that_cannot_be_read_is_a_gap(tmp_path: Path, content: bytes | None, exit_code: int) -> None:
    paths = _three(tmp_path)
    Path(paths[1]).unlink() if content is None else Path(paths[1]).write_bytes(content)

    read = as_one(paths)

    assert [status.exit_code for status in read.captures] == [0, exit_code, 0]
    assert _left_out(read) == 1


def test_a_file_cut_in_mid_set_is_a_gap_and_its_packets_count(tmp_path: Path) -> None:
    paths = _three(tmp_path)
    Path(paths[1]).write_bytes(Path(paths[1]).read_bytes()[:-7])

    read = as_one(paths)

    assert [status.exit_code for status in read.captures] == [0, 5, 0]
    assert warned(read)[1] == {"truncated-file": 1}
    assert (_left_out(read), sum(read.flows.column("segments"))) == (1, len(FRAMES) - 1)


def test_the_last_file_cut_is_none(tmp_path: Path) -> None:
    paths = _three(tmp_path)
    Path(paths[2]).write_bytes(Path(paths[2]).read_bytes()[:-7])

    assert _left_out(as_one(paths)) == 0


def test_a_wait_across_missing_packets_is_nobodys(tmp_path: Path, scene: Scene) -> None:
    scene.handshake(rtt_ms=20)
    scene.client_sends(14_600)
    scene.server_acks()
    scene.wait_ms(500)
    scene.client_sends(14_600)
    frames = read_frames(scene.capture())
    pauses = [later.time_ns - earlier.time_ns for earlier, later in pairwise(frames)]
    paths = cut(tmp_path, frames, [pauses.index(max(pauses)) + 1])

    def causes(report: _core.Report) -> set[str]:
        return {cause for duration, cause in stalls(report) if duration > 400}

    assert causes(as_one(paths)) == {"app-limited"}
    assert causes(as_one(paths, missing_before=[1])) == {"capture-gap"}
