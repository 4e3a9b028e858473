"""The command line as a user starts it, in a process of its own, and within this one."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tcpstall.cli import main

FIXTURES = Path(__file__).parents[2] / "fixtures"

UNLIKE = {"COLUMNS", "NO_COLOR", "FORCE_COLOR"}
"""Variables that would change the output."""

Run = Callable[..., subprocess.CompletedProcess[str]]


def environment(**changed: str) -> dict[str, str]:
    """Ours without `UNLIKE`."""
    kept = {name: value for name, value in os.environ.items() if name not in UNLIKE}
    return kept | {"PYTHONWARNINGS": "error", "PYTHONUTF8": "1"} | changed


@pytest.fixture
def run() -> Run:
    """`run("analyze", path)` → exit code, output, error output."""

    def _run(*arguments: object, stdin: bytes = b"", **changed: str) -> subprocess.CompletedProcess[str]:
        done = subprocess.run(
            [sys.executable, "-m", "tcpstall", *map(str, arguments)],
            input=stdin,
            capture_output=True,
            env=environment(**changed),
            timeout=60,
            check=False,
        )
        return subprocess.CompletedProcess(done.args, done.returncode, done.stdout.decode(), done.stderr.decode())

    return _run


@pytest.fixture
def here(capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    """The same without the start of a process, which costs more than most commands; there is no standard input."""

    def _here(*arguments: object, **changed: str) -> subprocess.CompletedProcess[str]:
        given = [str(argument) for argument in arguments]
        with monkeypatch.context() as patched:
            for name in UNLIKE:
                patched.delenv(name, raising=False)
            for name, value in changed.items():
                patched.setenv(name, value)
            capfd.readouterr()
            code = main(given)
        written = capfd.readouterr()
        return subprocess.CompletedProcess(given, code, written.out, written.err)

    return _here


@pytest.fixture
def paste() -> Path:
    """tcpdump's text of a 512 KiB download over 7 ms."""
    return FIXTURES / "slowstart-rtt7ms-512k.txt"


@pytest.fixture
def capture() -> Path:
    """The same as a pcap."""
    return FIXTURES / "slowstart-rtt7ms-512k.pcap"


@pytest.fixture
def cut_capture(tmp_path: Path, capture: Path) -> Path:
    """The same, cut in the middle of its last packet."""
    cut = tmp_path / "cut.pcap"
    cut.write_bytes(capture.read_bytes()[:-20])
    return cut


@pytest.fixture
def picture(tmp_path: Path) -> Path:
    """A file that is no capture."""
    path = tmp_path / "cat.jpeg"
    path.write_bytes(b"\xff\xd8\xff\xe0\x00\x10JFIF\x00\x01" + bytes(range(256)) * 8)
    return path
