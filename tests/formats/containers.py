"""The files that frames come in, written by hand: pcap's variants, pcapng's blocks, snoop, and compressions."""

import bz2
import gzip
import lzma
import struct
from collections.abc import Callable, Sequence

from tests.properties.frames import Frame

Frames = Sequence[Frame]
SECOND_NS = 1_000_000_000

# pcap


def pcap(frames: Frames, *, order: str = "<", nanoseconds: bool = False, magic: int | None = None) -> bytes:
    """The classic file; with the magic number of Kuznetsov's libpcap, each record has eight bytes more."""
    unit = 1 if nanoseconds else 1_000
    number = magic or (0xA1B23C4D if nanoseconds else 0xA1B2C3D4)
    out = [struct.pack(order + "IHHiIII", number, 2, 4, 0, 0, 262_144, frames[0].link)]
    for frame in frames:
        seconds, rest = divmod(frame.time_ns, SECOND_NS)
        out.append(struct.pack(order + "IIII", seconds, rest // unit, len(frame.data), frame.length))
        out += [bytes(8)] if magic else []
        out.append(frame.data)
    return b"".join(out)


# pcapng


def block(order: str, kind: int, body: bytes) -> bytes:
    body += bytes(-len(body) % 4)
    length = struct.pack(order + "I", 12 + len(body))
    return struct.pack(order + "I", kind) + length + body + length


def option(order: str, code: int, value: bytes) -> bytes:
    return struct.pack(order + "HH", code, len(value)) + value + bytes(-len(value) % 4)


def section(order: str = "<") -> bytes:
    return block(order, 0x0A0D0D0A, struct.pack(order + "IHHq", 0x1A2B3C4D, 1, 0, -1))


def interface(link: int, *, order: str = "<", resolution: int | None = None, offset_s: int = 0) -> bytes:
    """Interface Description Block; microseconds unless `resolution` (if_tsresol) says else."""
    options = b"" if resolution is None else option(order, 9, bytes([resolution]))
    options += option(order, 14, struct.pack(order + "q", offset_s)) if offset_s else b""
    return block(order, 1, struct.pack(order + "HHI", link, 0, 262_144) + options + option(order, 0, b""))


def enhanced(frame: Frame, ticks: int, *, order: str = "<", number: int = 0) -> bytes:
    head = struct.pack(order + "IIIII", number, ticks >> 32, ticks & 0xFFFFFFFF, len(frame.data), frame.length)
    comment = option(order, 1, b"seen by a test") + option(order, 0, b"")
    return block(order, 6, head + frame.data + bytes(-len(frame.data) % 4) + comment)


def pcapng(frames: Frames, *, order: str = "<", resolution: int | None = None, offset_s: int = 0) -> bytes:
    per_second = 10**6 if resolution is None else 2 ** (resolution & 0x7F) if resolution & 0x80 else 10**resolution
    out = [section(order), interface(frames[0].link, order=order, resolution=resolution, offset_s=offset_s)]
    for frame in frames:
        seconds, rest = divmod(frame.time_ns, SECOND_NS)
        ticks = (seconds - offset_s) * per_second + -(-rest * per_second // SECOND_NS)
        out.append(enhanced(frame, ticks, order=order))
    return b"".join(out)


def two_interfaces(frames: Frames) -> bytes:
    """Every other packet from an interface with nanoseconds, the rest from one with microseconds and an offset."""
    out = [section(), interface(frames[0].link, offset_s=1_000), interface(frames[0].link, resolution=9)]
    for index, frame in enumerate(frames):
        ticks = frame.time_ns if index % 2 else frame.time_ns // 1_000 - 1_000 * 10**6
        out.append(enhanced(frame, ticks, number=index % 2))
    return b"".join(out)


def sections_of_both_orders(frames: Frames) -> bytes:
    """A new section every ten packets, its byte order and its clock other than the one before."""
    out = b""
    for start in range(0, len(frames), 10):
        odd = start // 10 % 2
        out += pcapng(frames[start : start + 10], order=">" if odd else "<", resolution=9 if odd else None)
    return out


def old_packet_blocks(frames: Frames) -> bytes:
    out = [section(), interface(frames[0].link)]
    for frame in frames:
        ticks = frame.time_ns // 1_000
        head = struct.pack("<HHIIII", 0, 0, ticks >> 32, ticks & 0xFFFFFFFF, len(frame.data), frame.length)
        out.append(block("<", 2, head + frame.data))
    return b"".join(out)


def other_blocks_between(frames: Frames) -> bytes:
    """Name resolution, decryption secrets, custom, journal, unknown and statistics blocks around every packet."""
    names = block("<", 4, struct.pack("<HH4s6s2xHH", 1, 10, bytes([10, 0, 0, 1]), b"name.\0", 0, 0))
    secrets = block("<", 10, struct.pack("<II", 0x544C534B, 6) + b"secret")
    custom = block("<", 0xBAD, struct.pack("<I", 32_473) + b"anything") + block("<", 0x40000BAD, struct.pack("<I", 1))
    journal = block("<", 9, b"__REALTIME_TIMESTAMP=0\n")
    unknown = block("<", 0x80000123, bytes(64))
    statistics = block("<", 5, struct.pack("<III", 0, 0, 0) + option("<", 5, struct.pack("<Q", 0)))
    between = names + secrets + custom + journal + unknown + statistics
    head = section() + interface(frames[0].link)
    return head + b"".join(between + enhanced(frame, frame.time_ns // 1_000) for frame in frames) + between


def snoop(frames: Frames) -> bytes:
    """RFC 1761, of Ethernet."""
    out = [b"snoop\0\0\0" + struct.pack(">II", 2, 4)]
    for frame in frames:
        seconds, rest = divmod(frame.time_ns, SECOND_NS)
        padded = frame.data + bytes(-len(frame.data) % 4)
        out.append(struct.pack(">IIII", frame.length, len(frame.data), 24 + len(padded), 0))
        out.append(struct.pack(">II", seconds, rest // 1_000) + padded)
    return b"".join(out)


CONTAINERS: dict[str, Callable[[Frames], bytes]] = {
    "pcap, microseconds": pcap,
    "pcap, microseconds, big-endian": lambda frames: pcap(frames, order=">"),
    "pcap, nanoseconds": lambda frames: pcap(frames, nanoseconds=True),
    "pcap, nanoseconds, big-endian": lambda frames: pcap(frames, order=">", nanoseconds=True),
    "pcap, Kuznetsov's": lambda frames: pcap(frames, magic=0xA1B2CD34),
    "pcap, Kuznetsov's, big-endian": lambda frames: pcap(frames, order=">", magic=0xA1B2CD34),
    "pcapng": pcapng,
    "pcapng, big-endian": lambda frames: pcapng(frames, order=">"),
    "pcapng, nanoseconds": lambda frames: pcapng(frames, resolution=9),
    "pcapng, picoseconds": lambda frames: pcapng([_early(frame) for frame in frames], resolution=12),
    "pcapng, times with an offset": lambda frames: pcapng(frames, offset_s=1_000),
    "pcapng, two interfaces": two_interfaces,
    "pcapng, sections of both byte orders": sections_of_both_orders,
    "pcapng, obsolete packet blocks": old_packet_blocks,
    "pcapng, other blocks between": other_blocks_between,
    "snoop": snoop,
}


def _early(frame: Frame) -> Frame:
    """In the first year of the epoch: 64 bits of picoseconds end after 213 days."""
    return Frame(frame.time_ns % (100 * 86_400 * SECOND_NS), frame.data, frame.length, frame.link)


# Compressions


def zstd(data: bytes) -> bytes:
    """A frame of raw blocks (RFC 8878 §3.1.1)."""
    most = 1 << 17
    out = b"\x28\xb5\x2f\xfd\x00\x38"
    starts = range(0, len(data), most)
    for start in starts:
        part = data[start : start + most]
        out += struct.pack("<I", len(part) << 3 | (start == starts[-1]))[:3] + part
    return out


def zstd_of_zeros(before: bytes, *, size: int) -> bytes:
    """A pcapng with a custom block of about so many zeros behind it, as blocks of one repeated byte."""
    most = 1 << 17
    blocks = size // most
    body = blocks * most
    head = zstd(before + struct.pack("<II", 0xBAD, 12 + body))
    run = struct.pack("<I", most << 3 | 1 << 1)[:3] + b"\0"
    zeros = b"\x28\xb5\x2f\xfd\x00\x38" + run * (blocks - 1) + struct.pack("<I", most << 3 | 1 << 1 | 1)[:3] + b"\0"
    return head + zeros + zstd(struct.pack("<I", 12 + body))


def lz4(data: bytes) -> bytes:
    """A frame of stored blocks of up to 64 KiB, without checksums."""
    out = b"\x04\x22\x4d\x18\x60\x40\x82"
    for start in range(0, len(data), 1 << 16):
        part = data[start : start + (1 << 16)]
        out += struct.pack("<I", 0x80000000 | len(part)) + part
    return out + bytes(4)


COMPRESSIONS: dict[str, Callable[[bytes], bytes]] = {
    "gzip": lambda data: gzip.compress(data, mtime=0),
    "zstd": zstd,
    "lz4": lz4,
    "xz": lzma.compress,
    "bzip2": bz2.compress,
}


def in_two_members(compress: Callable[[bytes], bytes], data: bytes) -> bytes:
    half = len(data) // 2
    return compress(data[:half]) + compress(data[half:])
