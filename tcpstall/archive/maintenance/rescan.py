"""Captures that are scanned again because rows of theirs were lost: what is left of their rows is replaced."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from tcpstall.archive.captures.input import Input
from tcpstall.archive.columns import BY_DAY
from tcpstall.archive.maintenance.upkeep import MEMORY_BYTES, parts_with, refuse_damaged
from tcpstall.archive.storing.duck import connected
from tcpstall.archive.storing.parquet import Parts
from tcpstall.archive.storing.records import Commit, Lost, Part
from tcpstall.archive.storing.store import Store

__all__ = ["Again", "lost_part", "scans_in"]

Row = Mapping[str, Any]


def lost_part(part: Part, captures: Iterable[Row]) -> Lost:
    """The part with the chains whose captures span its time: each of their scans may have had rows in it."""
    spans: dict[str, list[int]] = {}
    for row in captures:
        if row["scan"] is not None and row["chain"] is not None:
            ends = [row[key] for key in ("first_ns", "last_ns") if row[key] is not None]
            spans.setdefault(row["chain"], []).extend(ends)
    return Lost(part, tuple(sorted(chain for chain, ends in spans.items() if _meets(part, ends))))


def _meets(part: Part, ends: Sequence[int]) -> bool:
    if part.from_ns is None or part.to_ns is None:
        return True
    return bool(ends) and min(ends) <= part.to_ns and max(ends) >= part.from_ns


class Again:
    """Chains of a store to be scanned again: chains all of whose files are still there. Rows are never made fewer."""

    def __init__(self, store: Store, known: Sequence[Row], inputs: Iterable[Input]) -> None:
        self._store = store
        chains = {chain for each in store.lost for chain in each.chains}
        rows = [row for row in known if row["chain"] in chains]
        there = {(each.name, each.size, each.changed_ns) for each in inputs} if rows else set()
        gone = {row["chain"] for row in rows if (row["name"], row["size_bytes"], row["changed_ns"]) not in there}
        again = {row["chain"] for row in rows} - gone
        self.known = [row for row in known if row["chain"] not in again] if again else list(known)
        """The captures that need no scan."""
        self._chain_of = {row["fingerprint"]: row["chain"] for row in rows if row["chain"] in again}
        self._scans_of: dict[str, set[str]] = {}
        for row in rows:
            self._scans_of.setdefault(row["chain"], set()).add(row["scan"])
        unknown = chains - set(self._scans_of)
        self._scans = unknown.union(*(self._scans_of[chain] for chain in again))
        """Those that are repeated, under the same ids mostly."""
        self._captures_of = scans_in(store.place, store.parts("flows"), unknown) if unknown else {}
        self._orphans = unknown

    def commit(self, commit: Commit) -> Commit:
        """The same, with the old rows of its captures taken out."""
        scanned = [row for row in commit.captures if row["scan"] is not None]
        new = {row["scan"] for row in scanned}
        chains = {self._chain_of[row["fingerprint"]] for row in scanned if row["fingerprint"] in self._chain_of}
        names = {row["name"] for row in scanned}
        orphans = {scan for scan, captures in self._captures_of.items() if captures & names} | (new & self._orphans)
        old = {scan for chain in chains for scan in self._scans_of[chain]} | orphans
        counted = new & (old | self._store.dropped)
        made, removed = _without(self._store, counted) if counted else ([], [])
        failed = {scan for scan in commit.dropped if scan in self._scans} - new
        return replace(
            commit,
            parts=[*made, *(self._less(commit.parts, failed) if failed else commit.parts)],
            dropped=[*(scan for scan in commit.dropped if scan not in failed), *sorted(old - new)],
            removed=[*commit.removed, *removed],
            repeated=sorted(chains | orphans),
            counted=sorted(counted),
        )

    def _less(self, parts: Sequence[Part], failed: Collection[str]) -> list[Part]:
        """Parts without what was read of scans before they failed: their old rows, under the same id, stay."""
        merging = Parts(self._store.place, MEMORY_BYTES)
        written = [
            merging.merged(part.name.rpartition("/")[0], [part], frozenset(failed), frozenset()) for part in parts
        ]
        return [part for each in written for part in each]


def scans_in(place: Any, parts: Sequence[Part], wanted: Collection[str] | None = None) -> dict[str, set[str]]:
    """The scans that these parts of flows have rows of, with the names of the captures; all, or those wanted."""
    found: dict[str, set[str]] = {}
    if parts:
        with connected(place, MEMORY_BYTES) as duck:
            query = "SELECT DISTINCT scan, capture FROM read_parquet(?, union_by_name = true)"
            for scan, capture in duck.execute(query, [[place.path(part.name) for part in parts]]).fetchall():
                if wanted is None or scan in wanted:
                    found.setdefault(scan, set()).add(capture)
    return found


def _without(store: Store, scans: Collection[str]) -> tuple[list[Part], list[str]]:
    """Parts written anew without the rows of these scans, and the names of those that they replace."""
    having = parts_with(store, scans)
    old = [part for table in BY_DAY for part in store.parts(table) if part.name in having]
    refuse_damaged(store, old)
    parts = Parts(store.place, MEMORY_BYTES)
    dropped = store.dropped | frozenset(scans)
    made = [new for part in old for new in parts.merged(part.name.rpartition("/")[0], [part], dropped, store.continued)]
    return made, [part.name for part in old]
