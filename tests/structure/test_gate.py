"""The gate tells which checks failed, the output of each stands in one piece, and long files of tests come first."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.__main__ import Check, failures
from tests.conftest import LONGEST

TESTS = Path(__file__).parents[1]

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


def test_the_files_that_take_longest_are_begun_first() -> None:
    long = [TESTS / name for name in LONGEST[:3]]
    command = [sys.executable, "-m", "pytest", "--collect-only", "--quiet", "-p", "no:cacheprovider", __file__]
    listed = subprocess.run([*command, *map(str, reversed(long))], capture_output=True, text=True, check=True).stdout
    names = [line.partition("::")[0] for line in listed.splitlines() if "::" in line]
    assert list(dict.fromkeys(names)) == [str(path.relative_to(TESTS.parent)) for path in (*long, Path(__file__))]


def test_the_files_that_take_longest_are_there() -> None:
    assert [name for name in LONGEST if not (TESTS / name).is_file()] == []
