"""Files to read of a set that the store has in part: those after its end, all of them again, or only new ones.

A set is continued from the connections left open in it (streams). Where these streams are lost, reading goes on from
where the oldest open connection began. Rows are never replaced by fewer: where a file needed for that is gone, its rows
stay, rows of open connections included, and new files get rows of their own. No packet counts twice, and none is lost.
"""

import json
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

from tcpstall.archive.planning.repeat import Wanted, never
from tcpstall.archive.planning.sets import Beyond, Member, Set, behind_id, digest
from tcpstall.archive.storing.marks import is_forgotten
from tcpstall.archive.storing.store import Stream
from tcpstall.errors import CannotOpen

__all__ = ["KNOWN_PACKETS", "Chains"]

KNOWN_PACKETS = "known-packets"
"""Code of the warning that records how much of a file an earlier scan has, in a row that tells of the rest."""

Row = Mapping[str, Any]


class Chains:
    """The scans of sets that are in the store, each chain begun by one scan and carried on by others."""

    def __init__(
        self,
        known: Sequence[Row],
        contents: Mapping[str, str],
        fingerprint: Callable[[str, int], str],
        stream: Callable[[str], Stream | None],
        wanted: Wanted = never,
    ) -> None:
        """`known` are the rows that count, `contents` the fingerprints of the files that are there, by name.

        All of them must be in it when the first set is asked for. `stream(scan)` is what a scan left open. A set with a
        row that is `wanted` again is read again whole, where all its files are there.
        """
        self._stream = stream
        self._contents = contents
        self._fingerprint = fingerprint
        self._wanted = wanted
        self.kept = 0
        """Captures that were wanted again, and are not read, for other files of their sets are gone."""
        self._scanned = [row for row in known if row["scan"] is not None]
        self._by_content = {row["fingerprint"]: row for row in self._scanned}

    def learn(self, rows: Sequence[Row]) -> None:
        """Takes in more rows that count, before the first set is asked for."""
        scanned = [row for row in rows if row["scan"] is not None]
        self._scanned += scanned
        self._by_content.update((row["fingerprint"], row) for row in scanned)

    # Where nothing is new no set is asked for, and of a hundred thousand rows each of these takes its time.

    @cached_property
    def _by_name(self) -> Mapping[str, list[Row]]:
        return self._by("name")

    @cached_property
    def _by_chain(self) -> Mapping[str, list[Row]]:
        return self._by("chain")

    @cached_property
    def _by_set(self) -> Mapping[str, list[Row]]:
        return self._by("capture_set")

    def _by(self, column: str) -> Mapping[str, list[Row]]:
        """Rows of scans by their value in that column."""
        found: dict[Any, list[Row]] = defaultdict(list)
        for row in self._scanned:
            found[row.get(column)].append(row)
        return found

    def scanned(self, fingerprint: str) -> Row | None:
        """The row of the scan that has this content."""
        return self._by_content.get(fingerprint)

    def sets(self, name: str, members: Sequence[Member]) -> tuple[list[Set], list[Member]]:
        """Sets to read of these files, in the order of their packets; and the new files whose packets all have rows."""
        if not self._scanned and members:
            return [_whole(name, members)], []
        new = [member for member in members if member.fingerprint not in self._by_content]
        known = [row for each in members if (row := self.scanned(each.fingerprint)) is not None]
        again = any(map(self._wanted, known))
        if not new and not again:
            return [], []
        replaced = self._replaced(new)
        chains = {row["chain"] for row in known}
        chains.update(row["chain"] for row in replaced)
        rows = [row for chain in sorted(chains) for row in self._by_chain[chain]]
        loses = self._loses(rows, members, replaced)
        if again and loses:
            self.kept += len(known)
            again = False
            if not new:
                return [], []
        follows = not again and not replaced and all(_follows(member, rows) for member in new)
        if follows and rows and (loses or len(chains) == 1):
            whole = self._continued(name, members, new, rows)
            return ([whole], []) if whole else self._pieces(name, members, new, rows)
        if not rows and (behind := self._behind(name, new)):
            return [behind], []
        if not rows:
            return [_whole(name, members, cut=self._is_cut(name))], []
        whole = None if loses else _again(name, members, rows)
        if whole is None:
            self.kept += len(known) if again else 0
            return self._pieces(name, members, new, rows)
        return [whole], []

    def _is_cut(self, name: str) -> bool:
        """True where connections were open at the end of a set of that name, of which no file is left."""
        newest = self._newest_gone(name)
        return newest is not None and newest["resume_ns"] is not None

    def _newest_gone(self, name: str) -> Row | None:
        """The row with which a set of that name ended, if no file of that scan is left."""
        newest = max(self._by_set[name], key=_age, default=None)
        return newest if newest is not None and newest["scan"] not in self._scans_here else None

    @cached_property
    def _here(self) -> frozenset[str]:
        """Contents that are there."""
        return frozenset(self._contents.values())

    @cached_property
    def _scans_here(self) -> frozenset[str]:
        """Scans of files that are there."""
        return frozenset(row["scan"] for content in self._here if (row := self.scanned(content)))

    def _replaced(self, new: Sequence[Member]) -> list[Row]:
        """Rows of files under whose names there is other content now."""
        return [
            row
            for member in new
            for row in self._by_name[member.input.name]
            if row["fingerprint"] not in self._here and _is_replaced(row, member)
        ]

    def _loses(self, rows: Sequence[Row], members: Sequence[Member], replaced: Sequence[Row]) -> bool:
        """True where reading all members again would lose packets of a row that is not meant to be replaced.

        Also true for a forgotten row that is not wanted again: it is to stay forgotten.
        """
        if any(is_forgotten(row) and not self._wanted(row) for row in rows):
            return True
        contents = {member.fingerprint for member in members}
        names = {member.input.name: member for member in members}
        meant = {id(row) for row in replaced}
        return any(
            row["fingerprint"] not in contents
            and id(row) not in meant
            and not (row["name"] in names and self._has_grown(names[row["name"]], row))
            for row in rows
        )

    def _has_grown(self, member: Member, row: Row) -> bool:
        """True where the file begins with the content that it had when the row was made."""
        if member.input.size <= row["size_bytes"]:
            return False
        try:
            return bool(self._fingerprint(member.input.name, row["size_bytes"]) == row["fingerprint"])
        except CannotOpen:
            return False

    def _continued(
        self, name: str, members: Sequence[Member], new: Sequence[Member], rows: Sequence[Row]
    ) -> Set | None:
        """Reads on behind the newest scan: from what it left open, or else from where its oldest open connection began.

        None if that is gone.
        """
        newest = max(rows, key=_age)
        if stream := self._stream(newest["scan"]):
            return _on(name, newest, stream, members, new)
        resume_ns = newest["resume_ns"]
        chain = self._by_chain[newest["chain"]]
        needed = {
            row["fingerprint"]: row for row in chain if resume_ns is not None and (row["last_ns"] or 0) >= resume_ns
        }
        again = [
            replace(member, known=True, held=True, beyond=_known_of(needed[member.fingerprint]))
            for member in members
            if member.fingerprint in needed
        ]
        if len(again) < len(needed) or any(member.beyond.packets for member in again[1:]):
            return None
        scan = behind_id(newest["scan"], new)
        before = sum(row["packets"] for row in chain if row["fingerprint"] not in needed)
        return Set(scan, newest["chain"], name, (*again, *new), continues=newest["scan"], packets_before=before)

    def _behind(self, name: str, new: Sequence[Member]) -> Set | None:
        """Reads on behind a set of which no file is left."""
        newest = self._newest_gone(name)
        if newest is None or not all(_follows(one, [newest]) for one in new):
            return None
        stream = self._stream(newest["scan"])
        return _on(name, newest, stream, new, new) if stream else None

    def _pieces(
        self, name: str, members: Sequence[Member], new: Sequence[Member], rows: Sequence[Row]
    ) -> tuple[list[Set], list[Member]]:
        """Only what is new, each run of files between known ones for itself."""
        runs: list[list[Member]] = [[]]
        kept: list[Member] = []
        for member in members:
            beyond = self._beyond(member) if member in new else None
            if beyond is None:
                kept += [member] if member in new else []
                runs.append([])
            elif beyond.packets:
                runs.append([replace(member, beyond=beyond)])
            else:
                runs[-1].append(member)
        sets: list[Set] = []
        for run in filter(None, runs):
            follows = not run[0].beyond.packets and all(_follows(member, rows) for member in run)
            first = all(each.cut for each in sets)
            continued = self._continued(name, members, run, rows) if follows and first else None
            sets.append(continued or _cut(name, run))
        return sets, kept

    def _beyond(self, member: Member) -> Beyond | None:
        """Part of a new content that has rows already; None if all of it has, in another form."""
        before = [row for row in self._by_name[member.input.name] if _is_replaced(row, member)]
        grown = [row for row in before if self._has_grown(member, row)]
        if grown:
            return _known_upto(max(grown, key=lambda row: int(row["size_bytes"])))
        same = any(row["first_ns"] is not None and row["first_ns"] == member.input.first_ns for row in before)
        return None if same else Beyond()


