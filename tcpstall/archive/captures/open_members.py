"""Captures that are no plain files, opened where they lie: members of archives, and URLs."""

import atexit
import functools
import os
import threading
from collections import OrderedDict
from pathlib import Path
from typing import Any, BinaryIO, cast

from tcpstall import _core
from tcpstall.archive.captures import remote
from tcpstall.archive.captures.tar import BLOCK, Archive, DamagedArchive, Tape, Window, is_tar
from tcpstall.errors import CannotOpen

__all__ = ["Opener", "Source", "opened", "opener", "reason", "split"]

WITHIN = "!/"
"""Between an archive's name and a member's."""

_ARCHIVES = 4
"""Archives kept open by one opener: sets lie within one, a reading beside it may use another."""

_RANGE = 4 << 20
_RANGES = 4
"""URLs are read in ranges of 4 MiB, the next one fetched while one is read, 4 held: 16 MiB for each open URL.

A request takes 20 to 100 ms whatever its size; S3's guide to performance recommends 8 to 16 MiB.
"""

_NOT_FOUND = 404
"""HTTP's status (RFC 9110 §15.5.5)."""

_BEGINNING = 64 << 10
"""Fetched at once where only a beginning is wanted: any compression's first block but bzip2's."""


def split(name: str) -> tuple[str, str | None]:
    """An archive's name and a member's, or the whole name and None."""
    if "://" in name:
        outer, within, member = name.partition(WITHIN)
        return outer, member if within else None
    at = name.find(WITHIN)
    while at >= 0 and not Path(name).is_file():
        if Path(name[:at]).is_file():
            return name[:at], name[at + len(WITHIN) :]
        at = name.find(WITHIN, at + 1)
    return name, None


class Opener:
    """Opens names, and keeps archives open: members of a compressed one that are read in order cost one pass in all."""

    def __init__(self) -> None:
        self._archives: OrderedDict[tuple[str, object], Archive] = OrderedDict()
        self._lock = threading.Lock()

    def __call__(self, name: str) -> BinaryIO | None:
        """Opens the name; None where it is a plain file of this machine. Raises CannotOpen."""
        outer, member = split(name)
        if member is not None:
            return cast("BinaryIO", self.window(outer, member))
        if remote.is_url(name):
            return self._url(name)
        return None if remote.local(name) == name else self._plain(name)

    def beginning(self, name: str) -> BinaryIO | None:
        """As a call, for one who reads some kilobytes: of a URL no more is fetched than that."""
        if remote.is_url(name) and split(name)[1] is None:
            return self._url(name, block_size=_BEGINNING, cache_type="readahead", cache_options=None)
        return self(name)

    def reading(self, name: str) -> BinaryIO:
        """Opens a name, plain files too. Raises CannotOpen."""
        return self(name) or self._plain(name)

    def archive(self, name: str) -> Archive:
        """The archive of that name, compressed or not, as it is now. Raises CannotOpen."""
        version = name, _version(name)
        with self._lock:
            found = self._archives.get(version)
            if found is not None and found.tape.failed:
                self._archives.pop(version).tape.let_go()
                found = None
            if found is None:
                found = self._archives[version] = Archive(self._tape(name))
                while len(self._archives) > _ARCHIVES:
                    self._archives.popitem(last=False)[1].tape.let_go()
            self._archives.move_to_end(version)
            return found

    def failed(self, name: str) -> bool:
        """True if the archive of that name could not be read, whatever its content."""
        return any(archive.tape.failed for (of, _), archive in self._archives.items() if of == name)

    def close(self) -> None:
        """Gives back what is kept open."""
        while self._archives:
            self._archives.popitem()[1].tape.let_go()

    def window(self, outer: str, member: str) -> Window:
        """A member of an archive. Raises CannotOpen."""
        archive = self.archive(outer)
        try:
            found = archive.member(member)
        except DamagedArchive as error:
            raise CannotOpen(f"{outer}{WITHIN}{member}: {error}") from error
        if found is None or found.problem:
            why = found.problem if found else "no such file in this archive"
            raise CannotOpen(f"{outer}{WITHIN}{member}: {why}")
        return archive.window(found)

    def _tape(self, name: str) -> Tape:
        failures: list[Exception] = []
        try:
            plain = Source(self.reading(name), failures)
            if is_tar(plain.read(BLOCK)):
                length = plain.seek(0, 2)
                plain.seek(0)
                return Tape(lambda: plain, length=length, failed=lambda: bool(failures))
            plain.close()
            return Tape(
                lambda: _core.Unpacked(cast("BinaryIO", Source(self.reading(name), failures))),
                failed=lambda: bool(failures),
            )
        except OSError as error:
            if failures:
                raise CannotOpen(f"cannot read {name}: {error}") from error
            raise

    def _plain(self, name: str) -> BinaryIO:
        try:
            return open(remote.local(name), "rb")  # noqa: PTH123 - a Path takes longer than the system
        except OSError as error:
            raise CannotOpen(f"cannot open {name}: {error.strerror}") from error

    def _url(self, url: str, **options: Any) -> BinaryIO:
        files, path = remote.filesystem(url)
        ahead = {"block_size": _RANGE, "cache_type": "background", "cache_options": {"maxblocks": _RANGES}}
        try:
            with remote.told(url):
                return cast("BinaryIO", files.open(path, "rb", **(ahead | options)))
        except FileNotFoundError as error:
            raise CannotOpen(f"cannot open {url}: {_why_missing(url, error)}") from error
        except ValueError as error:
            raise CannotOpen(f"cannot open {url}: {reason(url, error)}") from error


