"""A folder behind a URL that a store is kept in: an object store, or a server that fsspec knows."""

import atexit
import contextlib
import functools
import shutil
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from tcpstall.archive.captures import remote
from tcpstall.archive.storing.confined import About
from tcpstall.archive.storing.lease import Lease
from tcpstall.archive.storing.names import UNFINISHED, aside, fresh, is_left_over, is_ours, new_digest
from tcpstall.errors import CannotOpen, CannotWrite, TcpstallError

__all__ = ["RemotePlace"]

_PIECE = 4 << 20

_LEASES = "lock"

_WHOLE_OR_NOT = frozenset({"s3", "s3a", "gs", "gcs", "abfs", "abfss", "az"})
"""Object stores show an object once it is complete. Elsewhere a file is written beside its name and renamed."""


class RemotePlace:
    """A place (see place.Place) in a filesystem of fsspec."""

    def __init__(self, url: str) -> None:
        self._url = url.rstrip("/")
        self._files, self._root = remote.filesystem(self._url)
        self._lease: Lease | None = None

    @property
    def url(self) -> str:
        """As it was given."""
        return self._url

    @property
    def scratch(self) -> Path:
        """A folder of this machine, which goes with this process."""
        return _scratch()

    def path(self, name: str) -> str:
        """The file's URL."""
        return remote.named(self._url, self._root, self._within(name))

    @property
    def filesystem(self) -> Any:
        """For DuckDB's register_filesystem."""
        return self._files

    def read(self, name: str) -> bytes | None:
        """The whole file, as it is now."""
        try:
            with self._reading(name):
                content: bytes = self._files.cat_file(self._within(name))
                return content
        except FileNotFoundError:
            return None

    def abouts(self, names: Iterable[str]) -> dict[str, About]:
        """By one listing, without times: not every file system keeps them alike."""
        wanted = set(names)
        found: dict[str, Any] = {}
        with contextlib.suppress(FileNotFoundError), self._reading(""):
            self._files.invalidate_cache()
            found = self._files.find(self._root, detail=True)
        sizes = {path.removeprefix(f"{self._root}/"): int(about["size"]) for path, about in found.items()}
        return {name: About(size, None) for name, size in sizes.items() if name in wanted}

    def digest(self, name: str) -> str:
        """Reads all of it."""
        digest = new_digest()
        try:
            with self._reading(name), self._files.open(self._within(name), "rb") as file:
                while piece := file.read(_PIECE):
                    digest.update(piece)
        except FileNotFoundError as error:
            raise CannotOpen(f"cannot read {self._url}/{name}: there is no such file") from error
        return digest.hexdigest()

    def put(self, name: str, content: bytes) -> None:
        """At once in an object store, by renaming elsewhere."""
        with self._writing(name):
            self._in_one(name, lambda path: self._files.pipe_file(path, content))

    def take(self, name: str, file: Path) -> None:
        """Uploads it."""
        with self._writing(name):
            self._in_one(name, lambda path: self._files.put_file(str(file), path))
            file.unlink()

    def names(self, folder: str) -> list[str]:
        """In order."""
        try:
            with self._reading(folder):
                self._files.invalidate_cache()
                found = self._files.find(self._within(folder))
        except FileNotFoundError:
            return []
        return sorted(path.removeprefix(f"{self._root}/") for path in found)

    def remove(self, names: Iterable[str]) -> None:
        """One request for many where the driver knows how."""
        paths = [self._within(name) for name in names]
        if not paths:
            return
        with self._writing(paths[0]):
            try:
                self._files.rm(paths)
            except FileNotFoundError:
                for path in paths:
                    with contextlib.suppress(FileNotFoundError):
                        self._files.rm_file(path)

    def set_aside(self, name: str) -> None:
        """A copy, where the driver knows no better."""
        to = self._within(aside(name))
        with self._writing(name), contextlib.suppress(FileNotFoundError):
            self._folder(to.rpartition("/")[0])
            self._files.mv(self._within(name), to)

    def misplaced(self) -> dict[str, str]:
        """Nothing: there are no links that could be followed."""
        return {}

    def strangers(self) -> list[str]:
        """Objects of other names."""
        return [name for name in self.names("") if not is_ours(name)]

    @contextlib.contextmanager
    def writing(self) -> Iterator[None]:
        """By a lease: what a killed writer holds ends by itself."""
        lease = Lease(self._files, self._within(_LEASES), self._url)
        with contextlib.ExitStack() as held:
            with self._writing(_LEASES):
                self._folder(self._within(_LEASES))
                held.enter_context(lease.held())
            self._lease = lease
            held.callback(setattr, self, "_lease", None)
            self.remove(filter(is_left_over, self.names(UNFINISHED)))
            yield

    def _within(self, name: str) -> str:
        return f"{self._root}/{name}" if name else self._root

    def _in_one(self, name: str, write: Any) -> None:
        """The lease is looked at last: what was begun in time may end too late."""
        path = self._within(name)
        if self._whole_or_not:
            self._check()
            write(path)
            return
        unfinished = self._within(f"{UNFINISHED}/{fresh()}")
        for file in (unfinished, path):
            self._folder(file.rpartition("/")[0])
        write(unfinished)
        self._check()
        self._files.mv(unfinished, path)

    @property
    def _whole_or_not(self) -> bool:
        return self._url.partition("://")[0] in _WHOLE_OR_NOT

    def _folder(self, path: str) -> None:
        """Object stores have no folders, and would be asked to make a bucket."""
        if not self._whole_or_not:
            self._files.makedirs(path, exist_ok=True)

    def _check(self) -> None:
        if self._lease is not None:
            self._lease.check()

    @contextlib.contextmanager
    def _reading(self, name: str) -> Iterator[None]:
        try:
            yield
        except (TcpstallError, FileNotFoundError):
            raise
        except Exception as error:  # whatever libraries of drivers raise
            raise CannotOpen(f"cannot read {self._url}/{name}: {_line(error)}") from error

    @contextlib.contextmanager
    def _writing(self, name: str) -> Iterator[None]:
        try:
            yield
        except TcpstallError:
            raise
        except Exception as error:  # whatever libraries of drivers raise
            raise CannotWrite(f"cannot write {self._url}/{name}: {_line(error)}") from error


@functools.cache
def _scratch() -> Path:
    folder = Path(tempfile.mkdtemp(prefix="tcpstall-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


def _line(error: Exception) -> str:
    lines = str(error).splitlines()
    return lines[0] if lines else type(error).__name__
