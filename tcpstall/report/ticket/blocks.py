"""Blocks of a ticket without markup: the origin of a word decides its escaping."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

__all__ = ["Block", "Code", "Foreign", "Heading", "Items", "Paragraph", "Picture", "Strong", "Table", "Word", "Words"]


@dataclass(frozen=True, slots=True)
class Foreign:
    """Text that strangers wrote, or the user: never markup."""

    text: str


@dataclass(frozen=True, slots=True)
class Strong:
    """Own text with emphasis."""

    text: str


Word: TypeAlias = str | Foreign | Strong
"""A plain string is own text too."""

Words: TypeAlias = Sequence[Word]


@dataclass(frozen=True, slots=True)
class Heading:
    """`level` 1 is the title."""

    level: int
    words: Words


@dataclass(frozen=True, slots=True)
class Paragraph:
    """Lines that flow into one another."""

    words: Words


@dataclass(frozen=True, slots=True)
class Items:
    """A list, an item each."""

    items: Sequence[Words]


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of cells under headings; the columns in `figures` are set to the right."""

    headings: Sequence[str]
    rows: Sequence[Sequence[Words]]
    figures: frozenset[int] = frozenset()


@dataclass(frozen=True, slots=True)
class Picture:
    """A file beside the text, its path as a link finds it, and what it shows."""

    path: str
    shows: str


@dataclass(frozen=True, slots=True)
class Code:
    """Own lines to be copied as they stand: no folding, no markup. They hold no backtick."""

    lines: Sequence[str]


Block: TypeAlias = Code | Heading | Paragraph | Items | Table | Picture
