"""Steps by which a scan changes a folder, counted, and something done at one of them.

A step is an open for writing, a write, the second half of a write, a flush (fsync), a rename, the making of a folder, a
removal, a COPY of DuckDB and its second half.
"""

import contextlib
import io
import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import pytest

from tcpstall.archive.scanning.task import Options

__all__ = ["InWorkers", "Steps", "killed", "refused"]

ROOT = Path(__file__).parents[2]

_CALLS = ("replace", "rename", "link", "symlink", "unlink", "remove", "mkdir", "rmdir", "fsync", "fdatasync", "write")
_WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC


class Steps:
    """Calls `fault(number, what)` before each step below a folder."""

    def __init__(self, folder: Path, fault: Callable[[int, str], None]) -> None:
        self._folder = str(folder)
        self._fault = fault
        self._within = False
        self.taken = 0

    def step(self, what: str, path: object) -> None:
        """One is about to be taken."""
        if self._within or not str(path).startswith(self._folder):
            return
        self._within = True  # what the fault itself does is no step
        try:
            self.taken += 1
            self._fault(self.taken - 1, f"{what} {Path(str(path)).name}")
        finally:
            self._within = False

    def watch(self, patch: pytest.MonkeyPatch) -> None:
        """From now on."""
        for name in _CALLS:
            patch.setattr(os, name, self._called(name, getattr(os, name)))
        patch.setattr(os, "open", self._opened_low(os.open))
        patch.setattr(io, "open", self._opened(io.open))
        patch.setattr(duckdb, "connect", self._connected(duckdb.connect))

    def _called(self, name: str, true: Callable[..., Any]) -> Callable[..., Any]:
        def call(first: Any, *rest: Any, **options: Any) -> Any:
            path = _path(first, options.get("src_dir_fd", options.get("dir_fd")))
            self.step(name, path)
            if name == "write" and rest and len(rest[0]) > 1:
                half = len(rest[0]) // 2
                written = true(first, rest[0][:half])
                self.step("half of write", path)
                return written
            return true(first, *rest, **options)

        return call

    def _opened_low(self, true: Callable[..., int]) -> Callable[..., int]:
        def opened(path: Any, flags: int, *rest: Any, **options: Any) -> int:
            if flags & _WRITES:
                self.step("open", _path(path, options.get("dir_fd")))
            return true(path, flags, *rest, **options)

        return opened

    def _opened(self, true: Callable[..., Any]) -> Callable[..., Any]:
        def opened(file: Any, mode: str = "r", *rest: Any, **options: Any) -> Any:
            path = _path(file, None)
            if not set(mode) & set("wax+") or not str(path).startswith(self._folder):
                return true(file, mode, *rest, **options)
            if not isinstance(file, int):
                self.step("open", path)
            return _Writing(true(file, mode, *rest, **options), lambda what: self.step(what, path))

        return opened

    def _connected(self, true: Callable[..., Any]) -> Callable[..., Any]:
        def connected(database: str = ":memory:", *rest: Any, **options: Any) -> Any:
            self.step("connect", database)
            return _Connection(true(database, *rest, **options), self.step)

        return connected


class _Writing:
    """A file whose writes are two steps each."""

    def __init__(self, file: Any, step: Callable[[str], None]) -> None:
        self._file = file
        self._step = step

    def write(self, content: Any) -> int:
        self._step("write")
        half = len(content) // 2
        written: int = self._file.write(content[:half])
        self._file.flush()
        self._step("half of write")
        written += self._file.write(content[half:])
        return written

    def __enter__(self) -> "_Writing":
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._file, name)


class _Connection:
    """A DuckDB whose COPY is two steps: before the second there is half a file."""

    def __init__(self, connection: Any, step: Callable[[str, object], None]) -> None:
        self._connection = connection
        self._step = step

    def cursor(self) -> "_Connection":
        return _Connection(self._connection.cursor(), self._step)

    def execute(self, query: str, *rest: Any) -> Any:
        if query.startswith("ATTACH '"):
            self._step("connect", query.removeprefix("ATTACH '").rpartition("' AS ")[0].replace("''", "'"))
        if not query.startswith("COPY ("):
            return self._connection.execute(query, *rest)
        target = query.rpartition(" TO '")[2].partition("' (FORMAT")[0].replace("''", "'")
        try:
            self._step("COPY", target)
            result = self._connection.execute(query, *rest)
            content = Path(target).read_bytes()
            os.truncate(target, len(content) // 2)
            self._step("half of COPY", target)
        except OSError as error:
            raise duckdb.IOException(str(error)) from error
        with Path(target).open("r+b") as file:
            getattr(file, "_file", file).write(content)
        return result

    def __enter__(self) -> "_Connection":
        self._connection.__enter__()
        return self

    def __exit__(self, *error: object) -> None:
        self._connection.__exit__(*error)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._connection, name)


def refused(number: int, code: int) -> Callable[[int, str], None]:
    """A fault: the system refuses this step, and only this one."""

    def fault(at: int, what: str) -> None:
        if at == number:
            raise OSError(code, os.strerror(code), what)

    return fault


def killed(number: int, code: int = 0) -> Callable[[int, str], None]:
    """A fault: the process ends before this step."""

    def fault(at: int, _: str) -> None:
        if at == number:
            os.kill(os.getpid(), signal.SIGKILL)

    return fault


class InWorkers(Options):
    """Options that bring a fault into the first worker that gets so far: by being unpickled there."""

    def of(self, store: Path, number: int, code: int, once: Path) -> "InWorkers":
        """Refused with that error number, or killed where it is 0; the file `once` is made by whoever it happens to."""
        object.__setattr__(self, "_fault", (str(store), number, code, str(once)))
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        """As a call in the worker."""
        module = f"__import__('importlib').import_module({__name__!r})"
        fault: object = self._fault  # type: ignore[attr-defined]
        return eval, (f"__import__('sys').path.append({str(ROOT)!r}) or {module}.hit(*{fault!r})",)


def hit(store: str, number: int, code: int, once: str) -> Options:
    """In a worker."""

    def fault(at: int, what: str) -> None:
        if at == number:
            with contextlib.suppress(FileExistsError):
                os.close(os.open(once, os.O_CREAT | os.O_EXCL | os.O_WRONLY))
                (refused if code else killed)(number, code)(at, what)

    Steps(Path(store), fault).watch(pytest.MonkeyPatch())
    return Options()


def _path(what: Any, folder: int | None) -> object:
    """The whole path of a path, of one below an open folder, or of an open file."""
    with contextlib.suppress(OSError):
        if isinstance(what, int):
            return Path(f"/proc/self/fd/{what}").readlink()
        if folder is not None:
            return Path(f"/proc/self/fd/{folder}").readlink() / os.fsdecode(what)
    return "" if isinstance(what, int) else os.path.abspath(os.fsdecode(what))  # noqa: PTH100
