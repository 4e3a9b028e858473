"""What is to be done: found captures as sets, less what the store has already."""

import hashlib
import json
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from tcpstall import _core
from tcpstall.archive.found import Input
from tcpstall.archive.rotation import grouped
from tcpstall.archive.store import SCHEMA
from tcpstall.errors import CannotOpen, ExitCode

__all__ = ["Member", "Plan", "Set", "Task", "current", "planned"]

_TASK_BYTES = 64_000_000
"""Small sets are scanned together up to this: a part of Parquet and a commit, both flushed to disk, should cost less
than what they hold."""

Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Member:
    """A file of a set. One that is `known` is read again only for the connections that went on in the next files."""

    input: Input
    fingerprint: str
    missing_before: bool = False
    known: bool = False


@dataclass(frozen=True, slots=True)
class Set:
    """Files to be analysed as one stream, in the order of their first packets.

    `chain` is the first scan of this set, `continues` the one that this scan carries on; `packets_before` counts what
    is not read again then, and `drops` are scans that it replaces.
    """

    scan: str
    chain: str
    name: str
    members: tuple[Member, ...]
    continues: str | None = None
    drops: tuple[str, ...] = ()
    packets_before: int = 0

    @property
    def size(self) -> int:
        """Bytes to be read."""
        return sum(member.input.size for member in self.members)


@dataclass(frozen=True, slots=True)
class Task:
    """Sets that one worker scans and one commit takes in."""

    sets: tuple[Set, ...]

    @property
    def size(self) -> int:
        """Bytes to be read."""
        return sum(each.size for each in self.sets)


@dataclass(frozen=True, slots=True)
class Plan:
    """`tasks`, the largest first; `captures`, rows that need no scan: unreadable, moved, or a copy of another."""

    tasks: tuple[Task, ...]
    captures: tuple[Row, ...]
    known: int
    """How many captures are in the store already."""


def current(rows: Iterable[Row], dropped: frozenset[str]) -> list[Row]:
    """Of the rows of captures those that count: of each content in each scan the latest, of others by name."""
    latest: dict[tuple[str | None, str], Row] = {}
    for row in sorted(rows, key=lambda row: row["scanned_ns"]):
        latest.pop((None, row["name"]), None)
        if row["scan"] is None:
            latest[None, row["name"]] = row
        elif row["scan"] not in dropped:
            latest[row["scan"], row["fingerprint"]] = row
    scanned = {row["fingerprint"]: row for row in latest.values() if row["scan"] is not None}
    return [_as_its_original(row, scanned) if row["scan"] is None else row for row in latest.values()]


def _as_its_original(row: Row, scanned: Mapping[str, Row]) -> Row:
    """A copy of a broken file is broken too."""
    original = scanned.get(row["fingerprint"])
    return row if original is None else {**row, "exit_code": original["exit_code"], "error": original["error"]}


def planned(
    inputs: Sequence[Input], known: Sequence[Row], fingerprint: Callable[[str, int], str], *, separate: bool = False
) -> Plan:
    """`known` are the rows of the store that count; `fingerprint(name, size)` is asked where name, size or time is new.

    `separate` takes each file for itself, whatever its name says.
    """
    return _Planning(inputs, known, fingerprint).plan(separate)


