"""A scan: captures found, planned, analysed, and committed to a store as they are done."""

import glob
import os
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING

from tcpstall.archive.captures import remote
from tcpstall.archive.captures.discovery import Fingerprints, find, find_by_folder
from tcpstall.archive.captures.input import Input
from tcpstall.archive.captures.listed_archives import Walked, healed, recorded
from tcpstall.archive.captures.watch import complete
from tcpstall.archive.maintenance.rescan import Again
from tcpstall.archive.maintenance.upkeep import MEMORY_BYTES, committed, compacted, known_captures
from tcpstall.archive.planning.plan import Plan, Task, current, planned
from tcpstall.archive.planning.repeat import Wanted, never
from tcpstall.archive.planning.to_do import worth
from tcpstall.archive.scanning import local
from tcpstall.archive.scanning.interpreters import Interpreters
from tcpstall.archive.scanning.known import Known, known
from tcpstall.archive.scanning.progress import Nobody, Progress, Summary
from tcpstall.archive.scanning.task import Done, Options
from tcpstall.archive.storing.duck import connected
from tcpstall.archive.storing.store import Commit, Store, Stream
from tcpstall.archive.storing.streams import Streams
from tcpstall.errors import CannotOpen, ExitCode

if TYPE_CHECKING:
    from tcpstall.model import Path, Paths

__all__ = ["Executor", "scan"]

_NICE = 10

_GONE = "gone"
"""The scan of rows that replace others and count no more themselves: it is dropped at once."""


_AT_ONCE = 100
"""Captures that are planned together where nothing is known: workers scan them in the time in which the next ones are
planned."""


Executor = Callable[[Iterable[Task], str, Options, Callable[[Done], None], Callable[[int], None]], None]
"""`run(tasks, store, options, done, told)`: local processes, or a cluster. Tasks may be planned as they are taken."""


def scan(
    captures: "Paths",
    store: "Path",
    *,
    options: Options = Options(),  # noqa: B008 - it is frozen
    jobs: int | None = None,
    low_priority: bool = False,
    separate: bool = False,
    only_complete: bool = False,
    wanted: Wanted = never,
    executor: Executor | None = None,
    interpreters: Interpreters | None = None,
    progress: Progress | None = None,
) -> Summary:
    """Scans what is new or changed under files, folders or URLs into the store; what was done before is not done again.

    `jobs` is how many processes analyse (None: one a processor), `separate` takes each file for itself instead of with
    those that its name says it was rotated with; `only_complete` leaves out what somebody is still writing. What is
    `wanted` is read again with its whole set, and its rows are replaced if all of it can be read. Without an `executor`
    workers take `interpreters` that are started already; the others are ended with the scan. Raises CannotOpen (a root
    or the store), StoreInUse, and CannotWrite; what was committed before stays, and another scan goes on there.
    """
    interpreters = interpreters or Interpreters()
    several: Sequence[Path] = [captures] if isinstance(captures, (str, os.PathLike)) else captures
    url = os.fspath(store)
    workers = jobs or local.processors()

    def expected(files: int, size: int) -> None:
        if executor is None:
            interpreters.prepare(worth(workers, files, size))

    with closing(interpreters), Store.writing(url) as opened:
        scanning = _Scan([os.fspath(each) for each in several], url, opened, options, progress or Nobody())
        plans = scanning.plans(expected, separate=separate, only_complete=only_complete, wanted=wanted)
        execute = executor or partial(
            local.run,
            jobs=workers,
            niceness=_NICE if low_priority else 0,
            interpreters=interpreters,
            meanwhile=partial(connected, opened.place, MEMORY_BYTES),
        )
        return scanning.run(plans, execute)


