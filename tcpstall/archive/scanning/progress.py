"""Events of a running scan, and its summary."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

from tcpstall.archive.planning.sets import Skipped
from tcpstall.archive.scanning.task import Done

__all__ = ["Nobody", "Progress", "Several", "Summary"]


@dataclass(slots=True)
class Summary:
    """Sums of a scan; `bytes` as stored, of what was scanned, `known` the captures that the store had already."""

    captures: int = 0
    known: int = 0
    failed: int = 0
    bytes: int = 0
    packets: int = 0
    flows: int = 0
    seconds: float = 0.0
    not_continued: int = 0
    """Captures that were not joined to older ones of their set, of which files are gone."""
    skipped: list[Skipped] = field(default_factory=list)
    """Captures that could not be got at, in no particular order: the next scan tries them again."""
    kept: int = 0
    """Captures that were to be read again and keep their rows, for other files of their sets are gone."""

    def add(self, done: Done) -> None:
        """Another task is done."""
        self.captures += len(done.commit.captures)
        self.failed += done.failed
        self.bytes += done.size
        self.packets += done.packets
        self.flows += done.flows
        self.not_continued += done.cut
        self.skipped.extend(done.skipped)


class Progress(Protocol):
    """Watcher of a scan."""

    def begun(self) -> None:
        """A round begins."""

    def planned(self, captures: int, size: int, known: int) -> None:
        """`captures` of `size` bytes are to be scanned in this round; `known` are in the store already.

        Once a round. Some may be done by then: the first ones are scanned while others are planned.
        """

    def read(self, size: int) -> None:
        """`size` more bytes were read."""

    def done(self, done: Done) -> None:
        """A task is done and committed."""

    def finished(self, summary: Summary) -> None:
        """All of them are."""


class Nobody:
    """Does not watch."""

    def begun(self) -> None:
        """Nothing."""

    def planned(self, captures: int, size: int, known: int) -> None:
        """Nothing."""

    def read(self, size: int) -> None:
        """Nothing."""

    def done(self, done: Done) -> None:
        """Nothing."""

    def finished(self, summary: Summary) -> None:
        """Nothing."""


class Several:
    """Tells each of several."""

    def __init__(self, watchers: Sequence[Progress]) -> None:
        self._watchers = watchers

    def begun(self) -> None:
        """See Progress."""
        for watcher in self._watchers:
            watcher.begun()

    def planned(self, captures: int, size: int, known: int) -> None:
        """See Progress."""
        for watcher in self._watchers:
            watcher.planned(captures, size, known)

    def read(self, size: int) -> None:
        """See Progress."""
        for watcher in self._watchers:
            watcher.read(size)

    def done(self, done: Done) -> None:
        """See Progress."""
        for watcher in self._watchers:
            watcher.done(done)

    def finished(self, summary: Summary) -> None:
        """See Progress."""
        for watcher in self._watchers:
            watcher.finished(summary)
