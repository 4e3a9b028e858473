"""Styles and columns of tables: causes in their own colours, figures that are never cut."""

from collections.abc import Sequence
from dataclasses import replace

from rich.box import SIMPLE_HEAD
from rich.cells import cell_len
from rich.table import Column, Table
from rich.text import Text

from tcpstall.causes import Cause

__all__ = ["cause_text", "figures", "table", "words"]

_BETWEEN_COLUMNS = 2

_NARROWEST_WORDS = 17
"""Words fold into further lines, but hold the longest cause's name in one."""


def cause_text(cause: Cause) -> Text:
    """A cause's name in its colour."""
    return Text(cause.value, cause.colour)


def figures(*headings: str) -> list[Column]:
    """Right-aligned columns that keep their width."""
    return [Column(heading, justify="right", no_wrap=True, overflow="fold") for heading in headings]


def words(heading: str) -> Column:
    """A column that folds where the terminal is narrow."""
    return Column(heading, overflow="fold")


def table(
    title: str,
    columns: Sequence[Column],
    rows: Sequence[Sequence[str | Text]],
    width: int,
    spare: Sequence[str] = (),
) -> Table:
    """A table of at most `width` columns, wider only where figures would be cut otherwise.

    Where there is too little room the columns whose headings are `spare` are left out, the first ones first.
    """
    cells = [[str(column.header), *(row[place] for row in rows)] for place, column in enumerate(columns)]
    least = [_least(column, below, whole=bool(spare)) for column, below in zip(columns, cells, strict=True)]
    kept = _kept(columns, least, width, spare)
    given = _given(cells, least, kept, width) if spare else {}
    made = Table(
        *(replace(columns[place], min_width=least[place], width=given.get(place)) for place in kept),
        title=title,
        title_justify="left",
        title_style="bold",
        box=SIMPLE_HEAD,
        show_edge=False,
        pad_edge=False,
        padding=(0, _BETWEEN_COLUMNS - 1, 0, 0),
    )
    for row in rows:
        # As it stands on any console: rich reads markup in plain strings unless the console was told not to.
        shown = (row[place] for place in kept)
        made.add_row(*(cell if isinstance(cell, Text) else Text(cell) for cell in shown))
    if (needed := _needed(least, kept)) > width:
        made.width = needed
    return made


def _least(column: Column, cells: Sequence[str | Text], *, whole: bool) -> int:
    """The least width of a column: figures keep theirs, words fold, `whole` or where an address is too long."""
    longest = max(map(_longest_line, cells))
    token = max(cell_len(word) for cell in cells for word in (str(cell).split() or [""])) if whole else 0
    return longest if column.no_wrap else min(longest, max(_NARROWEST_WORDS, token))


def _kept(columns: Sequence[Column], least: Sequence[int], width: int, spare: Sequence[str]) -> list[int]:
    """The places of the columns that are shown."""
    kept = list(range(len(columns)))
    for heading in spare:
        if _needed(least, kept) > width:
            kept = [place for place in kept if columns[place].header != heading]
    return kept


def _given(
    cells: Sequence[Sequence[str | Text]], least: Sequence[int], kept: Sequence[int], width: int
) -> dict[int, int]:
    """Widths of columns with too little room for their content: by default rich breaks words."""
    room = width - _needed(least, kept)
    given = {}
    for place in kept:
        given[place] = min(max(map(_longest_line, cells[place])), least[place] + max(room, 0))
        room -= given[place] - least[place]
    return given


def _needed(least: Sequence[int], kept: Sequence[int]) -> int:
    return sum(least[place] + _BETWEEN_COLUMNS for place in kept)


def _longest_line(cell: str | Text) -> int:
    return max(cell_len(line) for line in str(cell).split("\n"))
