"""Plans a scan: found captures as sets, less those that the store has already."""

import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tcpstall import _core
from tcpstall.archive.captures.input import Input
from tcpstall.archive.captures.rotation import grouped
from tcpstall.archive.planning.chains import Chains
from tcpstall.archive.planning.repeat import Wanted, never
from tcpstall.archive.planning.sets import TASK_BYTES, Member, Set, Skipped, Task
from tcpstall.archive.storing.marks import is_withdrawn
from tcpstall.archive.storing.store import Stream
from tcpstall.errors import CannotOpen, ExitCode, about

__all__ = ["Member", "Plan", "Set", "Task", "as_originals", "current", "joined", "planned"]

_KEPT = (
    "it was changed, and other files of its set are gone: the rows of what it was stay as they are; "
    "scan it into another store to see what it is"
)

Row = Mapping[str, Any]

Near = Callable[[Collection[str], Collection[str]], tuple[Sequence[Row], Sequence[Input]]]
"""`near(names, contents)`: rows of the same folders and contents, and of their chains; which of the files are there."""


@dataclass(frozen=True, slots=True)
class Plan:
    """`tasks`, the largest first; `captures`, rows that need no scan: no captures, or a copy of another."""

    tasks: Sequence[Task]
    captures: tuple[Row, ...]
    known: int
    """Number of captures that are in the store already."""
    touched: tuple[Row, ...] = ()
    """Rows of those that have another name or time, and are the same otherwise."""
    skipped: tuple[Skipped, ...] = ()
    """Captures that could not be looked into."""
    kept: int = 0
    """Number of captures wanted again that keep their rows, because other files of their sets are gone."""
    more: bool = False
    """Further captures are planned behind these."""


def current(rows: Iterable[Row], dropped: frozenset[str]) -> list[Row]:
    """Of the rows of captures those that count: of each content in each scan the latest, of others by name."""
    latest: dict[tuple[str | None, str], Row] = {}
    for row in sorted(rows, key=lambda row: row["scanned_ns"]):
        if is_withdrawn(row):
            latest.pop((row["scan"], row["fingerprint"]), None)
            continue
        latest.pop((None, row["name"]), None)
        if row["scan"] is None:
            latest[None, row["name"]] = row
        elif row["scan"] not in dropped:
            latest[row["scan"], row["fingerprint"]] = row
    return as_originals(latest.values(), latest.values())


def as_originals(rows: Iterable[Row], known: Iterable[Row]) -> list[Row]:
    """Rows of captures, copies with the exit code and error of the `known` scanned row of their content.

    A copy of a broken file is broken too.
    """
    scanned = {row["fingerprint"]: row for row in known if row["scan"] is not None}
    return [_as_its_original(row, scanned) if row["scan"] is None else row for row in rows]


def _as_its_original(row: Row, scanned: Mapping[str, Row]) -> Row:
    original = scanned.get(row["fingerprint"])
    return row if original is None else {**row, "exit_code": original["exit_code"], "error": original["error"]}


def planned(
    inputs: Sequence[Input],
    known: Sequence[Row],
    fingerprint: Callable[[str, int], str],
    *,
    separate: bool = False,
    wanted: Wanted = never,
    stream: Callable[[str], Stream | None] = lambda _: None,
    near: Near = lambda *_: ((), ()),
    owners: dict[str, str] | None = None,
) -> Plan:
    """`known` are the rows of the store that count; `fingerprint(name, size)` is asked where name, size or time is new.

    `separate` takes each file for itself, whatever its name says. `wanted` are captures that are read again,
    `stream(scan)` is what a scan left open. `near` has the rows and files that are in neither `known` nor `inputs`.
    `owners` are the contents planned before, with the names that they are scanned by; those of these files are added.
    """
    return _Planning(inputs, known, fingerprint, wanted, stream, near, {} if owners is None else owners).plan(separate)


