"""Groups the captures of a command into streams: rotated files by name, capture points on request."""

from collections.abc import Sequence
from typing import TypedDict

import click

from tcpstall.cli.options.together import together

__all__ = ["Streams", "streams", "streams_options"]


class Streams(TypedDict):
    """The groups as the core takes them."""

    sets: Sequence[int]
    missing_before: Sequence[int]


streams_options = together(
    click.option("--merge", is_flag=True,
                 help="Read all captures as one, by time: several capture points. Packets that two of them "
                 "hold at the same time count once; two ends of one path are refused: see tcpstall pair."),
    click.option("--separate", is_flag=True,
                 help="Read each capture by itself. Otherwise files that tcpdump or dumpcap rotated, by their "
                 "names, are read as one."),
)  # fmt: skip
"""Adds the options to a command."""


def streams(captures: Sequence[str], *, merge: bool, separate: bool) -> Streams:
    """The stream of each capture, and the captures before which a file is missing."""
    if merge and separate:
        raise click.UsageError("--merge reads all captures as one, --separate each by itself: give one of them")
    if separate or len(captures) < 2:
        return Streams(sets=(), missing_before=())
    from tcpstall.archive.captures.rotation import sets

    own, missing = sets(captures)
    return Streams(sets=[0] * len(captures) if merge else own, missing_before=missing)