class Source:
    """A file that notes when it cannot be read: what unpacks it would take that for damage of what is in it."""

    def __init__(self, file: BinaryIO, failures: list[Exception]) -> None:
        self._file = file
        self._failures = failures

    def read(self, size: int = -1, /) -> bytes:
        """At most so many bytes. Raises OSError, whatever the file raised."""
        try:
            return self._file.read(size)
        except Exception as error:
            self._failures.append(error)
            if isinstance(error, OSError):
                raise
            raise OSError(str(error)) from error  # a driver's own

    def seek(self, offset: int, whence: int = 0, /) -> int:
        """As the file."""
        return self._file.seek(offset, whence)

    def close(self) -> None:
        """As the file."""
        self._file.close()


def opened(name: str) -> BinaryIO | None:
    """Opens a name that is no plain file of this machine; None where it is one. Raises CannotOpen."""
    return opener()(name)


def reason(name: str, error: Exception) -> str:
    """The first line of an error, without the name that stands in front of it."""
    said = next(iter(str(error).splitlines()), "") or type(error).__name__
    return said.removeprefix("cannot open ").removeprefix(f"{name}: ")


def _why_missing(url: str, error: FileNotFoundError) -> str:
    """The driver for HTTP says so too where it reaches no server, or is refused: its cause tells."""
    cause = error.__cause__
    away = isinstance(cause, OSError) and not isinstance(cause, FileNotFoundError)
    refused = getattr(cause, "status", _NOT_FOUND) != _NOT_FOUND
    return reason(url, cause) if isinstance(cause, Exception) and (away or refused) else "there is no such file"


def opener() -> Opener:
    """This process's."""
    return _opener_of(os.getpid())


@functools.cache
def _opener_of(_process: int) -> Opener:
    """A child of this process would move the files that it inherits."""
    one = Opener()
    atexit.register(one.close)
    return one


def _version(name: str) -> object:
    """Value that changes when a file does: an archive may be written anew under its name while this process lives."""
    if remote.is_url(name):
        files, path = remote.filesystem(name)
        try:
            with remote.told(name):
                files.invalidate_cache()
                return files.ukey(path)
        except FileNotFoundError as error:
            raise CannotOpen(f"cannot open {name}: there is no such file") from error
    try:
        about = Path(remote.local(name)).stat()
    except OSError as error:
        raise CannotOpen(f"cannot open {name}: {error.strerror}") from error
    return about.st_dev, about.st_ino, about.st_size, about.st_mtime_ns
