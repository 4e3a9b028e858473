"""Every page at 80 and 100 columns: no line is wider, and no figure parts from its unit."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from rich.cells import cell_len

from tcpstall import Cause
from tcpstall.cli import COMMANDS, main
from tests.headline.captures import KINDS, NOBODYS
from tests.headline.test_readings import FOLDERS, captures
from tests.scene import Scene

PAGES = {
    "analyze": ["analyze"],
    "stalls": ["analyze", "--stalls"],
    "whatif": ["whatif"],
    "explain": ["explain", "--flow", "0", "--stall", "0"],
    "remedies": ["remedies"],
    "check": ["check", "--forbid", "lost,retransmitted,refused,gone", "--max", "latency=1ms", "--max", "p95-lost=1ms"],
}

_PARTED = re.compile(r"(?<= )[\d.,]*\d\n *(?:[nµm]?s|min|h|[kMG]?B|[kMG]?bit/s|%|bytes|RTT)(?!\w)")

_PASTED = re.compile(r" *(?:\w+ )?# |.*setsockopt|.*in the program: |.*(?:tcpstall|sysctl|ip) [a-z]+ ")
"""Commands are never folded: they are copied."""


@pytest.fixture(params=[80, 100])
def columns(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> int:
    monkeypatch.setenv("COLUMNS", str(request.param))
    return int(request.param)


def faults(page: str, columns: int) -> Iterator[str]:
    """Lines that are too wide, and ends of lines at which a figure stands without its unit."""
    yield from (line for line in page.splitlines() if cell_len(line) > columns and not _PASTED.match(line))
    ends = (match for match in _PARTED.finditer(page))
    yield from (match.group() for match in ends if _reaches(page, match.start(), columns))


def _reaches(page: str, at: int, columns: int) -> bool:
    """True of a line that was folded: a shorter one, or a cell of a table, ends where it likes."""
    line = page[page.rfind("\n", 0, at) + 1 : page.index("\n", at)]
    return cell_len(line) > columns * 3 // 4 and "  " not in line.strip()


def shown(capture: Path, page: str, capsys: pytest.CaptureFixture[str]) -> str:
    main([*PAGES[page], str(capture)])
    return capsys.readouterr().out


@pytest.mark.parametrize("page", PAGES)
@pytest.mark.parametrize("kind", [*KINDS, *NOBODYS])
def test_a_page_of_each_kind_fits_its_terminal(
    scene: Scene, kind: str, page: str, columns: int, capsys: pytest.CaptureFixture[str]
) -> None:
    (KINDS[kind][0] if kind in KINDS else NOBODYS[kind])(scene)
    assert not [*faults(shown(scene.capture("client"), page, capsys), columns)]


@pytest.mark.skipif(not FOLDERS[0].is_dir(), reason="the captures that were read are not here")
@pytest.mark.parametrize("page", PAGES)
def test_a_page_of_each_real_capture_fits_its_terminal(
    page: str, columns: int, capsys: pytest.CaptureFixture[str]
) -> None:
    for capture in captures():
        assert not [*faults(shown(capture, page, capsys), columns)], capture.name


@pytest.mark.parametrize("cause", list(Cause))
def test_what_a_rule_says_of_itself_fits_its_terminal(
    cause: Cause, columns: int, capsys: pytest.CaptureFixture[str]
) -> None:
    for arguments in (["explain", cause], ["explain"]):
        main(arguments)
        assert not [*faults(capsys.readouterr().out, columns)]


@pytest.mark.parametrize("name", COMMANDS)
def test_help_fits_its_terminal(name: str, columns: int, capsys: pytest.CaptureFixture[str]) -> None:
    main([name, "--help"])
    assert max(map(len, capsys.readouterr().out.splitlines())) <= columns


@pytest.mark.parametrize("kind", KINDS)
def test_what_two_captures_say_fits_its_terminal(
    tmp_path: Path, kind: str, columns: int, capsys: pytest.CaptureFixture[str]
) -> None:
    """Of both ends of one flow, and of a good and a bad one."""
    for name in ("good", "bad"):
        (tmp_path / name).mkdir()
    good, bad = Scene(tmp_path / "good"), Scene(tmp_path / "bad")
    KINDS["cwnd-limited"][0](good)
    KINDS[kind][0](bad)
    ends = bad.capture("client"), bad.capture("server")
    for command in (["pair", *map(str, ends)], ["diff", str(good.capture("client")), str(ends[0])]):
        main(command)
        assert not [*faults(capsys.readouterr().out, columns)]


_PAIRS = FOLDERS[0].parents[1] / "labelled"


@pytest.mark.skipif(not _PAIRS.is_dir(), reason="captures of both ends of real hosts are not here")
def test_both_ends_of_real_hosts_fit_their_terminal(columns: int, capsys: pytest.CaptureFixture[str]) -> None:
    for folder in sorted(path for path in _PAIRS.iterdir() if path.is_dir())[::6]:
        main(["pair", str(folder / "sender.pcap"), str(folder / "receiver.pcap")])
        assert not [*faults(capsys.readouterr().out, columns)], folder.name


def test_what_is_too_wide_or_parted_is_seen() -> None:
    assert [*faults("x" * 81, 80)] == ["x" * 81]
    assert [*faults("." * 60 + " took 2 min 31\n s: lost", 80)] == ["31\n s"]
