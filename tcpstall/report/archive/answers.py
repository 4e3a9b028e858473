"""Rows of any question as a table, JSON or CSV."""

import csv
import io
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from itertools import islice
from math import isfinite
from typing import Any

from rich.console import RenderableType
from rich.padding import Padding
from rich.table import Column, Table
from rich.text import Text

from tcpstall.report.style import figures, table, words
from tcpstall.units import number
from tcpstall.untrusted import in_csv, in_terminal

__all__ = ["as_csv", "as_json", "as_table", "plain"]

_SHOWN = 1_000
"""Rows of a table: nobody reads more, and a column is as wide as its widest cell."""

_NUMBERS = ("INT", "DOUBLE", "FLOAT", "DECIMAL")


def as_table(
    names: Sequence[str], types: Sequence[str], rows: Iterable[Sequence[Any]], width: int
) -> Iterator[RenderableType]:
    """The first thousand rows; figures to the right, or a line a cell where they do not fit beside each other."""
    found = list(islice(rows, _SHOWN + 1))
    columns: list[Column] = []
    for name, type_ in zip(names, types, strict=True):
        columns += figures(in_terminal(name)) if _is_number(type_) else [words(in_terminal(name))]
    cells = [[_cell(value) for value in row] for row in found[:_SHOWN]]
    made = table("", columns, cells, width)
    if cells and made.width is not None and made.width > width:
        yield from _one_below_another([in_terminal(name) for name in names], cells)
    else:
        yield made
    if len(found) > _SHOWN:
        yield Padding(
            Text(f"and more than these {number(_SHOWN)} rows: --format csv has them all", "dim"), (0, 0, 0, 1)
        )
    elif not found:
        yield Padding(Text("no rows", "dim"), (0, 0, 0, 1))


def _one_below_another(names: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[RenderableType]:
    for count, row in enumerate(rows, 1):
        yield Text(f"row {number(count)}", "bold")
        made = Table.grid(padding=(0, 2))
        made.add_column(no_wrap=True, style="dim")
        made.add_column(overflow="fold")
        for name, cell in zip(names, row, strict=True):
            made.add_row(Text(name), Text(cell))
        yield made


def as_json(names: Sequence[str], rows: Iterable[Sequence[Any]]) -> Iterator[str]:
    """A list of objects, one per line."""
    before = "["
    for row in rows:
        yield f"{before}\n{json.dumps(dict(zip(names, map(plain, row), strict=True)), allow_nan=False)}"
        before = ","
    yield "[]\n" if before == "[" else "\n]\n"


def as_csv(names: Sequence[str], rows: Iterable[Sequence[Any]]) -> Iterator[str]:
    """With a line of names; null is empty, and nothing is a formula to a spreadsheet."""
    line = io.StringIO()
    writer = csv.writer(line, lineterminator="\n")
    writer.writerow([in_csv(name) for name in names])
    for row in rows:
        writer.writerow([_field(value) for value in row])
        if line.tell() > io.DEFAULT_BUFFER_SIZE:
            yield line.getvalue()
            line.seek(0)
            line.truncate()
    yield line.getvalue()


def _is_number(type_: str) -> bool:
    return any(word in type_ for word in _NUMBERS) and not type_.endswith("]") and "STRUCT" not in type_


def _cell(value: Any) -> str:
    match value:
        case None:
            return "–"
        case bool():
            return "yes" if value else "no"
        case int():
            return number(value)
        case float():
            return f"{value:,.6g}" if abs(value) < 1e6 else f"{value:,.1f}"
        case datetime():
            return value.isoformat(" ", "seconds" if not value.microsecond else "auto")
        case list() | dict() | tuple():
            return in_terminal(json.dumps(plain(value), ensure_ascii=False))
    return in_terminal(str(value))


def _field(value: Any) -> Any:
    match value:
        case None:
            return ""
        case bool():
            return "true" if value else "false"
        case int() | float() | Decimal():
            return value
        case str():
            return in_csv(value)
    known = plain(value)
    return in_csv(known if isinstance(known, str) else json.dumps(known))


def plain(value: Any) -> Any:
    """As JSON knows it. Whole numbers stay whole; what is no number at all is null; times are ISO 8601, in UTC."""
    match value:
        case None | bool() | int() | str():
            return value
        case float():
            return value if isfinite(value) else None
        case Decimal():
            return int(value) if value == value.to_integral_value() else float(value)
        case datetime():
            return value.isoformat() + ("" if value.tzinfo else "Z")
        case date() | time():
            return value.isoformat()
        case timedelta():
            return value.total_seconds()
        case bytes():
            return value.hex()
        case Mapping():
            return {str(name): plain(each) for name, each in value.items()}
        case list() | tuple() | set():
            return [plain(each) for each in value]
    return str(value)
