"""Jira's wiki markup, as Jira Server, Data Center and the importer of Jira Cloud read it."""

import re
from collections.abc import Iterable
from pathlib import PurePath

from tcpstall.report.ticket.blocks import Block, Code, Foreign, Heading, Items, Paragraph, Picture, Strong, Table, Words
from tcpstall.untrusted import in_jira, in_terminal

__all__ = ["in_wiki_markup"]

_MARKUP = re.compile(r"[\\{}\[\]|*!^~]|(?<!\w)[-_+?]|[-_+?](?!\w)")
"""Characters that may begin markup in own text; inside a word the last four do not."""

_WIDTH_PX = 1_000


def in_wiki_markup(blocks: Iterable[Block]) -> str:
    """The blocks, an empty line between them."""
    return "\n\n".join(map(_block, blocks)) + "\n"


def _block(block: Block) -> str:
    match block:
        case Code(lines):
            return "\n".join(["{noformat}", *map(in_terminal, lines), "{noformat}"])
        case Heading(level, words):
            return f"h{level + 1}. {_line(words)}"
        case Paragraph(words):
            return _line(words)
        case Items(items):
            return "\n".join(f"* {_line(words)}" for words in items)
        case Table(headings, rows, _):
            head = f"||{'||'.join(map(_escaped, headings))}||"
            return "\n".join([head, *(f"|{'|'.join(_line(cell) or ' ' for cell in row)}|" for row in rows)])
        case Picture(path, _):
            # Jira finds attachments of the same ticket by name; folders do not exist there.
            return f"!{PurePath(path).name}|width={_WIDTH_PX}!"


def _line(words: Words) -> str:
    return "".join(map(_word, words))


def _word(word: str | Foreign | Strong) -> str:
    match word:
        case Foreign(text):
            return f"{{{{{in_jira(text)}}}}}" if text.strip() else in_jira(text)
        case Strong(text):
            return f"*{_escaped(text)}*"
        case str():
            return _escaped(word)


def _escaped(text: str) -> str:
    # Two backslashes are a line end.
    return _MARKUP.sub(lambda found: in_jira("\\") if found[0] == "\\" else f"\\{found[0]}", text)
