"""A scan's tasks on the processors of this machine, each in a process of its own."""

import os
import socket
import subprocess
import sys
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait

from tcpstall.archive.plan import Task
from tcpstall.archive.work import Done, Options, given_up, scan_task
from tcpstall.errors import TcpstallError

__all__ = ["processors", "run", "serve"]

_PROGRAM = "import sys; from tcpstall.archive.local import serve; serve(int(sys.argv[1]))"

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
    process: subprocess.Popen[bytes]
    pipe: "Connection[object, object]"
    task: Task | None = None
    deaths: int = 0


class _Crew:
    def __init__(self, tasks: Sequence[Task], url: str, options: Options, niceness: int) -> None:
        self._to_do = deque((task, 0) for task in tasks)
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
            worker.process.wait()
            worker.pipe.close()
        self._workers.clear()

    def _hire(self) -> None:
        """An interpreter of its own: what multiprocessing starts would run the caller's script again."""
        here, there = socket.socketpair()
        with there:
            process = subprocess.Popen(  # noqa: S603 - this interpreter, with a program of ours
                [sys.executable, "-c", _PROGRAM, str(there.fileno())],
                stdin=subprocess.DEVNULL,
                # Ctrl-C is for the parent, which ends its workers; a worker whose parent is gone notices that.
                process_group=0,
                pass_fds=[there.fileno()],
                env={**os.environ, "PYTHONPATH": os.pathsep.join(path or os.curdir for path in sys.path)},
            )
        worker = _Worker(process, Connection(here.detach()))
        self._workers.append(worker)
        worker.pipe.send((os.getpid(), *self._arguments))
        self._give(worker)

    def _give(self, worker: _Worker) -> None:
        if self._to_do:
            worker.task, worker.deaths = self._to_do.popleft()
            worker.pipe.send(worker.task)

    def _lost(self, worker: _Worker, done: Callable[[Done], None]) -> None:
        """Its process has ended by itself: killed for its memory, most likely."""
        code = worker.process.wait()
        task, deaths = worker.task, worker.deaths + 1
        self._workers.remove(worker)
        worker.pipe.close()
        if task is not None:
            if deaths < _DEATHS:
                self._to_do.extend((Task((each,)), deaths) for each in task.sets)
            else:
                done(given_up(task, f"the process that analysed it was lost {deaths} times, {_end(code)}"))
        self._hire()


def _end(code: int) -> str:
    return f"by signal {-code} (9: for want of memory, most likely)" if code < 0 else f"with exit code {code}"


def serve(descriptor: int) -> None:
    """A worker: takes tasks until nobody gives any."""
    with Connection(descriptor) as pipe, suppress(EOFError, BrokenPipeError, ConnectionResetError):
        parent, url, options, niceness = pipe.recv()
        if niceness:
            os.nice(niceness)

        def told(read: int) -> None:
            if os.getppid() != parent:
                raise SystemExit
            pipe.send(read)

        while True:
            try:
                pipe.send(scan_task(pipe.recv(), url, options, told))
            except TcpstallError as error:
                pipe.send(error)
