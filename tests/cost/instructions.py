"""Instructions that a command executes in user space: by the processor's counter, or by valgrind."""

import ctypes
import json
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path

_PERF_EVENT_OPEN = {"x86_64": 298, "aarch64": 241}
_INSTRUCTIONS = 1
_DISABLED, _INHERIT, _EXCLUDE_KERNEL, _EXCLUDE_HV, _ENABLE_ON_EXEC = 1 << 0, 1 << 1, 1 << 5, 1 << 6, 1 << 12

REPOSITORY = Path(__file__).parents[2]
COMMAND = "from tcpstall.cli import main; raise SystemExit(main())"

Counter = Callable[[Sequence[str]], int]
"""Runs tcpstall with these arguments and gives its instructions."""


def _opened() -> int:
    """A counter of this process's children, from the moment that they run a program; negative where there is none."""
    number = _PERF_EVENT_OPEN.get(os.uname().machine) if sys.platform == "linux" else None
    if number is None:
        return -1
    attributes = bytearray(128)
    flags = _DISABLED | _INHERIT | _EXCLUDE_KERNEL | _EXCLUDE_HV | _ENABLE_ON_EXEC
    struct.pack_into("<IIQ", attributes, 0, 0, len(attributes), _INSTRUCTIONS)
    struct.pack_into("<Q", attributes, 40, flags)
    buffer = (ctypes.c_char * len(attributes)).from_buffer(attributes)
    return int(ctypes.CDLL(None, use_errno=True).syscall(number, buffer, 0, -1, -1, 0))


def _arguments(arguments: Sequence[str]) -> list[str]:
    return [sys.executable, "-c", COMMAND, *arguments]


def _by_processor(arguments: Sequence[str]) -> int:
    event = _opened()
    try:
        subprocess.run(_arguments(arguments), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
        return int.from_bytes(os.read(event, 8), sys.byteorder)
    finally:
        os.close(event)


class _Valgrind:
    """Counts by valgrind: one process starts, and forks for each command; what the fork starts is counted with it."""

    def __init__(self, warm: bool) -> None:
        self._folder = tempfile.TemporaryDirectory()
        self._warm = warm
        self._process = self._started()

    def _started(self) -> "subprocess.Popen[str]":
        tool = ["valgrind", "--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null"]
        logs = f"--log-file={self._folder.name}/%p"
        # What a hash is seeded with moves some instructions; threads are counted all together. A module that the first
        # command compiled and wrote would cost the later ones less.
        still = {"PYTHONHASHSEED": "0", "POLARS_MAX_THREADS": "1", "PYTHONDONTWRITEBYTECODE": "1"}
        environment = {**os.environ, **still}
        return subprocess.Popen(
            [*tool, "--trace-children=yes", logs, sys.executable, "-m", "tests.cost.forks", *["warm"] * self._warm],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=environment,
            cwd=REPOSITORY,
            text=True,
        )

    def _run(self, arguments: Sequence[str]) -> bool:
        """False where the process has ended."""
        assert self._process.stdin
        assert self._process.stdout
        try:
            self._process.stdin.write(json.dumps(list(arguments)) + "\n")
            self._process.stdin.flush()
        except BrokenPipeError:
            return False
        return bool(self._process.stdout.readline())

    def _begin_anew(self) -> None:
        """Starts over after something has ended the process; its counts are lost."""
        said = "; ".join(log.read_text() for log in self._logs(of_all=True))
        print(f"valgrind ended with {self._process.wait()}: {said}", file=sys.stderr)
        for log in self._logs(of_all=True):
            log.unlink()
        for pipe in filter(None, (self._process.stdin, self._process.stdout)):
            with suppress(BrokenPipeError):  # of what is still to be written
                pipe.close()
        self._process = self._started()

    def _logs(self, *, of_all: bool = False) -> list[Path]:
        """Those of the commands, or of all processes."""
        own = str(self._process.pid)
        return [log for log in Path(self._folder.name).iterdir() if of_all or log.name != own]

    def __call__(self, arguments: Sequence[str]) -> int:
        if not self._run(arguments):
            self._begin_anew()
            assert self._run(arguments), f"valgrind ended with {self._process.wait()}"
        logs = self._logs()
        count = 0
        for log in logs:
            [told] = re.findall(r"I\s+refs:\s+([\d,]+)", log.read_text())
            count += int(told.replace(",", ""))
            log.unlink()
        if count == 0:
            raise AssertionError(f"valgrind counted nothing of tcpstall {' '.join(arguments)}")
        return count

    def close(self) -> None:
        """Ends the process."""
        self._process.communicate()
        self._folder.cleanup()


def processor_counts() -> bool:
    """True where the machine lets programs read its processor's counter."""
    event = _opened()
    if event >= 0:
        os.close(event)
    return event >= 0


@contextmanager
def counter(warm: bool = False) -> Iterator[Counter | None]:
    """The processor's counter; or valgrind, twenty times as slow, less for many commands if warm."""
    if processor_counts():
        yield _by_processor
    elif shutil.which("valgrind"):
        with closing(_Valgrind(warm)) as count:
            yield count
    else:
        yield None
