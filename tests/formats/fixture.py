"""Fixtures as bare IP packets with their times, to be written anew in every form."""

import struct
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from tests.formats.encapsulation import FOUR, SIX, Wrapping, as_ipv6
from tests.properties.frames import Frame, read_frames, write_frames
from tests.properties.reading import Reading, reading
from tests.scene.verdict import flows_of

FIXTURES = Path(__file__).parents[2] / "fixtures"
CHOSEN = ("slowstart-rtt7ms-512k.pcap", "lab/idle-restart-on/sender.pcap")
"""One with whole packets of a paste, one of a real kernel with TSO and a snap length of 96 bytes."""


@dataclass(frozen=True, slots=True)
class Datagram:
    """An IP packet, perhaps cut by the snap length; `length` is by its own header."""

    time_ns: int
    data: bytes
    length: int

    @property
    def version(self) -> int:
        return self.data[0] >> 4

    def six(self) -> "Datagram":
        """The same as IPv6."""
        data = as_ipv6(self.data)
        return replace(self, data=data, length=40 + struct.unpack_from("!H", data, 4)[0])


def datagrams(name: str, *, version: int = FOUR) -> list[Datagram]:
    """The packets of a fixture."""
    frames = read_frames(FIXTURES / name)
    found = [_datagram(frame) for frame in frames]
    return [each.six() for each in found] if version == SIX else found


def _datagram(frame: Frame) -> Datagram:
    data = frame.data[frame.ip :]
    return Datagram(frame.time_ns, data, struct.unpack_from("!H", data, 2)[0])


def wrapped(packets: list[Datagram], wrapping: Wrapping) -> list[Frame]:
    """Each packet behind its headers, as frames of the wrapping's link type."""
    out = []
    for packet in packets:
        before = wrapping.before(packet.version, packet.length)
        out.append(Frame(packet.time_ns, before + packet.data, len(before) + packet.length, wrapping.link))
    return out


def plain(name: str, folder: Path, *, version: int = FOUR) -> dict[str, Any]:
    """The flow of the fixture as raw IP packets."""
    raw_ip = Wrapping(101, lambda *_: b"")
    (flow,) = flows_of(write_frames(folder / "plain.pcap", wrapped(datagrams(name, version=version), raw_ip)))
    return flow


def told(flow: dict[str, Any]) -> Reading:
    """Results that must be the same in every form."""
    return reading(flow)


def fragments(packet: Datagram, size: int) -> list[Datagram]:
    """The packet in fragments of so many bytes each, in order."""
    head = 20 if packet.version == FOUR else 40
    out = []
    for start in range(0, packet.length - head, size):
        length = min(size, packet.length - head - start)
        more = start + length < packet.length - head
        body = packet.data[head + start : head + start + length]
        if packet.version == FOUR:
            fields = struct.pack("!H2sH", 20 + length, packet.data[4:6], more << 13 | start // 8)
            out.append(replace(packet, data=packet.data[:2] + fields + packet.data[8:20] + body, length=20 + length))
        else:
            between = struct.pack("!BBHI", packet.data[6], 0, start | more, hash(packet) % 2**32)
            fixed = packet.data[:4] + struct.pack("!HB", 8 + length, 44) + packet.data[7:40]
            out.append(replace(packet, data=fixed + between + body, length=48 + length))
    return out
