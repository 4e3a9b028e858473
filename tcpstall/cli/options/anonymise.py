"""The options that make results safe to share."""

from typing import TYPE_CHECKING

import click

from tcpstall import keys
from tcpstall.cli.options.paths import PathType
from tcpstall.cli.options.together import together
from tcpstall.cli.process.exits import complain

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["anonymise_options", "key_of"]


anonymise_options = together(
    click.option("--anonymise", is_flag=True,
                 help="Put pseudonyms for addresses, and leave out labels, names and payload."),
    click.option("--key", "key_file", type=PathType(dir_okay=False), metavar="FILE",
                 help="File of the key: the same key gives the same pseudonyms. Made if "
                 "it is not there.  [default: a new key that nobody keeps]"),
)  # fmt: skip
"""Adds `--anonymise` and `--key`, which `key_of` turns into one value."""


def key_of(anonymise: bool, key_file: "Path | None") -> bytes | None:
    """The key, or None without --anonymise."""
    if not anonymise:
        if key_file is not None:
            raise click.UsageError("--key is for --anonymise: give both")
        return None
    if key_file is None:
        return keys.fresh()
    key, made = keys.stored(key_file)
    if made:
        complain(f"made a key in {key_file}: whoever has it can find out whom the pseudonyms stand for")
    return key
