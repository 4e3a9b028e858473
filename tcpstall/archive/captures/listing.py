"""The files under paths, URLs and globs, each once."""

import errno
import glob
import os
import stat
from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from operator import itemgetter
from pathlib import Path
from typing import Any, NamedTuple

from tcpstall import _core
from tcpstall.archive.captures import remote
from tcpstall.errors import CannotOpen, ExitCode

__all__ = ["Listed", "Plain", "Tally", "Unchanged", "listed"]

_STORE = "store.json"
_SCHEMA = b"tcpstall.store/"
"""A folder with such a file in it is a store: it has no captures, and its files come and go."""

_LEADS_NOWHERE = (errno.ENOENT, errno.ENOTDIR, errno.ELOOP)
"""Of links that were made for something that is no more. Whatever else is refused may be there."""


class Listed(NamedTuple):
    """A file, or why there is none: `named` says that it was given itself, not a folder that holds it.

    The name is UTF-8: see remote.writable. `exit_code` is that of the error: CANNOT_OPEN where the system refused.
    """

    name: str
    size: int
    changed_ns: int | None
    named: bool = False
    error: str | None = None
    exit_code: int = ExitCode.COMPLETE


@dataclass(slots=True)
class Tally:
    """Counts of the entries that were passed over."""

    others: int = 0
    """Files that are no captures."""
    special: int = 0
    """Pipes, sockets, devices."""
    stores: int = 0
    """Folders that are stores of ours."""
    again: int = 0
    """Files found before: through another link, or below two of the given paths."""


Plain = tuple[str, int, int]
"""Name in its folder, size and time of change of a regular file with one name."""

Unchanged = Callable[[str, Sequence[Plain]], bool]
"""Called with a folder, its `/` included, and its plain files by name; true if none of them needs a look."""


def listed(roots: Sequence[str], tally: Tally, unchanged: Unchanged = lambda *_: False) -> Iterator[Listed]:
    """Every regular file under these, but for those of folders that are unchanged.

    Raises CannotOpen, at once, for one that does not exist.
    """
    walk = _Walk(tally, unchanged)
    given: list[tuple[str, bool]] = []
    for root in roots:
        given += [(root, True)] if remote.is_url(root) else _existing(remote.local(root))
    remotes = {name: _Remote.at(name) for name, _ in given if remote.is_url(name)}
    return _all(given, remotes, walk)


def _all(given: list[tuple[str, bool]], remotes: dict[str, "_Remote"], walk: "_Walk") -> Iterator[Listed]:
    for name, itself in given:
        yield from remotes[name].files(walk.tally) if name in remotes else walk.root(name, named=itself)
    yield from walk.linked()


def _existing(root: str) -> list[tuple[str, bool]]:
    """A path, or what a glob stands for; whether it is named itself."""
    if os.path.lexists(root):
        return [(root, True)]
    matches = sorted(glob.iglob(root, recursive=True)) if glob.has_magic(root) else []  # noqa: PTH207 absolute patterns too
    if not matches:
        raise CannotOpen(f"cannot open {root}: there is no such file or folder")
    return [(match, False) for match in matches]


