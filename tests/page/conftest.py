"""Pages of captures, made by the command."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tcpstall.cli import main

if TYPE_CHECKING:
    from playwright.sync_api import Browser

Report = Callable[..., str]


@pytest.fixture
def report(tmp_path: Path) -> Report:
    """`report(capture, "--top", 3)` → the page; it stands in report.html of the test's folder."""

    def _report(*arguments: object, code: int = 0) -> str:
        output = tmp_path / "report.html"
        assert main(["report", *map(str, arguments), "-o", str(output)]) == code
        return output.read_text("utf-8")

    return _report


@pytest.fixture(scope="session")
def chromium() -> "Iterator[Browser]":
    """A browser, or the reason why there is none."""
    pytest.importorskip("playwright", reason="playwright is not installed")
    from tests.page.chromium import browser, program

    executable = program()
    if executable is None:
        pytest.skip("no Chromium on this machine: apt-get install chromium")
    with browser(executable) as started:
        yield started
