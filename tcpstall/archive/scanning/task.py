"""One task of a scan: its sets analysed, their rows written as parts."""

import json
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any

from tcpstall import _core
from tcpstall.archive.captures import remote
from tcpstall.archive.captures.fingerprints import is_unchanged
from tcpstall.archive.captures.open_members import opened, opener, split
from tcpstall.archive.planning.chains import KNOWN_PACKETS
from tcpstall.archive.planning.sets import Member, Set, Skipped, Task, behind, stage, without
from tcpstall.archive.storing.parquet import Parts
from tcpstall.archive.storing.storage import at
from tcpstall.archive.storing.store import Commit
from tcpstall.archive.storing.streams import Streams, kept
from tcpstall.errors import ExitCode, TcpstallError, about
from tcpstall.labels import read_label

__all__ = ["CannotWork", "Done", "Options", "given_up", "passed_over", "scan_task"]

_CHUNK = 2_000
"""Rows handed over at once: a flow takes about 10 kB until then, and more flows do not stay in a processor's cache."""

Row = dict[str, Any]

_DAMAGED = ("truncated-file", "damaged-file")

NOT_CONTINUED = "not-continued"
_NOT_CONTINUED = (
    "files before it are gone: connections that were open there keep the rows they have, and what they did since has "
    "rows of its own; keep more files, or scan before they are overwritten (--watch), to have such connections as one"
)

_IN_NO_SCAN: Row = {"scan": None, "chain": None, "fingerprint": None}
"""Columns in the row of a capture whose content cannot be read: the capture is tried again."""


class CannotWork(TcpstallError):
    """This machine lacks what an analysis needs: memory, a library, a permission. No capture is to blame."""


@dataclass(frozen=True, slots=True)
class Options:
    """Settings for reading captures, the memory that a worker may use beside the engine's own, and the rows' sensor."""

    link_bytes_per_s: int | None = None
    max_expansion: int | None = None
    memory_bytes: int = 100_000_000
    sensor: str | None = None


@dataclass(frozen=True, slots=True)
class Done:
    """Outcome of a task: its commit, and sums for whoever waits."""

    commit: Commit
    size: int
    packets: int
    flows: int
    failed: int
    """Captures that could not be read, or not to their end."""
    cut: int = 0
    """Captures that were not joined to older ones, of which files are gone."""
    rest: Task | None = None
    """Task to scan behind this one, once this one is committed."""
    skipped: tuple[Skipped, ...] = ()
    """Captures that could not be got at, of which the commit says nothing."""


def scan_task(
    task: Task,
    url: str,
    options: Options,
    told: Callable[[int], None],
    further: Iterable[Set] = (),
    captured: Callable[[Sequence[Mapping[str, Any]]], None] | None = None,
) -> Done:
    """Scans the sets of a task and writes their parts into the store at `url`; nothing counts until it is committed.

    Of a large set it scans the first files only: Done.rest are the others. `further` sets are planned meanwhile.
    `told(bytes)` is called now and then with what was read since; what it raises ends the scan. `captured(rows)` is
    called with rows of captures as there are some, and Done has the rest of them. Raises CannotWrite and CannotWork.
    """
    captures: list[Mapping[str, Any]] = []
    handed_over = 0
    dropped: list[str] = []
    continued: list[str] = []
    skipped: list[Skipped] = []
    streams: dict[str, bytes] = {}
    place = at(url)
    begun, rest = stage(task.sets[0])
    sets: list[Set] = []
    with _blaming_this_machine(begun):
        parts = Parts(place, options.memory_bytes, sensor=options.sensor)
    for each in chain((begun, *task.sets[1:]), further):
        sets.append(each)
        try:
            with _blaming_this_machine(each):
                taken, passed = _taken(each, parts, options, told, streams)
        except TcpstallError:
            raise
        except Exception as error:
            reason = f"defect in tcpstall: {type(error).__name__}: {error}; please report it"
            captures.extend({**row, "sensor": options.sensor} for row in _failed(each, reason))
            dropped.append(each.scan)
        else:
            captures.extend(taken.captures)
            dropped.extend(taken.dropped)
            continued.extend(taken.continued)
            skipped.extend(passed)
        if captured is not None:
            captured(captures[handed_over:])
            handed_over = len(captures)
    with _blaming_this_machine(sets[-1]):
        left_open = kept(place, {scan: stream for scan, stream in streams.items() if scan not in dropped})
        done = _done(Task(tuple(sets)), Commit(parts.finish(), captures, dropped, continued, streams=left_open))
    done = replace(done, commit=replace(done.commit, captures=captures[handed_over:]), skipped=tuple(skipped))
    if not rest:
        return done
    read = {row["fingerprint"] for row in captures if row["scan"] is not None}
    unread = begun.members[-1].fingerprint not in read
    return replace(done, rest=Task((behind(begun, rest, left_open[0] if left_open else None, unread=unread),)))


