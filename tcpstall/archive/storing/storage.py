"""A folder that a store is kept in: every file in it appears whole or not at all."""

import errno
import fcntl
import os
import stat
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path
from typing import Any, Protocol

from tcpstall.archive.captures import remote
from tcpstall.archive.storing.confined import About, Inside, NotOurs
from tcpstall.archive.storing.names import (
    BY_DAY,
    CATALOG,
    COPY,
    FILES,
    FOLDERS,
    JOURNAL,
    LOCK,
    UNFINISHED,
    aside,
    fresh,
    is_entry,
    is_left_over,
    is_ours,
    new_digest,
    repair_of,
)
from tcpstall.errors import CannotOpen, CannotWrite, StoreInUse

__all__ = ["LocalPlace", "Place", "at"]

_PIECE = 1 << 20


class Place(Protocol):
    """Folder of a store, with all that the store needs of it. Names are relative, with `/`."""

    @property
    def url(self) -> str:
        """Path or URL of the folder, as `at` takes it."""

    @property
    def scratch(self) -> Path:
        """A local folder for files that `take` brings in; it may be used by several processes."""

    def path(self, name: str) -> str:
        """Path or URL by which DuckDB opens the file."""

    @property
    def filesystem(self) -> Any | None:
        """File system that DuckDB needs to read what `path` gives; None where it needs none."""

    def read(self, name: str) -> bytes | None:
        """The whole file; None if there is none. Raises CannotOpen."""

    def abouts(self, names: Iterable[str]) -> dict[str, About]:
        """Size and time of change of those of these names that are files. Raises CannotOpen."""

    def digest(self, name: str) -> str:
        """The digest of a file's content. Raises CannotOpen."""

    def put(self, name: str, content: bytes) -> None:
        """Writes or replaces a file, durably. Raises CannotWrite."""

    def take(self, name: str, file: Path) -> None:
        """Brings in a file of `scratch`, durably, and removes it there. Raises CannotWrite."""

    def names(self, folder: str) -> list[str]:
        """All files below a folder, whole names."""

    def remove(self, names: Iterable[str]) -> None:
        """Removes files; those that are gone already are no error."""

    def set_aside(self, name: str) -> None:
        """Moves what has the name into `damaged`, under another name. Raises CannotWrite."""

    def misplaced(self) -> dict[str, str]:
        """Names of ours that are links, pipes and the like, and what each is."""

    def strangers(self) -> list[str]:
        """Names there that no store has."""

    def writing(self) -> AbstractContextManager[None]:
        """Holds the place for one writer. Raises StoreInUse while there is another."""


def at(url: str) -> Place:
    """The place of that path or URL."""
    if remote.is_url(url):
        from tcpstall.archive.storing.remote_storage import RemotePlace

        return RemotePlace(url)
    place = LocalPlace(Path(remote.local(url)))
    if remote.writable(place.url) != place.url:
        raise CannotOpen(f"cannot use {place.url}: the path of a store must be UTF-8")
    return place


