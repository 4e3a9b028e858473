"""`python -m tests.installed`: tcpstall in a fresh environment, and the documents' examples run with it.

`pip install .` comes first; then a wheel takes its place, installed where no compiler is. The examples run from a
clone, from another folder and from a folder of strangers' files. Their output must begin as the README and the pages
show.
"""

import os
import re
import subprocess
import sys
import tempfile
import venv
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import repeat
from pathlib import Path

from tests.installed.examples import Example, examples
from tests.installed.folders import FOLDERS, REPOSITORY

_SPENT = re.compile(r", in [\d.,]+ \S+ \([\d.,]+ \S+/s\)")
"""Time and rate of a scan, the only figures that change from run to run."""

_WIDTH = 155
"""Columns of the examples."""


def main() -> int:
    """Prints a line for each failure and a sum; the exit code is 1 where one failed."""
    with tempfile.TemporaryDirectory(prefix="tcpstall-installed-") as scratch:
        scripts = _installed(Path(scratch) / "venv")
        _wheel(scripts, Path(scratch) / "wheels")
        folders = [Path(scratch) / str(number) for number in range(len(FOLDERS))]
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            found = pool.map(_failures, folders, FOLDERS.values(), repeat(scripts))
            failures = [f"{name}: {failure}" for name, each in zip(FOLDERS, found, strict=True) for failure in each]
    for failure in failures:
        print(f"!!! {failure}", flush=True)
    several = len(list(examples()))
    print(f"installed: {several} examples in {len(FOLDERS)} folders, {len(failures)} failures", flush=True)
    return 1 if failures else 0


def _installed(folder: Path) -> Path:
    venv.create(folder, with_pip=True)
    scripts = folder / "bin"
    _pip(scripts, "install", "--no-compile", ".")
    return scripts


def _wheel(scripts: Path, folder: Path) -> None:
    """Builds the wheel of this platform as an index takes it, and installs it anew with nothing else on the PATH."""
    _pip(scripts, "wheel", "--no-deps", "--wheel-dir", str(folder), "-C", "build-args=--compatibility pypi", ".")
    [wheel] = folder.iterdir()
    alone = ["--no-compile", "--no-deps", "--force-reinstall", "--only-binary", ":all:"]
    _pip(scripts, "install", *alone, str(wheel), PATH=str(scripts))
    print(f"installed: {wheel.name}", flush=True)


def _pip(scripts: Path, command: str, *arguments: str, **variables: str) -> None:
    environment = {**os.environ, "MATURIN_NO_INSTALL_RUST": "1", "PIP_DISABLE_PIP_VERSION_CHECK": "1", **variables}
    subprocess.run([scripts / "pip", command, "-q", *arguments], cwd=REPOSITORY, check=True, env=environment)


def _failures(folder: Path, make: Callable[[Path], None], scripts: Path) -> list[str]:
    make(folder)
    trace = folder.with_suffix(".trace")
    found = [
        f"$ {example.command}\n{failure}"
        for example in examples()
        if (failure := _failure(example, folder, scripts, trace))
    ]
    return [*found, *([f"files of strangers were run:\n{trace.read_text()}"] if trace.exists() else [])]


def _failure(example: Example, folder: Path, scripts: Path, trace: Path) -> str:
    """Fault of the example; empty where it does as documented."""
    environment = {
        "HOME": str(folder),
        "PATH": f"{scripts}:{os.environ['PATH']}",
        "COLUMNS": str(_WIDTH),
        "LANG": "C.UTF-8",
        "TRACE": str(trace),
    }
    done = subprocess.run(
        ["bash", "-o", "pipefail", "-c", example.command],
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=120,
        check=False,
    )
    if done.returncode or "Traceback" in done.stdout:
        return f"exit code {done.returncode}:\n{done.stdout[-2000:]}"
    if example.printed is not None and not _steady(done.stdout).startswith(_steady(example.printed)):
        return f"prints\n{done.stdout}where the document says\n{example.printed}"
    return ""


def _steady(printed: str) -> str:
    """Words alone: the document may break its lines elsewhere, and end before the output does."""
    return " ".join(_SPENT.sub("", printed).split())


if __name__ == "__main__":
    sys.exit(main())
