"""Cost of one run of a command, on the cores that it is given."""

import compileall
import os
import resource
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

REPOSITORY = Path(__file__).parents[3]
Cores = frozenset[int]
CLOCK_TICK_S = 1e-6
"""Resolution of getrusage's times, so that less is not nothing."""
MEMORY_LIMIT = 8 << 30
"""Bytes that a command may ask for before it is refused more, which ends it: others use the machine too."""


@dataclass(frozen=True, slots=True)
class Cost:
    """One run. What was stopped for taking too long has only lower limits."""

    wall_s: float
    cpu_s: float
    peak_mb: float
    exit_code: int
    stopped: bool = False
    cores: int = 1

    @property
    def took_s(self) -> float:
        """On one core its processor time, which others on the machine do not lengthen, else the time by the clock."""
        return max(self.cpu_s if self.cores == 1 else self.wall_s, CLOCK_TICK_S)


def compile_as_installed() -> None:
    """Compiles the program's modules: under PYTHONDONTWRITEBYTECODE each command would compile what it loads."""
    compileall.compile_dir(REPOSITORY / "tcpstall", quiet=1)


def cost(command: Sequence[str], cores: Cores, patience_s: float, stdin: int | IO[bytes] = subprocess.DEVNULL) -> Cost:
    """Runs a command with its output thrown away."""
    stopped = threading.Event()
    with pinned(cores), Path(os.devnull).open("wb") as nothing:
        began = time.perf_counter()
        process = subprocess.Popen(
            command, stdin=stdin, stdout=nothing, stderr=nothing, cwd=REPOSITORY, preexec_fn=limit_memory
        )

        def stop() -> None:
            stopped.set()
            process.kill()

        limit = threading.Timer(patience_s, stop)
        limit.start()
        _, status, usage = os.wait4(process.pid, 0)
        wall = time.perf_counter() - began
        limit.cancel()
    process.returncode = os.waitstatus_to_exitcode(status)
    cpu = usage.ru_utime + usage.ru_stime
    return Cost(wall, cpu, usage.ru_maxrss / 1024, process.returncode, stopped.is_set(), len(cores))


def piped(source: Sequence[str], command: Sequence[str], cores: Cores, patience_s: float) -> Cost:
    """The cost of a command that reads what another writes, which has the other cores."""
    with pinned(all_cores() - cores or cores):
        writer = subprocess.Popen(source, stdout=subprocess.PIPE, cwd=REPOSITORY)
    assert writer.stdout
    with writer.stdout:
        run = cost(command, cores, patience_s, writer.stdout)
    writer.wait()
    return run


def cheapest(command: Sequence[str], cores: Cores, patience_s: float, runs: int) -> Cost:
    return min((cost(command, cores, patience_s) for _ in range(runs)), key=lambda run: run.took_s)


def limit_memory() -> None:
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_LIMIT, MEMORY_LIMIT))


@contextmanager
def pinned(cores: Cores) -> Iterator[None]:
    """Runs programs that are started inside on these cores only, where the system can do that."""
    if not hasattr(os, "sched_setaffinity"):
        yield
        return
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, cores)
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


def all_cores() -> Cores:
    return (
        frozenset(os.sched_getaffinity(0))
        if hasattr(os, "sched_getaffinity")
        else frozenset(range(os.cpu_count() or 1))
    )


def note(text: str) -> None:
    print(text, file=sys.stderr, flush=True)
