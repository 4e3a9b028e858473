"""Plain text for mails and old trackers: own text in ASCII, no line longer than 100 but commands, no boxes."""

import textwrap
from collections.abc import Iterable, Sequence

from rich.cells import cell_len

from tcpstall.report.ticket.blocks import Block, Code, Foreign, Heading, Items, Paragraph, Picture, Strong, Table, Words
from tcpstall.units import in_ascii
from tcpstall.untrusted import in_terminal

__all__ = ["in_plain_text"]

_WIDTH = 100
_GAP = "  "


def in_plain_text(blocks: Iterable[Block]) -> str:
    """The blocks, an empty line between them."""
    return "\n\n".join(map(_block, blocks)) + "\n"


def _block(block: Block) -> str:
    match block:
        case Code(lines):
            return "\n".join(f"    {in_ascii(in_terminal(line))}" for line in lines)
        case Heading(level, words):
            line = _line(words)
            return f"{_wrapped(line)}\n{('=' if level == 1 else '-') * min(cell_len(line), _WIDTH)}"
        case Paragraph(words):
            return _wrapped(_line(words))
        case Items(items):
            return "\n".join(_wrapped(_line(words), "- ", "  ") for words in items)
        case Table(headings, rows, figures):
            return _table(
                [in_ascii(heading) for heading in headings], [[_line(cell) for cell in row] for row in rows], figures
            )
        case Picture(path, shows):
            return _wrapped(f"Picture {in_terminal(path)}: {in_ascii(shows)}")


def _table(headings: Sequence[str], rows: Sequence[Sequence[str]], figures: frozenset[int]) -> str:
    """In columns where they fit, else a paragraph a row, which a mail may fold without harm."""
    lines = [headings, *rows]
    widths = [max(cell_len(line[column]) for line in lines) for column in range(len(headings))]
    if sum(widths) + len(_GAP) * (len(widths) - 1) <= _WIDTH:
        return "\n".join(_aligned(line, widths, figures) for line in lines)
    # A heading with an arrow says in which order its cell names two things: the cell says it too.
    names = ["" if "->" in heading else f"{heading} " for heading in headings]
    told = (", ".join(f"{name}{cell}" for name, cell in zip(names, row, strict=True) if cell) for row in rows)
    return "\n".join(_wrapped(line, "- ", "  ") for line in told)


def _aligned(cells: Sequence[str], widths: Sequence[int], figures: frozenset[int]) -> str:
    padded = (
        _room(cell, width) + cell if column in figures else cell + _room(cell, width)
        for column, (cell, width) in enumerate(zip(cells, widths, strict=True))
    )
    return _GAP.join(padded).rstrip()


def _room(cell: str, width: int) -> str:
    return " " * (width - cell_len(cell))


def _wrapped(line: str, first: str = "", further: str = "") -> str:
    return textwrap.fill(line, _WIDTH, initial_indent=first, subsequent_indent=further, break_on_hyphens=False)


def _line(words: Words) -> str:
    return "".join(map(_word, words))


def _word(word: str | Foreign | Strong) -> str:
    match word:
        case Foreign(text):
            return in_terminal(text)
        case Strong(text):
            return in_ascii(text)
        case str():
            return in_ascii(word)
