"""A scan's tasks on the processors of this machine, each in a process of its own."""

import gc
import json
import os
import select
import signal
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from multiprocessing.connection import Connection, wait

from tcpstall import _core
from tcpstall.archive.planning.sets import Set, Task
from tcpstall.archive.planning.to_do import ToDo
from tcpstall.archive.scanning.interpreters import RARELY, Interpreter, Interpreters
from tcpstall.archive.scanning.task import CannotWork, Done, Options, given_up, passed_over, scan_task
from tcpstall.archive.storing.records import Row, Written
from tcpstall.errors import TcpstallError

__all__ = ["processors", "run", "serve"]

_DEATHS = 2
"""A set that ends its process twice is given up: a third process would end the same way."""

_TOLD_BYTES = 256 << 10
"""Bytes read of which a worker sends one message: of a small file each message takes as long as to plan the file."""

_KEPT_BYTES = 1 << 20
"""Memory that is taken and given back once: from then on the C library (mallopt(3), M_MMAP_THRESHOLD) keeps blocks of
that size. Without, the system clears the buffers of each capture anew: 60 us, more than a small capture takes."""

_ROWS = 64
"""Rows of captures that a worker sends at once: its socket takes these if it takes any."""

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
    interpreters: Interpreters | None = None,
    meanwhile: Callable[[], object] = lambda: None,
) -> None:
    """Scans the tasks into the store at `url`; `done` is called here as each is finished, `told` with bytes read since.

    Tasks may be planned while they are asked for: workers have begun with the first ones then. A task whose process
    dies is tried again, set by set; what dies again is given up, or skipped where the machine is to blame. Workers take
    `interpreters` that are started already. `meanwhile` is called once all is planned and every worker is busy. Raises
    what these callables or a worker raise, after all workers have ended, and CannotWork where none can be started.
    """
    crew = _Crew(tasks, jobs or processors(), (url, options, niceness), interpreters or Interpreters())
    try:
        crew.work(done, told, meanwhile)
    finally:
        crew.dismiss()


@dataclass(slots=True)
class _Worker:
    interpreter: Interpreter
    pipe: "Connection[object, object]"
    ready: bool = False
    task: Task | None = None
    size: int = 0
    """Bytes of its task, which small sets are added to."""
    deaths: int = 0
    captured: list[tuple[Sequence[Row], bytes]] = field(default_factory=list)
    """Rows of captures of its task, each piece with its JSON."""
    asks: bool = False
    """It waits for further sets, or the word that there are none."""

    def last_words(self) -> str:
        """The last line that its process wrote to standard error."""
        complaints = self.interpreter.complaints
        complaints.seek(0)
        lines = complaints.read().decode(errors="replace").strip().splitlines()
        return lines[-1].strip() if lines else ""

    def close(self) -> None:
        """Waits for the end of its process."""
        self.interpreter.process.wait()
        self.pipe.close()
        self.interpreter.complaints.close()


class _Crew:
    def __init__(
        self, tasks: Iterable[Task], jobs: int, arguments: tuple[str, Options, int], interpreters: Interpreters
    ) -> None:
        self._plan = iter(tasks)
        self._is_planned = False
        self._to_do = ToDo(jobs)
        self._jobs = jobs
        self._arguments = arguments
        self._interpreters = interpreters
        self._workers: list[_Worker] = []

    def work(self, done: Callable[[Done], None], told: Callable[[int], None], meanwhile: Callable[[], object]) -> None:
        preparing: threading.Thread | None = None
        while self._look_ahead() or self._to_do or any(worker.task is not None for worker in self._workers):
            self._deal()
            if self._is_planned and preparing is None:
                # A thread of its own: workers wait for answers no longer than Python's threads for each other.
                preparing = threading.Thread(target=_tried, args=(meanwhile,))
                preparing.start()
            while self._listen(done, told) and not self._is_planned:
                pass
        if preparing is not None:
            preparing.join()

    def _look_ahead(self) -> bool:
        """Takes in the next task of the plan, if there is one."""
        task = None if self._is_planned else next(self._plan, None)
        if task is not None:
            self._to_do.add(task)
        elif not self._is_planned:
            self._is_planned = True
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

    def _listen(self, done: Callable[[Done], None], told: Callable[[int], None]) -> bool:
        """Hears the next news of workers, waits for some if all is planned; false if there was none."""
        busy = [worker.pipe for worker in self._workers if worker.task is not None]
        ready = wait(busy, timeout=None if self._is_planned else 0)
        for worker in [worker for worker in self._workers if worker.pipe in ready]:
            self._hear(worker, done, told)
        return bool(ready)

    def _hear(self, worker: _Worker, done: Callable[[Done], None], told: Callable[[int], None]) -> None:
        try:
            news = worker.pipe.recv()
        except (EOFError, OSError):
            self._lost(worker, done)
            return
        if isinstance(news, int):
            told(news)
        elif isinstance(news, tuple):
            worker.captured.append(news)
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
            captures = Written.of((*worker.captured, _written(news.commit.captures)))
            worker.captured.clear()
            done(replace(news, commit=replace(news.commit, captures=captures)))
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
            worker.interpreter.process.kill()
        for worker in self._workers:
            worker.close()
        self._workers.clear()
        self._interpreters.close()

    def _hire(self) -> None:
        try:
            interpreter = self._interpreters.take()
        except OSError as error:
            raise _cannot_start(error.strerror or str(error)) from error
        worker = _Worker(interpreter, Connection(interpreter.pipe.detach()))
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
        code = worker.interpreter.process.wait()
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


def _tried(work: Callable[[], object]) -> None:
    """Does what is needed later: what fails here fails there again."""
    with suppress(Exception):
        work()


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
        gc.set_threshold(*RARELY)

        untold = 0

        def told(read: int) -> None:
            nonlocal untold
            if os.getppid() != parent:
                raise SystemExit
            untold += read
            if untold >= _TOLD_BYTES:
                pipe.send(untold)
                untold = 0

        kept: list[Row] = []

        def captured(rows: Sequence[Row]) -> None:
            kept.extend(rows)
            while len(kept) >= _ROWS and select.select((), (pipe,), (), 0)[1]:
                pipe.send(_written(kept[:_ROWS]))
                del kept[:_ROWS]

        while True:
            task = pipe.recv()
            try:
                news: object = scan_task(task, url, options, told, _further(pipe), captured)
            except TcpstallError as error:
                news = error
            pipe.send(untold)
            untold = 0
            pipe.send(_written(kept))
            kept.clear()
            pipe.send(news)


def _written(rows: Sequence[Row]) -> tuple[Sequence[Row], bytes]:
    """Rows of captures with their JSON."""
    return rows, json.dumps(rows)[1:-1].encode()


def _further(pipe: "Connection[object, object]") -> Iterator[Set]:
    """Sets that are scanned with those of a task: asked for when the last ones are begun, and there when they end."""
    pipe.send(_MORE)
    return _answered(pipe)


def _answered(pipe: "Connection[object, object]") -> Iterator[Set]:
    while sets := pipe.recv():
        assert isinstance(sets, tuple)  # noqa: S101 - the type checker's
        pipe.send(_MORE)
        yield from sets
