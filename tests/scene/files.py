"""Capture files written by hand: pcap in both byte orders and resolutions, pcapng, and tcpdump's text."""

import struct
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

from tests.scene.packet import ACK, CWR, ECE, FIN, LINK_TYPES, PSH, RST, SYN, Link, Packet, frame

Format = Literal["pcap", "pcap-ns", "pcap-big-endian", "pcapng", "text"]

WHOLE = 262_144
"""tcpdump's default snap length."""


def write(
    path: Path,
    packets: Iterable[tuple[int, Packet]],
    *,
    kind: Format = "pcap",
    link: Link = "ethernet",
    snap: int = WHOLE,
    zero_ip_length: bool = False,
) -> None:
    """Writes (time in ns, packet) pairs, which must be in order. `zero_ip_length` acts on frames above 1,600 bytes."""
    if kind == "text":
        path.write_text("".join(text_line(time, packet) + "\n" for time, packet in packets))
        return
    frames = [(time, frame(p, link, zero_ip_length=zero_ip_length and p.payload > 1_600)) for time, p in packets]
    if kind == "pcapng":
        path.write_bytes(_pcapng(frames, LINK_TYPES[link], snap))
    else:
        path.write_bytes(_pcap(frames, kind, LINK_TYPES[link], snap))


def _pcap(frames: Sequence[tuple[int, bytes]], kind: Format, link: int, snap: int) -> bytes:
    order = ">" if kind == "pcap-big-endian" else "<"
    magic, unit = (0xA1B23C4D, 1) if kind == "pcap-ns" else (0xA1B2C3D4, 1_000)
    out = [struct.pack(order + "IHHiIII", magic, 2, 4, 0, 0, snap, link)]
    for time, whole in frames:
        kept = whole[:snap]
        seconds, rest = divmod(time, 1_000_000_000)
        out.append(struct.pack(order + "IIII", seconds, rest // unit, len(kept), len(whole)) + kept)
    return b"".join(out)


def several_interfaces(
    path: Path, packets: Sequence[tuple[int, str, Packet]], names: Sequence[str], link: Link = "ethernet"
) -> None:
    """Writes (time in ns, interface, packet) as pcapng; all these interfaces are described, `""` without a name."""
    frames = [(time, frame(packet, link)) for time, _, packet in packets]
    at = [names.index(name) for _, name, _ in packets]
    path.write_bytes(_pcapng(frames, LINK_TYPES[link], WHOLE, names, at))


def _pcapng(
    frames: Sequence[tuple[int, bytes]], link: int, snap: int, names: Sequence[str] = ("",), at: Sequence[int] = ()
) -> bytes:
    nanoseconds = struct.pack("<HHB3xHH", 9, 1, 9, 0, 0)  # if_tsresol = 10^-9, end of options
    out = [_block(0x0A0D0D0A, struct.pack("<IHHq", 0x1A2B3C4D, 1, 0, -1))]
    for name in map(str.encode, names):
        named = struct.pack("<HH", 2, len(name)) + name + bytes(-len(name) % 4) if name else b""  # if_name
        out.append(_block(1, struct.pack("<HHI", link, 0, snap) + named + nanoseconds))
    for number, (time, whole) in enumerate(frames):
        kept = whole[:snap]
        head = struct.pack("<IIIII", at[number] if at else 0, time >> 32, time & 0xFFFFFFFF, len(kept), len(whole))
        out.append(_block(6, head + kept + bytes(-len(kept) % 4)))
    return b"".join(out)


def _block(kind: int, body: bytes) -> bytes:
    length = struct.pack("<I", 12 + len(body))
    return struct.pack("<I", kind) + length + body + length


def text_line(time: int, packet: Packet) -> str:
    """The packet as `tcpdump -n -S -tttt` prints it."""
    moment = datetime.fromtimestamp(time // 1_000_000_000, tz=UTC)
    stamp = f"{moment:%Y-%m-%d %H:%M:%S}.{time % 1_000_000_000 // 1_000:06d}"
    family = "IP6" if ":" in packet.source.address else "IP"
    ends = f"{packet.source.address}.{packet.source.port} > {packet.destination.address}.{packet.destination.port}"
    words = [f"Flags [{_flag_letters(packet.flags)}]"]
    seq = packet.seq % 2**32
    if packet.payload:
        words.append(f"seq {seq}:{(packet.seq + packet.payload) % 2**32}")
    elif packet.flags & (SYN | FIN | RST):
        words.append(f"seq {seq}")
    if packet.flags & ACK:
        words.append(f"ack {packet.ack % 2**32}")
    words.append(f"win {packet.window}")
    if options := _option_words(packet):
        words.append(f"options [{options}]")
    return f"{stamp} {family} {ends}: {', '.join(words)}, length {packet.payload}"


def _flag_letters(flags: int) -> str:
    letters = [(FIN, "F"), (SYN, "S"), (RST, "R"), (PSH, "P"), (ACK, "."), (ECE, "E"), (CWR, "W")]
    return "".join(letter for bit, letter in letters if flags & bit) or "none"


def _option_words(packet: Packet) -> str:
    value = packet.timestamps and f"TS val {packet.timestamps[0] % 2**32} ecr {packet.timestamps[1] % 2**32}"
    if packet.flags & SYN:
        words = [f"mss {packet.mss}" if packet.mss else "", "sackOK" if packet.sack_permitted else "", value or ""]
        words += ["nop", f"wscale {packet.window_scale}"] if packet.window_scale is not None else []
        return ",".join(word for word in words if word)
    words = ["nop", "nop", value] if value else []
    if packet.sack:
        blocks = "".join(f"{{{left % 2**32}:{right % 2**32}}}" for left, right in packet.sack)
        words += ["nop", "nop", f"sack {len(packet.sack)} {blocks}"]
    return ",".join(words)
