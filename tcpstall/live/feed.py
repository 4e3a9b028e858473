"""Intervals of whole packets, cut from a pcap file that comes through a pipe."""

import os
import select
import time
from collections.abc import Callable

from tcpstall import _core
from tcpstall.errors import CannotCapture

__all__ = ["Feed"]

_HEADER = 24
"""Bytes of a pcap file's header."""

_PIECE = 1 << 20


class Feed:
    """A file object for the core, which reads one interval after the other: each begins with the pcap header.

    `keep(header, records)` is given what was read, whole packets.
    """

    def __init__(self, pipe: int, keep: Callable[[bytes, bytes], None] | None = None) -> None:
        """Waits for the header. Raises CannotCapture where the pipe ends before it."""
        self._pipe = pipe
        self._keep = keep
        self._header = b""
        while len(self._header) < _HEADER:
            piece = os.read(pipe, _HEADER - len(self._header))
            if not piece:
                raise CannotCapture("the capture ended before its first packet")
            self._header += piece
        self._seconds = 0.0
        self._until = 0.0
        self._begins = True
        self._rest = b""
        self.ended = False
        self.failed: Exception | None = None
        """Error that ended the feed before the pipe's end; not raised: the core would blame the capture for it."""

    def interval(self, seconds: float) -> None:
        """The next interval lasts so long from its first read on, or until the pipe ends."""
        self._seconds = seconds
        self._begins = True

    def read(self, _size: int = -1) -> bytes:
        """The header, then whole packets as they come; nothing once the interval is over."""
        if self._begins:
            self._begins = False
            # Not before: taking up what is open may take longer than the interval, which would never read a packet.
            self._until = time.monotonic() + self._seconds
            return self._header
        try:
            records = self._records()
            if records and self._keep is not None:
                self._keep(self._header, records)
        except Exception as error:
            self.failed, self.ended = error, True
            return b""
        return records

    def close(self) -> None:
        """Nothing: the next interval comes through the same pipe."""

    def _records(self) -> bytes:
        """The next whole packets, within the interval."""
        while not self.ended:
            left = self._until - time.monotonic()
            if left <= 0 or not select.select([self._pipe], [], [], left)[0]:
                break
            piece = os.read(self._pipe, _PIECE)
            self.ended = not piece
            # What the capture leaves unfinished is handed on too: the core says that it is cut.
            whole = self._rest + piece
            end = len(whole) if self.ended else _core.whole_records(self._header, whole)
            records, self._rest = whole[:end], whole[end:]
            if records:
                return records
        return b""
