"""Lost time over time, for reading in a terminal and as rows for further programs."""

from collections.abc import Iterator, Sequence
from typing import Any

from rich.console import RenderableType
from rich.padding import Padding
from rich.table import Column
from rich.text import Text

from tcpstall.causes import Cause
from tcpstall.lost_time import Growth, Trend
from tcpstall.report.style import cause_text, figures, table, words
from tcpstall.units import clock, counted, date, duration, percent, ratio

__all__ = ["TREND_COLUMNS", "moment", "render_trend", "sparkline", "told_growth", "trend_rows"]

TREND_COLUMNS = {"start_ns": "BIGINT", "cause": "VARCHAR", "lost_ns": "BIGINT", "flows": "BIGINT"}
"""Names and DuckDB types of trend_rows()."""

_BLOCKS = " ▁▂▃▄▅▆▇█"
_ASCII_BLOCKS = " .:-=+*#@"
_WIDEST = 56
"""Columns of a sparkline: what is left of 120 beside the figures."""

_LONGEST_KEPT = 10_000
"""Largest printed growth: against a mean of 0 it would be infinite."""


_FIGURES, _NARROWEST = 74, 16
"""Columns of the figures beside it, and of the smallest sparkline."""


def render_trend(trend: Trend, *, width: int, plain: bool = False) -> Iterator[RenderableType]:
    """The growth first, then the course of each cause."""
    if not trend.starts_ns:
        yield Text("nothing was lost: no waits are in the store, or none that are meant", "bold")
        return
    span = (
        f"{moment(trend.starts_ns[0])} to {moment(trend.starts_ns[-1])}, {counted(len(trend.starts_ns), trend.every)}"
    )
    yield Text(headline(trend), "bold")
    if trend.earlier_ns:
        span += f"; {duration(trend.earlier_ns)} before that: --until and --by day show it"
    yield Padding(Text(span, "dim"), (0, 0, 0, 2))
    if trend.grown:
        yield Text()
        yield _grown(trend, width, plain)
    yield Text()
    yield _courses(trend, width, plain)


def headline(trend: Trend) -> str:
    """The largest change, in one line."""
    if not trend.grown:
        return f"no service loses more to any cause than before, beyond what varies from {trend.every} to {trend.every}"
    return told_growth(trend.grown[0], trend.every)


def told_growth(growth: Growth, every: str) -> str:
    """`10.0.3.7:443 loses 3 min an hour to sndbuf-limited since 2026-10-01 02:00, before nothing`."""
    before = f"before {duration(growth.before_ns)}" if growth.before_ns else "before nothing"
    lost = f"{growth.service} loses {duration(growth.after_ns)} {_each(every)} to {growth.cause.value}"
    return f"{lost} since {moment(growth.since_ns)}, {before}"


def moment(time_ns: int) -> str:
    """`2026-10-01 02:00`, UTC."""
    return f"{date(time_ns)} {clock(time_ns)[:5]}"


def sparkline(course: Sequence[int], *, plain: bool = False, widest: int = _WIDEST) -> str:
    """The course as a line of blocks, its highest value a full one; several hours share one where there are many."""
    each = max(1, -(-len(course) // widest))
    sums = [sum(course[at : at + each]) for at in range(0, len(course), each)]
    blocks, highest = (_ASCII_BLOCKS if plain else _BLOCKS), max(sums, default=0)
    steps = len(blocks) - 1
    return "".join(blocks[min(steps, -(-value * steps // highest))] if value > 0 else blocks[0] for value in sums)


def _each(every: str) -> str:
    return "an hour" if every == "hour" else "a day"


def _room(width: int) -> int:
    return max(_NARROWEST, min(_WIDEST, width - _FIGURES))


def _grown(trend: Trend, width: int, plain: bool) -> RenderableType:
    columns: list[Column] = [words("service"), words("cause"), *figures("since", "before", "then", "times"), words("")]
    rows: list[list[str | Text]] = [
        [
            str(growth.service),
            cause_text(growth.cause),
            moment(growth.since_ns),
            duration(growth.before_ns),
            duration(growth.after_ns),
            _times(growth),
            Text(sparkline(growth.lost_ns, plain=plain, widest=_room(width)), growth.cause.colour),
        ]
        for growth in trend.grown
    ]
    return table(f"grown, {_each(trend.every)}", columns, rows, width, ("times", "before"))


def _times(growth: Growth) -> str:
    if growth.before_ns * _LONGEST_KEPT <= growth.after_ns:
        return "new"
    return ratio(growth.after_ns, growth.before_ns)


def _courses(trend: Trend, width: int, plain: bool) -> RenderableType:
    everything = sum(sum(course) for course in trend.causes.values())
    columns: list[Column] = [
        words("cause"),
        *figures("lost", "of all", f"most {_each(trend.every)}", "at"),
        Column("", no_wrap=True),
    ]
    rows: list[list[str | Text]] = []
    for cause, course in trend.causes.items():
        highest = max(range(len(course)), key=course.__getitem__)
        rows.append(
            [
                cause_text(cause),
                duration(sum(course)),
                percent(sum(course), everything),
                duration(course[highest]),
                moment(trend.starts_ns[highest]),
                Text(sparkline(course, plain=plain, widest=_room(width)), cause.colour),
            ]
        )
    return table(f"lost time by {trend.every}", columns, rows, width, ("of all", "at"))


def trend_rows(trend: Trend) -> Iterator[list[Any]]:
    """A row an hour or day and cause, in order of time."""
    for number, start in enumerate(trend.starts_ns):
        for cause in Cause:
            if (lost := trend.causes.get(cause, ())) and lost[number]:
                yield [start, cause.value, lost[number], trend.flows[number]]
