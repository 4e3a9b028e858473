"""The gate tells which checks failed, and the output of each stands in one piece."""

import sys

import pytest

from tests.__main__ import Check, failures

LANE = [
    Check("good", [sys.executable, "-c", "print('fine')"]),
    Check("bad", [sys.executable, "-c", "import sys; print('seen', flush=True); sys.exit('why')"]),
    Check("missing", ["no-such-program", "--check"]),
]


def test_every_check_of_a_lane_runs_and_those_that_fail_are_named(capsys: pytest.CaptureFixture[str]) -> None:
    assert failures(LANE) == ["bad", "missing"]

    _, good, bad, missing = capsys.readouterr().out.split("\n=== ")
    assert good.splitlines()[1] == "fine"
    assert "--- good passed in " in good
    assert bad.splitlines()[1:3] == ["seen", "why"]
    assert "--- bad FAILED in " in bad
    assert missing.splitlines()[:2] == ["missing: no-such-program --check", "no-such-program is not installed"]
    assert "--- missing FAILED in " in missing