def _whole(name: str, members: Sequence[Member], *, cut: bool = False) -> Set:
    scan = digest([member.fingerprint for member in members])
    return Set(scan, scan, name, tuple(members), cut=cut)


def _on(name: str, newest: Row, stream: Stream, members: Sequence[Member], new: Sequence[Member]) -> Set:
    """Only the new files, with what was open before them. Where the last one before is gone others may have been."""
    there = any(member.fingerprint == newest["fingerprint"] for member in members)
    first = new[0] if there else replace(new[0], missing_before=True)
    scan = behind_id(newest["scan"], new)
    return Set(scan, newest["chain"], name, (first, *new[1:]), continues=newest["scan"], stream=stream)


def _again(name: str, members: Sequence[Member], rows: Sequence[Row]) -> Set | None:
    """All of the set, instead of what was scanned of it; None where that would tell of packets that others have."""
    again: list[Member] = []
    for member in members:
        before = [row for row in rows if member.fingerprint == row["fingerprint"] or member.input.name == row["name"]]
        beyond = max((_not_dropped(row, rows) for row in before), key=lambda each: each.packets, default=Beyond())
        if beyond.packets and again:
            return None
        again.append(replace(member, held=bool(before), beyond=beyond))
    drops = tuple(sorted({row["scan"] for row in rows}))
    contents = [member.fingerprint for member in members]
    scan = digest(contents)
    if scan in drops:  # a member could not be read then
        scan = digest([*contents, "again", *drops])
    return Set(scan, scan, name, tuple(again), drops=drops, cut=again[0].beyond.packets > 0)


