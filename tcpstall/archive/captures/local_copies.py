"""Captures of other places as files of this machine, for what reads files alone."""

import errno
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import BinaryIO, Protocol

from tcpstall import _core
from tcpstall.archive.captures.open_members import opener, reason
from tcpstall.archive.captures.tar import Window
from tcpstall.errors import CannotOpen

__all__ = ["copied", "joined"]

_PIECE = 256 << 10
"""Bytes held while a capture is copied."""


class _Source(Protocol):
    def read(self, size: int, /) -> bytes: ...


def copied(name: str, target: Path, progress: Callable[[int, int | None], None]) -> None:
    """Writes what a URL or a member of an archive holds to the new file `target`, compressed as it is.

    Of a member that is damaged the part before the damage is written. `progress` is called with bytes copied and bytes
    in all. Raises CannotOpen.
    """
    with opener().reading(name) as source, _new(name, target) as file:
        size = getattr(source, "size", None)
        for done in _poured(name, source, file):
            progress(done, size)


def joined(files: Sequence[tuple[str, str]], target: Path) -> None:
    """Writes several captures, (name, file) each, unpacked behind each other to the new file `target`.

    The core reads captures that were appended to each other as one. Raises CannotOpen.
    """
    with _new(files[0][0], target) as whole:
        for name, file in files:
            for _ in _poured(name, _unpacked(name, file), whole):
                pass


def _unpacked(name: str, file: str) -> _Source:
    try:
        return _core.Unpacked(file)
    except OSError as error:
        raise CannotOpen(f"cannot open {name}: {error.strerror or error}") from error


def _poured(name: str, source: _Source, file: BinaryIO) -> Iterator[int]:
    """Bytes copied so far, after each piece."""
    done = 0
    while piece := _read(name, source):
        try:
            file.write(piece)
            file.flush()
        except OSError as error:
            raise _no_room(name, error) from error
        done += len(piece)
        yield done


def _read(name: str, source: _Source) -> bytes:
    """The next piece; nothing at the end, or where a file is damaged whose beginning can be used."""
    try:
        return source.read(_PIECE)
    except Exception as error:  # drivers raise whatever their libraries do
        damaged = isinstance(source, _core.Unpacked) or (isinstance(source, Window) and not source.failed)
        if isinstance(error, OSError) and damaged:
            return b""
        raise CannotOpen(f"cannot read {name}: {reason(name, error)}") from error


def _new(name: str, target: Path) -> BinaryIO:
    try:
        return target.open("xb")
    except OSError as error:
        raise _no_room(name, error) from error


def _no_room(name: str, error: OSError) -> CannotOpen:
    hint = "; TMPDIR can name a folder with more room" if error.errno in (errno.ENOSPC, errno.EDQUOT) else ""
    return CannotOpen(f"cannot copy {name} to the folder of temporary files: {error.strerror or error}{hint}")
