"""A folder that a store is kept in: every file in it appears whole or not at all."""

import errno
import fcntl
import os
import uuid
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any, Protocol

from tcpstall.archive import remote
from tcpstall.errors import CannotOpen, CannotWrite, StoreInUse

__all__ = ["LocalPlace", "Place", "at"]

_UNFINISHED = "unfinished"
"""Files being made; whatever is left in there belongs to a writer that was killed."""

_LOCK = "lock"


class Place(Protocol):
    """What a store needs of the folder it is in. Names are relative, with `/`."""

    @property
    def url(self) -> str:
        """Where it is, as `at` takes it."""

    @property
    def scratch(self) -> Path:
        """A local folder for files that `take` brings in; it may be used by several processes."""

    def path(self, name: str) -> str:
        """What opens the file in DuckDB."""

    @property
    def filesystem(self) -> Any | None:
        """What a DuckDB needs to be given to read what `path` gives; None where it needs nothing."""

    def read(self, name: str) -> bytes | None:
        """The whole file; None if there is none. Raises CannotOpen."""

    def put(self, name: str, content: bytes) -> None:
        """Writes or replaces a file, durably. Raises CannotWrite."""

    def take(self, name: str, file: Path) -> None:
        """Brings in a file of `scratch`, durably, and removes it there. Raises CannotWrite."""

    def names(self, folder: str) -> list[str]:
        """All files below a folder, whole names."""

    def remove(self, names: Iterable[str]) -> None:
        """Removes files; those that are gone already are no error."""

    def writing(self) -> AbstractContextManager[None]:
        """Holds the place for one writer. Raises StoreInUse while there is another."""


def at(url: str) -> Place:
    """The place of that path or URL."""
    if remote.is_url(url):
        from tcpstall.archive.remote_place import RemotePlace

        return RemotePlace(url)
    place = LocalPlace(Path(remote.local(url)))
    if remote.writable(place.url) != place.url:
        raise CannotOpen(f"cannot use {place.url}: the path of a store must be UTF-8")
    return place


class LocalPlace:
    """A folder of this machine, or of a share that it has mounted."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder.absolute()

    @property
    def url(self) -> str:
        """The folder's path."""
        return str(self._folder)

    @property
    def scratch(self) -> Path:
        """Within the folder: a file is brought in by renaming it."""
        folder = self._folder / _UNFINISHED
        with _writing(folder):
            folder.mkdir(parents=True, exist_ok=True)
        return folder

    def path(self, name: str) -> str:
        """The file's path."""
        return str(self._folder / name)

    @property
    def filesystem(self) -> None:
        """DuckDB reads files by itself."""
        return None

    def read(self, name: str) -> bytes | None:
        """The whole file."""
        try:
            return (self._folder / name).read_bytes()
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as error:
            raise CannotOpen(f"cannot read {self._folder / name}: {error.strerror}") from error

    def put(self, name: str, content: bytes) -> None:
        """Through a file of another name that is renamed."""
        unfinished = self.scratch / uuid.uuid4().hex
        with _writing(self._folder / name):
            try:
                unfinished.write_bytes(content)
            except OSError:
                unfinished.unlink(missing_ok=True)
                raise
        self.take(name, unfinished)

    def take(self, name: str, file: Path) -> None:
        """On the disk before it has its name, and its name on the disk before this returns."""
        target = self._folder / name
        with _writing(target):
            target.parent.mkdir(parents=True, exist_ok=True)
            _flush(file)
            file.replace(target)
            _flush(target.parent)

    def names(self, folder: str) -> list[str]:
        """In order."""
        below = (self._folder / folder).rglob("*")
        return sorted(str(file.relative_to(self._folder)) for file in below if file.is_file())

    def remove(self, names: Iterable[str]) -> None:
        """Folders that are empty then go too."""
        for name in names:
            file = self._folder / name
            with _writing(file):
                file.unlink(missing_ok=True)
                if file.parent != self._folder and not any(file.parent.iterdir()):
                    file.parent.rmdir()

    @contextmanager
    def writing(self) -> Iterator[None]:
        """The kernel lets the lock go with its process, however that ends."""
        with _writing(self._folder):
            self._folder.mkdir(parents=True, exist_ok=True)
            lock = (self._folder / _LOCK).open("a+b")
        with lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError as error:
                if error.errno not in (errno.EWOULDBLOCK, errno.EACCES):
                    raise CannotWrite(f"cannot lock {self._folder}: {error.strerror}") from error
                message = f"{self._folder}: another scan is writing into this store; wait for it, or use another store"
                raise StoreInUse(message) from error
            self.remove(self.names(_UNFINISHED))
            yield


@contextmanager
def _writing(target: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise CannotWrite(f"cannot write {target}: {error.strerror or error}") from error


def _flush(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