class _Planning:
    def __init__(
        self,
        inputs: Sequence[Input],
        known: Sequence[Row],
        fingerprint: Callable[[str, int], str],
        wanted: Wanted,
        stream: Callable[[str], Stream | None],
        near: Near,
        owners: dict[str, str],
    ) -> None:
        self._near = near
        self._inputs = inputs
        self._fingerprint = fingerprint
        self._wanted = wanted
        self._by_identity = _by_identity(known)
        self._contents: dict[str, str] = {}
        self._chains = Chains(known, self._contents, fingerprint, stream, wanted)
        self._owners = owners
        self._captures: list[Row] = []
        self._touched: list[Row] = []
        self._skipped: list[Skipped] = []
        self._known = 0

    def plan(self, separate: bool) -> Plan:
        for each in filter(self._is_readable, self._inputs):
            self._look_into(each)
        readable = self._unsettled()
        names = [each.name for each in readable]
        groups = [(name, (index,), frozenset()) for index, name in enumerate(names)] if separate else [
            (group.pattern, group.members, group.missing_before) for group in grouped(names)
        ]  # fmt: skip
        sets: list[Set] = []
        for name, indexes, missing in groups:
            members = [
                member
                for index in indexes
                if (member := self._member(readable[index], missing_before=index in missing)) is not None
            ]
            sets.extend(self._sets(name, members))
        rows = (tuple(self._captures), self._known, tuple(self._touched))
        return Plan(tuple(joined(sets)), *rows, tuple(self._skipped), self._chains.kept)

    def _unsettled(self) -> list[Input]:
        """Readable files of folders that have something new: rotated files lie in one folder."""
        readable = [each for each in self._inputs if each.name in self._contents]
        new = [each for each in readable if not self._is_settled(each)]
        if new:
            readable += self._beside(new)
        folders = {_folder(each.name) for each in new}
        found = [each for each in readable if _folder(each.name) in folders]
        self._known += len(readable) - len(found)
        return found

    def _beside(self, new: Sequence[Input]) -> Sequence[Input]:
        """Files that are as they were, in folders of new ones or with something of theirs."""
        rows, there = self._near([each.name for each in new], {self._contents[each.name] for each in new})
        self._by_identity.update(_by_identity(rows))
        self._chains.learn(rows)
        for each in there:
            self._look_into(each)
        return there

    def _is_settled(self, found: Input) -> bool:
        """It is as it was, and its rows, or those of the file whose copy it is, count."""
        if _identity(found.name, found.size, found.changed_ns) not in self._by_identity:
            return False
        content = self._contents[found.name]
        row = self._chains.scanned(content)
        return row is not None and self._contents.get(row["name"]) == content and not self._wanted(row)

    def _is_readable(self, found: Input) -> bool:
        """A file that is no capture has a row and is looked at each time; a file this version failed on is not."""
        if found.exit_code == ExitCode.CANNOT_OPEN:
            self._skipped.append(Skipped(found.name, about(found.name, found.error or "cannot be opened")))
            return False
        before = self._by_identity.get(_identity(found.name, found.size, found.changed_ns))
        if before is not None and before["scan"] is None:
            too_much = before["exit_code"] == ExitCode.DEFECT and before["tcpstall"] == _core.version()
            if (too_much and not self._wanted(before)) or (found.exit_code and before["exit_code"] == found.exit_code):
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
            self._skipped.append(Skipped(found.name, about(found.name, str(error))))

    def _member(self, found: Input, *, missing_before: bool) -> Member | None:
        """Nothing for a copy of another file, which has a row that says so."""
        content = self._contents[found.name]
        known = self._chains.scanned(content)
        if content not in self._owners:
            stays = known is not None and self._contents.get(known["name"]) == content
            self._owners[content] = known["name"] if known is not None and stays else found.name
        owner = self._owners[content]
        if owner != found.name:
            self._note(found, content, "copy", f"the same bytes as {owner}, which is analysed")
            self._known += 1
            return None
        if known is not None and known["name"] != found.name:
            # It was moved, or is scanned by another name: the row that names it is written anew.
            self._touched.append({**known, "name": found.name, "changed_ns": found.changed_ns})
        elif known is not None and known["changed_ns"] != found.changed_ns:
            self._touched.append({**known, "changed_ns": found.changed_ns})
        return Member(found, content, missing_before)

    def _sets(self, name: str, members: list[Member]) -> list[Set]:
        members.sort(key=lambda member: (member.input.first_ns is None, member.input.first_ns or 0))
        sets, kept = self._chains.sets(name, members)
        for member in kept:
            self._note(member.input, member.fingerprint, "kept", _KEPT)
        read = {member.fingerprint for each in sets for member in each.members if not member.known}
        known = [member for member in members if self._chains.scanned(member.fingerprint) is not None]
        self._known += sum(member.fingerprint not in read for member in known) + len(kept)
        return sets

    def _note(self, found: Input, content: str, code: str, why: str) -> None:
        """A row that says why the file has no others; once."""
        if _identity(found.name, found.size, found.changed_ns) not in self._by_identity:
            self._captures.append(_row(found, content, code, why))


def joined(sets: Iterable[Set]) -> Iterator[Task]:
    """Large sets alone and first, small ones together, neighbours with neighbours."""
    sized = [(each, each.size) for each in sets]
    large = [(each, size) for each, size in sized if size >= TASK_BYTES]
    for each, _ in sorted(large, key=lambda one: -one[1]):
        yield Task((each,))
    together: list[Set] = []
    upto = 0
    for each, size in sized:
        if size >= TASK_BYTES:
            continue
        together.append(each)
        upto += size
        if upto >= TASK_BYTES:
            yield Task(tuple(together))
            together, upto = [], 0
    if together:
        yield Task(tuple(together))


def _identity(name: str, size: int, changed_ns: int | None) -> tuple[str, int, int | None]:
    return name, size, changed_ns


def _by_identity(rows: Iterable[Row]) -> dict[tuple[str, int, int | None], Row]:
    return {_identity(row["name"], row["size_bytes"], row["changed_ns"]): row for row in rows}


def _folder(name: str) -> str:
    return name.rpartition("/")[0]


def _row(found: Input, content: str | None, code: str = "", why: str | None = None) -> Row:
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
        "warnings": None if why is None else json.dumps([{"code": code, "count": 1, "message": why}]),
        "tcpstall": _core.version(),
    }
