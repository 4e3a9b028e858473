"""A capture whose packets are given by a test, in place of tcpdump."""

import fcntl
import os
import termios
from collections.abc import Sequence
from pathlib import Path

from tcpstall.live import Counts, Following, State


class Played:
    """Gives a part at the beginning and, once that is read, one after each interval; then ends."""

    def __init__(self, parts: Sequence[bytes], counts: Counts | None = None) -> None:
        self.pipe, self._inlet = os.pipe()
        self._parts = list(parts)
        self.counts = counts or Counts()
        self.stopped = False
        self.ask()

    def ask(self) -> None:
        if fcntl.ioctl(self.pipe, termios.FIONREAD, bytes(4)) != bytes(4):
            return
        if self._parts:
            os.write(self._inlet, self._parts.pop(0))
        else:
            self.stop()

    def stop(self) -> None:
        if not self.stopped:
            os.close(self._inlet)
        self.stopped = True

    def finish(self) -> None:
        os.close(self.pipe)


def parts_of(capture: Path, size: int) -> list[bytes]:
    """Its bytes in parts that fit into a pipe, cut wherever that is."""
    data = capture.read_bytes()
    return [data[at : at + size] for at in range(0, len(data), size)]


def states(capture: Played) -> list[State]:
    """All states; an interval is over as soon as nothing more is there."""
    return list(Following(capture, interface="eth0", every_ns=1_000_000).states())
