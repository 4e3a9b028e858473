"""Ethernet frames as a packet socket with virtio headers hands them over, cut into wire packets."""

import struct
from dataclasses import dataclass

VNET = struct.Struct("<BBHHHH")
VNET_LEN = VNET.size
_NEEDS_CSUM = 1
_SYN, _FIN, _PSH, _ACK, _CWR = 0x02, 0x01, 0x08, 0x10, 0x80


@dataclass(slots=True)
class Segment:
    """The TCP part of one wire frame; `frame` still begins with its virtio header."""

    frame: bytes
    source: int
    target: int
    seq: int
    ack: int
    flags: int
    payload: int

    @property
    def syn(self) -> bool:
        """True where it opens a direction."""
        return bool(self.flags & _SYN)


def parse(frame: bytes) -> tuple[Segment, int, int] | None:
    """The TCP segment in a frame with its virtio header, and where IP and TCP begin; None if it is not TCP."""
    at = VNET_LEN + 14
    kind = frame[at - 2 : at]
    if kind == b"\x08\x00" and frame[at + 9] == 6:
        tcp = at + (frame[at] & 15) * 4
        end = at + (int.from_bytes(frame[at + 2 : at + 4], "big") or len(frame) - at)
    elif kind == b"\x86\xdd" and frame[at + 6] == 6:
        tcp = at + 40
        end = tcp + (int.from_bytes(frame[at + 4 : at + 6], "big") or len(frame) - tcp)
    else:
        return None
    source, target, seq, ack, offset, flags = struct.unpack_from("!HHIIBB", frame, tcp)
    return Segment(frame, source, target, seq, ack, flags, end - tcp - (offset >> 4) * 4), at, tcp


def parts(parsed: tuple[Segment, int, int]) -> list[Segment]:
    """The wire packets of a TSO frame without their bytes: enough to decide what becomes of each."""
    whole = parsed[0]
    size = VNET.unpack_from(whole.frame)[3]
    if not size or whole.payload <= size:
        return [whole]
    return [
        Segment(b"", whole.source, whole.target, (whole.seq + offset) & 0xFFFFFFFF, whole.ack, whole.flags,
                min(size, whole.payload - offset))
        for offset in range(0, whole.payload, size)
    ]  # fmt: skip


def cut(frame: bytes, parsed: tuple[Segment, int, int]) -> list[Segment]:
    """A TSO frame as the wire packets a network card would make of it; checksums are left to the kernel."""
    _, at, tcp = parsed
    pieces = parts(parsed)
    if len(pieces) == 1:
        return pieces
    body = tcp + (frame[tcp + 12] >> 4) * 4
    vnet = VNET.pack(_NEEDS_CSUM, 0, 0, 0, tcp - VNET_LEN, 16)
    header = Header(frame[VNET_LEN:body], at - VNET_LEN, tcp - VNET_LEN)
    offset = body
    for number, piece in enumerate(pieces):
        last = number == len(pieces) - 1
        piece.flags &= (0xFF if last else ~(_FIN | _PSH)) & (0xFF if number == 0 else ~_CWR)
        end = offset + piece.payload
        piece.frame = vnet + header.filled(piece.seq, piece.flags, piece.payload, number) + frame[offset:end]
        offset = end
    return pieces


class Header:
    """Headers of a TSO frame as a template; the TCP checksum keeps only the pseudo header's sum."""

    def __init__(self, head: bytes, ip: int, tcp: int) -> None:
        self._head, self._ip, self._tcp = bytearray(head), ip, tcp
        self._four = head[ip] >> 4 == 4
        self._identity = int.from_bytes(head[ip + 4 : ip + 6], "big")
        if self._four:
            blank = bytearray(head[ip:tcp])
            blank[2:6], blank[10:12] = bytes(4), bytes(2)
            self._sum = _sum(blank)
        self._pseudo = _sum(head[ip + 12 : ip + 20] if self._four else head[ip + 8 : ip + 40]) + 6

    def filled(self, seq: int, flags: int, payload: int, number: int) -> bytes:
        """The headers of one part."""
        head, ip, tcp = self._head, self._ip, self._tcp
        length = len(head) - tcp + payload
        if self._four:
            identity = (self._identity + number) & 0xFFFF
            struct.pack_into("!HH", head, ip + 2, tcp - ip + length, identity)
            struct.pack_into("!H", head, ip + 10, ~_folded(self._sum + tcp - ip + length + identity) & 0xFFFF)
        else:
            struct.pack_into("!H", head, ip + 4, length)
        struct.pack_into("!I", head, tcp + 4, seq)
        head[tcp + 13] = flags
        struct.pack_into("!H", head, tcp + 16, _folded(self._pseudo + length))
        return bytes(head)


def _sum(data: bytes | bytearray) -> int:
    return _folded(sum(struct.unpack(f"!{len(data) // 2}H", data)))


def _folded(total: int) -> int:
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return total
