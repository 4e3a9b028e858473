"""Instructions that a command executes in user space: by the processor's counter, or by valgrind."""

import ctypes
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

_PERF_EVENT_OPEN = {"x86_64": 298, "aarch64": 241}
_INSTRUCTIONS = 1
_DISABLED, _INHERIT, _EXCLUDE_KERNEL, _EXCLUDE_HV, _ENABLE_ON_EXEC = 1 << 0, 1 << 1, 1 << 5, 1 << 6, 1 << 12

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


def _by_valgrind(arguments: Sequence[str]) -> int:
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "log"
        tool = [
            "valgrind",
            "--tool=cachegrind",
            "--cache-sim=no",
            "--cachegrind-out-file=/dev/null",
            f"--log-file={log}",
        ]
        # What a hash is seeded with moves some instructions; threads are counted all together.
        environment = {**os.environ, "PYTHONHASHSEED": "0", "POLARS_MAX_THREADS": "1"}
        subprocess.run(
            [*tool, *_arguments(arguments)],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env=environment,
            check=False,
        )
        [count] = re.findall(r"I\s+refs:\s+([\d,]+)", log.read_text())
    return int(count.replace(",", ""))


def by_processor() -> Counter | None:
    """The processor's counter, where the machine lets programs read it."""
    event = _opened()
    if event < 0:
        return None
    os.close(event)
    return _by_processor


def by_valgrind() -> Counter | None:
    """The same by valgrind, which takes fifty times as long."""
    return _by_valgrind if shutil.which("valgrind") else None
