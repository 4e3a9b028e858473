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
        """Whether it opens a direction."""
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


def cut(frame: bytes, parsed: tuple[Segment, int, int]) -> list[Segment]:
    """A TSO frame as the wire packets a network card would make of it; checksums are left to the kernel."""
    whole, at, tcp = parsed
    size = VNET.unpack_from(frame)[3]
    if not size or whole.payload <= size:
        return [whole]
    body = tcp + (frame[tcp + 12] >> 4) * 4
    head = frame[VNET_LEN:body]
    pieces = []
    for number, offset in enumerate(range(0, whole.payload, size)):
        part = frame[body + offset : body + min(offset + size, whole.payload)]
        last = offset + size >= whole.payload
        flags = whole.flags & (0xFF if last else ~(_FIN | _PSH)) & (0xFF if number == 0 else ~_CWR)
        seq = (whole.seq + offset) & 0xFFFFFFFF
        header = _header(bytearray(head), at - VNET_LEN, tcp - VNET_LEN, seq, flags, len(part), number)
        vnet = VNET.pack(_NEEDS_CSUM, 0, 0, 0, tcp - VNET_LEN, 16)
        pieces.append(
            Segment(vnet + header + part, whole.source, whole.target, seq, whole.ack, flags, len(part)),
        )
    return pieces


def _header(head: bytearray, ip: int, tcp: int, seq: int, flags: int, payload: int, number: int) -> bytes:
    length = len(head) - tcp + payload
    if head[ip] >> 4 == 4:
        struct.pack_into("!H", head, ip + 2, tcp - ip + length)
        identity = (int.from_bytes(head[ip + 4 : ip + 6], "big") + number) & 0xFFFF
        struct.pack_into("!HHH", head, ip + 4, identity, int.from_bytes(head[ip + 6 : ip + 8], "big"), head[ip + 8] << 8 | 6)
        struct.pack_into("!H", head, ip + 10, 0)
        struct.pack_into("!H", head, ip + 10, ~_sum(head[ip:tcp]) & 0xFFFF)
        addresses = head[ip + 12 : ip + 20]
    else:
        struct.pack_into("!H", head, ip + 4, length)
        addresses = head[ip + 8 : ip + 40]
    struct.pack_into("!I", head, tcp + 4, seq)
    head[tcp + 13] = flags
    struct.pack_into("!H", head, tcp + 16, _sum(bytes(addresses) + struct.pack("!HH", 6, length)))
    return bytes(head)


def _sum(data: bytes | bytearray) -> int:
    total = sum(struct.unpack(f"!{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return total
