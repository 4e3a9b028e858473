"""The same connection as another capture shows it: other taps, copies, disorder, offloading, numbers, clocks, cuts.

Nothing here takes a packet away or changes what either host did; what does is in `damage`.
"""

import struct
from collections.abc import Callable
from dataclasses import replace
from random import Random

from tests.properties.frames import ETHERNET, FIN, SACK_OPTION, VLAN_ETHERTYPE, WORD, Frame

Frames = list[Frame]
Rewrite = Callable[[Frames], Frames]

PSH = 0x08
FRAME_GAP_NS = 1_000
"""Between the wire packets of one TSO frame."""
MERGE_NS = 100_000
"""GRO holds a packet back no longer than one poll of the interface; frames further apart stay two."""
LARGEST_FRAME = 65_160
"""45 segments of 1,448 bytes: what fits an IP length of 64 KB."""


def in_order(frames: Frames) -> Frames:
    return sorted(frames, key=lambda frame: frame.time_ns)


def end_of(frames: Frames, *, client: bool) -> tuple[str, int]:
    """The end that opened the connection, or the other: by the SYN, or by the lower port of the service."""
    first = next((frame for frame in frames if frame.is_syn), frames[0])
    ends = {frame.source for frame in frames}
    if first.is_syn:
        opened = first.source if not first.flags & 0x10 else next(end for end in ends if end != first.source)
    else:
        opened = max(ends, key=lambda end: end[1])
    return opened if client else next(end for end in ends if end != opened)


def moved_towards(address: str, by_ns: int) -> Rewrite:
    """The tap sits so much (one way) nearer to that host: it sees its packets earlier and the other host's later.

    Keeps causality as long as twice the shift is no more than the round trip between the tap and that host.
    """

    def rewrite(frames: Frames) -> Frames:
        shifted = [
            replace(frame, time_ns=frame.time_ns + (-by_ns if frame.source[0] == address else by_ns))
            for frame in frames
        ]
        return in_order(shifted)

    return rewrite


def duplicated(share: float, *, seed: int = 1, routed: bool = True, tagged: bool = False) -> Rewrite:
    """A SPAN port copies that share of the packets again 5 to 300 µs later, a hop further (`routed`) or in a VLAN."""

    def rewrite(frames: Frames) -> Frames:
        random = Random(seed)
        copies = []
        for frame in frames:
            if random.random() < share:
                copy = _hop_further(frame) if routed else frame
                copy = _in_vlan(copy) if tagged else copy
                copies.append(replace(copy, time_ns=copy.time_ns + random.randrange(5_000, 300_000)))
        return in_order(frames + copies)

    return rewrite


def _hop_further(frame: Frame) -> Frame:
    at = frame.ip + (8 if frame.is_ipv4 else 7)
    other = frame.patched(at, "!B", frame.data[at] - 1)
    if other.link == ETHERNET:
        other = replace(other, data=bytes.fromhex("020000000a0a020000000b0b") + other.data[12:])
    return other


def _in_vlan(frame: Frame) -> Frame:
    if frame.link != ETHERNET:
        return frame
    tag = struct.pack("!HH", VLAN_ETHERTYPE, 7)
    return replace(frame, data=frame.data[:12] + tag + frame.data[12:], length=frame.length + 4)


def recorded_out_of_order(share: float, *, within_ns: int = 1_000_000, seed: int = 1) -> Rewrite:
    """Neighbours closer together than `within_ns` swap their places in the file, and each keeps its time: several
    receive queues, one file."""

    def rewrite(frames: Frames) -> Frames:
        random, out, at = Random(seed), list(frames), 0
        while at + 1 < len(out):
            if out[at + 1].time_ns - out[at].time_ns < within_ns and random.random() < share:
                out[at], out[at + 1] = out[at + 1], out[at]
                at += 1
            at += 1
        return out

    return rewrite


def stamped_out_of_order(share: float, *, within_ns: int = 50_000, seed: int = 1) -> Rewrite:
    """Neighbours closer together than `within_ns` swap their places, and the times stay: stamped after the queues."""

    def rewrite(frames: Frames) -> Frames:
        random, out, at = Random(seed), list(frames), 0
        while at + 1 < len(out):
            one, two = out[at], out[at + 1]
            if two.time_ns - one.time_ns < within_ns and not (one.is_syn or two.is_syn) and random.random() < share:
                out[at], out[at + 1] = replace(two, time_ns=one.time_ns), replace(one, time_ns=two.time_ns)
                at += 1
            at += 1
        return out

    return rewrite