class LocalPlace:
    """A folder of this machine, or of a share that it has mounted. No link within it is followed."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder.absolute()
        self._inside = Inside(self._folder)

    @property
    def url(self) -> str:
        """The folder's path."""
        return str(self._folder)

    @property
    def scratch(self) -> Path:
        """Within the folder: a file is brought in by renaming it."""
        folder = self._folder / UNFINISHED
        with _writing(folder):
            self._folder.mkdir(parents=True, exist_ok=True)
            self._inside.make_folder(UNFINISHED)
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
        with self._reading(name), suppress(FileNotFoundError):
            return self._inside.read(name)
        return None

    def abouts(self, names: Iterable[str]) -> dict[str, About]:
        """Folder by folder."""
        wanted = list(names)
        found: dict[str, About] = {}
        for folder in {name.rpartition("/")[0] for name in wanted}:
            with self._reading(folder):
                found |= {
                    f"{folder}/{name}".removeprefix("/"): about for name, about in self._inside.abouts(folder).items()
                }
        return {name: found[name] for name in wanted if name in found}

    def digest(self, name: str) -> str:
        """Read piece by piece."""
        digest = new_digest()
        with self._reading(name), self._inside.opened(name) as file:
            while piece := os.read(file, _PIECE):
                digest.update(piece)
        return digest.hexdigest()

    def put(self, name: str, content: bytes) -> None:
        """Through a file of another name that is renamed."""
        unfinished = self.scratch / fresh()
        with _writing(self._folder / name):
            try:
                unfinished.write_bytes(content)
            except OSError:
                unfinished.unlink(missing_ok=True)
                raise
        self.take(name, unfinished)

    def take(self, name: str, file: Path) -> None:
        """On the disk before it has its name, and its name on the disk before this returns."""
        with _writing(self._folder / name):
            self._inside.bring(file, name)

    def names(self, folder: str) -> list[str]:
        """In order."""
        with self._reading(folder):
            return sorted(name for name, mode in self._inside.entries(folder) if stat.S_ISREG(mode))

    def remove(self, names: Iterable[str]) -> None:
        """Folders that are empty then go too."""
        for name in names:
            with _writing(self._folder / name):
                self._inside.remove(name)

    def set_aside(self, name: str) -> None:
        """Renames it; a link goes as a link."""
        with _writing(self._folder / name):
            self._inside.move(name, aside(name))

    def misplaced(self) -> dict[str, str]:
        """Of the folder, and of the folders of days."""
        with self._reading(""):
            found = {
                name: str(NotOurs(name, mode, "a file" if name in FILES else "a folder").strerror)
                for name, mode in self._inside.listed("")
                if (name in FILES and not stat.S_ISREG(mode)) or (name in FOLDERS and not stat.S_ISDIR(mode))
            }
            for folder in (*BY_DAY, COPY):
                if folder in found:
                    continue
                for name, mode in self._inside.listed(folder):
                    if folder == COPY and name == CATALOG and not stat.S_ISREG(mode):
                        found[f"{folder}/{name}"] = str(NotOurs(name, mode, "a file").strerror)
                    elif (name.startswith("day=") or folder == COPY) and name != CATALOG and not stat.S_ISDIR(mode):
                        found[f"{folder}/{name}"] = str(NotOurs(name, mode, "a folder").strerror)
            for folder in (JOURNAL, f"{COPY}/{JOURNAL}"):
                if folder in found or COPY in found:
                    continue
                for name, mode in self._inside.listed(folder):
                    if is_entry(f"{folder}/{name}") and not stat.S_ISREG(mode):
                        found[f"{folder}/{name}"] = str(NotOurs(name, mode, "a file").strerror)
        return found

    def strangers(self) -> list[str]:
        """Links and pipes of other names too."""
        with self._reading(""):
            return [name for name, mode in self._inside.entries("") if not stat.S_ISDIR(mode) and not is_ours(name)]

    @contextmanager
    def writing(self) -> Iterator[None]:
        """The kernel lets the lock go with its process, however that ends."""
        with _writing(self._folder):
            self._folder.mkdir(parents=True, exist_ok=True)
        with _writing(self._folder / LOCK):
            lock = os.fdopen(self._inside.lock(LOCK), "r+b")
        with lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError as error:
                if error.errno not in (errno.EWOULDBLOCK, errno.EACCES):
                    raise CannotWrite(f"cannot lock {self._folder}: {error.strerror}") from error
                owner = _holder(lock.fileno())
                message = f"another scan is writing into this store ({owner}); wait for it, or use another store"
                raise StoreInUse(f"{self._folder}: {message}", owner) from error
            self.remove(filter(is_left_over, self.names(UNFINISHED)))
            yield

    @contextmanager
    def _reading(self, name: str) -> Iterator[None]:
        target = self._folder / name
        try:
            yield
        except NotOurs as error:
            raise CannotOpen(f"{self._folder}: {error.name}: {error.strerror}; {repair_of(self.url)}") from error
        except OSError as error:
            raise CannotOpen(f"cannot read {target}: {error.strerror}") from error


def _holder(lock: int) -> str:
    """The process that has locked the file. The kernel's list (proc(5), locks) names none of other machines."""
    about = os.fstat(lock)
    inode = f"{os.major(about.st_dev):02x}:{os.minor(about.st_dev):02x}:{about.st_ino}"
    with suppress(OSError):
        for line in Path("/proc/locks").read_text().splitlines():
            _, kind, *_, process, file, _, _ = line.split()
            if (kind, file) == ("FLOCK", inode):
                return f"process {process} of this machine"
    return "a process that cannot be seen from here"


@contextmanager
def _writing(target: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise CannotWrite(f"cannot write {target}: {error.strerror or error}") from error
