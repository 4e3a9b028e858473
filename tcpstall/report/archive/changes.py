"""Two spans of time compared, for reading in a terminal and as rows for further programs."""

from collections.abc import Iterator
from typing import Any

from rich.console import RenderableType
from rich.padding import Padding
from rich.table import Column
from rich.text import Text

from tcpstall.lost_time import Change, Changes, Lost, Span
from tcpstall.report.archive.trend import moment
from tcpstall.report.style import cause_text, figures, table, words
from tcpstall.units import counted, duration, number

__all__ = ["CHANGE_COLUMNS", "change_rows", "render_changes"]

_HOUR_NS = 3_600_000_000_000

_COUNTS = ("lost_ns", "waits", "flows")

CHANGE_COLUMNS = (
    {"service": "VARCHAR", "cause": "VARCHAR"}
    | {f"{when}_{name}": "BIGINT" for when in ("before", "after") for name in _COUNTS}
    | {"change_ns_per_hour": "BIGINT"}
)
"""Names and DuckDB types of change_rows()."""


def render_changes(changes: Changes, *, width: int) -> Iterator[RenderableType]:
    """The largest change in one line, the two spans, then a row per service and cause."""
    if not changes.rows:
        yield Text("nothing was lost in either time: no waits of them are in the store, or none that are meant", "bold")
        return
    yield Text(_headline(changes), "bold")
    for when, span, lost in (
        ("before", changes.before, changes.all_before),
        ("after", changes.after, changes.all_after),
    ):
        told = f"{when}: {moment(span.start_ns)} to {moment(span.end_ns)}, {counted(lost.flows, 'flow')}"
        yield Padding(Text(f"{told}, {duration(lost.lost_ns)} lost", "dim"), (0, 0, 0, 2))
    yield Text()
    columns: list[Column] = [words("service"), words("cause"), *figures("before", "after", "change", "flows")]
    rows = [_row(change, changes) for change in changes.rows]
    yield table("lost time, an hour", columns, rows, width, ("flows", "before"))
    if (left := changes.keys - len(changes.rows)) > 0:
        yield Padding(Text(f"and {counted(left, 'smaller change')}", "dim"), (0, 0, 0, 1))


def _headline(changes: Changes) -> str:
    """`10.0.3.7:443 loses 3 min an hour more to sndbuf-limited than before`."""
    first = changes.rows[0]
    change = _change(first, changes)
    if change == 0:
        return "no service loses more or less to any cause than before"
    more = "more" if change > 0 else "less"
    return f"{first.service} loses {duration(abs(change))} an hour {more} to {first.cause.value} than before"


def _row(change: Change, changes: Changes) -> list[str | Text]:
    difference = _change(change, changes)
    return [
        str(change.service),
        cause_text(change.cause),
        duration(_an_hour(change.before, changes.before)),
        duration(_an_hour(change.after, changes.after)),
        f"{'+' if difference > 0 else '−' if difference < 0 else ''}{duration(abs(difference))}",
        f"{number(change.before.flows)} → {number(change.after.flows)}",
    ]


def _change(change: Change, changes: Changes) -> int:
    return _an_hour(change.after, changes.after) - _an_hour(change.before, changes.before)


def _an_hour(lost: Lost, span: Span) -> int:
    return lost.lost_ns * _HOUR_NS // span.length_ns


def change_rows(changes: Changes) -> Iterator[list[Any]]:
    """A row per service and cause, the largest change first."""
    for change in changes.rows:
        counts = [getattr(lost, name) for lost in (change.before, change.after) for name in _COUNTS]
        yield [str(change.service), change.cause.value, *counts, _change(change, changes)]
