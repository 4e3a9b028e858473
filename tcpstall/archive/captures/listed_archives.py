"""Archives that a scan has listed, and which of them no later scan needs to list again.

That is recorded once all members of an archive have their rows, and never inferred from rows: a scan that was killed
has left rows of some members too.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from tcpstall.errors import ExitCode

__all__ = ["Walked", "healed", "recorded"]

Row = Mapping[str, Any]


@dataclass(slots=True)
class Walked:
    """An archive as it was listed: its name, its size in bytes, when it was changed."""

    name: str
    size: int
    changed_ns: int | None
    members: set[str] = field(default_factory=set)
    """Names of all that must have a row: captures, and what should be one; the archive's own if it is damaged."""
    refused: set[str] = field(default_factory=set)
    """Those that the listing refuses, and will refuse again."""
    whole: bool = False
    """It was listed to its end, or to where it is damaged."""

    def found(self, name: str, exit_code: int) -> None:
        """Notes a capture, or an error."""
        self.members.add(name)
        if exit_code:
            self.refused.add(name)


def recorded(walked: Iterable[Walked], rows: Iterable[Row]) -> list[Row]:
    """Archives that the store is to record: all members are read, by the rows that count, as far as can be."""
    by_name = {(row["name"], row["changed_ns"]): row for row in rows}
    return [
        {"name": each.name, "size_bytes": each.size, "changed_ns": each.changed_ns, "members": len(each.members)}
        for each in walked
        if each.whole
        and all(_is_settled(by_name.get((name, each.changed_ns)), name in each.refused) for name in each.members)
    ]


def healed(walked: Iterable[Walked], rows: Iterable[Row]) -> list[Row]:
    """Errors of archives that are whole now: nothing else would ever replace these rows."""
    whole = {each.name for each in walked if each.whole and each.name not in each.members}
    return [row for row in rows if row["scan"] is None and row["exit_code"] and row["name"] in whole]


def _is_settled(row: Row | None, refused: bool) -> bool:
    """Read, a copy, refused by the listing, or given up; what could not be read only this time is none of these."""
    if row is None:
        return False
    return refused or row["scan"] is not None or row["exit_code"] in (ExitCode.COMPLETE, ExitCode.DEFECT)
