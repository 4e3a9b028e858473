"""The README's examples: commands, and where it shows one what it prints."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

__all__ = ["ELSEWHERE", "Example", "examples"]

README = Path(__file__).parents[2] / "README.md"

_BLOCK = re.compile(r"^```(sh|console)\n(.*?)^```", re.MULTILINE | re.DOTALL)

_PROMPT = "$ "

_LIVE = "tcpdump -i eth0 -s 96 -w - tcp"
"""A live capture; another program writes a capture into the same pipe here."""

ELSEWHERE = ("s3://", "/srv/", ".venv", "pip install")
"""Marks of examples that need another machine, or that install."""


@dataclass(frozen=True, slots=True)
class Example:
    """A line for a shell; `printed` is None where the README does not show it."""

    command: str
    printed: str | None = None


def examples() -> Iterator[Example]:
    """In the README's order, each once."""
    seen = set()
    for kind, text in _BLOCK.findall(README.read_text()):
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
