"""What the store knows of files that have not changed: they are not opened to see what they are."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from tcpstall.archive.found import Input
from tcpstall.archive.opened import split
from tcpstall.errors import ExitCode

__all__ = ["Remembered"]


class Remembered:
    """Called with a file's name, size and time of change; gives the captures that were in it, or None."""

    def __init__(self, captures: Iterable[Mapping[str, Any]]) -> None:
        self._known: dict[str, list[Input]] = defaultdict(list)
        for row in captures:
            if row["exit_code"] != ExitCode.CANNOT_OPEN:
                file, _ = split(row["name"])
                self._known[file].append(_input(row))

    def __call__(self, name: str, size: int, changed_ns: int | None) -> Sequence[Input] | None:
        """Of an archive the time alone tells: its members have sizes of their own."""
        known = [each for each in self._known.get(name, ()) if each.changed_ns == changed_ns]
        alone = [each for each in known if each.name == name]
        if alone:
            return alone if alone[0].size == size else None
        return known or None


def _input(row: Mapping[str, Any]) -> Input:
    refused = row["scan"] is None and row["exit_code"] == ExitCode.NOT_A_CAPTURE
    return Input(
        row["name"],
        row["size_bytes"],
        row["changed_ns"],
        row["format"],
        row["compression"],
        row["first_ns"],
        row["error"] if refused else None,
        row["exit_code"] if refused else ExitCode.COMPLETE,
    )
