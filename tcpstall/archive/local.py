"""A scan's tasks on the processors of this machine, each in a process of its own."""

import os
import signal
import socket
import subprocess
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from typing import IO

from tcpstall import _core
from tcpstall.archive import isolated
from tcpstall.archive.sets import Set, Task
from tcpstall.archive.task import CannotWork, Done, Options, given_up, passed_over, scan_task
from tcpstall.archive.to_do import ToDo
from tcpstall.errors import TcpstallError

__all__ = ["processors", "run", "serve"]

_DEATHS = 2
"""A set that ends its process twice is given up: a third process would end the same way."""

_TOLD_BYTES = 256 << 10
"""Bytes read of which a worker sends one message: of a small file each message takes as long as to plan the file."""

_KEPT_BYTES = 1 << 20
"""Memory that is taken and given back once: from then on the C library (mallopt(3), M_MMAP_THRESHOLD) keeps blocks of
that size. Without, the system clears the buffers of each capture anew: 60 us, more than a small capture takes."""

_MORE = "more"
"""A worker has begun with all sets that it has: it takes further ones into the same commit."""

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
    tasks: Iterable[Task],
    url: str,
    options: Options,
    done: Callable[[Done], None],
    told: Callable[[int], None],
    *,
    jobs: int | None = None,
    niceness: int = 0,
) -> None:
    """Scans the tasks into the store at `url`; `done` is called here as each is finished, `told` with bytes read since.

    Tasks may be planned while they are asked for: workers have begun with the first ones then. A task whose process
    dies is tried again, set by set; what dies again is given up, or skipped where the machine is to blame. Raises what
    `tasks`, `done`, `told` or a worker raise, after all workers have ended, and CannotWork where none can be started.
    """
    crew = _Crew(tasks, jobs or processors(), (url, options, niceness))
    try:
        crew.work(done, told)
    finally:
        crew.dismiss()


@dataclass(slots=True)
class _Worker:
    process: subprocess.Popen[bytes]
    pipe: "Connection[object, object]"
    complaints: IO[bytes]
    ready: bool = False
    task: Task | None = None
    size: int = 0
    """Bytes of its task, which small sets are added to."""
    deaths: int = 0
    asks: bool = False
    """It waits for further sets, or the word that there are none."""

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
    def __init__(self, tasks: Iterable[Task], jobs: int, arguments: tuple[str, Options, int]) -> None:
        self._plan = iter(tasks)
        self._is_planned = False
        self._to_do = ToDo(jobs)
        self._jobs = jobs
        self._arguments = arguments
        self._workers: list[_Worker] = []

    def work(self, done: Callable[[Done], None], told: Callable[[int], None]) -> None:
        while self._look_ahead() or self._to_do or any(worker.task is not None for worker in self._workers):
            self._deal()
            busy = [worker.pipe for worker in self._workers if worker.task is not None]
            ready = wait(busy, timeout=None if self._is_planned else 0)
            for worker in [worker for worker in self._workers if worker.pipe in ready]:
                self._hear(worker, done, told)

    def _look_ahead(self) -> bool:
        """Takes in the next task of the plan, if there is one."""
        task = None if self._is_planned else next(self._plan, None)
        if task is not None:
            self._to_do.add(task)
        elif not self._is_planned:
            self._is_planned = True
            import duckdb  # noqa: F401 - commits need it, and this process has nothing to do until the first one
        return task is not None

    def _deal(self) -> None:
        """Gives what is to do to workers who have nothing, and to new ones as far as that is worth it."""
        for worker in self._workers:
            if worker.asks:
                self._answer(worker)
            elif worker.task is None:
                self._give(worker)
        while len(self._workers) < self._jobs and self._to_do.is_worth_a_worker(first=not self._workers):
            self._hire()

    def _hear(self, worker: _Worker, done: Callable[[Done], None], told: Callable[[int], None]) -> None:
        try:
            news = worker.pipe.recv()
        except (EOFError, OSError):
            self._lost(worker, done)
            return
        if isinstance(news, int):
            told(news)
        elif news == _READY:
            worker.ready = True
        elif news == _MORE:
            worker.asks = True
            self._answer(worker)
        else:
            worker.task = None
            if isinstance(news, BaseException):
                raise news
            assert isinstance(news, Done)  # noqa: S101 - the type checker's; workers send nothing else
            done(news)
            if news.rest is not None:
                self._to_do.add_rest(news.rest)
            self._give(worker)

    def _answer(self, worker: _Worker) -> None:
        """Adds small sets to its task, or says that it is to end its task; neither while they are still planned."""
        assert worker.task is not None  # noqa: S101 - the type checker's
        sets, size = ((), 0) if worker.deaths else self._to_do.portion(behind=worker.size)
        if not sets and not (self._is_planned or worker.deaths or self._to_do):
            return
        worker.asks = False
        if sets:
            worker.task = Task((*worker.task.sets, *sets))
            worker.size += size
        with suppress(BrokenPipeError, ConnectionResetError):  # its end is noticed when its messages are read
            worker.pipe.send(sets)

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
            worker.task, worker.deaths = self._to_do.next()
            worker.size = worker.task.size
            with suppress(BrokenPipeError, ConnectionResetError):
                worker.pipe.send(worker.task)

    def _lost(self, worker: _Worker, done: Callable[[Done], None]) -> None:
        """Its process has ended by itself. Raises CannotWork where none of them can be started."""
        code = worker.process.wait()
        words = worker.last_words()
        task, deaths = worker.task, worker.deaths + 1
        self._workers.remove(worker)
        worker.close()
        if not worker.ready:
            self._jobs -= 1
            if not self._jobs:
                raise _cannot_start(words or _end(code))
            if task is not None:  # not to blame
                self._to_do.add_again(task, worker.deaths)
        elif task is not None:
            if deaths < _DEATHS:
                for each in task.sets:
                    self._to_do.add_again(Task((each,)), deaths)
            else:
                reason = f"the process that analysed it was lost {deaths} times, {_end(code)}"
                reason += f": {words}" if words else ""
                its_own = (code >= 0 or -code in _CRASHES) and not words.startswith(_NOT_ITS_FAULT)
                done(given_up(task, reason) if its_own else passed_over(task, reason))
        self._deal()


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
        bytes(_KEPT_BYTES)

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
            task = pipe.recv()
            try:
                news: object = scan_task(task, url, options, told, _further(pipe))
            except TcpstallError as error:
                news = error
            pipe.send(untold)
            untold = 0
            pipe.send(news)


def _further(pipe: "Connection[object, object]") -> Iterator[Set]:
    """Sets that are scanned with those of a task: asked for when the last ones are begun, and there when they end."""
    pipe.send(_MORE)
    return _answered(pipe)


def _answered(pipe: "Connection[object, object]") -> Iterator[Set]:
    while sets := pipe.recv():
        assert isinstance(sets, tuple)  # noqa: S101 - the type checker's
        pipe.send(_MORE)
        yield from sets
