"""A scan's tasks on the workers of a Dask cluster, who write into the store themselves: only commits come back."""

import contextlib
import itertools
import logging
import os
import queue
import time
import uuid
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from tcpstall import _core
from tcpstall.archive.captures import remote
from tcpstall.archive.planning.plan import Task, joined
from tcpstall.archive.scanning.task import CannotWork, Done, Options, passed_over, scan_task
from tcpstall.archive.storing.storage import at
from tcpstall.archive.storing.store import Commit
from tcpstall.errors import CannotOpen, TcpstallError

if TYPE_CHECKING:
    from distributed import Client, Future

__all__ = ["LOCAL", "run"]

LOCAL = "local"
"""Instead of a scheduler's address: a cluster of this machine's processors."""

_DEATHS_HERE = 1
"""allowed-failures of a cluster of our own: a task goes to another worker once. Others have their own (Dask: 3)."""

_CONNECT_S = 10
_WORKERS_S = 60
"""Longest time that a scheduler may take to answer, and to have a worker, s."""

_DESERTED_S = 300
"""Without any worker for so long a scan ends: clusters that grow with their work take minutes for new machines."""

_LOOK_S = 5.0
_TOLD_S = 1.0
"""Time between looks for workers where nothing happens, and between a worker's reports of bytes read, s."""

_ASKED_AGAIN = 3
"""Times that workers are asked once more, a second apart, where the connection to a worker breaks."""

_STORE = "store.json"
"""File that shows a worker that it sees the same store."""

_SAFE_PATH = "PYTHONSAFEPATH"

_AT_LEAST = 64
_PER_THREAD = 4
"""Tasks that the scheduler holds at once: the next ones are there before a worker is idle, and not a million."""


class _Unwanted(TcpstallError):
    """The scan that wanted this task has been broken off."""


def run(
    tasks: Iterable[Task],
    url: str,
    options: Options,
    done: Callable[[Done], None],
    told: Callable[[int], None],
    *,
    address: str,
    jobs: int | None = None,
) -> None:
    """Scans the tasks into the store at `url` on the cluster with that scheduler, as `local.run` does on this machine.

    A task whose worker dies goes to another one. One that outlives more workers than the scheduler allows failures is
    tried once more, alone, when all others are done: what kills workers again is skipped, and what only stood in line
    behind it is not. `jobs` is how many workers a cluster `local` has. Raises what `done`, `told` or a worker raise,
    and CannotOpen. All is planned before the first task is submitted: the largest ones are.
    """
    tasks = list(joined(each for task in tasks for each in task.sets))
    if address != LOCAL:
        url = url if remote.is_url(url) else os.path.abspath(remote.local(url))  # noqa: PTH100 Path would drop a `..`
        _refuse_relative(tasks)
    with _connected(address, jobs) as client:
        _check(client, address, url)
        scanning = _Scanning(client, address, url, options)
        try:
            suspects = scanning.run(
                tasks, done, told, at_once=max(_AT_LEAST, _PER_THREAD * sum(client.nthreads().values()))
            )
            for task in suspects:
                for suspect in scanning.run([task], done, told, at_once=1):
                    done(passed_over(suspect, "every worker that analysed it died, for want of memory most likely"))
        finally:
            scanning.break_off()


