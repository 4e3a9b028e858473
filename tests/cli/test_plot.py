"""`tcpstall plot`: where pictures go, in characters and in files."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import Run


def test_a_picture_in_a_pipe_has_no_escapes_and_fits_the_width(run: Run, capture: Path) -> None:
    done = run("plot", capture, "--terminal", COLUMNS="90")
    assert done.returncode == 0
    assert "\x1b" not in done.stdout
    assert "⣀" in done.stdout
    assert max(map(len, done.stdout.splitlines())) <= 90


@pytest.mark.parametrize("environment", [{"TERM": "dumb"}, {"PYTHONUTF8": "0", "PYTHONIOENCODING": "ascii"}])
def test_a_picture_is_ascii_where_there_is_no_more(run: Run, capture: Path, environment: dict[str, str]) -> None:
    done = run("plot", capture, "--terminal", **environment)
    assert done.returncode == 0
    assert done.stdout.isascii()
    assert "C cwnd-limited" in done.stdout


@pytest.mark.parametrize("kind", ["timeline", "exchanges", "rtt-by-position"])
def test_other_kinds_are_drawn_in_the_terminal_too(here: Run, capture: Path, kind: str) -> None:
    shown = here("plot", capture, "--terminal", "--kind", kind).stdout
    assert {"timeline": "  flow 0 ", "exchanges": "base round trip", "rtt-by-position": "position in"}[kind] in shown


def test_a_picture_needs_a_place(here: Run, capture: Path) -> None:
    done = here("plot", capture)
    assert done.returncode == 2
    assert "--terminal" in done.stderr


def test_only_what_lies_between_two_times_is_drawn(here: Run, capture: Path) -> None:
    done = here("plot", capture, "--terminal", "--since", "+20ms", "--until", "+40ms")
    assert "shown: 20.0 ms to 40.0 ms" in done.stdout
    assert here("plot", capture, "--terminal", "--since", "+1h").returncode == 7


def test_a_file_and_the_terminal_may_both_have_it(here: Run, capture: Path, tmp_path: Path) -> None:
    done = here("plot", capture, "--terminal", "--kind", "rtt", "-o", tmp_path / "rtt.svg")
    assert "base 6.4 ms" in done.stdout
    assert (tmp_path / "rtt.svg").stat().st_size > 5_000


def test_drawing_in_the_terminal_needs_no_matplotlib(capture: Path) -> None:
    script = (
        "import sys; from tcpstall.cli import main; main(['plot', sys.argv[1], '--terminal']);"
        "sys.exit('matplotlib' in sys.modules)"
    )
    subprocess.run([sys.executable, "-c", script, capture], check=True, stdout=subprocess.DEVNULL)
