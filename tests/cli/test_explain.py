"""`tcpstall explain` prints what the rules say about themselves."""

from pathlib import Path

import pytest

from tcpstall import Cause
from tests.cli.conftest import Run


@pytest.mark.parametrize("cause", list(Cause))
def test_each_cause_explains_itself(here: Run, cause: Cause) -> None:
    done = here("explain", cause)
    assert done.returncode == 0
    assert done.stdout.split() == cause.documentation.split()
    assert cause in done.stdout.splitlines()[0]


def test_without_a_cause_all_are_listed_in_order_of_their_codes(here: Run) -> None:
    lines = here("explain").stdout.splitlines()
    assert [line.split()[0] for line in lines] == list(Cause)
    assert all(cause.summary in line for cause, line in zip(Cause, lines, strict=True))


def test_case_and_underscores_do_not_matter(here: Run) -> None:
    assert here("explain", "ZERO_WINDOW").stdout == here("explain", "zero-window").stdout


def test_of_a_capture_the_proof_of_one_stall_is_shown(here: Run, capture: Path) -> None:
    said = here("explain", capture, "--flow", "0", "--stall", "3").stdout
    assert "rwnd-limited (small-buffer), confidence 97 %" in said
    assert "window unused 0 bytes" in said
    assert "frame.number >= 20 && frame.number <= 23" in " ".join(said.split())
    (begins,) = (line.split() for line in said.splitlines() if line.lstrip().startswith("> 20"))
    assert begins[-2:] == ["46,080", "0"]


def test_the_longest_stall_of_the_worst_flow_is_the_default(here: Run, capture: Path) -> None:
    assert "7.280 ms" in here("explain", capture).stdout


def test_stalls_that_are_not_there_have_the_exit_code_of_any_other(here: Run, capture: Path) -> None:
    assert here("explain", capture, "--stall", "99").returncode == 7
    assert here("explain", capture, "--flow", "99").returncode == 7
    assert here("explain", "zero-window", "--stall", "1").returncode == 2


def test_a_name_that_is_nearly_right_is_suggested(here: Run) -> None:
    assert "did you mean zero-window" in here("explain", "zero-windo").stderr
