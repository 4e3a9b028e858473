"""Pages of captures, made by the command."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tcpstall.cli import main
from tests.page.prose import prose

Report = Callable[..., str]


@pytest.fixture
def report(tmp_path: Path) -> Report:
    """`report(capture, "--top", 3)` → the page; it stands in report.html of the test's folder."""

    def _report(*arguments: object, code: int = 0) -> str:
        output = tmp_path / "report.html"
        assert main(["report", *map(str, arguments), "-o", str(output)]) == code
        return prose(output.read_text("utf-8"))

    return _report
