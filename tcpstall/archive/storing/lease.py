"""One writer at a time where there are no locks: leases in a folder of a filesystem of fsspec.

Who wants to write puts a lease under a name of its own and then looks for others. Of two who begin at once the one
whose lease appears later sees the other's, so that never both go on (both may be refused). That needs listings that
show what was written before, as those of S3, Google's and Azure's storage and of file servers do, and no conditional
writes, which drivers do not offer alike. A lease is renewed while its owner lives and counts for nothing once it has
expired.
"""

import contextlib
import functools
import json
import os
import platform
import threading
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from tcpstall.archive.storing.names import fresh
from tcpstall.errors import CannotWrite, StoreInUse

__all__ = ["Lease"]

LASTS_NS = 120 * 1_000_000_000
"""Time for which a killed writer keeps others out: long against network pauses and clocks that differ by seconds."""

RENEWED_NS = LASTS_NS // 6
"""Five renewals may fail."""


@dataclass(frozen=True, slots=True)
class _Told:
    """Content of a lease that others read."""

    owner: str
    until_ns: int
    where: str | None = None
    process: str | None = None

    @property
    def alive(self) -> bool:
        """Of a process that could be seen from here it is known at once that it has ended."""
        if self.where is not None and self.where == _where() and self.process is not None:
            return self.until_ns > time.time_ns() and _process(self.process.partition(" ")[0]) == self.process
        return self.until_ns > time.time_ns()


class Lease:
    """The right to write, held by this process."""

    def __init__(self, files: Any, folder: str, url: str) -> None:
        """`folder` holds the leases of the store at `url`."""
        self._files = files
        self._folder = folder
        self._url = url
        self._path = f"{folder}/{fresh()}.json"
        self._owner = f"process {os.getpid()} of {platform.node() or 'a machine without a name'}"
        self._until_ns = 0
        self._over = threading.Event()

    @contextlib.contextmanager
    def held(self) -> Iterator[None]:
        """Holds it. Raises StoreInUse while another does."""
        self._renew()
        try:
            self._alone()
            renewing = threading.Thread(target=self._keep, name="lease", daemon=True)
            renewing.start()
            try:
                yield
            finally:
                self._over.set()
                renewing.join()
        finally:
            with contextlib.suppress(Exception):
                self._files.rm_file(self._path)

    def check(self) -> None:
        """Raises CannotWrite where it has expired, for another may write by now."""
        if time.time_ns() >= self._until_ns:
            raise CannotWrite(
                f"{self._url}: not reached for {LASTS_NS // 1_000_000_000} s, and another may write there now"
            )

    def _renew(self) -> None:
        until_ns = time.time_ns() + LASTS_NS
        told = _Told(self._owner, until_ns, _where(), _process(str(os.getpid())))
        self._files.pipe_file(self._path, json.dumps(asdict(told)).encode())
        self._until_ns = until_ns

    def _keep(self) -> None:
        """One that has expired is not renewed: others have seen it so."""
        while not self._over.wait(RENEWED_NS / 1_000_000_000) and time.time_ns() < self._until_ns:
            with contextlib.suppress(Exception):
                self._renew()

    def _alone(self) -> None:
        self._files.invalidate_cache()
        for path in self._files.find(self._folder):
            if path == self._path:
                continue
            other = self._read(path)
            if other is None:
                continue
            if other.alive:
                left = (other.until_ns - time.time_ns()) // 1_000_000_000 + 1
                raise StoreInUse(
                    f"{self._url}: another scan is writing into this store ({other.owner}); wait for it, or use another"
                    f" store; if it was killed, its right to write ends in {left} s",
                    other.owner,
                )
            with contextlib.suppress(FileNotFoundError):
                self._files.rm_file(path)

    def _read(self, path: str) -> _Told | None:
        """None for one that was given back meanwhile; one that cannot be understood is being written."""
        try:
            told = json.loads(self._files.cat_file(path))
            return _Told(str(told["owner"]), int(told["until_ns"]), told.get("where"), told.get("process"))
        except FileNotFoundError:
            return None
        except (ValueError, TypeError, KeyError):
            return _Told("it has just begun", time.time_ns() + LASTS_NS)


@functools.cache
def _where() -> str | None:
    """Whose processes have numbers of their own: this kernel since it was started, and this container."""
    try:
        return f"{Path('/proc/sys/kernel/random/boot_id').read_text().strip()} {Path('/proc/self/ns/pid').readlink()}"
    except OSError:
        return None


def _process(number: str) -> str | None:
    """A process by its number and when it began (proc(5), field 22 of stat), for numbers are used again."""
    try:
        told = Path(f"/proc/{number}/stat").read_text()
    except OSError:
        return None
    state, *others = told.rpartition(")")[2].split()
    return None if state in "ZX" else f"{number} {others[18]}"
