"""A scan's tasks on the processors of this machine, each in a process of its own."""

import os
import signal
import socket
import subprocess
import tempfile
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import accumulate
from multiprocessing.connection import Connection, wait
from typing import IO

from tcpstall import _core
from tcpstall.archive import isolated
from tcpstall.archive.plan import Task
from tcpstall.archive.task import CannotWork, Done, Options, given_up, passed_over, scan_task
from tcpstall.errors import TcpstallError

__all__ = ["processors", "run", "serve"]

_DEATHS = 2
"""A set that ends its process twice is given up: a third process would end the same way."""

_WORTH_CUTTING_BYTES = 4_000_000
"""Least size of a task that is cut for a worker without one: half of it takes longer than to start a worker."""

_TOLD_BYTES = 256 << 10
"""Bytes read of which a worker sends one message: of a small file each message takes as long as to plan the file."""

_READY = "ready"
"""First message of a worker: it has loaded what it needs, so a later end may be the capture's doing."""

_NOT_ITS_FAULT = ("memory allocation of ", "MemoryError", "ImportError", "ModuleNotFoundError", "OSError")
"""Begins the last words of a process that lacked memory (Rust's, Python's), a library or a file: no capture's doing."""

_CRASHES = frozenset({signal.SIGABRT, signal.SIGBUS, signal.SIGFPE, signal.SIGILL, signal.SIGSEGV})
"""Signals that a process brings upon itself; others are sent, SIGKILL by a kernel that is short of memory."""


def processors() -> int:
    """Number of processors that this process may use."""
    return len(os.sched_getaffinity(0))


def run(
    tasks: Sequence[Task],
    url: str,
    options: Options,
    done: Callable[[Done], None],
    told: Callable[[int], None],
    *,
    jobs: int | None = None,
    niceness: int = 0,
) -> None:
    """Scans the tasks into the store at `url`; `done` is called here as each is finished, `told` with bytes read since.

    A task whose process dies is tried again, set by set; what dies again is given up, or skipped where the machine is
    to blame. Raises what `done`, `told` or a worker raise, after all workers have ended, and CannotWork where no worker
    can be started.
    """
    jobs = jobs or processors()
    tasks = _for_all(tasks, jobs)
    crew = _Crew(tasks, url, options, niceness)
    try:
        crew.work(min(jobs, len(tasks)), done, told)
    finally:
        crew.dismiss()


def _for_all(tasks: Sequence[Task], jobs: int) -> list[Task]:
    """The tasks; where workers have none, large ones of several sets are cut. Each task makes parts of its own."""
    dealt = list(tasks)
    while len(dealt) < jobs:
        sizes = [task.size if len(task.sets) > 1 else 0 for task in dealt]
        largest = max(sizes, default=0)
        if largest < _WORTH_CUTTING_BYTES:
            break
        number = sizes.index(largest)
        dealt[number : number + 1] = _halves(dealt[number])
    return dealt


def _halves(task: Task) -> tuple[Task, Task]:
    """Of about one size, each with neighbours."""
    upto = list(accumulate(each.size for each in task.sets))
    middle = min(range(1, len(upto)), key=lambda number: abs(2 * upto[number - 1] - upto[-1]))
    return Task(task.sets[:middle]), Task(task.sets[middle:])


@dataclass(slots=True)
class _Worker:
    process: subprocess.Popen[bytes]
    pipe: "Connection[object, object]"
    complaints: IO[bytes]
    ready: bool = False
    task: Task | None = None
    deaths: int = 0

    def last_words(self) -> str:
        """The last line that its process wrote to standard error."""
        self.complaints.seek(0)
        lines = self.complaints.read().decode(errors="replace").strip().splitlines()
        return lines[-1].strip() if lines else ""

    def close(self) -> None:
        """Waits for the end of its process."""
        self.process.wait()
        self.pipe.close()
        self.complaints.close()


