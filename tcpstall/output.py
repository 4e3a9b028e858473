"""Files that commands write: whole or not at all, and no other file than the one that was named."""

import errno
import os
import secrets
import shutil
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO, TextIO

__all__ = ["appended", "written", "written_by_name"]

_UNFINISHED = ".tcpstall-"
"""Files being written are called so, with a random number behind it: nobody can put a link there beforehand."""

_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_FOLDER = getattr(os, "O_PATH", os.O_RDONLY) | os.O_DIRECTORY | os.O_CLOEXEC
_PRIVATE = 0o600
_USUAL = 0o666
"""Less what the umask takes."""

_PERMISSIONS = 0o777
_GROUP_SHIFT = 3

_CAPABILITIES = "security.capability"
"""Rights that a program has: they belong to its old content, as Linux sees it too."""

_MOST_LINKS = 40
"""Of one name, as Linux allows (path_resolution(7))."""

_KERNELS = Path("/proc")
"""Links in it stand for open files: /dev/stdout and /dev/fd/3 lead there."""


@contextmanager
def written(target: Path) -> Iterator[BinaryIO]:
    """A file that takes the target's place once it is whole; after a failure the target is as it was.

    An existing file's mode stays, its owner too where that is allowed; a link stays, and what it leads to is written.
    What is no regular file (a device, a pipe, /dev/stdout) is written through. Raises OSError.
    """
    target = _followed(target)
    through = _written_through(target)
    if through is not None:
        with open(through, "wb") as file:  # noqa: PTH123 - a descriptor
            yield file
        return
    with _folder_of(target) as folder:
        before = _existing(folder, target.name)
        unfinished = f"{_UNFINISHED}{secrets.token_hex(8)}"
        try:
            descriptor = os.open(unfinished, _NEW, _PRIVATE if before else _USUAL, dir_fd=folder)
            with open(descriptor, "wb") as file:  # noqa: PTH123 - a descriptor
                yield file
                file.flush()
                _finish(descriptor, target, before)
            os.replace(unfinished, target.name, src_dir_fd=folder, dst_dir_fd=folder)
        finally:
            with suppress(FileNotFoundError):
                os.unlink(unfinished, dir_fd=folder)


@contextmanager
def written_by_name(target: Path) -> Iterator[Path]:
    """The same for libraries that open files themselves: a name in a folder that nobody else may enter."""
    target = _followed(target)
    if not _can_be_beside(target):
        with tempfile.TemporaryDirectory(prefix="tcpstall-") as scratch:
            unfinished = Path(scratch) / "output"
            yield unfinished
            with unfinished.open("rb") as made, written(target) as file:
                shutil.copyfileobj(made, file)
        return
    with _folder_of(target) as folder:
        before = _existing(folder, target.name)
        with tempfile.TemporaryDirectory(prefix=_UNFINISHED, dir=target.parent) as scratch:
            unfinished = Path(scratch) / "output"
            yield unfinished
            with unfinished.open("rb") as made:
                _finish(made.fileno(), target, before)
            os.replace(unfinished, target.name, dst_dir_fd=folder)


def _can_be_beside(target: Path) -> bool:
    """A regular file, or none yet, in a folder with a name that every library takes: UTF-8."""
    try:
        str(target.parent).encode()
        return not target.is_relative_to(_KERNELS) and stat.S_ISREG(target.lstat().st_mode)
    except FileNotFoundError:
        return True
    except UnicodeEncodeError:
        return False


@contextmanager
def appended(target: Path) -> Iterator[TextIO]:
    """A text file that grows at its end, made if it is not there. Whoever writes a line flushes it. Raises OSError."""
    own = _own_descriptor(_followed(target))
    flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC
    descriptor = os.open(target, flags, _USUAL) if own is None else own
    file = open(descriptor, "a", encoding="utf-8")  # noqa: PTH123, SIM115 - a descriptor, closed below
    try:
        yield file
    finally:
        # Each line was flushed when it was written: a line that failed has been reported.
        with suppress(OSError):
            file.close()


