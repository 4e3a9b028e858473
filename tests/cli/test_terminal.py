"""Colours and the progress bar belong to terminals."""

import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

from tcpstall.cli.process import progress
from tests.cli.conftest import environment

RED_GREEN_OR_BLUE = "\x1b["


def _on_a_terminal(*arguments: object, **changed: str) -> str:
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "tcpstall", *map(str, arguments)],
        stdout=theirs,
        stderr=theirs,
        stdin=subprocess.DEVNULL,
        env=environment(TERM="xterm-256color", COLUMNS="100", **changed),
    )
    os.close(theirs)
    shown = b""
    while True:
        try:
            part = os.read(ours, 65536)
        except OSError:  # Linux says so when the other end of a terminal is closed
            break
        if not part:
            break
        shown += part
    os.close(ours)
    assert process.wait(timeout=60) == 0
    return shown.decode()


def test_a_terminal_gets_colours(capture: Path) -> None:
    assert RED_GREEN_OR_BLUE in _on_a_terminal("analyze", capture)


def test_no_color_is_obeyed(capture: Path) -> None:
    assert "\x1b" not in _on_a_terminal("analyze", capture, NO_COLOR="1")


def test_a_short_run_shows_no_progress_bar(capture: Path) -> None:
    assert "reading" not in _on_a_terminal("analyze", capture, NO_COLOR="1")


def shown(bar: progress.Bar) -> list[float]:
    """The percentages that the bar shows; none while it is not drawn."""
    return [task.percentage for task in bar._progress.tasks] if bar._progress else []


def test_the_progress_bar_waits_a_second_and_then_draws(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    now = [100.0]
    monkeypatch.setattr("tcpstall.cli.process.progress.time.monotonic", lambda: now[0])
    with progress.Bar() as bar:
        bar(1, 10)
        assert not shown(bar)
        now[0] += 2
        bar(5, 10)
        assert shown(bar) == [50]


def test_no_progress_bar_is_drawn_where_standard_error_is_no_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: False, raising=False)
    with progress.Bar() as bar:
        bar._started -= 10
        bar(5, 10)
        assert bar._progress is None
