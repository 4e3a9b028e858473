"""The path between two hosts: what leaves, what arrives, and what a tap somewhere on it sees."""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Literal

from tests.scene.packet import Packet

Side = Literal["client", "server"]
Tap = Literal["client", "server", "between"]

WIRE_NS_PER_BYTE = 0.8
"""10 Gbit/s."""
FRAME_NS = 1_000
"""Least distance between two frames that one host hands to its interface, so that microseconds keep their order."""
LOSS_POINT = 0.5
"""Place on the path where a packet is lost: a tap before it sees the packet, a tap behind it does not."""


@dataclass(frozen=True, slots=True)
class Piece:
    """One wire packet: a frame, or one segment of a TSO frame."""

    left_ns: int
    arrives_ns: int
    packet: Packet
    lost: bool


@dataclass(frozen=True, slots=True)
class Passage:
    """One frame as the host handed it to its interface, with the wire packets that became of it."""

    side: Side
    time_ns: int
    frame: Packet
    pieces: tuple[Piece, ...]
    unseen: bool


@dataclass(slots=True)
class Policer:
    """Drops packets that find too few tokens. `rate` fills the bucket, bytes a second; it holds `room` bytes."""

    rate: float
    room: float
    tokens: float = 0.0
    filled_ns: float = 0.0

    def drops(self, time_ns: float, size: int) -> bool:
        self.tokens = min(self.room, self.tokens + self.rate * (time_ns - self.filled_ns) / 1e9)
        self.filled_ns = time_ns
        passes = self.tokens >= size
        self.tokens -= size if passes else 0
        return not passes


@dataclass(slots=True)
class Direction:
    """One way through the network. `rate` is the bottleneck's, bytes a second; its queue sits behind both taps."""

    delay_ns: int = 10_000_000
    rate: float | None = None
    interface_free_ns: int = 0
    wire_free_ns: float = 0.0
    bottleneck_free_ns: float = 0.0
    policer: Policer | None = None


@dataclass(slots=True)
class Network:
    ways: dict[Side, Direction] = field(default_factory=lambda: {"client": Direction(), "server": Direction()})
    passages: list[Passage] = field(default_factory=list)

    def carry(
        self,
        side: Side,
        time_ns: int,
        frame: Packet,
        segments: list[Packet],
        *,
        lost: frozenset[int] = frozenset(),
        late_ns: dict[int, int] | None = None,
        unseen: bool = False,
    ) -> Passage:
        """Takes a frame from a host. `lost` and `late_ns` name wire packets by their sequence number."""
        way = self.ways[side]
        time_ns = max(time_ns, way.interface_free_ns)
        way.interface_free_ns = time_ns + FRAME_NS
        pieces = []
        for segment in segments:
            left = max(float(time_ns), way.wire_free_ns)
            way.wire_free_ns = left + WIRE_NS_PER_BYTE * (segment.payload + 66)
            through = left
            if way.rate:
                through = max(left, way.bottleneck_free_ns) + (segment.payload + 66) * 1e9 / way.rate
                way.bottleneck_free_ns = through
            arrives = round(through) + way.delay_ns + (late_ns or {}).get(segment.seq, 0)
            dropped = way.policer is not None and way.policer.drops(left, segment.payload + 66)
            pieces.append(Piece(round(left), arrives, segment, dropped or segment.seq in lost))
        passage = Passage(side, time_ns, frame, tuple(pieces), unseen)
        self.passages.append(passage)
        return passage

    def seen_at(self, tap: Tap) -> list[tuple[int, Packet]]:
        """(time, packet) of everything that passed the tap, in order of time."""
        seen = [sight for passage in self.passages if not passage.unseen for sight in _sights(passage, tap)]
        return sorted(seen, key=lambda sight: sight[0])


def _sights(passage: Passage, tap: Tap) -> Iterator[tuple[int, Packet]]:
    if tap == passage.side:
        yield passage.time_ns, passage.frame
        return
    share = 0.4 if tap == "between" else 1.0
    share = 1 - share if tap == "between" and passage.side == "server" else share
    for piece in passage.pieces:
        if not (piece.lost and share > LOSS_POINT):
            time = piece.left_ns + round(share * (piece.arrives_ns - piece.left_ns))
            hops = 0 if share == 0 else 3
            yield time, replace(piece.packet, ttl=piece.packet.ttl - hops)
