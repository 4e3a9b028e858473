"""`tcpstall explain` prints what the rules say about themselves."""

import pytest

from tcpstall import Cause
from tests.cli.conftest import Run


@pytest.mark.parametrize("cause", list(Cause))
def test_each_cause_explains_itself(run: Run, cause: Cause) -> None:
    done = run("explain", cause)
    assert done.returncode == 0
    assert done.stdout.strip() == cause.documentation.strip()
    assert cause in done.stdout.splitlines()[0]


def test_without_a_cause_all_are_listed_in_order_of_their_codes(run: Run) -> None:
    lines = run("explain").stdout.splitlines()
    assert [line.split()[0] for line in lines] == list(Cause)
    assert all(cause.summary in line for cause, line in zip(Cause, lines, strict=True))


def test_case_and_underscores_do_not_matter(run: Run) -> None:
    assert run("explain", "ZERO_WINDOW").stdout == run("explain", "zero-window").stdout
