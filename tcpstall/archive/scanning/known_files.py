"""Captures that the store knows in unchanged files: these files are not opened to detect their format."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from tcpstall.archive.captures.input import Input
from tcpstall.archive.captures.open_members import split
from tcpstall.errors import ExitCode

__all__ = ["Remembered"]

Row = Mapping[str, Any]


class Remembered:
    """Called with a file's name, size and time of change; gives the captures that were in it, or None."""

    def __init__(self, captures: Iterable[Row], archives: Mapping[str, Row]) -> None:
        """Rows of captures that count, and what is recorded of archives that were read to their end."""
        self._archives = archives
        self._alone: dict[str, list[Row]] = defaultdict(list)
        self._within: dict[str, list[Row]] = defaultdict(list)
        for row in captures:
            self._alone[row["name"]].append(row)
            if archives and (file := split(row["name"])[0]) in archives:
                self._within[file].append(row)

    def __call__(self, name: str, size: int, changed_ns: int | None) -> Sequence[Input] | None:
        """Of an archive all members or nothing: rows of some are no sign that it has no others."""
        archive = self._archives.get(name)
        if archive is not None and (archive["size_bytes"], archive["changed_ns"]) == (size, changed_ns):
            within = [row for row in self._within[name] if row["changed_ns"] == changed_ns]
            return [_member(row) for row in within] if len(within) == archive["members"] else None
        alone = [row for row in self._alone[name] if (row["size_bytes"], row["changed_ns"]) == (size, changed_ns)]
        return [_file(row) for row in alone] if alone and all(map(_is_known_for_good, alone)) else None


def _is_known_for_good(row: Row) -> bool:
    """Not where it could not be read, this time or as what it was taken for: a look tells what it is."""
    if row["scan"] is None:
        return row["exit_code"] in (ExitCode.COMPLETE, ExitCode.NOT_A_CAPTURE, ExitCode.DEFECT)
    return bool(row["exit_code"] != ExitCode.NOT_A_CAPTURE)


def _file(row: Row) -> Input:
    refused = row["scan"] is None and row["exit_code"] == ExitCode.NOT_A_CAPTURE
    return _input(row, refused)


def _member(row: Row) -> Input:
    """The listing's errors too; what was given up is as good a capture as any."""
    return _input(row, row["scan"] is None and row["exit_code"] != ExitCode.DEFECT and row["fingerprint"] is None)


def _input(row: Row, refused: bool) -> Input:
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
