"""Sets to scan that no worker has begun: large sets one by one, small ones in portions."""

from bisect import insort
from collections import deque

from tcpstall.archive.planning.sets import TASK_BYTES, Set, Task

__all__ = ["ToDo", "worth"]

_WORTH_A_WORKER_BYTES = 2_000_000
"""Least size of the small sets for which another worker is started: less is scanned before it has started."""

_PORTION_BYTES = 300_000
"""Least size of a portion: workers end at about the same time, within the 20 ms that this takes of small files."""

_PORTION_SETS = 400
"""Most sets of a portion, each a few hundred bytes: a socket takes these while the worker at its end is busy."""


def worth(workers: int, files: int, size: int) -> int:
    """Number of workers that shorten a scan of `files` and `size` bytes; at least one."""
    return max(1, min(workers, files, 1 + size // _WORTH_A_WORKER_BYTES))


class ToDo:
    """Sets that wait for one of some workers."""

    def __init__(self, workers: int) -> None:
        self._workers = workers
        self._begun: deque[Task] = deque()
        self._large: list[Task] = []
        self._small: deque[tuple[Set, int]] = deque()
        self._small_bytes = 0
        self._again: deque[tuple[Task, int]] = deque()

    def __bool__(self) -> bool:
        return bool(self._begun or self._large or self._small or self._again)

    def add(self, task: Task) -> None:
        """The largest sets are begun first."""
        if len(task.sets) == 1 and (size := task.size) >= TASK_BYTES:
            insort(self._large, task, key=lambda each: -each.size)
            return
        for each in task.sets:
            size = each.size
            self._small.append((each, size))
            self._small_bytes += size

    def add_again(self, task: Task, deaths: int) -> None:
        """A task whose processes died: each is tried alone, behind all others."""
        self._again.append((task, deaths))

    def add_rest(self, task: Task) -> None:
        """Adds the rest of a large set that was begun: it is next."""
        self._begun.append(task)

    def next(self) -> tuple[Task, int]:
        """A task for a worker that has none, and how many processes it has ended."""
        if self._begun:
            return self._begun.popleft(), 0
        if self._large:
            return self._large.pop(0), 0
        if self._small:
            return Task(self.portion(behind=0)[0]), 0
        return self._again.popleft()

    def portion(self, *, behind: int) -> tuple[tuple[Set, ...], int]:
        """Small sets for a task of so many bytes, and their size; none where it is to end.

        A worker's share shrinks with what is left: none has much to do when others have nothing.
        """
        sets: list[Set] = []
        size = 0
        share = max(_PORTION_BYTES, self._small_bytes // (2 * self._workers))
        if self._begun or self._large:
            share = 0
        while self._small and size < share and len(sets) < _PORTION_SETS and behind < TASK_BYTES:
            each, its_size = self._small.popleft()
            sets.append(each)
            size += its_size
            behind += its_size
        self._small_bytes -= size
        return tuple(sets), size

    def is_worth_a_worker(self, *, first: bool) -> bool:
        """True if another worker shortens the scan; the first one always does."""
        if first or self._begun or self._large or self._again:
            return bool(self)
        return self._small_bytes >= _WORTH_A_WORKER_BYTES
