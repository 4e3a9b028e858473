"""Files within a folder, reached through handles of its folders: no link inside it is ever followed."""

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

__all__ = ["About", "Inside", "NotOurs"]

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE = os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC

_KINDS = {
    stat.S_IFLNK: "a link",
    stat.S_IFDIR: "a folder",
    stat.S_IFIFO: "a named pipe",
    stat.S_IFSOCK: "a socket",
    stat.S_IFBLK: "a device",
    stat.S_IFCHR: "a device",
    stat.S_IFREG: "a file",
}


class NotOurs(OSError):
    """A link, pipe or device lies where a file or folder is expected; `strerror` is what it is."""

    def __init__(self, name: str, mode: int, wanted: str) -> None:
        kind = _KINDS.get(stat.S_IFMT(mode), "no file")
        super().__init__(errno.ELOOP, f"{kind} lies where {wanted} belongs")
        self.name = name


@dataclass(frozen=True, slots=True)
class About:
    """A regular file, by what the system says of it."""

    bytes: int
    changed_ns: int | None


class Inside:
    """A folder; names in it are relative, with `/`. The folder itself may be reached through links."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def read(self, name: str) -> bytes:
        """The whole file. Raises OSError, NotOurs for anything but a regular file."""
        with self.opened(name) as file:
            pieces = []
            while piece := os.read(file, 1 << 20):
                pieces.append(piece)
            return b"".join(pieces)

    @contextmanager
    def opened(self, name: str) -> Iterator[int]:
        """A descriptor to read a regular file with."""
        with self._parent(name) as (folder, last):
            self._regular(folder, name, last)  # before it is opened: opening a device can do something
            descriptor = os.open(last, os.O_RDONLY | _FILE, dir_fd=folder)
        try:
            if not stat.S_ISREG(mode := os.fstat(descriptor).st_mode):
                raise NotOurs(name, mode, "a file")
            yield descriptor
        finally:
            os.close(descriptor)

    def abouts(self, folder: str) -> dict[str, About]:
        """The regular files of a folder, by their names in it."""
        found = {}
        with suppress(FileNotFoundError), self._folder(folder) as opened, os.scandir(opened) as entries:
            for each in entries:
                state = each.stat(follow_symlinks=False)
                if stat.S_ISREG(state.st_mode):
                    found[each.name] = About(state.st_size, state.st_mtime_ns)
        return found

    def bring(self, file: Path, name: str) -> None:
        """Gives a file of the same file system its name in here, durably; folders are made."""
        descriptor = os.open(file, os.O_RDONLY | _FILE)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
        with self._parent(name, make=True) as (folder, last):
            os.replace(file, last, dst_dir_fd=folder)
            os.fsync(folder)

    def remove(self, name: str) -> None:
        """Removes a file; its folder too where that is empty then."""
        try:
            with self._parent(name) as (folder, last):
                if stat.S_ISDIR(os.stat(last, dir_fd=folder, follow_symlinks=False).st_mode):
                    return
                os.unlink(last, dir_fd=folder)
        except FileNotFoundError:
            return
        parent = name.rpartition("/")[0]
        if parent:
            with self._parent(parent) as (folder, last):
                try:
                    os.rmdir(last, dir_fd=folder)
                except OSError as error:
                    if error.errno not in (errno.ENOTEMPTY, errno.EEXIST, errno.ENOENT):
                        raise

    def move(self, name: str, to: str) -> None:
        """Renames whatever has the name: a link, not what it points to. Nothing where there is nothing."""
        with (
            suppress(FileNotFoundError),
            self._parent(name) as (folder, last),
            self._parent(to, make=True) as (other, new),
        ):
            os.stat(last, dir_fd=folder, follow_symlinks=False)
            os.rename(last, new, src_dir_fd=folder, dst_dir_fd=other)
            os.fsync(other)
            os.fsync(folder)

    def make_folder(self, name: str) -> None:
        """Makes a folder, and those above it. Raises NotOurs for a link."""
        with self._parent(f"{name}/x", make=True):
            pass

    def entries(self, name: str) -> list[tuple[str, int]]:
        """All that lies below a folder, links and pipes included, with their modes; nothing where there is none."""
        try:
            with self._folder(name) as folder:
                return list(_below(folder, f"{name}/" if name else ""))
        except FileNotFoundError:
            return []

    def listed(self, name: str) -> list[tuple[str, int]]:
        """Entries directly in a folder, with their modes; none where there is no folder."""
        try:
            with self._folder(name) as folder:
                return sorted(_in(folder))
        except FileNotFoundError:
            return []

    def lock(self, name: str) -> int:
        """A descriptor of a file, made where there is none."""
        with self._parent(name) as (folder, last):
            with suppress(FileNotFoundError):
                self._regular(folder, name, last)
            return os.open(last, os.O_RDWR | os.O_CREAT | _FILE, 0o666, dir_fd=folder)

    @staticmethod
    def _regular(folder: int, name: str, last: str) -> os.stat_result:
        found = os.stat(last, dir_fd=folder, follow_symlinks=False)
        if not stat.S_ISREG(found.st_mode):
            raise NotOurs(name, found.st_mode, "a file")
        return found

    @contextmanager
    def _parent(self, name: str, *, make: bool = False) -> Iterator[tuple[int, str]]:
        _plain(name.split("/"))
        parent, _, last = name.rpartition("/")
        with self._folder(parent, make=make) as folder:
            yield folder, last

    @contextmanager
    def _folder(self, name: str, *, make: bool = False) -> Iterator[int]:
        steps = name.split("/") if name else []
        _plain(steps)
        try:
            here = os.open(self.root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        except NotADirectoryError as error:
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT)) from error
        try:
            for depth, step in enumerate(steps):
                there = _entered(here, step, "/".join(steps[: depth + 1]), make=make)
                os.close(here)
                here = there
            yield here
        finally:
            os.close(here)


def _entered(folder: int, step: str, name: str, *, make: bool) -> int:
    try:
        return os.open(step, _FOLDER, dir_fd=folder)
    except FileNotFoundError:
        if not make:
            raise
    except OSError as error:
        if error.errno not in (errno.ENOTDIR, errno.ELOOP):
            raise
        raise NotOurs(name, os.stat(step, dir_fd=folder, follow_symlinks=False).st_mode, "a folder") from error
    try:
        os.mkdir(step, dir_fd=folder)
        os.fsync(folder)
    except FileExistsError:
        pass
    return os.open(step, _FOLDER, dir_fd=folder)


def _plain(steps: list[str]) -> None:
    if any(step in ("", ".", "..") or "\0" in step for step in steps):
        raise OSError(errno.EINVAL, "not a name within the store")


def _in(folder: int) -> Iterator[tuple[str, int]]:
    with os.scandir(folder) as found:
        for each in found:
            yield each.name, each.stat(follow_symlinks=False).st_mode


def _below(folder: int, prefix: str) -> Iterator[tuple[str, int]]:
    for name, mode in sorted(_in(folder)):
        yield f"{prefix}{name}", mode
        if stat.S_ISDIR(mode):
            below = os.open(name, _FOLDER, dir_fd=folder)
            try:
                yield from _below(below, f"{prefix}{name}/")
            finally:
                os.close(below)
