"""Capture files as lists of frames whose TCP header can be read and rewritten, whatever else the bytes hold."""

import struct
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from ipaddress import ip_address
from pathlib import Path
from typing import Literal

ETHERNET, RAW_IP = 1, 101
"""The link types of tcpdump.org's registry that are rewritten here."""
VLAN_ETHERTYPE = 0x8100
IPV4_VERSION = 4
SYN, FIN = 0x02, 0x01
SACK_OPTION, NOP_OPTION, END_OPTION = 5, 1, 0
WORD, HALF = 2**32, 2**16

Format = Literal["pcap", "pcapng"]


@dataclass(frozen=True, slots=True)
class Frame:
    """One record of a capture. `data` may be cut; `length` is what passed on the wire."""

    time_ns: int
    data: bytes
    length: int
    link: int

    @property
    def ip(self) -> int:
        """Start of the IP header."""
        if self.link == RAW_IP:
            return 0
        start = 14
        while struct.unpack_from("!H", self.data, start - 2)[0] == VLAN_ETHERTYPE:
            start += 4
        return start

    @property
    def is_ipv4(self) -> bool:
        return self.data[self.ip] >> 4 == IPV4_VERSION

    @property
    def tcp(self) -> int:
        """Start of the TCP header."""
        return self.ip + ((self.data[self.ip] & 15) * 4 if self.is_ipv4 else 40)

    @property
    def payload_start(self) -> int:
        return self.tcp + (self.data[self.tcp + 12] >> 4) * 4

    @property
    def payload(self) -> int:
        """Bytes of TCP payload on the wire, by the IP length, or by the frame's where a driver left that 0."""
        if self.is_ipv4:
            end = self.ip + struct.unpack_from("!H", self.data, self.ip + 2)[0]
        else:
            end = self.ip + 40 + struct.unpack_from("!H", self.data, self.ip + 4)[0]
        return (end if end > self.tcp else self.length) - self.payload_start

    @property
    def seq(self) -> int:
        return int(struct.unpack_from("!I", self.data, self.tcp + 4)[0])

    @property
    def ack(self) -> int:
        return int(struct.unpack_from("!I", self.data, self.tcp + 8)[0])

    @property
    def flags(self) -> int:
        return self.data[self.tcp + 13]

    @property
    def is_syn(self) -> bool:
        return bool(self.flags & SYN)

    @property
    def ip_id(self) -> int | None:
        return int(struct.unpack_from("!H", self.data, self.ip + 4)[0]) if self.is_ipv4 else None

    @property
    def source(self) -> tuple[str, int]:
        """(address, port)."""
        first, size = (self.ip + 12, 4) if self.is_ipv4 else (self.ip + 8, 16)
        address = ip_address(self.data[first : first + size])
        return str(address), struct.unpack_from("!H", self.data, self.tcp)[0]

    def options(self) -> Iterator[tuple[int, int]]:
        """(kind, where its first byte stands) of each TCP option."""
        at, end = self.tcp + 20, self.payload_start
        while at < end and self.data[at] != END_OPTION:
            yield self.data[at], at
            at += 1 if self.data[at] == NOP_OPTION else max(2, self.data[at + 1])

    def patched(self, at: int, layout: str, value: int) -> "Frame":
        """The same with one field overwritten; checksums are left as they are, as offloading leaves them wrong."""
        data = bytearray(self.data)
        struct.pack_into(layout, data, at, value)
        return replace(self, data=bytes(data))

    def with_seq(self, seq: int) -> "Frame":
        return self.patched(self.tcp + 4, "!I", seq % WORD)

    def with_ip_id(self, ip_id: int) -> "Frame":
        return self.patched(self.ip + 4, "!H", ip_id % HALF) if self.is_ipv4 else self

    def with_flags(self, flags: int) -> "Frame":
        return self.patched(self.tcp + 13, "!B", flags)

    def carrying(self, payload: int) -> "Frame":
        """The same headers before so many bytes of payload, whose content is zero and kept only as far as it was."""
        headers = self.data[: self.payload_start]
        kept = max(0, len(self.data) - self.payload_start)
        whole = replace(self, data=headers + bytes(min(kept, payload)), length=self.payload_start + payload)
        if self.is_ipv4:
            return whole.patched(self.ip + 2, "!H", whole.length - self.ip)
        return whole.patched(self.ip + 4, "!H", whole.length - self.ip - 40)


def read_frames(path: Path) -> list[Frame]:
    """Every record of a little-endian pcap, which is what the fixtures and the scenes write."""
    data = path.read_bytes()
    magic, link = struct.unpack_from("<I", data)[0], struct.unpack_from("<I", data, 20)[0]
    unit = {0xA1B2C3D4: 1_000, 0xA1B23C4D: 1}[magic]
    frames, at = [], 24
    while at < len(data):
        seconds, rest, kept, length = struct.unpack_from("<IIII", data, at)
        time_ns = seconds * 1_000_000_000 + rest * unit
        frames.append(Frame(time_ns, data[at + 16 : at + 16 + kept], length, link))
        at += 16 + kept
    return frames


def write_frames(path: Path, frames: Iterable[Frame], *, kind: Format = "pcap") -> Path:
    """Writes them in the order given, with nanoseconds."""
    frames = list(frames)
    link = frames[0].link
    if kind == "pcapng":
        path.write_bytes(_pcapng(frames, link))
        return path
    out = [struct.pack("<IHHiIII", 0xA1B23C4D, 2, 4, 0, 0, 262_144, link)]
    for frame in frames:
        seconds, rest = divmod(frame.time_ns, 1_000_000_000)
        out.append(struct.pack("<IIII", seconds, rest, len(frame.data), frame.length) + frame.data)
    path.write_bytes(b"".join(out))
    return path


def _pcapng(frames: list[Frame], link: int) -> bytes:
    nanoseconds = struct.pack("<HHB3xHH", 9, 1, 9, 0, 0)
    out = [_block(0x0A0D0D0A, struct.pack("<IHHq", 0x1A2B3C4D, 1, 0, -1))]
    out.append(_block(1, struct.pack("<HHI", link, 0, 262_144) + nanoseconds))
    for frame in frames:
        high, low = divmod(frame.time_ns, WORD)
        head = struct.pack("<IIIII", 0, high, low, len(frame.data), frame.length)
        out.append(_block(6, head + frame.data + bytes(-len(frame.data) % 4)))
    return b"".join(out)


def _block(kind: int, body: bytes) -> bytes:
    length = struct.pack("<I", 12 + len(body))
    return struct.pack("<I", kind) + length + body + length