class _Crew:
    def __init__(self, tasks: Sequence[Task], url: str, options: Options, niceness: int) -> None:
        self._to_do = deque((task, 0) for task in tasks)
        self._arguments = (url, options, niceness)
        self._workers: list[_Worker] = []

    def work(self, jobs: int, done: Callable[[Done], None], told: Callable[[int], None]) -> None:
        for _ in range(jobs):
            self._hire()
        import duckdb  # noqa: F401 - commits need it, and this process has nothing to do until the first one

        while any(worker.task is not None for worker in self._workers):
            ready = wait([worker.pipe for worker in self._workers if worker.task is not None])
            for worker in [worker for worker in self._workers if worker.pipe in ready]:
                try:
                    news = worker.pipe.recv()
                except (EOFError, OSError):
                    self._lost(worker, done)
                    continue
                if isinstance(news, int):
                    told(news)
                    continue
                if news == _READY:
                    worker.ready = True
                    continue
                worker.task = None
                if isinstance(news, BaseException):
                    raise news
                assert isinstance(news, Done)  # noqa: S101 - the type checker's; workers send nothing else
                done(news)
                if news.rest is not None:
                    self._to_do.appendleft((news.rest, 0))
                self._give(worker)

    def dismiss(self) -> None:
        for worker in self._workers:
            worker.process.kill()
        for worker in self._workers:
            worker.close()
        self._workers.clear()

    def _hire(self) -> None:
        here, there = socket.socketpair()
        with there:
            try:
                process, complaints = _started(there.fileno())
            except OSError as error:
                here.close()
                raise _cannot_start(error.strerror or str(error)) from error
        worker = _Worker(process, Connection(here.detach()), complaints)
        self._workers.append(worker)
        with suppress(BrokenPipeError, ConnectionResetError):  # its end is noticed when its messages are read
            worker.pipe.send((os.getpid(), _core.version(), *self._arguments))
        self._give(worker)

    def _give(self, worker: _Worker) -> None:
        if self._to_do:
            worker.task, worker.deaths = self._to_do.popleft()
            with suppress(BrokenPipeError, ConnectionResetError):
                worker.pipe.send(worker.task)

    def _leave_to_others(self, worker: _Worker) -> None:
        """Its process ended before it could work: its task is not to blame, and there is one worker less."""
        if worker.task is not None:
            self._to_do.appendleft((worker.task, worker.deaths))
        for idle in [other for other in self._workers if other.task is None]:
            self._give(idle)

    def _lost(self, worker: _Worker, done: Callable[[Done], None]) -> None:
        """Its process has ended by itself. Raises CannotWork where no other is left, and it had not started."""
        code = worker.process.wait()
        words = worker.last_words()
        task, deaths = worker.task, worker.deaths + 1
        self._workers.remove(worker)
        worker.close()
        if not worker.ready and not self._workers:
            raise _cannot_start(words or _end(code))
        if not worker.ready:
            self._leave_to_others(worker)
            return
        if task is not None:
            if deaths < _DEATHS:
                self._to_do.extend((Task((each,)), deaths) for each in task.sets)
            else:
                reason = f"the process that analysed it was lost {deaths} times, {_end(code)}"
                reason += f": {words}" if words else ""
                its_own = (code >= 0 or -code in _CRASHES) and not words.startswith(_NOT_ITS_FAULT)
                done(given_up(task, reason) if its_own else passed_over(task, reason))
        self._hire()


def _started(descriptor: int) -> tuple[subprocess.Popen[bytes], IO[bytes]]:
    """An interpreter of its own, and the file of its standard error: multiprocessing would run the caller's script."""
    complaints = tempfile.TemporaryFile()  # noqa: SIM115 - it is read when the process has ended
    try:
        process = subprocess.Popen(  # noqa: S603 - this interpreter, with a program of ours
            isolated.command("tcpstall.archive.local", str(descriptor)),
            stdin=subprocess.DEVNULL,
            stderr=complaints,
            # Ctrl-C is for the parent, which ends its workers; a worker whose parent is gone notices that.
            process_group=0,
            pass_fds=[descriptor],
        )
    except OSError:
        complaints.close()
        raise
    return process, complaints


def _cannot_start(reason: str) -> CannotWork:
    return CannotWork(f"no process can be started that analyses captures: {reason}; mend that, then scan again")


def _end(code: int) -> str:
    return f"by signal {-code} (9: for want of memory, most likely)" if code < 0 else f"with exit code {code}"


def serve(descriptor: str) -> None:
    """A worker: takes tasks until nobody gives any."""
    with Connection(int(descriptor)) as pipe, suppress(EOFError, BrokenPipeError, ConnectionResetError):
        parent, version, url, options, niceness = pipe.recv()
        if version != _core.version():
            raise SystemExit(f"tcpstall {_core.version()} was installed while {version} scans")
        if niceness:
            os.nice(niceness)
        pipe.send(_READY)

        untold = 0

        def told(read: int) -> None:
            nonlocal untold
            if os.getppid() != parent:
                raise SystemExit
            untold += read
            if untold >= _TOLD_BYTES:
                pipe.send(untold)
                untold = 0

        while True:
            try:
                news: object = scan_task(pipe.recv(), url, options, told)
            except TcpstallError as error:
                news = error
            pipe.send(untold)
            untold = 0
            pipe.send(news)