def delayed(share: float, *, up_to_ns: int = 1_000_000, seed: int = 1) -> Rewrite:
    """Delays that share of the packets at the tap by `up_to_ns` at most, so that others overtake them."""

    def rewrite(frames: Frames) -> Frames:
        random = Random(seed)
        return in_order(
            [
                replace(frame, time_ns=frame.time_ns + (random.randrange(up_to_ns) if random.random() < share else 0))
                for frame in frames
            ]
        )

    return rewrite


def cut_to(snap: int) -> Rewrite:
    """Keeps the first `snap` bytes of each packet."""
    return lambda frames: [replace(frame, data=frame.data[:snap]) for frame in frames]


def cut_to_headers(frames: Frames) -> Frames:
    """Keeps what ends with the TCP options: the shortest that loses nothing."""
    return [replace(frame, data=frame.data[: frame.payload_start]) for frame in frames]


def split(mss: int) -> Rewrite:
    """Each frame above one segment becomes wire packets, a µs apart and in the host's order, with an IP-ID each."""

    def rewrite(frames: Frames) -> Frames:
        out: Frames = []
        free_ns: dict[tuple[str, int], int] = {}
        for frame in frames:
            for piece in _pieces(frame, mss):
                time_ns = max(piece.time_ns, free_ns.get(frame.source, 0))
                free_ns[frame.source] = time_ns + FRAME_GAP_NS
                out.append(replace(piece, time_ns=time_ns))
        return in_order(out)

    return rewrite


def _pieces(frame: Frame, mss: int) -> Frames:
    payload = frame.payload
    if payload <= mss:
        return [frame]
    pieces = []
    for number, start in enumerate(range(0, payload, mss)):
        size = min(mss, payload - start)
        piece = frame.carrying(size).with_seq(frame.seq + start)
        if frame.ip_id is not None:
            piece = piece.with_ip_id(frame.ip_id + number)
        if start + size < payload:
            piece = piece.with_flags(piece.flags & ~(PSH | FIN))
        pieces.append(piece)
    return pieces


def merged(mss: int, *, most: int = LARGEST_FRAME) -> Rewrite:
    """Runs of full segments of one sender become one frame, as TSO and GRO show them, stamped as their last segment."""

    def rewrite(frames: Frames) -> Frames:
        out: Frames = []
        for frame in frames:
            if out and _continues(out[-1], frame, mss, most):
                joined = out[-1].carrying(out[-1].payload + frame.payload)
                out[-1] = replace(joined.with_flags(joined.flags | frame.flags), time_ns=frame.time_ns)
            else:
                out.append(frame)
        return out

    return rewrite


def _continues(before: Frame, frame: Frame, mss: int, most: int) -> bool:
    size = before.payload
    return (
        frame.source == before.source
        and frame.payload > 0
        and size > 0
        and size % mss == 0
        and frame.seq == (before.seq + size) % WORD
        and frame.ack == before.ack
        and not (frame.flags | before.flags) & FIN
        and frame.time_ns - before.time_ns < MERGE_NS
        and size + frame.payload <= most
        and len(frame.data) - frame.payload_start <= len(before.data) - before.payload_start + frame.payload
        and frame.data[frame.tcp + 14 : frame.tcp + 16] == before.data[before.tcp + 14 : before.tcp + 16]
        and frame.data[frame.tcp + 20 : frame.payload_start] == before.data[before.tcp + 20 : before.payload_start]
    )


def renumbered(end: tuple[str, int], isn: int) -> Rewrite:
    """The sequence numbers of that end start at another ISN, and what the peer acknowledges and SACKs follows."""

    def rewrite(frames: Frames) -> Frames:
        first = next(frame for frame in frames if frame.source == end)
        by = isn - first.seq
        return [
            frame.with_seq(frame.seq + by) if frame.source == end else _acknowledging(frame, by) for frame in frames
        ]

    return rewrite


def _acknowledging(frame: Frame, by: int) -> Frame:
    if not frame.flags & 0x10:
        return frame
    out = frame.patched(frame.tcp + 8, "!I", (frame.ack + by) % WORD)
    for kind, at in frame.options():
        if kind == SACK_OPTION:
            for edge in range(at + 2, at + frame.data[at + 1], 4):
                out = out.patched(edge, "!I", (struct.unpack_from("!I", frame.data, edge)[0] + by) % WORD)
    return out


def later(by_ns: int) -> Rewrite:
    return lambda frames: [replace(frame, time_ns=frame.time_ns + by_ns) for frame in frames]
