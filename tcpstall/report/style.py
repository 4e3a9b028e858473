"""How each kind of thing looks: causes in their own colours, figures that are never cut."""

from collections.abc import Sequence

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
    made = Table(
        *columns,
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
        made.add_row(*(cell if isinstance(cell, Text) else Text(cell) for cell in row))
    for index, column in enumerate(made.columns):
        longest = max(_longest_line(cell) for cell in (str(column.header), *(row[index] for row in rows)))
        column.min_width = longest if column.no_wrap else min(longest, _NARROWEST_WORDS)
    for heading in spare:
        if _needed(made) > width:
            made.columns = [column for column in made.columns if column.header != heading]
    if (needed := _needed(made)) > width:
        made.width = needed
    return made


def _needed(made: Table) -> int:
    return sum((column.min_width or 0) + _BETWEEN_COLUMNS for column in made.columns)


def _longest_line(cell: str | Text) -> int:
    return max(cell_len(line) for line in str(cell).split("\n"))