@contextmanager
def _blaming_this_machine(each: Set) -> Iterator[None]:
    """Raises CannotWork for want of memory, a library, a permission or room for DuckDB: no capture is to blame."""
    try:
        yield
    except TcpstallError:
        raise
    except Exception as error:
        if not _is_this_machines(error):
            raise
        said = next(iter(str(error).splitlines()), "") or "no memory"
        what = f"{each.name} cannot be analysed here: {type(error).__name__}: {said}"
        raise CannotWork(f"{what}; mend that, then scan again") from error


def _is_this_machines(error: Exception) -> bool:
    if isinstance(error, (MemoryError, ImportError, OSError)):
        return True
    duckdb = sys.modules.get("duckdb")  # a worker that writes nothing has not loaded it
    return duckdb is not None and isinstance(error, (duckdb.OperationalError, duckdb.FatalException))


def given_up(task: Task, reason: str) -> Done:
    """Rows that say why a task was given up."""
    return _done(task, Commit(captures=[row for each in task.sets for row in _failed(each, reason)]))


def passed_over(task: Task, reason: str) -> Done:
    """No rows: the machine is to blame, and the next scan tries the captures again."""
    new = [member.input.name for each in task.sets for member in each.members if not member.known]
    return Done(Commit(), task.size, 0, 0, 0, skipped=tuple(Skipped(name, f"{name}: {reason}") for name in new))


def _done(task: Task, commit: Commit) -> Done:
    rows = commit.captures
    return Done(
        commit,
        task.size,
        sum(row["packets"] for row in rows),
        sum(row["flows"] for row in rows),
        sum(row["exit_code"] != ExitCode.COMPLETE for row in rows),
        sum(NOT_CONTINUED in (row.get("warnings") or "") for row in rows),
    )


def _taken(
    each: Set, parts: Parts, options: Options, told: Callable[[int], None], streams: dict[str, bytes]
) -> tuple[Commit, Sequence[Skipped]]:
    """Commit of a set, and its skipped captures. Rows replace others only if all files of those were read again.

    A capture that cannot be read to its end this time is left out, and the set is read without it: the capture is
    tried again, and packets read of it now must not count twice. State open in the end goes into `streams`, by scan.
    """
    scan = _Scan(each, parts, options, told)
    rows = scan.run()
    if scan.left_open:
        streams[each.scan] = scan.left_open
    unread = [member for member in each.members if not member.known and member not in scan.read]
    lost = next((member for member in each.members if member.held and member not in scan.read), None)
    if lost is not None:
        why = scan.skipped.get(lost) or f"{lost.input.name} has changed or gone meanwhile; scan again"
        new = [member for member in each.members if not member.known]
        return Commit(dropped=[each.scan]), [Skipped(one.input.name, about(one.input.name, why)) for one in new]
    skipped = [Skipped(member.input.name, why) for member, why in scan.skipped.items() if not member.known]
    counting = [row for row in rows if row["scan"] is not None]
    if not any(scan.packets[member] for member in unread) and (counting or not each.continues):
        commit = Commit(captures=rows, dropped=each.drops, continued=[each.continues] if each.continues else [])
        return commit, skipped
    others = [row for row in rows if row["scan"] is None]
    if not counting:
        return Commit(captures=others, dropped=[each.scan]), skipped
    rest, more = _taken(without(each, unread), parts, options, told, streams)
    return replace(rest, captures=[*others, *rest.captures], dropped=[each.scan, *rest.dropped]), [*skipped, *more]