class _Scan:
    def __init__(self, roots: Sequence[str], url: str, store: Store, options: Options, progress: Progress) -> None:
        self._roots = roots
        self._url = url
        self._store = store
        self._options = options
        self._progress = progress
        self._summary = Summary()
        self._walked: list[Walked] = []
        self._again: Again | None = None
        self._streams = Streams(store.place)

    def plans(
        self, expected: Callable[[int, int], None], *, separate: bool, only_complete: bool, wanted: Wanted
    ) -> Iterator[Plan]:
        """One plan; where the store knows nothing several, folders by folders: what is found first is scanned first.

        `expected(files, bytes)` is called in that case, before the first plan.
        """
        if self._store.dropped or self._store.continued:
            # A scan that was killed has left them: what is scanned now may have the same name as what was dropped then.
            compacted(self._store)
        with known(self._store, wanted) as before:
            plan = None if before.is_nothing else self._planned(before, separate, only_complete, wanted)
        if plan is not None:
            yield plan
            return
        owners: dict[str, str] = {}
        for some, more in find_by_folder(self._roots, _AT_ONCE, walked=self._walked, told=expected):
            yield replace(self._planned_new(some, owners, separate, only_complete), more=more)

    def _planned(self, before: Known, separate: bool, only_complete: bool, wanted: Wanted) -> Plan:
        inputs = list(find(self._roots, remembered=before, settled=before.settled, walked=self._walked))
        if only_complete:
            inputs = complete(inputs)
        self._again = Again(self._store, before.rows, inputs)
        with Fingerprints([(one.name, one.size) for one in inputs]) as fingerprint:
            plan = planned(
                inputs,
                self._again.known,
                fingerprint,
                separate=separate,
                wanted=wanted,
                stream=self._left_open,
                near=before.near,
            )
        return replace(plan, known=plan.known + before.settled.count)

    def _planned_new(self, inputs: list[Input], owners: dict[str, str], separate: bool, only_complete: bool) -> Plan:
        if only_complete:
            inputs = complete(inputs)
        with Fingerprints([(one.name, one.size) for one in inputs]) as fingerprint:
            return planned(inputs, (), fingerprint, separate=separate, owners=owners)

    def _left_open(self, scan: str) -> Stream | None:
        """Stream that the scan left open, if another scan can read on from it."""
        stream = self._store.stream(scan)
        return stream if stream and self._streams.read(stream) is not None else None

    def run(self, plans: Iterator[Plan], execute: Executor) -> Summary:
        began = time.monotonic()
        self._progress.begun()
        tasks = self._tasks(plans)
        if first := next(tasks, None):
            execute(chain([first], tasks), self._url, self._options, self._done, self._progress.read)
        self._record_archives()
        if self._store.changed or self._store.outdated():
            compacted(self._store)
        self._summary.seconds = time.monotonic() - began
        self._progress.finished(self._summary)
        return self._summary

    def _tasks(self, plans: Iterator[Plan]) -> Iterator[Task]:
        """Tasks as they are planned. Sets that need no scan are committed before."""
        captures = size = 0
        for plan in plans:
            self._summary.known += plan.known
            self._summary.kept += plan.kept
            captures += sum(map(_new, plan.tasks))
            size += sum(task.size for task in plan.tasks)
            if not plan.more:
                self._progress.planned(captures, size, self._summary.known)
            self._commit_known(plan)
            yield from plan.tasks

    def _commit_known(self, plan: Plan) -> None:
        now = time.time_ns()
        if plan.touched:
            self._store.commit(Commit(captures=[{**row, "scanned_ns": now} for row in plan.touched]))
        if plan.captures:
            rows = [{"scan": None, **row, "scanned_ns": now} for row in plan.captures]
            self._done(Done(Commit(captures=rows), 0, 0, 0, sum(row["exit_code"] != ExitCode.COMPLETE for row in rows)))
        if plan.skipped:
            self._done(Done(Commit(), 0, 0, 0, 0, skipped=plan.skipped))

    def _done(self, news: Done) -> None:
        if news.skipped:
            self._all_there()
        if news.commit != Commit():
            commit = news.commit
            if not all("sensor" in row for row in commit.captures):
                # A row that is known, of a capture that was moved, keeps its label.
                labelled = [{"sensor": self._options.sensor, **row} for row in commit.captures]
                commit = replace(commit, captures=labelled)
            committed(self._store, commit if self._again is None else self._again.commit(commit))
        self._summary.add(news)
        self._progress.done(news)

    def _record_archives(self) -> None:
        """Last of all: until then an archive counts as not read."""
        if not self._walked:
            return
        rows = current(known_captures(self._store), self._store.dropped)
        gone = [{**row, "scan": _GONE, "fingerprint": row["name"]} for row in healed(self._walked, rows)]
        archives = recorded(self._walked, rows)
        if archives or gone:
            now = time.time_ns()
            captures = [{**row, "scanned_ns": now} for row in gone]
            self._store.commit(Commit(captures=captures, dropped=[_GONE] if gone else [], archives=archives))

    def _all_there(self) -> None:
        """A share that vanished is not so many files that cannot be opened."""
        for root in self._roots:
            if not _exists(root):
                raise CannotOpen(
                    f"{root} has vanished; what was scanned before is in the store: scan again when it is back"
                )


def _new(task: Task) -> int:
    return sum(not member.known for each in task.sets for member in each.members)


def _exists(root: str) -> bool:
    """True if the root is still there; a glob's files may be gone one by one."""
    if remote.is_url(root):
        filesystem, path = remote.filesystem(root)
        with remote.told(root):
            return bool(filesystem.exists(path)) or glob.has_magic(root)
    return os.path.lexists(remote.local(root)) or glob.has_magic(root)
