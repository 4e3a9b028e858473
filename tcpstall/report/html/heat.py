"""Lost time by cause and hour as a heat map: a row a cause in its colour, stronger where more was lost."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tcpstall.causes import Cause
from tcpstall.losses import Every, Trend
from tcpstall.report.archive.trend import moment
from tcpstall.units import date, duration

__all__ = ["Heat", "heat"]

HOURS = 8 * 24
"""Beyond so many hours a cell is a day."""

_DAYS = 400
"""Cells of a row at most; the latest days are shown."""

_FAINTEST = 0.12
"""Where anything was lost at all, it can be seen."""

_CELL = 10
"""Width of a cell where there are few of them; the picture is scaled to the page."""

_LEAST_WIDTH = 600

_FEW = 49
"""Up to so many hours the times of day are marked, else days."""

_MARK = 12
"""Room for a mark's text, per cent of the row."""

_HOUR_NS = 3_600_000_000_000
_DAY_NS = 24 * _HOUR_NS


@dataclass(frozen=True)
class Cell:
    """A rectangle; `opacity` from 0 to 1."""

    x: float
    opacity: float
    told: str


@dataclass(frozen=True)
class Row:
    """A cause."""

    cause: str
    colour: str
    lost: str
    most: str
    cells: list[Cell]


@dataclass(frozen=True)
class Heat:
    """The whole map; `marks` are (per cent from the left, text) under it."""

    every: Every
    first: str
    last: str
    width: float
    cell: float
    rows: list[Row]
    marks: list[tuple[float, str]]


def heat(trend: Trend) -> Heat:
    """Hours for up to eight days, else days; `trend` is by the hour."""
    by_day = len(trend.starts_ns) > HOURS
    every: Every = "day" if by_day else "hour"
    starts = _folded_starts(trend.starts_ns) if by_day else list(trend.starts_ns)
    left_out = max(0, len(starts) - _DAYS)
    kept = starts[left_out:]
    cell = max(_CELL, _LEAST_WIDTH / max(1, len(kept)))
    rows = []
    for cause, hours in trend.causes.items():
        course = (_folded(hours, trend.starts_ns) if by_day else list(hours))[left_out:]
        if any(course):
            rows.append(_row(cause, course, kept, every, cell))
    first, last = _told(kept[0], every), _told(kept[-1], every)
    return Heat(every, first, last, round(len(kept) * cell, 2), round(cell, 2), rows, list(_marks(kept, every)))


def _row(cause: Cause, course: Sequence[int], starts: Sequence[int], every: Every, cell: float) -> Row:
    highest = max(course)
    cells = [
        Cell(
            round(number * cell, 2),
            round(max(_FAINTEST, lost / highest), 2),
            f"{_told(starts[number], every)}: {duration(lost)} {cause.value}",
        )
        for number, lost in enumerate(course)
        if lost > 0
    ]
    most = f"{duration(highest)}, {_told(starts[course.index(highest)], every)}"
    return Row(cause.value, cause.colour, duration(sum(course)), most, cells)


def _folded_starts(starts: Sequence[int]) -> list[int]:
    first, last = starts[0] // _DAY_NS, starts[-1] // _DAY_NS
    return [day * _DAY_NS for day in range(first, last + 1)]


def _folded(hours: Sequence[int], starts: Sequence[int]) -> list[int]:
    """Sums of days."""
    first = starts[0] // _DAY_NS
    days = [0] * (starts[-1] // _DAY_NS - first + 1)
    for start, lost in zip(starts, hours, strict=True):
        days[start // _DAY_NS - first] += lost
    return days


def _told(start_ns: int, every: Every) -> str:
    return moment(start_ns) if every == "hour" else date(start_ns)


def _marks(starts: Sequence[int], every: Every) -> Iterator[tuple[float, str]]:
    """The days, as many as there is room for, or the hours of a few."""
    by_hour = every == "hour" and len(starts) <= _FEW
    step = 6 * _HOUR_NS if by_hour else _DAY_NS
    free = 0.0
    for number, start in enumerate(starts):
        left = 100 * number / len(starts)
        if start % step == 0 and free <= left <= 100 - _MARK:
            yield round(left, 2), moment(start)[5:] if by_hour else date(start)[5:]
            free = left + _MARK
