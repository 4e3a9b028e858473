"""Adds up the waits of each day: of a large part once, of small parts anew once these have grown by a quarter.

Sums of days that are over are added up once more, a month together.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

from tcpstall.archive.storing.hours import SUMMED, Sums
from tcpstall.archive.storing.parquet import SMALL_BYTES, Parts
from tcpstall.archive.storing.rollups import DAY_NS
from tcpstall.archive.storing.store import Part, Store

__all__ = ["sum_up"]

_LEAST_ROWS = 50_000
"""Fewer rows are added up in a hundredth of a second when a question is asked."""

_GROWTH = 4
"""Small parts are added up anew when this fraction (1/4) of what their sums are of is not in the sums."""


_TOGETHER = 7
"""Fewest sums of days that are added up together: each is copied a handful of times until a month is full."""

_MONTH = 32
"""Most of them: where a day of a month grows late, so many are added up anew."""


def sum_up(store: Store, parts: Parts, *, spares: bool) -> None:
    """Brings the sums up to date; those of parts that no longer count go. Raises CannotWrite and CannotOpen."""
    days: dict[tuple[str, bool], list[Part]] = defaultdict(list)
    for table in SUMMED:
        for part in store.parts(table):
            # Small parts are merged into others some day, and sums end with the first of their parts.
            days[part.name.split("/")[1], part.bytes < SMALL_BYTES].append(part)
    sums = store.sums
    kept = [each for (_, small), of_day in days.items() for each in _of_day(parts, sums, of_day, small=small)]
    store.hours.keep(kept, _of_days(parts, store.hours.of_days(kept), kept), spares=spares)


def _of_days(parts: Parts, known: Sequence[Sums], sums: Sequence[Sums]) -> list[Sums]:
    """Sums of several days: those that are known, and further ones of days that none of them has.

    The newest day is left out, because the next scan adds to it.
    """
    days = [max(file.to_ns or 0 for file in each.files) // DAY_NS for each in sums]
    over = [each for each, day in zip(sums, days, strict=True) if day < max(days)]
    alone = [each for each in over if all(each.of.isdisjoint(some.of) for some in known)]
    if len(alone) < _TOGETHER:
        return list(known)
    held = {some: sum(each.of <= some.of for each in sums) for some in known}
    begun = next((some for some, count in held.items() if count + len(alone) <= _MONTH), None)
    rest = [some for some in known if some is not begun]
    some = alone[:_MONTH] if begun is None else [begun, *alone]
    return [*rest, parts.added_up(some)]


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
