"""Examples of the README and the pages: commands, and what they print where that is shown."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from tests.documents import DOCS, README

__all__ = ["ELSEWHERE", "Example", "examples"]

DOCUMENTS = (README, DOCS / "commands.md", DOCS / "check.md", DOCS / "archive.md", DOCS / "whatif.md")

_BLOCK = re.compile(r"^```(sh|console)\n(.*?)^```", re.MULTILINE | re.DOTALL)

_PROMPT = "$ "

_LIVE = "tcpdump -i eth0 -s 96 -w - tcp"
"""A live capture; another program writes a capture into the same pipe here."""

ELSEWHERE = ("s3://", "/srv/", ".venv", "pip install", "tcpdump -i")
"""Marks of examples that need another machine or live traffic, or that install."""


@dataclass(frozen=True, slots=True)
class Example:
    """A line for a shell; `printed` is None where the document does not show it."""

    command: str
    printed: str | None = None


def examples() -> Iterator[Example]:
    """In the order of the documents, each once."""
    seen = set()
    for kind, text in _BLOCK.findall("\n".join(document.read_text() for document in DOCUMENTS)):
        for example in _shown(text) if kind == "console" else _listed(text):
            if example.command not in seen and not any(mark in example.command for mark in ELSEWHERE):
                seen.add(example.command)
                yield example


def _listed(text: str) -> Iterator[Example]:
    for line in text.splitlines():
        command = re.sub(r"\s{2,}#.*", "", line).replace(_LIVE, "cat transfer.pcap")
        if command:
            yield Example(command)


def _shown(text: str) -> Iterator[Example]:
    """A command goes on in the next line until its quotes are closed."""
    command, printed = "", ""
    for line in text.splitlines(keepends=True):
        if command.count('"') % 2:
            command += line
        elif line.startswith(_PROMPT):
            if command:
                yield Example(command, printed)
            command, printed = line.removeprefix(_PROMPT), ""
        else:
            printed += line
    if command:
        yield Example(command, printed)
