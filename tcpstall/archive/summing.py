"""Adds up the waits of each day: of a large part once, of small parts anew once these have grown by a quarter."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

from tcpstall.archive.hours import SUMMED, Sums
from tcpstall.archive.parquet import SMALL_BYTES, Parts
from tcpstall.archive.store import Part, Store

__all__ = ["sum_up"]

_LEAST_ROWS = 50_000
"""Fewer rows are added up in a hundredth of a second when a question is asked."""

_GROWTH = 4
"""Small parts are added up anew when this fraction (1/4) of what their sums are of is not in the sums."""


def sum_up(store: Store, parts: Parts, *, spares: bool) -> None:
    """Brings the sums up to date; those of parts that no longer count go. Raises CannotWrite and CannotOpen."""
    days: dict[tuple[str, bool], list[Part]] = defaultdict(list)
    for table in SUMMED:
        for part in store.parts(table):
            # Small parts are merged into others some day, and sums end with the first of their parts.
            days[part.name.split("/")[1], part.bytes < SMALL_BYTES].append(part)
    sums = store.sums
    kept = [each for (_, small), of_day in days.items() for each in _of_day(parts, sums, of_day, small=small)]
    store.hours.keep(kept, spares=spares)


def _of_day(parts: Parts, sums: Sequence[Sums], of_day: Sequence[Part], *, small: bool) -> Iterator[Sums]:
    names = {part.name for part in of_day}
    known = [each for each in sums if each.of <= names]
    summed = {name for each in known for name in each.of}
    further = [part for part in of_day if part.name not in summed]
    grown = _rows(further) >= max(_LEAST_ROWS, _rows(part for part in of_day if part.name in summed) // _GROWTH)
    if not (small and grown):
        yield from known
    if grown:
        new = of_day if small else further
        yield parts.summed(new)


def _rows(parts: Iterable[Part]) -> int:
    return sum(part.rows for part in parts)
