"""`tcpstall analyze` and `tcpstall report` with rotated files and capture points."""

import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.page.prose import prose
from tests.rotated.cutting import CAPTURES, of_fixture, of_many_flows, write

MANY = of_many_flows()


def run(*arguments: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "tcpstall", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)


def analysed(*arguments: object) -> dict[str, Any]:
    report: dict[str, Any] = json.loads(run("analyze", "--format", "json", *arguments).stdout)
    return report


@pytest.fixture
def ring(tmp_path: Path) -> list[str]:
    """Files that `tcpdump -C` leaves, given in the wrong order."""
    third = len(MANY) // 3
    names = [("a.pcap", 0), ("a.pcap1", third), ("a.pcap2", 2 * third)]
    paths = [write(tmp_path / name, MANY[start : start + third + (start == 2 * third) * 9]) for name, start in names]
    return [paths[2], paths[0], paths[1]]


def test_rotated_files_are_one_stream_in_every_form(ring: Sequence[str]) -> None:
    report = analysed(*ring)

    assert len(report["flows"]) == 4
    assert [capture["stream"] for capture in report["captures"]] == [0, 0, 0]
    assert run("analyze", *ring, "--format", "csv").stdout.count("\n") > 4
    assert len(run("analyze", *ring, "--format", "ndjson").stdout.splitlines()) > 4


def test_the_table_says_that_files_are_read_as_one(ring: Sequence[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "300")
    told = " ".join(run("analyze", *ring, "--stalls").stdout.split())

    assert f"3 files read as one: {ring[1]} … {ring[0]}: pcap, 1,256 packets" in told
    assert f"packet numbers run on: {ring[2]} from 419, {ring[0]} from 837" in told


def test_a_ticket_and_a_page_say_so_too(ring: Sequence[str], tmp_path: Path) -> None:
    ticket = run("analyze", *ring, "--format", "text", "--plots", tmp_path / "plots").stdout.split()
    page = tmp_path / "page.html"
    done = run("report", *ring, "-o", page)

    assert f"3 files read as one: {ring[1]} … {ring[0]}" in " ".join(ticket)
    assert len(list((tmp_path / "plots").glob("flow-*.png"))) == 3
    assert done.returncode == 0
    assert "3 files read as one" in prose(page.read_text())
    assert "a.pcap … a.pcap2" in page.read_text()


def test_pseudonyms_tell_no_name_of_a_file(ring: Sequence[str]) -> None:
    told = run("analyze", *ring, "--anonymise", "--stalls").stdout

    assert "3 files read as one: capture-2 … capture-1" in " ".join(told.split())
    assert "a.pcap" not in told


def test_separate_keeps_each_file_by_itself(ring: Sequence[str]) -> None:
    report = analysed(*ring, "--separate")

    assert len(report["flows"]) > 4
    assert all("stream" not in capture for capture in report["captures"])
    assert "read as one" not in run("analyze", *ring, "--separate").stdout


def test_names_that_tell_nothing_stay_apart(tmp_path: Path) -> None:
    paths = [write(tmp_path / name, MANY) for name in ("client.pcap", "server.pcap")]

    report = analysed(*paths)

    assert len(report["flows"]) == 8
    assert all("stream" not in capture for capture in report["captures"])


def test_capture_points_are_merged_on_request(tmp_path: Path) -> None:
    frames = of_fixture(CAPTURES[0])
    there = write(tmp_path / "there.pcap", [frame for frame in frames if frame.source == frames[0].source])
    back = write(tmp_path / "back.pcap", [frame for frame in frames if frame.source != frames[0].source])

    apart, merged = analysed(there, back), analysed(there, back, "--merge")

    assert [len(apart["flows"]), len(merged["flows"])] == [2, 1]
    assert merged["flows"][0] | {"capture": 0} == analysed(write(tmp_path / "all.pcap", frames))["flows"][0]
    told = "".join(run("analyze", back, there, "--merge", "--stalls").stdout.split())
    assert f"2 files read as one: {there} and {back}".replace(" ", "") in told


def test_a_file_missing_by_its_number_is_told(tmp_path: Path) -> None:
    names = [f"b_0000{number}_2026112110000{number}.pcap" for number in (1, 2, 3)]
    third = len(MANY) // 3
    paths = [write(tmp_path / name, MANY[place * third : (place + 1) * third]) for place, name in enumerate(names)]

    done = run("analyze", paths[0], paths[2])

    assert done.returncode == 0
    assert "a file is missing before this one" in done.stdout
    assert "a file is missing" not in run("analyze", *paths).stdout


def test_a_file_that_cannot_be_read_keeps_its_exit_code_and_the_rest_its_flows(ring: Sequence[str]) -> None:
    Path(ring[2]).write_bytes(b"no capture at all\0")

    done = run("analyze", *ring)

    assert done.returncode == 4
    assert "a.pcap1" in done.stderr
    assert "2 files read as one" in done.stdout


def test_merge_and_separate_exclude_each_other(ring: Sequence[str]) -> None:
    done = run("analyze", *ring, "--merge", "--separate")

    assert done.returncode == 2
    assert "give one of them" in done.stderr


def test_standard_input_may_be_one_of_the_captures(ring: Sequence[str]) -> None:
    command = [sys.executable, "-m", "tcpstall", "analyze", "--format", "json", "--merge", ring[1], "-", ring[0]]
    done = subprocess.run(command, input=Path(ring[2]).read_bytes(), capture_output=True, timeout=60, check=False)

    report = json.loads(done.stdout)
    assert len(report["flows"]) == 4
    assert [capture["first_packet"] for capture in report["captures"]] == [1, 419, 837]
