"""The continuous run does what the README tells a newcomer to do."""

import os
from pathlib import Path

REPOSITORY = Path(__file__).parents[2]


def test_the_readme_and_ci_give_the_same_command() -> None:
    command = (REPOSITORY / ".ci" / "run").read_text().splitlines()[-1]
    assert command.startswith("python3 -m venv")
    assert command in (REPOSITORY / "README.md").read_text()


def test_ci_can_be_run_and_never_fetches_a_toolchain() -> None:
    run = REPOSITORY / ".ci" / "run"
    assert os.access(run, os.X_OK)
    assert "MATURIN_NO_INSTALL_RUST=1" in run.read_text()
    assert "set -euo pipefail" in run.read_text()