class _Planning:
    def __init__(self, inputs: Sequence[Input], known: Sequence[Row], fingerprint: Callable[[str, int], str]) -> None:
        self._inputs = inputs
        self._fingerprint = fingerprint
        self._by_identity = {_identity(row["name"], row["size_bytes"], row["changed_ns"]): row for row in known}
        self._by_content: dict[str, Row] = {}
        self._by_name: dict[str, list[Row]] = defaultdict(list)
        self._by_chain: dict[str, list[Row]] = defaultdict(list)
        for row in known:
            self._by_name[row["name"]].append(row)
            if row["scan"] is not None:
                self._by_content[row["fingerprint"]] = row
                self._by_chain[row["chain"]].append(row)
        self._contents: dict[str, str] = {}
        self._owners: dict[str, str] = {}
        self._captures: list[Row] = []
        self._known = 0

    def plan(self, separate: bool) -> Plan:
        for each in filter(self._is_readable, self._inputs):
            self._look_into(each)
        readable = [each for each in self._inputs if each.name in self._contents]
        names = [each.name for each in readable]
        groups = [(name, (index,), frozenset()) for index, name in enumerate(names)] if separate else [
            (group.pattern, group.members, group.missing_before) for group in grouped(names)
        ]  # fmt: skip
        sets = []
        for name, indexes, missing in groups:
            members = [
                member
                for index in indexes
                if (member := self._member(readable[index], missing_before=index in missing)) is not None
            ]
            planned_set = self._set(name, members)
            if planned_set is not None:
                sets.append(planned_set)
        return Plan(tuple(_tasks(sets)), tuple(self._captures), self._known)

    def _is_readable(self, found: Input) -> bool:
        """What cannot be read has a row and is looked at each time; what was too much for this version is not."""
        before = self._by_identity.get(_identity(found.name, found.size, found.changed_ns))
        if before is not None and before["scan"] is None:
            too_much = before["exit_code"] == ExitCode.DEFECT and before["tcpstall"] == _core.version()
            if too_much or (found.exit_code and before["exit_code"] == found.exit_code):
                self._known += 1
                return False
        if found.exit_code:
            self._captures.append(_row(found, None))
        return not found.exit_code

    def _look_into(self, found: Input) -> None:
        before = self._by_identity.get(_identity(found.name, found.size, found.changed_ns))
        if before is not None and before["fingerprint"] is not None:
            self._contents[found.name] = before["fingerprint"]
            return
        try:
            self._contents[found.name] = self._fingerprint(found.name, found.size)
        except CannotOpen as error:
            self._captures.append({**_row(found, None), "exit_code": int(error.exit_code), "error": str(error)})

    def _member(self, found: Input, *, missing_before: bool) -> Member | None:
        """Nothing for a copy of another file, which has a row that says so."""
        content = self._contents[found.name]
        known = self._by_content.get(content)
        if content not in self._owners:
            stays = known is not None and self._contents.get(known["name"]) == content
            self._owners[content] = known["name"] if known is not None and stays else found.name
        owner = self._owners[content]
        if owner != found.name:
            if _identity(found.name, found.size, found.changed_ns) not in self._by_identity:
                self._captures.append(_row(found, content, f"the same bytes as {owner}, which is analysed"))
            self._known += 1
            return None
        if known is not None and known["name"] != found.name:
            # It was moved: the row that names it is written anew.
            self._captures.append({**known, "name": found.name, "changed_ns": found.changed_ns})
        return Member(found, content, missing_before)

    def _set(self, name: str, members: list[Member]) -> Set | None:
        members.sort(key=lambda member: (member.input.first_ns is None, member.input.first_ns or 0))
        new = [member for member in members if member.fingerprint not in self._by_content]
        self._known += len(members) - len(new)
        if not new:
            return None
        chains = {self._by_content[each.fingerprint]["chain"] for each in members if each not in new}
        here = set(self._contents.values())
        overwritten = [
            row
            for member in new
            for row in self._by_name[member.input.name]
            if row["fingerprint"] not in here and _is_replaced(row, member)
        ]
        chains.update(row["chain"] for row in overwritten)
        rows = [row for chain in chains for row in self._by_chain[chain]]
        if len(chains) == 1 and not overwritten and all(_follows(member, rows) for member in new):
            return self._continued(name, members, new, rows)
        scan = _digest(member.fingerprint for member in members)
        return Set(scan, scan, name, tuple(members), drops=tuple({row["scan"] for row in rows}))

    def _continued(self, name: str, members: list[Member], new: list[Member], rows: list[Row]) -> Set:
        """Reads on behind the newest scan of the chain, from the file in which the oldest open connection began."""
        newest = max(rows, key=lambda row: (row["last_ns"] or 0, row["scanned_ns"]))
        resume_ns = newest["resume_ns"]
        again = []
        for member in members:
            row = self._by_content.get(member.fingerprint)
            if row is not None and resume_ns is not None and (row["last_ns"] or 0) >= resume_ns:
                again.append(replace(member, known=True))
        scan = _digest([newest["scan"], *(member.fingerprint for member in new)])
        read = {member.fingerprint for member in again}
        before = sum(row["packets"] for row in rows if row["fingerprint"] not in read)
        return Set(scan, newest["chain"], name, (*again, *new), continues=newest["scan"], packets_before=before)


def _is_replaced(row: Row, member: Member) -> bool:
    """The file of that name has other content now. A ring's slot that is used again, later, replaces nothing."""
    if row["scan"] is None:
        return False
    first_ns, last_ns = member.input.first_ns, row["last_ns"]
    return first_ns is None or last_ns is None or first_ns <= last_ns


def _follows(member: Member, rows: list[Row]) -> bool:
    """The file begins where all of those end."""
    first_ns = member.input.first_ns
    return first_ns is not None and all(row["last_ns"] is None or row["last_ns"] <= first_ns for row in rows)


def _tasks(sets: list[Set]) -> Iterator[Task]:
    """Large sets alone and first, small ones together, neighbours with neighbours."""
    large = [each for each in sets if each.size >= _TASK_BYTES]
    for each in sorted(large, key=lambda each: -each.size):
        yield Task((each,))
    together: list[Set] = []
    size = 0
    for each in sets:
        if each.size >= _TASK_BYTES:
            continue
        together.append(each)
        size += each.size
        if size >= _TASK_BYTES:
            yield Task(tuple(together))
            together, size = [], 0
    if together:
        yield Task(tuple(together))


def _identity(name: str, size: int, changed_ns: int | None) -> tuple[str, int, int | None]:
    return name, size, changed_ns


def _digest(contents: Iterable[str]) -> str:
    """A scan's id: what was read, in which order, under which layout of the store."""
    return hashlib.blake2b("\n".join((SCHEMA, *contents)).encode(), digest_size=8).hexdigest()


def _row(found: Input, content: str | None, copy: str | None = None) -> Row:
    """The row of a capture that is in no scan."""
    return {
        "name": found.name,
        "size_bytes": found.size,
        "changed_ns": found.changed_ns,
        "fingerprint": content,
        "format": found.format,
        "compression": found.compression,
        "first_ns": found.first_ns,
        "exit_code": found.exit_code,
        "error": found.error,
        "warnings": None if copy is None else json.dumps([{"code": "copy", "count": 1, "message": copy}]),
        "tcpstall": _core.version(),
    }