class _Scanning:
    """Tasks on their way, and what comes back from them, in one queue."""

    def __init__(self, client: "Client", address: str, url: str, options: Options) -> None:
        self._client = client
        self._address = address
        self._arguments = (url, options)
        self._news: queue.SimpleQueue[Future | int] = queue.SimpleQueue()
        self._out: dict[str, tuple[Task, Future]] = {}
        self._topic = f"tcpstall-{uuid.uuid4().hex}"
        client.subscribe_topic(self._topic, lambda event: self._news.put(event[1]))

    def run(
        self, tasks: Sequence[Task], done: Callable[[Done], None], told: Callable[[int], None], *, at_once: int
    ) -> list[Task]:
        """The largest first. Gives back those whose workers died."""
        waiting = iter(sorted(tasks, key=lambda task: -task.size))
        suspects: list[Task] = []
        for task in waiting:
            self._submit(task)
            if len(self._out) >= at_once:
                break
        while self._out:
            ended: list[Future] = []
            for news in self._next():
                if isinstance(news, int):
                    told(news)
                else:
                    ended.append(news)
            results = self._results(ended)
            for task in itertools.islice(waiting, max(at_once - len(self._out), 0)):
                self._submit(task)
            suspects += [result for result in results if isinstance(result, Task)]
            if finished := [result for result in results if isinstance(result, Done)]:
                done(_together(finished))
                for rest in (result.rest for result in finished if result.rest is not None):
                    self._submit(rest)
        return suspects

    def break_off(self) -> None:
        """Takes back what is not done."""
        with contextlib.suppress(Exception):
            self._client.unsubscribe_topic(self._topic)
        futures = [future for _, future in self._out.values()]
        if futures:
            with contextlib.suppress(Exception):
                self._client.cancel(futures, force=True)

    def _submit(self, task: Task) -> None:
        key = f"scan-{uuid.uuid4().hex}"
        future = self._client.submit(
            _work, task, *self._arguments, self._topic, key=key, priority=task.size, pure=False
        )
        self._out[key] = (task, future)
        future.add_done_callback(self._news.put)

    def _next(self) -> "list[Future | int]":
        """All that has come; raises CannotOpen where there is no worker any more that anything could come from."""
        since = time.monotonic()
        while True:
            try:
                news = [self._news.get(timeout=_LOOK_S)]
                with contextlib.suppress(queue.Empty):
                    while True:
                        news.append(self._news.get_nowait())
                return news
            except queue.Empty:
                if self._client.nthreads():
                    since = time.monotonic()
                elif time.monotonic() - since > _DESERTED_S:
                    message = f"{self._address}: without a worker for {_DESERTED_S} s; {_GO_ON}"
                    raise CannotOpen(message) from None

    def _results(self, ended: "Sequence[Future]") -> list[Done | Task]:
        """Outcomes of tasks, fetched together; the task itself where its workers died."""
        tasks = [self._out.pop(future.key)[0] for future in ended]
        with contextlib.suppress(Exception):
            results: list[Done | Task] = self._client.gather(list(ended))
            return results
        return [self._result(task, future) for task, future in zip(tasks, ended, strict=True)]

    def _result(self, task: Task, future: "Future") -> Done | Task:
        from distributed.client import FutureCancelledError
        from distributed.scheduler import KilledWorker

        try:
            result: Done = future.result()
            return result
        except KilledWorker:
            return task
        except TcpstallError:
            raise
        except (FutureCancelledError, OSError) as error:
            raise CannotOpen(f"{self._address}: the scheduler has gone; {_GO_ON}") from error
        except Exception as error:  # whatever a worker's machine lacks
            raise CannotWork(
                f"{self._address}: a worker cannot scan: {type(error).__name__}: {_line(error)}"
            ) from error


_GO_ON = "what was done is in the store: scan again to go on"


def _together(several: Sequence[Done]) -> Done:
    """One commit for what came while the last was written: a request takes 50 ms, and a cluster does more in that."""
    commits = [one.commit for one in several]
    return Done(
        Commit(
            parts=[part for commit in commits for part in commit.parts],
            captures=[row for commit in commits for row in commit.captures],
            dropped=[scan for commit in commits for scan in commit.dropped],
            continued=[scan for commit in commits for scan in commit.continued],
            removed=[name for commit in commits for name in commit.removed],
            streams=[stream for commit in commits for stream in commit.streams],
        ),
        sum(one.size for one in several),
        sum(one.packets for one in several),
        sum(one.flows for one in several),
        sum(one.failed for one in several),
        sum(one.cut for one in several),
        skipped=tuple(skipped for one in several for skipped in one.skipped),
    )


def _work(task: Task, url: str, options: Options, topic: str) -> Done:
    """On a worker."""
    from distributed import get_worker

    worker = get_worker()
    key = worker.get_current_task()
    unsaid = 0
    said = time.monotonic()

    def told(read: int) -> None:
        nonlocal unsaid, said
        unsaid += read
        if time.monotonic() - said < _TOLD_S:
            return
        state = worker.state.tasks.get(key)
        if state is None or state.state == "cancelled":
            raise _Unwanted
        worker.log_event(topic, unsaid)
        unsaid, said = 0, time.monotonic()

    result = scan_task(task, url, options, told)
    worker.log_event(topic, unsaid)
    return result


