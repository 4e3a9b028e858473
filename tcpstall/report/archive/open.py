"""The way to open an example flow: its captures and commands."""

import shlex

from rich.text import Text

from tcpstall.lost_time import Example
from tcpstall.untrusted import in_terminal

__all__ = ["captures_of", "command_line", "page_command_for"]

_UNIQUE = 8
"""Digits of a scan that tell it apart in a file's name."""


def captures_of(example: Example) -> str:
    """`eth0.pcap7`, `eth0.pcap7 and 2 more`: names without folders, for a cell."""
    first, *rest = (name.rpartition("/")[2] or name for name in example.captures)
    return f"{first} and {len(rest)} more" if rest else first


def command_line(example: Example, store: str) -> Text:
    """The command that shows the whole flow; `store` is the folder or URL as the user gave it, if it gave one alone.

    Never folded: it is copied.
    """
    command = shlex.join(_words("analyze", example, store))
    return Text(in_terminal(f"   {command}"), "dim", no_wrap=True, overflow="ignore")


def page_command_for(example: Example, store: str) -> str:
    """A line for a shell that makes the page of the flow."""
    page = f"flow-{example.scan[:_UNIQUE]}-{example.flow}.html"
    return shlex.join([*_words("report", example, store), "-o", page])


def _words(command: str, example: Example, store: str) -> list[str]:
    return ["tcpstall", command, "--store", example.store or store, "--flow", f"{example.scan}/{example.flow}"]
