"""Fingerprints, by which captures are recognised when they have moved."""

import hashlib
import os
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Self

from tcpstall.archive.captures import remote
from tcpstall.archive.captures.open_members import opener, split
from tcpstall.errors import CannotOpen

if TYPE_CHECKING:
    from concurrent.futures import Future, ThreadPoolExecutor

__all__ = ["Fingerprints", "fingerprint", "is_unchanged", "is_untouched"]

_BLOCK = 64 << 10
_BLOCKS = 16
"""1 MiB in all: an archive of 100 TB in files of 100 MB is told by 1 TB."""

_AHEAD = 16
"""Files behind URLs looked at together: each takes a request's time, 20 to 100 ms, whatever is asked for."""


def fingerprint(name: str, size: int) -> str:
    """A digest of the size and of 16 blocks of 64 KiB, spread evenly, the first and the last among them.

    Up to 1 MiB that is the whole content. Of a longer file it does not see what changed between the blocks while its
    size stayed: an edit in place, which nothing that writes captures does. Of what is damaged within an archive it sees
    what comes before the damage. Raises CannotOpen.
    """
    if size <= _BLOCK * _BLOCKS:
        ranges = [(0, size)]
    else:
        ranges = [(number * (size - _BLOCK) // (_BLOCKS - 1), _BLOCK) for number in range(_BLOCKS)]
    digest = hashlib.blake2b(size.to_bytes(8, "big"), digest_size=16)
    for piece in _requested(name, ranges) if _is_plain_url(name) else _read(name, ranges):
        digest.update(piece)
    return digest.hexdigest()


def is_unchanged(name: str, size: int, changed_ns: int | None, digest: str) -> bool:
    """True if a file still begins with the content that the digest was taken of; it may have grown.

    A file of this machine is read only where its time or size has changed.
    """
    try:
        return is_untouched(name, size, changed_ns) or fingerprint(name, size) == digest
    except (CannotOpen, OSError):
        return False


def is_untouched(name: str, size: int, changed_ns: int | None) -> bool:
    """True if a file of this machine, or its archive, still has the time and the size with which it was found."""
    file, member = split(name)
    if remote.is_url(file):
        return False
    try:
        about = os.stat(remote.local(file))  # noqa: PTH116 - a Path takes longer than the system
    except OSError:
        return False
    return about.st_mtime_ns == changed_ns and (member is not None or about.st_size == size)


class Fingerprints:
    """Fingerprints of files, asked for one by one; while that follows their order, URLs are looked at ahead."""

    def __init__(self, files: Sequence[tuple[str, int]]) -> None:
        """Names and sizes."""
        self._files = files
        self._any_url = any(_is_plain_url(name) for name, _ in files)
        self._numbers = {name: number for number, (name, _) in enumerate(files)}
        self._ahead: dict[int, Future[str]] = {}
        self._last = -1
        self._pool: ThreadPoolExecutor | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)

    def __call__(self, name: str, size: int) -> str:
        """As the function."""
        number = self._numbers.get(name, -1)
        if self._any_url and number == self._last + 1:
            self._look_ahead(number)
        self._last = number
        begun = self._ahead.pop(number, None)
        return fingerprint(name, size) if begun is None else begun.result()

    def _look_ahead(self, number: int) -> None:
        """At first all of an archive are asked for in their order; later a few, which are not its beginning."""
        if self._pool is None:
            from concurrent.futures import ThreadPoolExecutor

            self._pool = ThreadPoolExecutor(_AHEAD, "fingerprint")
        for later in range(number, min(number + _AHEAD, len(self._files))):
            if later not in self._ahead and _is_plain_url(self._files[later][0]):
                self._ahead[later] = self._pool.submit(fingerprint, *self._files[later])


def _is_plain_url(name: str) -> bool:
    return remote.is_url(name) and split(name)[1] is None


def _requested(name: str, ranges: Sequence[tuple[int, int]]) -> Sequence[bytes]:
    """All ranges at once where the driver can."""
    files, path = remote.filesystem(name)
    starts, ends = [start for start, _ in ranges], [start + length for start, length in ranges]
    try:
        with remote.told(name):
            pieces: Sequence[bytes] = files.cat_ranges([path] * len(ranges), starts, ends, on_error="raise")
            return pieces
    except FileNotFoundError as error:
        raise CannotOpen(f"cannot open {name}: there is no such file") from error


def _read(name: str, ranges: Sequence[tuple[int, int]]) -> Iterator[bytes]:
    within = split(name)[1] is not None
    if not (within or remote.is_url(name)):
        yield from _of_file(name, ranges)
        return
    try:
        with opener().reading(name) as file:
            for start, left in ranges:
                file.seek(start)
                while left > 0 and (piece := file.read(left)):
                    yield piece
                    left -= len(piece)
    except CannotOpen:
        raise
    except OSError as error:
        if not within:
            raise CannotOpen(f"cannot read {name}: {error.strerror or error}") from error


def _of_file(name: str, ranges: Sequence[tuple[int, int]]) -> Iterator[bytes]:
    """Of a file of this machine: a file object takes longer than the content of a small capture."""
    try:
        file = os.open(remote.local(name), os.O_RDONLY | os.O_CLOEXEC)
    except OSError as error:
        raise CannotOpen(f"cannot open {name}: {error.strerror}") from error
    try:
        for start, left in ranges:
            while left > 0 and (piece := os.pread(file, left, start)):
                yield piece
                start += len(piece)
                left -= len(piece)
    except OSError as error:
        raise CannotOpen(f"cannot read {name}: {error.strerror or error}") from error
    finally:
        os.close(file)
