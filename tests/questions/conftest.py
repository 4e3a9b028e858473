"""A store that answers, and the commands that ask it."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tcpstall.cli import main
from tests.questions.rows import Rows, made

Ask = Callable[..., Any]
Told = Callable[..., tuple[int, str, str]]


@pytest.fixture(scope="session")
def rows(tmp_path_factory: pytest.TempPathFactory) -> Rows:
    pytest.importorskip("duckdb", reason="duckdb is not installed")
    return made(tmp_path_factory.mktemp("archive") / "store")


@pytest.fixture
def told(rows: Rows, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Told:
    """`told("top", "--by", "host")` → exit code, output, error output."""
    monkeypatch.setenv("TCPSTALL_STORE", str(rows.folder))

    def _told(*arguments: object) -> tuple[int, str, str]:
        capfd.readouterr()
        code = main([str(argument) for argument in arguments])
        written = capfd.readouterr()
        return code, written.out, written.err

    return _told


@pytest.fixture
def ask(told: Told) -> Ask:
    """The same as JSON, decoded."""

    def _ask(*arguments: object) -> Any:
        code, out, err = told(*arguments, "--format", "json")
        assert code == 0, err
        return json.loads(out)

    return _ask


@pytest.fixture
def elsewhere(tmp_path: Path) -> Path:
    """A file that a question must not read."""
    file = tmp_path / "secret.csv"
    file.write_text("a,b\n1,secret\n")
    return file
