"""`tcpstall explain` prints what the rules say about themselves."""

from pathlib import Path

import pytest

from tcpstall import Cause
from tests.cli.conftest import Run


@pytest.mark.parametrize("cause", list(Cause))
def test_each_cause_explains_itself(run: Run, cause: Cause) -> None:
    done = run("explain", cause)
    assert done.returncode == 0
    assert done.stdout.split() == cause.documentation.split()
    assert cause in done.stdout.splitlines()[0]


def test_without_a_cause_all_are_listed_in_order_of_their_codes(run: Run) -> None:
    lines = run("explain").stdout.splitlines()
    assert [line.split()[0] for line in lines] == list(Cause)
    assert all(cause.summary in line for cause, line in zip(Cause, lines, strict=True))


def test_case_and_underscores_do_not_matter(run: Run) -> None:
    assert run("explain", "ZERO_WINDOW").stdout == run("explain", "zero-window").stdout


def test_of_a_capture_the_proof_of_one_stall_is_shown(run: Run, capture: Path) -> None:
    said = run("explain", capture, "--flow", "0", "--stall", "3").stdout
    assert "rwnd-limited (small-buffer), confidence 97 %" in said
    assert "window unused 0 bytes" in said
    assert "frame.number >= 20 && frame.number <= 23" in " ".join(said.split())
    (begins,) = (line.split() for line in said.splitlines() if line.lstrip().startswith("> 20"))
    assert begins[-2:] == ["46,080", "0"]


def test_the_longest_stall_of_the_worst_flow_is_the_default(run: Run, capture: Path) -> None:
    assert "7.280 ms" in run("explain", capture).stdout


def test_stalls_that_are_not_there_have_the_exit_code_of_any_other(run: Run, capture: Path) -> None:
    assert run("explain", capture, "--stall", "99").returncode == 7
    assert run("explain", capture, "--flow", "99").returncode == 7
    assert run("explain", "zero-window", "--stall", "1").returncode == 2


def test_a_name_that_is_nearly_right_is_suggested(run: Run) -> None:
    assert "did you mean zero-window" in run("explain", "zero-windo").stderr
