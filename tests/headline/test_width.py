"""Every page at 80 and 100 columns: no line is wider, and no figure parts from its unit."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from rich.cells import cell_len

from tcpstall.cli import main
from tests.headline.captures import KINDS, NOBODYS
from tests.headline.test_readings import FOLDERS, captures
from tests.scene import Scene

PAGES = {
    "analyze": ["analyze"],
    "stalls": ["analyze", "--stalls"],
    "whatif": ["whatif"],
    "explain": ["explain", "--flow", "0", "--stall", "0"],
    "remedies": ["remedies"],
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


def test_what_is_too_wide_or_parted_is_seen() -> None:
    assert [*faults("x" * 81, 80)] == ["x" * 81]
    assert [*faults("." * 60 + " took 2 min 31\n s: lost", 80)] == ["31\n s"]
