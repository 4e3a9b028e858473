"""Numbers and times of packets that the core finds by number, or by their connection and moment.

The core marks them in a copy of the capture without payload, a temporary file: memory does not grow with the capture.
"""

import secrets
import struct
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

from tcpstall.model import Endpoint
from tcpstall.packets.files import Progress, Wish, rewrite

__all__ = ["Found", "find"]

_LITTLE = b"\x4d\x3c\x2b\x1a"
_SECTION = 0x0A0D0D0A
_INTERFACE, _OBSOLETE_PACKET, _SIMPLE_PACKET, _PACKET = 1, 2, 3, 6
_COMMENT, _RESOLUTION, _OFFSET = 1, 9, 14
"""Blocks and options of pcapng (draft-ietf-opsawg-pcapng, section 4)."""

_SECOND = 1_000_000_000
_MICROSECONDS = b"\x06"
_BINARY = 0x80
"""Set in an interface's resolution that is a power of two."""

Clock = tuple[int, int]
"""Ticks per second of an interface, and the seconds at which its times begin."""


@dataclass(slots=True)
class Found:
    """Number and time (ns) of the packet with each mark, and the first packet's time; None where it has none."""

    first_ns: int | None = None
    at: dict[str, tuple[int, int]] = field(default_factory=dict)


def find(
    source: str,
    numbers: Sequence[tuple[int, str]],
    moments: Sequence[tuple[int, Endpoint, Endpoint, str]],
    *,
    progress: Progress | None = None,
) -> Found:
    """Finds packets of `source` by number, or the first of a connection at a moment; each has a mark of the caller's.

    Raises as `rewrite` does.
    """
    token = secrets.token_hex(8)  # no comment of a stranger's begins so
    wish = Wish(
        remarks=[(number, token + mark) for number, mark in numbers],
        moments=[(when, one, other, token + mark) for when, one, other, mark in moments],
        payload=False,
    )
    with tempfile.TemporaryDirectory(prefix="tcpstall-") as scratch:
        marked = Path(scratch) / "marked.pcapng"
        rewrite(source, marked, wish, progress=progress)
        with marked.open("rb") as file:
            return _read(file, token.encode())


def _read(file: BinaryIO, token: bytes) -> Found:
    found, clocks, number = Found(), list[Clock](), 0
    for order, kind, body in _blocks(file):
        if kind == _INTERFACE:
            clocks.append(_clock(order, body))
        elif kind == _SIMPLE_PACKET:
            number += 1
        elif kind in (_PACKET, _OBSOLETE_PACKET):
            number += 1
            if number == 1:
                found.first_ns = _time(order, kind, body, clocks)
            if token in body:
                time_ns = _time(order, kind, body, clocks)
                found.at.update((mark, (number, time_ns)) for mark in _marks(order, body, token))
        elif kind == _SECTION:
            clocks.clear()
    return found


def _blocks(file: BinaryIO) -> Iterator[tuple[str, int, bytes]]:
    """Byte order, type and body of each."""
    order = "<"
    while len(head := file.read(12)) == 12:
        if head.startswith(_SECTION.to_bytes(4)):
            order = "<" if head[8:] == _LITTLE else ">"
        kind, length = struct.unpack_from(f"{order}II", head)
        yield order, kind, (head[8:] + file.read(length - 12))[:-4]


def _options(order: str, body: bytes, at: int) -> Iterator[tuple[int, bytes]]:
    while at + 4 <= len(body):
        code, length = struct.unpack_from(f"{order}HH", body, at)
        yield code, body[at + 4 : at + 4 + length]
        at += 4 + length + -length % 4


def _clock(order: str, body: bytes) -> Clock:
    options = dict(_options(order, body, 8))
    exponent = options.get(_RESOLUTION, _MICROSECONDS)[0]
    (offset_s,) = struct.unpack(f"{order}q", options.get(_OFFSET, bytes(8)))
    return 2 ** (exponent & ~_BINARY) if exponent & _BINARY else 10**exponent, offset_s


def _time(order: str, kind: int, body: bytes, clocks: Sequence[Clock]) -> int:
    interface: int
    high: int
    low: int
    interface, high, low = struct.unpack_from(f"{order}III" if kind == _PACKET else f"{order}HxxII", body)
    per_second, offset_s = clocks[interface]
    return offset_s * _SECOND + (high << 32 | low) * _SECOND // per_second


def _marks(order: str, body: bytes, token: bytes) -> Iterator[str]:
    (kept,) = struct.unpack_from(f"{order}I", body, 12)
    for code, value in _options(order, body, 20 + kept + -kept % 4):
        if code == _COMMENT and value.startswith(token):
            yield value.removeprefix(token).decode()
