"""One TCP packet as values, and the bytes of the frame that carries it."""

import ipaddress
import struct
from dataclasses import dataclass, replace
from functools import cache
from typing import Literal

FIN, SYN, RST, PSH, ACK, ECE, CWR = 0x01, 0x02, 0x04, 0x08, 0x10, 0x40, 0x80

Link = Literal["ethernet", "vlan", "qinq", "sll", "sll2", "raw", "null"]

LINK_TYPES: dict[Link, int] = {"ethernet": 1, "vlan": 1, "qinq": 1, "sll": 113, "sll2": 276, "raw": 101, "null": 0}
"""The numbers of tcpdump.org's LINKTYPE_ registry."""

_MAC_PAIR = bytes.fromhex("020000000002020200000001")


@dataclass(frozen=True, slots=True)
class Endpoint:
    address: str
    port: int


@dataclass(frozen=True, slots=True)
class Packet:
    """`seq`, `ack` and SACK edges are unwrapped and may exceed 32 bits; the frame wraps them."""

    source: Endpoint
    destination: Endpoint
    seq: int
    ack: int
    flags: int
    window: int
    payload: int = 0
    timestamps: tuple[int, int] | None = None
    mss: int | None = None
    window_scale: int | None = None
    sack_permitted: bool = False
    sack: tuple[tuple[int, int], ...] = ()
    ip_id: int = 0
    ttl: int = 64
    content: bytes = b""
    """Begin of the payload; zeros follow."""

    def options(self) -> bytes:
        """The TCP options in the order and with the padding that Linux uses."""
        if self.flags & SYN:
            return self._syn_options()
        out = b""
        if self.timestamps:
            out += struct.pack("!BBBBII", 1, 1, 8, 10, self.timestamps[0] % 2**32, self.timestamps[1] % 2**32)
        if self.sack:
            out += struct.pack("!BBBB", 1, 1, 5, 2 + 8 * len(self.sack))
            out += b"".join(struct.pack("!II", left % 2**32, right % 2**32) for left, right in self.sack)
        return out

    def _syn_options(self) -> bytes:
        out = struct.pack("!BBH", 2, 4, self.mss) if self.mss else b""
        if self.sack_permitted:
            out += b"\x04\x02" if self.timestamps else b"\x01\x01\x04\x02"
        if self.timestamps:
            out += b"" if self.sack_permitted else b"\x01\x01"
            out += struct.pack("!BBII", 8, 10, self.timestamps[0] % 2**32, self.timestamps[1] % 2**32)
        if self.window_scale is not None:
            out += struct.pack("!BBBB", 1, 3, 3, self.window_scale)
        return out

    def tcp(self, pseudo_header_sum: int) -> bytes:
        """Header and payload."""
        options = self.options()
        head = struct.pack(
            "!HHIIBBHHH",
            self.source.port,
            self.destination.port,
            self.seq % 2**32,
            self.ack % 2**32,
            (5 + len(options) // 4) << 4,
            self.flags,
            self.window,
            0,
            0,
        )
        length = len(head) + len(options) + self.payload
        content = self.content[: self.payload]
        even = content + bytes(len(content) % 2)
        checksum = _fold(pseudo_header_sum + 6 + length + _sum16(head + options + even))
        padding = bytes(self.payload - len(content))
        return head[:16] + struct.pack("!H", checksum) + head[18:] + options + content + padding


def frame(packet: Packet, link: Link = "ethernet", *, zero_ip_length: bool = False) -> bytes:
    """The packet in a link-layer frame. `zero_ip_length` leaves the IP length 0, as some drivers do with TSO."""
    version, ip = _ip(packet, zero_ip_length)
    ethertype = b"\x08\x00" if version == 4 else b"\x86\xdd"
    match link:
        case "ethernet":
            return _MAC_PAIR + ethertype + ip
        case "vlan":
            return _MAC_PAIR + b"\x81\x00\x00\x2a" + ethertype + ip
        case "qinq":
            return _MAC_PAIR + b"\x88\xa8\x00\x07\x81\x00\x00\x2a" + ethertype + ip
        case "sll":
            return struct.pack("!HHH6s2x", 0, 1, 6, _MAC_PAIR[6:]) + ethertype + ip
        case "sll2":
            return ethertype + struct.pack("!HIHBB6s2x", 0, 2, 1, 0, 6, _MAC_PAIR[6:]) + ip
        case "raw":
            return ip
        case "null":
            return struct.pack("<I", 2 if version == 4 else 30) + ip


def as_ipv6(packet: Packet) -> Packet:
    """The same packet between the IPv6 addresses that end in the IPv4 addresses' bytes."""
    return replace(packet, source=_sixth(packet.source), destination=_sixth(packet.destination))


def _sixth(endpoint: Endpoint) -> Endpoint:
    four = int(ipaddress.IPv4Address(endpoint.address))
    return Endpoint(str(ipaddress.IPv6Address((0xFD77 << 112) + four)), endpoint.port)


def _ip(packet: Packet, zero_ip_length: bool) -> tuple[int, bytes]:
    addresses = _packed(packet.source.address) + _packed(packet.destination.address)
    tcp = packet.tcp(_sum16(addresses))
    if len(addresses) == 32:
        length = 0 if zero_ip_length else len(tcp)
        return 6, struct.pack("!IHBB", 6 << 28, length, 6, packet.ttl) + addresses + tcp
    length = 0 if zero_ip_length else 20 + len(tcp)
    head = struct.pack("!BBHHHBBH", 0x45, 0, length, packet.ip_id % 65536, 0x4000, packet.ttl, 6, 0)
    return 4, head[:10] + struct.pack("!H", _fold(_sum16(head + addresses))) + addresses + tcp


@cache
def _packed(address: str) -> bytes:
    return ipaddress.ip_address(address).packed


def _sum16(data: bytes) -> int:
    return sum(struct.unpack(f"!{len(data) // 2}H", data))


def _fold(total: int) -> int:
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return total ^ 0xFFFF
