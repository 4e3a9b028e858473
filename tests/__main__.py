"""`python -m tests`: every check there is, those of Rust beside those of Python, pytest last.

Checks that failed before pytest are named again after it.
"""

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
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


def rust() -> list[Check]:
    """Of the Rust code, in its own folder of builds."""
    return [
        Check("rustfmt", ["cargo", "fmt", "--all", "--check"], NATIVE),
        Check("rustfmt of the fuzzers", ["cargo", "fmt", "--check"], NATIVE / "core" / "fuzz"),
        Check(
            "clippy", ["cargo", "clippy", "--workspace", "--all-targets", "--locked", "--", "-D", "warnings"], NATIVE
        ),
        Check("cargo test", ["cargo", "test", "--workspace", "--locked", "--quiet"], NATIVE),
    ]


def python() -> list[Check]:
    """Of the Python code."""
    return [
        Check("stubtest", [PYTHON, "-m", "mypy.stubtest", "tcpstall._core"]),
        Check("ruff check", [PYTHON, "-m", "ruff", "check", "tcpstall", "tests"]),
        Check("ruff format", [PYTHON, "-m", "ruff", "format", "--check", "tcpstall", "tests"]),
        Check("mypy", [PYTHON, "-m", "mypy", "--strict", "tcpstall", "tests"]),
        Check("import-linter", [str(Path(PYTHON).parent / "lint-imports")]),
        # These compile the program and the tests once, where each process of the tests would.
        Check("bytecode", [PYTHON, "-m", "compileall", "-q", "-x", "/native/", "tcpstall"]),
        Check("collection", [PYTHON, "-m", "pytest", "--collect-only", "-qq"]),
    ]


def lanes() -> list[list[Check]]:
    """Checks that share no folder of builds from lane to lane. Pytest is not among them.

    Many of them keep one processor busy: where each waited for another, the other one was idle.
    """
    return [
        [Check("fuzzers", [PYTHON, "-m", "tests.hostile"])],
        rust(),
        python(),
        [Check("installed", [PYTHON, "-m", "tests.installed"])],
    ]


def pytest(arguments: Sequence[str]) -> Check:
    """The last one, alone; tests/conftest.py has the order of the files."""
    spread = [f"--numprocesses={AT_A_TIME}", "--dist=loadfile", "--no-loadscope-reorder", "--durations=20"]
    return Check("pytest", [PYTHON, "-m", "pytest", *spread, *arguments])


def failures(lane: Sequence[Check]) -> list[str]:
    """Runs checks one after the other, whatever fails, and names those that did."""
    return [check.name for check in lane if not passes(check)]


def passes(check: Check) -> bool:
    """Runs a check and prints its output in one piece, for other checks run meanwhile."""
    began = time.monotonic()
    code, output = run(check, subprocess.PIPE)
    verdict = f"--- {check.name} {'passed' if code == 0 else 'FAILED'} in {time.monotonic() - began:.1f} s"
    print(f"{heading(check)}{output}{verdict}\n", end="", flush=True)
    return code == 0


def run(check: Check, output: int | None) -> tuple[int, str]:
    """Exit code and output, which is empty where it goes straight through because `output` is None."""
    # Without an activated environment PyO3 would build against whichever python3 comes first on the path.
    environment = {**os.environ, "PYO3_PYTHON": PYTHON, "MATURIN_NO_INSTALL_RUST": "1"}
    # Tests start the program a thousand times, and each start would compile it anew: 0.05 to 0.1 s.
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    try:
        done = subprocess.run(
            check.command,
            cwd=check.folder,
            env=environment,
            stdout=output,
            stderr=output and subprocess.STDOUT,
            text=True,
            errors="replace",
            check=False,
        )
    except FileNotFoundError:
        return 127, f"{check.command[0]} is not installed\n"
    return done.returncode, done.stdout or ""


def heading(check: Check) -> str:
    """A line above the output."""
    return f"\n=== {check.name}: {' '.join(map(str, check.command))}\n"


def main() -> int:
    """Runs them all, whatever fails, and says so in the exit code."""
    if shutil.which("cargo") is None:
        print("tests: there is no Rust toolchain here. Install one from https://rustup.rs, then run this again.")
        return 1
    with ThreadPoolExecutor() as pool:
        failed = [name for lane in pool.map(failures, lanes()) for name in lane]
    if failed:
        print(f"\n!!! failed so far: {', '.join(failed)}", flush=True)
    last = pytest(sys.argv[1:])
    print(heading(last), end="", flush=True)
    code, _ = run(last, None)
    if failed:
        print(f"\n!!! failed before pytest: {', '.join(failed)}", flush=True)
    return 0 if code == 0 and not failed else 1


if __name__ == "__main__":
    sys.exit(main())
