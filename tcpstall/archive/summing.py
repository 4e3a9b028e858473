"""Adds up the waits of a day once they have grown by a quarter, so that no wait is added up more than a few times."""

from collections import defaultdict
from collections.abc import Sequence

from tcpstall.archive.hours import SUMMED, Sums
from tcpstall.archive.parquet import Parts
from tcpstall.archive.store import Part, Store

__all__ = ["sum_up"]

_LEAST_ROWS = 50_000
"""Fewer rows are added up in a hundredth of a second when a question is asked."""

_GROWTH = 4
"""A day is added up anew when this fraction (1/4) of what its sums are of is not in them."""


def sum_up(store: Store, parts: Parts, *, spares: bool) -> None:
    """Brings the sums up to date; those of parts that no longer count go. Raises CannotWrite and CannotOpen."""
    days: dict[str, list[Part]] = defaultdict(list)
    for table in SUMMED:
        for part in store.parts(table):
            days[part.name.split("/")[1]].append(part)
    sums = store.sums
    kept: list[Sums] = []
    for of_day in days.values():
        names = {part.name for part in of_day}
        known = [each for each in sums if each.of <= names]
        summed = frozenset[str]().union(*(each.of for each in known))
        covered, further = _rows(of_day, summed), _rows(of_day, names - summed)
        kept += [_made(parts, of_day)] if further >= max(_LEAST_ROWS, covered // _GROWTH) else known
    store.hours.keep(kept, spares=spares)


def _rows(parts: Sequence[Part], names: frozenset[str] | set[str]) -> int:
    return sum(part.rows for part in parts if part.name in names)


def _made(parts: Parts, of_day: Sequence[Part]) -> Sums:
    return Sums(parts.summed(of_day), frozenset(part.name for part in of_day))
