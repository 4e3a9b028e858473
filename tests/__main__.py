"""`python -m tests`: every check there is, in order, pytest's summary last."""

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

REPOSITORY = Path(__file__).parents[1]
NATIVE = REPOSITORY / "tcpstall" / "native"
PYTHON = sys.executable
AT_A_TIME = (os.cpu_count() or 1) + 1
"""Files of tests: one more than processors, for many wait for others to start, to end or to be killed."""


@dataclass(frozen=True, slots=True)
class Check:
    """One step of the gate."""

    name: str
    command: Sequence[str]
    folder: Path = REPOSITORY


def checks(pytest_arguments: Sequence[str]) -> list[Check]:
    """All of them; pytest last, because what runs this reads its summary."""
    scripts = Path(PYTHON).parent
    return [
        Check("rustfmt", ["cargo", "fmt", "--all", "--check"], NATIVE),
        Check("rustfmt of the fuzzers", ["cargo", "fmt", "--check"], NATIVE / "core" / "fuzz"),
        Check(
            "clippy", ["cargo", "clippy", "--workspace", "--all-targets", "--locked", "--", "-D", "warnings"], NATIVE
        ),
        Check("cargo test", ["cargo", "test", "--workspace", "--locked", "--quiet"], NATIVE),
        Check("stubtest", [PYTHON, "-m", "mypy.stubtest", "tcpstall._core"]),
        Check("ruff check", [PYTHON, "-m", "ruff", "check", "tcpstall", "tests"]),
        Check("ruff format", [PYTHON, "-m", "ruff", "format", "--check", "tcpstall", "tests"]),
        Check("mypy", [PYTHON, "-m", "mypy", "--strict", "tcpstall", "tests"]),
        Check("import-linter", [str(scripts / "lint-imports")]),
        Check("installed", [PYTHON, "-m", "tests.installed"]),
        Check("fuzzers", [PYTHON, "-m", "tests.hostile"]),
        Check(
            "pytest",
            [
                PYTHON,
                "-m",
                "pytest",
                f"--numprocesses={AT_A_TIME}",
                "--dist=loadfile",
                *pytest_arguments,
            ],
        ),
    ]


def passes(check: Check) -> bool:
    """Runs a check with a heading. Its output goes straight through."""
    print(f"\n=== {check.name}: {' '.join(map(str, check.command))}", flush=True)
    # Without an activated environment PyO3 would build against whichever python3 comes first on the path.
    environment = {**os.environ, "PYO3_PYTHON": PYTHON, "MATURIN_NO_INSTALL_RUST": "1"}
    began = time.monotonic()
    try:
        code = subprocess.run(check.command, cwd=check.folder, env=environment, check=False).returncode
    except FileNotFoundError:
        print(f"{check.command[0]} is not installed", flush=True)
        code = 127
    if check.name != "pytest":
        print(f"--- {check.name} {'passed' if code == 0 else 'FAILED'} in {time.monotonic() - began:.1f} s", flush=True)
    return code == 0


def main() -> int:
    """Runs them all, whatever fails, and says so in the exit code."""
    if shutil.which("cargo") is None:
        print("tests: there is no Rust toolchain here. Install one from https://rustup.rs, then run this again.")
        return 1
    *first, last = checks(sys.argv[1:])
    failed = [check.name for check in first if not passes(check)]
    if failed:
        print(f"\n!!! failed so far: {', '.join(failed)}", flush=True)
    return 0 if passes(last) and not failed else 1


if __name__ == "__main__":
    sys.exit(main())