class _Scan:
    """One set's way into the parts."""

    def __init__(self, each: Set, parts: Parts, options: Options, told: Callable[[int], None]) -> None:
        self._set = each
        self._parts = parts
        self._options = options
        self._told = told
        self._stream, self._before = _left_open(each, parts)
        """Captures that are not read again; connections began in them that may go on."""
        self._names = [*self._before, *(member.input.name for member in each.members)]
        self._flows: Counter[int] = Counter()
        self._resume_ns: int | None = None
        self._progressed = 0
        self._all_told = 0
        self.read: set[Member] = set()
        """Members that were read as they were planned to be."""
        self.left_open: bytes | None = None
        """State of the connections open in the end, for the scan that reads on."""
        self.skipped: dict[Member, str] = {}
        """Members that could not be got at, and why."""
        self.packets: dict[Member, int] = {}
        """Packets read of each member, beyond those that are known."""

    def run(self) -> list[Row]:
        """The rows of its captures, but for those that are skipped."""
        members = self._set.members
        first = len(self._before)
        report = _core.analyze(
            self._names,
            sets=[0] * len(self._names),
            missing_before=[index for index, member in enumerate(members, first) if member.missing_before],
            new_from=next(index for index, member in enumerate(members, first) if not member.known),
            packets_before=self._set.packets_before,
            known_packets=members[0].beyond.packets,
            stream=self._stream,
            puts_down=self._set.may_grow,
            threads=1,
            open=opened,
            bursts=False,
            link_bytes_per_s=self._options.link_bytes_per_s,
            max_expansion=self._options.max_expansion,
            label=read_label,
            progress=self._progress,
            each=self._keep,
            chunk=_CHUNK,
        )
        self._tell(self._set.size - self._all_told)
        self.left_open = report.stream
        rows = [self._row(index, status) for index, status in enumerate(report.captures[first:])]
        new = [row for row, member in zip(rows, members, strict=True) if not member.known]
        return [row for row in new if row is not None]

    def _keep(self, report: _core.Report) -> None:
        self._parts.add(report, self._set.scan, self._names)
        self._flows.update(report.flows_begun)
        open_since = (self._resume_ns, report.open_since_ns)
        self._resume_ns = min((start_ns for start_ns in open_since if start_ns is not None), default=None)

    def _progress(self, read: int, _whole: int | None) -> None:
        """The core counts each input from its beginning, and does not tell of each: the rest is told in the end."""
        self._tell(read - self._progressed if read >= self._progressed else read)
        self._progressed = read

    def _tell(self, read: int) -> None:
        if read > 0:
            self._all_told += read
        self._told(max(read, 0))

    def _row(self, index: int, status: _core.CaptureStatus) -> Row | None:
        """None for what is skipped: the system kept it from being read, or another process changed it."""
        found = json.loads(status.json)
        member = self._set.members[index]
        name = member.input.name
        self.packets[member] = max(0, found["packets"] - member.beyond.packets)
        was_read = _was_read(status.exit_code, found)
        if not was_read and not _is_damaged_within(name):
            self.skipped[member] = about(name, status.error or "cannot be read")
            return None
        if was_read and not _is_as_planned(member, found):
            self.skipped[member] = f"{name}: it was changed while it was read; scan again"
            return None
        if was_read:
            self.read.add(member)
        return (
            _captured(self._set, index)
            | {
                "format": found["format"],
                "compression": found.get("compression"),
                "link_types": ",".join(found["link_types"]),
                "packets": self.packets[member],
                "tcp_segments": max(0, found["tcp_segments"] - member.beyond.tcp_segments),
                "first_ns": found["first_ns"],
                "last_ns": found["last_ns"],
                "exit_code": status.exit_code,
                "error": status.error,
                "warnings": json.dumps([*found["warnings"], *_further_warnings(self._set, index)]),
                "flows": self._flows[len(self._before) + index],
                "resume_ns": self._resume_ns,
                "sensor": self._options.sensor,
            }
            | ({} if was_read else _IN_NO_SCAN)
        )


def _left_open(each: Set, parts: Parts) -> tuple[bytes | None, list[str]]:
    """Stream that this scan carries on, and its captures. Raises CannotWork where it is gone since it was planned."""
    if each.stream is None:
        return None, []
    stream = Streams(parts.place).read(each.stream)
    if stream is None:
        raise CannotWork(f"{each.name} cannot be continued: {each.stream.name} in the store has changed; scan again")
    return stream


def _is_as_planned(member: Member, about: Mapping[str, Any]) -> bool:
    """Not if another file has its name now: what was read is not what its fingerprint says."""
    found = member.input
    if about["packets"] < member.beyond.packets:
        return False
    if remote.is_url(found.name) and not member.held:  # it would be asked for once more
        return True
    return is_unchanged(found.name, found.size, found.changed_ns, member.fingerprint)


def _is_damaged_within(name: str) -> bool:
    """True if a member of an archive was not read although the archive's own file could be read."""
    archive, member = split(name)
    return member is not None and not opener().failed(archive)


def _further_warnings(each: Set, index: int) -> list[Row]:
    """Warnings about a capture that the scan knows beside its content."""
    member = each.members[index]
    warnings: list[Row] = []
    if each.cut and index == 0:
        warnings.append({"code": NOT_CONTINUED, "count": 1, "message": _NOT_CONTINUED})
    if member.beyond.packets:
        message = f"its first {member.beyond.packets:,} packets were scanned before it grew, and count there"
        known = {"count": member.beyond.packets, "tcp_segments": member.beyond.tcp_segments}
        warnings.append({"code": KNOWN_PACKETS, **known, "message": message})
    return warnings


def _was_read(exit_code: int, about: Mapping[str, Any]) -> bool:
    """As far as it ever will be: not if it could not be opened, or if reading failed, or if it changed meanwhile."""
    damaged = any(warning["code"] in _DAMAGED for warning in about["warnings"])
    return exit_code in (ExitCode.COMPLETE, ExitCode.NOT_A_CAPTURE) or (exit_code == ExitCode.DAMAGED and damaged)


def _captured(each: Set, index: int) -> Row:
    member = each.members[index]
    return {
        "scan": each.scan,
        "chain": each.chain,
        "capture_set": each.name,
        "name": member.input.name,
        "size_bytes": member.input.size,
        "changed_ns": member.input.changed_ns,
        "fingerprint": member.fingerprint,
        "tcpstall": _core.version(),
        "scanned_ns": time.time_ns(),
    }


def _failed(each: Set, reason: str) -> list[Row]:
    """Rows of a set that could not be analysed, in no scan: tried again once it has changed, or tcpstall has."""
    rest = {"scan": None, "chain": None, "flows": 0, "packets": 0, "exit_code": int(ExitCode.DEFECT), "error": reason}
    return [_captured(each, index) | rest for index, member in enumerate(each.members) if not member.known]
