"""Progress of a scan on the terminal, in metrics and in a log; and rounds of scans."""

import random
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Protocol, Self, TextIO

from tcpstall.archive.planning.sets import Skipped
from tcpstall.archive.scanning import progress as following
from tcpstall.archive.scanning.progress import Nobody, Several, Summary
from tcpstall.archive.scanning.task import Done
from tcpstall.cli.process.exits import complain, writing
from tcpstall.cli.process.progress import drawn
from tcpstall.cli.process.signals import until_terminated
from tcpstall.errors import CannotOpen, StoreInUse
from tcpstall.output import appended
from tcpstall.units import number

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

__all__ = ["Screen", "rounds", "waiting", "watchers"]

_STANDARD_OUTPUT = "-"

_LOOK_S = 1.0
"""Interval between checks of whether a store is free."""


@contextmanager
def watchers(store: str, metrics: Path | None, log: str | None) -> Iterator[following.Progress]:
    """All requested observers; the terminal always."""
    with ExitStack() as stack:
        several: list[following.Progress] = [stack.enter_context(Screen())]
        if metrics is not None or log is not None:
            from tcpstall.archive.scanning.metrics import Log, Metrics

        if metrics is not None:
            several.append(Metrics(metrics, store))
        if log is not None:
            several.append(Log(_appending(log, stack)))
        yield Several(several)


def _appending(log: str, stack: ExitStack) -> TextIO:
    if log == _STANDARD_OUTPUT:
        return sys.stdout
    with writing(log):
        return stack.enter_context(appended(Path(log)))


class _Round(Protocol):
    def __call__(self) -> Summary: ...


def waiting(one_round: _Round, store: str) -> Summary:
    """Runs one round once no other scan writes into the store; a line on standard error names that scan."""
    owner = ""
    while True:
        try:
            return one_round()
        except StoreInUse as error:
            if error.owner != owner:
                complain(f"waiting for {error.owner}, which is writing into {store}")
            owner = error.owner
        # Two who wait for a lease must not look for it at the same times: each would see the other's.
        time.sleep(random.uniform(_LOOK_S / 2, _LOOK_S))  # noqa: S311 - nobody gains by guessing it


def rounds(one_round: _Round, every_ns: int, say: Callable[[Summary], None]) -> None:
    """Runs rounds until SIGTERM. The next round tries a share that is away, or a store in use, again."""
    said = ""
    skipped: set[Skipped] = set()
    with until_terminated():
        while True:
            try:
                summary = one_round()
            except (CannotOpen, StoreInUse) as error:
                if str(error) != said:
                    complain(f"{error} (trying again)")
                said = str(error)
            else:
                said = ""
                if summary.captures or not skipped.issuperset(summary.skipped):
                    say(summary)
                skipped = set(summary.skipped)
            time.sleep(every_ns / 1e9)


class Screen(Nobody):
    """Draws on standard error where that is a terminal."""

    def __init__(self) -> None:
        self._progress: Progress | None = None
        self._task: TaskID | None = None
        self._captures = 0
        self._read = 0
        self._scanned = 0
        self._failed = 0

    def begun(self) -> None:
        """Counts from 0."""
        self._read = 0

    def planned(self, captures: int, size: int, known: int) -> None:
        """Sets the total."""
        self._captures = captures
        if sys.stderr.isatty() and captures:
            self._progress = drawn()
            self._task = self._progress.add_task(self._words(), total=size, completed=self._read)

    def read(self, size: int) -> None:
        """Draws the progress."""
        self._read += size
        if self._progress is not None and self._task is not None:
            self._progress.advance(self._task, size)

    def done(self, done: Done) -> None:
        """Counts captures."""
        self._scanned += len(done.commit.captures)
        self._failed += done.failed
        if self._progress is not None and self._task is not None:
            self._progress.update(self._task, description=self._words())

    def finished(self, summary: Summary) -> None:
        """Ends the bar."""
        self.__exit__(None, None, None)

    def _words(self) -> str:
        failed = f", {number(self._failed)} failed" if self._failed else ""
        return f"{number(self._scanned)} of {number(self._captures)} captures{failed}"

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        if self._progress is not None:
            self._progress.stop()
            self._progress = None