@dataclass(slots=True)
class _Walk:
    """Folders of this machine. Links are followed last: what they lead to has mostly been found by then."""

    tally: Tally
    unchanged: Unchanged
    _folders: set[tuple[int, int]] = field(default_factory=set)
    _files: set[tuple[int, int]] = field(default_factory=set)
    _links: list[str] = field(default_factory=list)

    def root(self, name: str, *, named: bool) -> Iterator[Listed]:
        """Files at a path: the path itself, or all files below it."""
        try:
            about = Path(name).stat()
        except OSError as error:
            yield _unreadable(name, error.strerror, named=named)
            return
        if stat.S_ISDIR(about.st_mode):
            yield from self._below(name, about)
        elif stat.S_ISREG(about.st_mode):
            if found := self._file(name, about, named=named):
                yield found
        else:
            self.tally.special += 1
            if named:
                yield _unreadable(name, "not a regular file", named=named, exit_code=ExitCode.NOT_A_CAPTURE)

    def linked(self) -> Iterator[Listed]:
        """Files that only symbolic links lead to; linked folders may hold further links."""
        while self._links:
            link = self._links.pop()
            try:
                about = Path(link).stat()
            except OSError as error:
                if error.errno in _LEADS_NOWHERE:
                    self.tally.others += 1
                else:
                    yield _unreadable(link, error.strerror)
                continue
            if stat.S_ISREG(about.st_mode) and self._walked(link):
                self.tally.again += 1
            else:
                yield from self.root(link, named=False)

    def _below(self, top: str, about: os.stat_result) -> Iterator[Listed]:
        folders = [(top, about)]
        while folders:
            folder, about = folders.pop()
            if (about.st_dev, about.st_ino) in self._folders:
                self.tally.again += 1
                continue
            self._folders.add((about.st_dev, about.st_ino))
            try:
                plain, others = _core.folder(folder)
            except OSError as error:
                yield _unreadable(folder, error.strerror)
                continue
            if (_STORE in others or _has(plain, _STORE)) and _is_store(Path(folder, _STORE)):
                self.tally.stores += 1
                continue
            before = folder if folder.endswith("/") else f"{folder}/"
            for name in others:
                if found := self._entry(before + name, folders):
                    yield found
            if plain and not self.unchanged(before, plain):
                yield from (Listed(remote.writable(before + name), size, time_ns) for name, size, time_ns in plain)

    def _entry(self, name: str, folders: list[tuple[str, os.stat_result]]) -> Listed | None:
        """A file that has other names, if it is one; folders and links are noted."""
        try:
            about = os.lstat(name)
        except FileNotFoundError:  # rotated away meanwhile
            return None
        except OSError as error:
            return _unreadable(name, error.strerror)
        mode = about.st_mode
        if stat.S_ISREG(mode):
            return self._file(name, about, named=False)
        if stat.S_ISLNK(mode):
            self._links.append(name)
        elif stat.S_ISDIR(mode):
            folders.append((name, about))
        else:
            self.tally.special += 1
        return None

    def _file(self, name: str, about: os.stat_result, *, named: bool) -> Listed | None:
        """None for one that was found before.

        Only of files that may have another name is it remembered that they were found: there may be millions.
        """
        if (about.st_dev, about.st_ino) in self._files:
            self.tally.again += 1
            return None
        self._files.add((about.st_dev, about.st_ino))
        return Listed(remote.writable(name), about.st_size, about.st_mtime_ns, named)

    def _walked(self, link: str) -> bool:
        """True if the folder in which the linked file really lies has been walked."""
        folder = Path(link).resolve().parent.stat()
        return (folder.st_dev, folder.st_ino) in self._folders


@dataclass(frozen=True, slots=True)
class _Remote:
    """Files under a URL, by a filesystem of fsspec."""

    url: str
    root: str
    found: dict[str, dict[str, Any]]
    named: bool

    @classmethod
    def at(cls, url: str) -> "_Remote":
        """Lists it whole: object stores list a thousand names a request, and have no folders to walk."""
        files, root = remote.filesystem(url)
        with remote.told(url):
            try:
                if glob.has_magic(root):
                    found = files.glob(root, detail=True)
                    found = {path: about for path, about in found.items() if about["type"] == "file"}
                else:
                    found = files.find(root, detail=True)
            except FileNotFoundError:
                found = {}
        if not found:
            raise CannotOpen(f"cannot open {url}: nothing is there")
        return cls(url, root, found, named=list(found) == [root])

    def files(self, tally: Tally) -> Iterator[Listed]:
        """Those that are not in a store of ours."""
        stores = [path.removesuffix(_STORE) for path in self.found if path.endswith(f"/{_STORE}") and self._store(path)]
        tally.stores += len(stores)
        for path, about in sorted(self.found.items()):
            if not any(path.startswith(store) for store in stores):
                name = remote.named(self.url, self.root, path)
                yield Listed(name, int(about.get("size") or 0), _changed_ns(about), self.named)

    def _store(self, path: str) -> bool:
        files, _ = remote.filesystem(self.url)
        with remote.told(self.url):
            return _SCHEMA in files.cat_file(path)


def _unreadable(
    path: str, why: str | None, *, named: bool = False, exit_code: ExitCode = ExitCode.CANNOT_OPEN
) -> Listed:
    name = remote.writable(path)
    return Listed(name, 0, None, named, f"cannot open {name}: {why}", exit_code)


def _has(plain: Sequence[Plain], name: str) -> bool:
    at = bisect_left(plain, name, key=itemgetter(0))
    return at < len(plain) and plain[at][0] == name


def _is_store(about: Path) -> bool:
    try:
        with about.open("rb") as file:
            return _SCHEMA in file.read(4096)
    except OSError:
        return False


def _changed_ns(about: dict[str, Any]) -> int | None:
    """Time of the last write, ns since 1970, under the name that a filesystem has for it: drivers do not agree."""
    for key in ("LastModified", "last_modified", "mtime", "updated", "modified", "created"):
        match about.get(key):
            case datetime() as when:
                return _nanoseconds(when)
            case str() as text:
                try:
                    return _nanoseconds(datetime.fromisoformat(text))
                except ValueError:
                    continue
            case int() | float() as seconds:
                return int(seconds * 1_000_000_000)
    return None


def _nanoseconds(when: datetime) -> int:
    """Without a float in between: they hold no microseconds of our days exactly."""
    since = (when if when.tzinfo else when.replace(tzinfo=UTC)) - datetime(1970, 1, 1, tzinfo=UTC)
    return (since.days * 86_400 + since.seconds) * 1_000_000_000 + since.microseconds * 1_000