def _not_dropped(row: Row, dropped: Sequence[Row]) -> Beyond:
    """Packets that the row leaves to an earlier row; none where that earlier row is dropped too."""
    beyond = _known_of(row)
    earlier = any(other["first_ns"] == row["first_ns"] and _known_upto(other) == beyond for other in dropped)
    return Beyond() if earlier else beyond


def _cut(name: str, run: Sequence[Member]) -> Set:
    known = run[0].beyond.packets
    scan = digest([*(member.fingerprint for member in run), *([f"beyond {known}"] if known else [])])
    return Set(scan, scan, name, tuple(run), cut=True)


def _known_of(row: Row) -> Beyond:
    """Packets that the row leaves to other rows, by its warning `known-packets`."""
    for warning in json.loads(row.get("warnings") or "[]"):
        if warning["code"] == KNOWN_PACKETS:
            return Beyond(warning["count"], warning["tcp_segments"])
    return Beyond()


def _known_upto(row: Row) -> Beyond:
    """All that was known when the row was made."""
    before = _known_of(row)
    return Beyond(before.packets + row["packets"], before.tcp_segments + (row.get("tcp_segments") or 0))


def _age(row: Row) -> tuple[int, int]:
    """Greater for what ends later."""
    return row["last_ns"] or 0, row["scanned_ns"]


def _is_replaced(row: Row, member: Member) -> bool:
    """The file of that name has other content now. A ring's slot that is used again, later, replaces nothing."""
    first_ns, last_ns = member.input.first_ns, row["last_ns"]
    return first_ns is None or last_ns is None or first_ns <= last_ns


def _follows(member: Member, rows: Sequence[Row]) -> bool:
    """The file begins where all of those end."""
    first_ns = member.input.first_ns
    return first_ns is not None and all(row["last_ns"] is None or row["last_ns"] <= first_ns for row in rows)
