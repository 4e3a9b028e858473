"""A reader of pcap, pcapng and snoop of the tests' own, which shares nothing with the core's."""

import bz2
import gzip
import lzma
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

SECOND_NS = 10**9


@dataclass(frozen=True, slots=True)
class Packet:
    """One record: its time in nanoseconds, exactly (None where it has none), and its bytes."""

    time_ns: Fraction | None
    link: int
    data: bytes
    length: int
    comments: tuple[str, ...] = ()

    @property
    def bare(self) -> "Packet":
        """The same without comments."""
        return Packet(self.time_ns, self.link, self.data, self.length)


@dataclass(frozen=True, slots=True)
class Block:
    """A block of pcapng: its body's fixed part is not told apart from its options."""

    kind: int
    order: str
    body: bytes

    def options(self, fixed: int) -> Iterator[tuple[int, bytes]]:
        """Code and value of each."""
        at = fixed
        while at + 4 <= len(self.body):
            code, length = struct.unpack_from(self.order + "HH", self.body, at)
            if code == 0:
                return
            yield code, self.body[at + 4 : at + 4 + length]
            at += 4 + -(-length // 4) * 4


def unpacked(path: Path) -> bytes:
    """The file's bytes, decompressed where it is gzip, bzip2 or xz."""
    data = path.read_bytes()
    for magic, unpack in ((b"\x1f\x8b", gzip.decompress), (b"BZh", bz2.decompress), (b"\xfd7zXZ", lzma.decompress)):
        if data.startswith(magic):
            return unpack(data)
    return data


def packets(path: Path) -> list[Packet]:
    """Every packet in order."""
    data = unpacked(path)
    if data.startswith(b"\x0a\x0d\x0d\x0a"):
        return list(_of_blocks(data))
    return list(_of_snoop(data) if data.startswith(b"snoop\0") else _of_pcap(data))


def blocks(data: bytes) -> Iterator[Block]:
    """Every block of a pcapng."""
    at, order = 0, "<"
    while at + 12 <= len(data):
        if data[at : at + 4] == b"\x0a\x0d\x0d\x0a":
            order = "<" if data[at + 8 : at + 12] == b"\x4d\x3c\x2b\x1a" else ">"
        kind, length = struct.unpack_from(order + "II", data, at)
        assert length % 4 == 0
        assert struct.unpack_from(order + "I", data, at + length - 4) == (length,)
        yield Block(kind, order, data[at + 8 : at + length - 4])
        at += length
    assert at == len(data)


def _of_blocks(data: bytes) -> Iterator[Packet]:
    interfaces: list[tuple[int, int, Fraction, int]] = []
    for block in blocks(data):
        if block.kind == 0x0A0D0D0A:
            interfaces = []
        elif block.kind == 1:
            interfaces.append(_interface(block))
        elif block.kind in (2, 6):
            number, high, low, kept, length = struct.unpack_from(block.order + "IIIII", block.body)
            if block.kind == 2:
                number = struct.unpack_from(block.order + "H", block.body)[0]
            link, _, tick, offset_s = interfaces[number]
            comments = tuple(value.decode() for code, value in block.options(20 + -(-kept // 4) * 4) if code == 1)
            time = (high << 32 | low) * tick + offset_s * SECOND_NS
            yield Packet(time, link, block.body[20 : 20 + kept], length, comments)
        elif block.kind == 3:
            (length,) = struct.unpack_from(block.order + "I", block.body)
            link, most, _, _ = interfaces[0]
            yield Packet(None, link, block.body[4 : 4 + (min(length, most) if most else length)], length)


def _interface(block: Block) -> tuple[int, int, Fraction, int]:
    link, _, most = struct.unpack_from(block.order + "HHI", block.body)
    options = dict(block.options(8))
    resolution = options.get(9, b"\x06")[0]
    per_second = 2 ** (resolution & 0x7F) if resolution & 0x80 else 10**resolution
    (offset_s,) = struct.unpack(block.order + "q", options.get(14, bytes(8)))
    return link, most, Fraction(SECOND_NS, per_second), offset_s


def _of_pcap(data: bytes) -> Iterator[Packet]:
    order = "<" if data[0] != 0xA1 else ">"
    (magic,) = struct.unpack_from(order + "I", data)
    tick = 1 if magic == 0xA1B23C4D else 1_000
    head = 24 if magic == 0xA1B2CD34 else 16
    link, at = struct.unpack_from(order + "I", data, 20)[0] & 0xFFFF, 24
    while at + head <= len(data):
        seconds, rest, kept, length = struct.unpack_from(order + "IIII", data, at)
        at += head
        yield Packet(Fraction(seconds * SECOND_NS + rest * tick), link, data[at : at + kept], max(length, kept))
        at += kept


def _of_snoop(data: bytes) -> Iterator[Packet]:
    link, at = {0: 1, 4: 1, 8: 10}[struct.unpack_from(">I", data, 12)[0]], 16
    while at + 24 <= len(data):
        length, kept, record, _, seconds, micros = struct.unpack_from(">IIIIII", data, at)
        yield Packet(Fraction(seconds * SECOND_NS + micros * 1_000), link, data[at + 24 : at + 24 + kept], length)
        at += record
