"""Length of a conversation: by the sender's capture, and by the client's own clock."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.tools.lab.network.frames import VNET_LEN, Segment, parse
from tests.tools.lab.network.pcap import read_records

_BLANK = bytes(VNET_LEN)
_HALF = 1 << 31
_ADDRESS = {4: slice(12, 16), 6: slice(8, 24)}


@dataclass(slots=True)
class Way:
    """One direction of one connection, at the captured host."""

    opened: int
    end: int
    known: int | None = None
    outstanding: bool = False


@dataclass(frozen=True, slots=True)
class Timing:
    """One run in nanoseconds: the transfer from the first SYN until the captured host knew that all data is there.

    `handshakes_ns` are SYN to SYN-ACK, or SYN-ACK to ACK: the round trips that nothing queued behind.
    """

    transfer_ns: int
    handshakes_ns: tuple[int, ...]
    repeated_bytes: int


def by_capture(capture: Path, local: bytes) -> Timing:
    """As the captured host saw it: its own data is there with its ACK, its peer's when it comes in."""
    ways: dict[tuple[int, int], Way] = {}
    begun, repeated = 0, 0
    handshakes: dict[tuple[int, int], int] = {}
    for us, data, _ in read_records(capture):
        parsed = parse(_BLANK + data)
        if parsed is None:
            continue
        segment, at, _ = parsed
        begun = begun or us
        outgoing = data[at - VNET_LEN :][_ADDRESS[data[at - VNET_LEN] >> 4]] == local
        flow, back = (segment.source, segment.target), (segment.target, segment.source)
        if segment.syn:
            ways[flow] = Way(us, (segment.seq + 1) & 0xFFFFFFFF)
        elif flow not in ways:
            continue
        if not outgoing and back in ways:
            handshakes.setdefault(flow, us - ways[back].opened)
            _acknowledged(ways[back], segment, us)
        repeated += _carried(ways[flow], segment, us, outgoing=outgoing)
    last = max((way.known for way in ways.values() if way.known), default=begun)
    return Timing((last - begun) * 1000, tuple(one * 1000 for one in handshakes.values()), repeated)


def _acknowledged(way: Way, segment: Segment, us: int) -> None:
    if way.outstanding and not _after(way.end, segment.ack):
        way.known, way.outstanding = us, False


def _carried(way: Way, segment: Segment, us: int, *, outgoing: bool) -> int:
    """Payload that the captured host sent again."""
    end = (segment.seq + segment.payload) & 0xFFFFFFFF
    if not segment.payload or segment.syn:
        return 0
    if not _after(end, way.end):
        return segment.payload if outgoing else 0
    way.end = end
    if outgoing:
        way.outstanding = True
    else:
        way.known = us
    return 0


def _after(one: int, other: int) -> bool:
    return 0 < (one - other) & 0xFFFFFFFF < _HALF


def by_client(log: Path) -> tuple[int, list[int]]:
    """The client's own clock: from its first connect to its last read, and each exchange.

    An exchange runs from its first write, or from the connect right before it, to the end of its read.
    """
    entries: list[dict[str, Any]] = json.loads(log.read_text(encoding="ascii"))
    if broken := [entry["error"] for entry in entries if "error" in entry]:
        raise ConnectionError(f"{log.name}: {broken[0]}")
    exchanges: list[int] = []
    asked: float | None = None
    first = last = 0.0
    for entry in entries:
        if entry["ev"] in {"connect", "write"}:
            asked = entry["t"] if asked is None else asked
            first = first or entry["t"]
        elif entry["ev"] == "read" and asked is not None:
            last = entry["end"]
            exchanges.append(round((last - asked) * 1e9))
            asked = None
    return round((last - first) * 1e9), exchanges
