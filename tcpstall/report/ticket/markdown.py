"""Markdown as GitHub, GitLab and chats read it (CommonMark with tables)."""

import re
from collections.abc import Iterable
from urllib.parse import quote

from tcpstall.report.ticket.blocks import Block, Code, Foreign, Heading, Items, Paragraph, Picture, Strong, Table, Words
from tcpstall.untrusted import in_markdown, in_terminal

__all__ = ["in_github_markdown"]

_MARKUP = re.compile(r"[\\`*\[\]<>|~#]|(?<!\w)_|_(?!\w)")
"""Characters that may begin markup in own text; an underscore inside a word does not."""


def in_github_markdown(blocks: Iterable[Block]) -> str:
    """The blocks, an empty line between them."""
    return "\n\n".join(map(_block, blocks)) + "\n"


def _block(block: Block) -> str:
    match block:
        case Code(lines):
            return "\n".join(["```sh", *map(in_terminal, lines), "```"])
        case Heading(level, words):
            return f"{'#' * level} {_line(words)}"
        case Paragraph(words):
            return _line(words)
        case Items(items):
            return "\n".join(f"- {_line(words)}" for words in items)
        case Table(headings, rows, figures):
            rules = ["---:" if column in figures else "---" for column in range(len(headings))]
            return "\n".join([_row(map(_escaped, headings)), _row(rules), *(_row(map(_line, row)) for row in rows)])
        case Picture(path, shows):
            return f"![{_escaped(shows)}]({quote(path)})"


def _row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _line(words: Words) -> str:
    return "".join(map(_word, words))


def _word(word: str | Foreign | Strong) -> str:
    match word:
        case Foreign(text):
            return in_markdown(text)
        case Strong(text):
            return f"**{_escaped(text)}**"
        case str():
            return _escaped(word)


def _escaped(text: str) -> str:
    return _MARKUP.sub(lambda found: f"\\{found[0]}", text)
