"""A scan's tasks done in this process one after the other, which costs no start of a worker."""

from collections import deque
from collections.abc import Callable, Iterable

from tcpstall.archive.planning.plan import Task
from tcpstall.archive.scanning.task import Done, Options, scan_task

__all__ = ["here"]


def here(
    tasks: Iterable[Task], url: str, options: Options, done: Callable[[Done], None], told: Callable[[int], None]
) -> None:
    """An executor for `scan`."""
    to_do = deque(tasks)
    while to_do:
        news = scan_task(to_do.popleft(), url, options, told)
        done(news)
        if news.rest is not None:
            to_do.appendleft(news.rest)