@contextlib.contextmanager
def _connected(address: str, jobs: int | None) -> Iterator["Client"]:
    try:
        import distributed
    except ImportError as error:
        raise CannotOpen("--dask: Dask is not installed: pip install 'tcpstall[dask]'") from error
    # Its errors are raised here; what it logs besides would stand among the lines of the command.
    logging.getLogger("distributed").setLevel(logging.CRITICAL)
    with contextlib.ExitStack() as held:
        held.enter_context(warnings.catch_warnings())
        warnings.simplefilter("ignore")
        try:
            cluster: Any = held.enter_context(_cluster(jobs)) if address == LOCAL else address
            client = distributed.Client(cluster, timeout=_CONNECT_S, set_as_default=False)
            held.enter_context(client)
            client.wait_for_workers(1, timeout=_WORKERS_S)
        except TimeoutError as error:
            raise CannotOpen(f"{address}: no scheduler answers there, or it has no worker") from error
        except (OSError, ValueError) as error:
            raise CannotOpen(f"{address}: no Dask scheduler can be reached there: {_line(error)}") from error
        yield client


@contextlib.contextmanager
def _safe_path() -> Iterator[None]:
    """Processes that multiprocessing starts meanwhile do not have the working folder in front of their path."""
    before = os.environ.get(_SAFE_PATH)
    os.environ[_SAFE_PATH] = "1"
    try:
        yield
    finally:
        if before is None:
            os.environ.pop(_SAFE_PATH, None)
        else:
            os.environ[_SAFE_PATH] = before


@contextlib.contextmanager
def _cluster(jobs: int | None) -> Iterator[Any]:
    """Workers on this machine, of one thread each, which nobody else can reach and without pages that show them."""
    import dask
    import distributed

    from tcpstall.archive.scanning import local

    with (
        _safe_path(),
        dask.config.set({"distributed.scheduler.allowed-failures": _DEATHS_HERE}),
        distributed.LocalCluster(
            n_workers=jobs or local.processors(),
            threads_per_worker=1,
            host="127.0.0.1",
            dashboard_address=None,
            silence_logs=logging.CRITICAL,
        ) as cluster,
    ):
        yield cluster


def _check(client: "Client", address: str, url: str) -> None:
    """Raises CannotOpen unless every worker has this tcpstall, and sees the store."""
    store = at(url).read(_STORE)
    for worker, answer in _answers(client, url).items():
        if isinstance(answer, OSError):
            lacks = f"it does not answer: {_line(answer)}"
        elif isinstance(answer, BaseException):
            lacks = f"it cannot run tcpstall {_core.version()}: {_line(answer)}"
        elif answer[0] != _core.version():
            lacks = f"it has tcpstall {answer[0]}, and this is {_core.version()}: install the same"
        elif answer[1] != store:
            lacks = f"it does not see the store {url}: give a URL, or a folder that all workers have mounted"
        else:
            continue
        raise CannotOpen(f"{address}: worker {worker} cannot scan: {lacks}")


def _answers(client: "Client", url: str) -> dict[str, Any]:
    """Each worker's answer or error; where a connection breaks, all are asked again: workers join and leave."""
    answers: dict[str, Any] = client.run(_seen, url, on_error="return")
    for _ in range(_ASKED_AGAIN):
        if not any(isinstance(answer, OSError) for answer in answers.values()):  # distributed's CommClosedError is one
            break
        time.sleep(_TOLD_S)
        answers = client.run(_seen, url, on_error="return")
    return answers


def _seen(url: str) -> tuple[str, bytes | None]:
    """On a worker: which tcpstall it has, and what it sees of the store."""
    return _core.version(), at(url).read(_STORE)


def _refuse_relative(tasks: Sequence[Task]) -> None:
    """Workers are elsewhere."""
    for task in tasks:
        for each in task.sets:
            for member in each.members:
                name = member.input.name
                if not (name.startswith("/") or "://" in name):
                    raise CannotOpen(
                        f"{name}: on a cluster captures are named by URLs or whole paths, for workers are elsewhere"
                    )


def _line(error: BaseException) -> str:
    lines = str(error).splitlines()
    return lines[0] if lines else type(error).__name__
