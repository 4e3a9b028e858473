"""Lost time by cause and hour as a heat map: a row a cause in its colour, stronger where more was lost."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tcpstall.causes import Cause
from tcpstall.lost_time import Every, Overview, Trend
from tcpstall.report.archive.trend import moment
from tcpstall.units import date, duration

__all__ = ["Heat", "finely", "heat"]

_HOURS = 8 * 24
"""Hours beyond which a cell is a day."""

_FAINTEST = 0.12
"""Least shade of a cell with any lost time, so that it is visible."""

_CELL = 10
"""Width of a cell where there are few of them; the picture is scaled to the page."""

_LEAST_WIDTH = 600

_LEAST_CELLS = 400
"""Parts of a row: a narrower one would be less than a pixel on a phone."""

_FEW = 49
"""Hours up to which times of day are marked, else days."""

_MARK = 12
"""Room for a mark's text, per cent of the row."""

_HOUR_NS = 3_600_000_000_000
_DAY_NS = 24 * _HOUR_NS
_YEAR_NS = 366 * _DAY_NS


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
    """The whole map; `marks` are (per cent from the left, text) under it.

    A cell is drawn `drawn` wide, so that a day among decades can be seen.
    """

    every: Every
    first: str
    last: str
    width: float
    cell: float
    drawn: float
    rows: list[Row]
    marks: list[tuple[float, str]]


def finely(about: Overview) -> Every:
    """Length of the periods: hours for up to eight days, then days."""
    if about.first_ns is None or about.last_ns is None:
        return "hour"
    return "hour" if about.last_ns - about.first_ns <= _HOURS * _HOUR_NS else "day"


def heat(trend: Trend) -> Heat:
    """A row a cause, a cell an hour or a day."""
    starts = trend.starts_ns
    cell = max(_CELL, _LEAST_WIDTH / len(starts))
    rows = [_row(cause, course, starts, trend.every, cell) for cause, course in trend.causes.items() if any(course)]
    first, last = _told(starts[0], trend.every), _told(starts[-1], trend.every)
    width = round(len(starts) * cell, 2)
    drawn = round(max(cell, width / _LEAST_CELLS), 2)
    return Heat(trend.every, first, last, width, round(cell, 2), drawn, rows, list(_marks(starts, trend.every)))


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


def _told(start_ns: int, every: Every) -> str:
    return moment(start_ns) if every == "hour" else date(start_ns)


def _marks(starts: Sequence[int], every: Every) -> Iterator[tuple[float, str]]:
    """The days, as many as there is room for, or the hours of a few."""
    by_hour = every == "hour" and len(starts) <= _FEW
    step = 6 * _HOUR_NS if by_hour else _DAY_NS
    long = starts[-1] - starts[0] > _YEAR_NS
    free = 0.0
    for number, start in enumerate(starts):
        left = 100 * number / len(starts)
        if start % step == 0 and free <= left <= 100 - _MARK:
            yield round(left, 2), moment(start)[5:] if by_hour else date(start)[:7] if long else date(start)[5:]
            free = left + _MARK