def _followed(target: Path) -> Path:
    """The file that links lead to, in a folder without links; a link of the kernel's is not followed."""
    for _ in range(_MOST_LINKS):
        folder = Path(os.path.realpath(target.parent))
        target = folder / target.name
        if folder.is_relative_to(_KERNELS) or not target.is_symlink():
            return target
        _expect_trusted(target)
        target = folder / target.readlink()
    raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), str(target))


def _expect_trusted(link: Path) -> None:
    """Refuses a stranger's link in a folder that anybody may write to, as Linux does (proc(5), protected_symlinks)."""
    folder, owner = link.parent.stat(), link.lstat().st_uid
    shared = folder.st_mode & stat.S_ISVTX and folder.st_mode & stat.S_IWOTH
    if shared and owner not in (os.geteuid(), folder.st_uid):
        raise PermissionError(errno.EACCES, "a link that somebody else made in a folder for all", str(link))


def _written_through(target: Path) -> int | None:
    """A descriptor of what is no regular file; None where there is nothing yet, or a regular file."""
    own = _own_descriptor(target)
    if own is not None:
        return own
    try:
        mode = target.lstat().st_mode
    except FileNotFoundError:
        return None
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(target))
    if target.is_relative_to(_KERNELS):
        return os.open(target, os.O_WRONLY | os.O_TRUNC | os.O_CLOEXEC)
    if stat.S_ISREG(mode):
        return None
    return os.open(target, os.O_WRONLY | os.O_NOFOLLOW | os.O_NOCTTY | os.O_CLOEXEC)


def _own_descriptor(target: Path) -> int | None:
    """Another descriptor of an open file of this process, which goes on where the first one stands."""
    if target.parent != _KERNELS / str(os.getpid()) / "fd" or not target.name.isdecimal():
        return None
    try:
        return os.dup(int(target.name))
    except OverflowError:
        raise OSError(errno.EBADF, os.strerror(errno.EBADF), str(target)) from None


@contextmanager
def _folder_of(target: Path) -> Iterator[int]:
    """Names in it mean the same files until the end, whatever becomes of the path."""
    folder = os.open(target.parent, _FOLDER)
    try:
        yield folder
    finally:
        os.close(folder)


def _existing(folder: int, name: str) -> os.stat_result | None:
    """The file that is replaced. Raises PermissionError where it is protected from being written."""
    try:
        before = os.stat(name, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return None
    if not os.access(name, os.W_OK, dir_fd=folder):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), name)
    return before


def _finish(descriptor: int, target: Path, before: os.stat_result | None) -> None:
    """Gives the new file what the old one had, and brings it to the disk."""
    if before is not None:
        mode = before.st_mode & _PERMISSIONS
        if not _given_to(descriptor, before):
            # Another group than before must not read what the old one could.
            others = mode & stat.S_IRWXO
            mode = mode & ~stat.S_IRWXG | others << _GROUP_SHIFT
        _copy_attributes(target, descriptor)
        os.fchmod(descriptor, mode)
    os.fsync(descriptor)


def _given_to(descriptor: int, before: os.stat_result) -> bool:
    """Keeps owner and group where that is allowed; false where the group is another."""
    now = os.fstat(descriptor)
    if (now.st_uid, now.st_gid) == (before.st_uid, before.st_gid):
        return True
    for owner in (before.st_uid, -1):
        with suppress(OSError):
            os.fchown(descriptor, owner, before.st_gid)
            return True
    return now.st_gid == before.st_gid


def _copy_attributes(source: Path, descriptor: int) -> None:
    """Access lists and labels, where the system has them."""
    if not hasattr(os, "listxattr"):
        return
    with suppress(OSError):
        for name in os.listxattr(source, follow_symlinks=False):
            if name == _CAPABILITIES:
                continue
            with suppress(OSError):
                os.setxattr(descriptor, name, os.getxattr(source, name, follow_symlinks=False))
