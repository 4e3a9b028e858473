"""Interpreters for the workers of a scan, started while the scan itself still loads and plans."""

import socket
import subprocess
import tempfile
from contextlib import suppress
from dataclasses import dataclass
from typing import IO

from tcpstall.archive.scanning import isolated

__all__ = ["RARELY", "Interpreter", "Interpreters"]

RARELY = (50_000, 10, 10)
"""Thresholds of Python's search for cycles, of which a scan makes few: with Python's own thresholds a scan of small
files spends a twentieth of its time there, because it keeps objects of each file."""


Started = tuple["subprocess.Popen[bytes]", IO[bytes]]
"""A process, and the file of its standard error."""


@dataclass(frozen=True, slots=True)
class Interpreter:
    """A process, this end of its socket, and the file of its standard error."""

    process: "subprocess.Popen[bytes]"
    pipe: socket.socket
    complaints: IO[bytes]

    def end(self) -> None:
        """Ends a process that nobody has taken."""
        self.process.kill()
        self.process.wait()
        self.pipe.close()
        self.complaints.close()


class Interpreters:
    """Those that were started and that no worker has taken yet."""

    def __init__(self) -> None:
        self._started: list[Interpreter] = []
        self._count = 0

    def prepare(self, count: int) -> None:
        """Starts as many as make up `count` with those started before. What fails here is tried again by `take`."""
        with suppress(OSError):
            while self._count < count:
                self._started.append(_interpreter())
                self._count += 1

    def take(self) -> Interpreter:
        """One for a worker. Raises OSError where none can be started."""
        if self._started:
            return self._started.pop(0)
        self._count += 1
        return _interpreter()

    def close(self) -> None:
        """Ends those that no worker has taken."""
        while self._started:
            self._started.pop().end()
        self._count = 0


def _interpreter() -> Interpreter:
    here, there = socket.socketpair()
    with there:
        try:
            process, complaints = _started(there.fileno())
        except OSError:
            here.close()
            raise
    return Interpreter(process, here, complaints)


def _started(descriptor: int) -> Started:
    """An interpreter of its own: multiprocessing would run the caller's script."""
    complaints = tempfile.TemporaryFile()  # noqa: SIM115 - it is read when the process has ended
    try:
        process = subprocess.Popen(  # noqa: S603 - this interpreter, with a program of ours
            isolated.command("tcpstall.archive.scanning.local", str(descriptor)),
            stdin=subprocess.DEVNULL,
            stderr=complaints,
            # Ctrl-C is for the parent, which ends its workers; a worker whose parent is gone notices that.
            process_group=0,
            pass_fds=[descriptor],
        )
    except OSError:
        complaints.close()
        raise
    return process, complaints
