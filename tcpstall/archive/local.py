"""A scan's tasks on the processors of this machine, each in a process of its own."""

import multiprocessing
import os
import signal
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess

from tcpstall.archive.plan import Task
from tcpstall.archive.work import Done, Options, given_up, scan_task
from tcpstall.errors import TcpstallError

__all__ = ["processors", "run"]

_DEATHS = 2
"""A set that ends its process so often is given up: whatever it does to memory it would do again."""


def processors() -> int:
    """How many this process may use."""
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

    A task whose process dies is tried again, set by set; what dies again is given up. Raises what `done`, `told` or a
    worker raise, after all workers have ended.
    """
    crew = _Crew(tasks, url, options, niceness)
    try:
        crew.work(min(jobs or processors(), len(tasks)), done, told)
    finally:
        crew.dismiss()


@dataclass(slots=True)
class _Worker:
    process: BaseProcess
    pipe: "Connection[object, object]"
    task: Task | None = None


class _Crew:
    def __init__(self, tasks: Sequence[Task], url: str, options: Options, niceness: int) -> None:
        self._to_do = deque((task, 0) for task in tasks)
        self._deaths: dict[int, int] = {}
        self._arguments = (url, options, niceness)
        self._workers: list[_Worker] = []

    def work(self, jobs: int, done: Callable[[Done], None], told: Callable[[int], None]) -> None:
        for _ in range(jobs):
            self._hire()
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
                worker.task = None
                if isinstance(news, BaseException):
                    raise news
                assert isinstance(news, Done)  # noqa: S101 - the type checker's; workers send nothing else
                done(news)
                self._give(worker)

    def dismiss(self) -> None:
        for worker in self._workers:
            worker.process.kill()
        for worker in self._workers:
            worker.process.join()
            worker.pipe.close()
        self._workers.clear()

    def _hire(self) -> None:
        context = multiprocessing.get_context("spawn")
        here, there = context.Pipe()
        process = context.Process(target=_serve, args=(there, os.getpid(), *self._arguments), daemon=True)
        process.start()
        there.close()
        worker = _Worker(process, here)
        self._workers.append(worker)
        self._give(worker)

    def _give(self, worker: _Worker) -> None:
        if self._to_do:
            task, deaths = self._to_do.popleft()
            worker.task = task
            self._deaths[id(worker)] = deaths
            worker.pipe.send(task)

    def _lost(self, worker: _Worker, done: Callable[[Done], None]) -> None:
        """Its process has ended by itself: killed for its memory, most likely."""
        worker.process.join()
        task, deaths = worker.task, self._deaths[id(worker)] + 1
        self._workers.remove(worker)
        worker.pipe.close()
        if task is not None:
            if deaths < _DEATHS:
                self._to_do.extend((Task((each,)), deaths) for each in task.sets)
            else:
                done(given_up(task, f"the process that analysed it was lost {deaths} times, {_end(worker.process)}"))
        self._hire()


def _end(process: BaseProcess) -> str:
    code = process.exitcode or 0
    return f"by signal {-code} (9: for want of memory, most likely)" if code < 0 else f"with exit code {code}"


def _serve(pipe: "Connection[object, object]", parent: int, url: str, options: Options, niceness: int) -> None:
    """A worker: takes tasks until nobody gives any."""
    # Ctrl-C goes to the whole group; the parent ends its workers.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if niceness:
        os.nice(niceness)

    def told(read: int) -> None:
        if os.getppid() != parent:
            raise SystemExit
        pipe.send(read)

    try:
        while True:
            task = pipe.recv()
            assert isinstance(task, Task)  # noqa: S101 - the type checker's
            try:
                pipe.send(scan_task(task, url, options, told))
            except TcpstallError as error:
                pipe.send(error)
    except (EOFError, BrokenPipeError):
        return
