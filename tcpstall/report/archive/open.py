"""How to look at a flow that shows something: its captures and the command that opens them."""

import shlex

from tcpstall.losses import Example

__all__ = ["captures_of", "command_for"]

_UNIQUE = 8
"""Digits of a scan that tell it apart in a file's name."""


def captures_of(example: Example) -> str:
    """`eth0.pcap7`, `eth0.pcap7 and 2 more`: names without folders, for a cell."""
    first, *rest = (name.rpartition("/")[2] or name for name in example.captures)
    return f"{first} and {len(rest)} more" if rest else first


def command_for(example: Example) -> str:
    """A line for a shell that makes the page of that flow."""
    client = example.client
    page = f"flow-{example.scan[:_UNIQUE]}-{example.flow}.html"
    words = ["report", *(_argument(name) for name in example.captures)]
    return shlex.join(["tcpstall", *words, "--host", client.address, "--port", str(client.port), "-o", page])


def _argument(name: str) -> str:
    """A file's name that is not taken for an option."""
    return f"./{name}" if name.startswith("-") else name
