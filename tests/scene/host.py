"""One end of a connection: what its socket remembers between the lines of a dialogue."""

from dataclasses import dataclass, field, replace
from typing import Literal

from tests.scene.network import Network, Passage, Side
from tests.scene.packet import ACK, FIN, PSH, SYN, Endpoint, Packet

REACTION_NS = 5_000
"""From a packet's arrival to the host's answer to it."""
OTHERS = 3
"""Packets that a host sends on other connections between two of this one, where they share a counter."""


@dataclass(slots=True)
class Congestion:
    """Linux's congestion window, in segments."""

    cwnd: int = 10
    initial: int = 10
    ssthresh: int = 2**30
    most_out: int = 0
    round_ends: int = 0
    fraction: int = 0


@dataclass(slots=True)
class Host:
    side: Side
    endpoint: Endpoint
    network: Network
    isn: int
    clock_ms: int
    """The timestamp option's clock at time 0."""
    mss: int = 1460
    names_mss: bool = True
    """The SYN has the MSS option."""
    window_scale: int | None = 10
    timestamps: bool = True
    sack: bool = True
    ecn: bool = False
    nxt: int = 0
    una: int = 0
    rcv_nxt: int = 0
    window: int = 65_536
    """Window that this host last announced, bytes."""
    peer_window: int = 65_536
    edge: int = 0
    """The highest sequence number this host ever allowed its peer, exclusive."""
    tick_ns: int = 1_000_000
    """Time in which that clock advances by one."""
    ip_ids: Literal["connection", "host", "zero"] = "connection"
    """A counter of the connection's own, one that the host shares with its other connections, or none."""
    written: tuple[int, int] | None = None
    """Timestamps of its data where the stack writes them with the data, not as it leaves."""
    peer_clock: int = 0
    now_ns: int = 0
    heard_ns: int = 0
    last_sent_ns: int = 0
    packets_sent: int = 0
    srtt_ns: int = 20_000_000
    congestion: Congestion = field(default_factory=Congestion)

    def __post_init__(self) -> None:
        self.nxt = self.una = self.isn

    def segment_bytes(self) -> int:
        """Payload of a full segment: the MSS less the timestamps option."""
        return self.mss - (12 if self.timestamps else 0)

    def acts_ns(self) -> int:
        """The earliest time for this host's next act: after all it did and heard."""
        return max(self.now_ns, self.heard_ns + REACTION_NS)

    def packet(self, peer: Endpoint, time_ns: int, flags: int, *, seq: int, payload: int = 0) -> Packet:
        scale = 0 if flags & SYN else self.window_scale or 0
        stamps = (self.written if payload else None) or (self.clock_ms + time_ns // self.tick_ns, self.peer_clock)
        return Packet(
            source=self.endpoint,
            destination=peer,
            seq=seq,
            ack=self.rcv_nxt if flags & ACK else 0,
            flags=flags,
            window=min(self.window >> scale, 65_535),
            payload=payload,
            timestamps=stamps if self.timestamps else None,
        )

    def transmit(
        self,
        packet: Packet,
        time_ns: int,
        *,
        lost: frozenset[int] = frozenset(),
        late_ns: dict[int, int] | None = None,
        unseen: bool = False,
    ) -> Passage:
        """Hands a packet or TSO frame to the network, which cuts it to wire packets with an IP-ID each."""
        segments = []
        size = self.segment_bytes()
        self.packets_sent += OTHERS if self.ip_ids == "host" else 0
        packet = replace(packet, ip_id=self.ip_id(1))
        for start in range(0, max(packet.payload, 1), size):
            payload = min(size, packet.payload - start)
            last = start + payload == packet.payload
            flags = packet.flags if last else packet.flags & ~(PSH | FIN)
            self.packets_sent += 1
            segments.append(
                replace(
                    packet,
                    seq=packet.seq + start,
                    payload=payload,
                    flags=flags,
                    ip_id=self.ip_id(),
                    content=packet.content[start : start + payload],
                )
            )
        self.edge = max(self.edge, self.rcv_nxt + self.announced(packet))
        passage = self.network.carry(self.side, time_ns, packet, segments, lost=lost, late_ns=late_ns, unseen=unseen)
        self.now_ns = max(self.now_ns, passage.time_ns)
        return passage

    def ip_id(self, ahead: int = 0) -> int:
        """The IP-ID of the packet so many after the last one sent."""
        return 0 if self.ip_ids == "zero" else self.packets_sent + ahead

    def announced(self, packet: Packet) -> int:
        """The window that a packet of this host announces, bytes."""
        return packet.window if packet.flags & SYN else packet.window << (self.window_scale or 0)

    def hears(self, sender: "Host", passage: Passage) -> None:
        """Takes note of what arrived of a dialogue's frame, in order and without holes."""
        for piece in passage.pieces:
            if piece.lost:
                continue
            self.heard_ns = max(self.heard_ns, piece.arrives_ns)
            packet = piece.packet
            end = packet.seq + packet.payload + bool(packet.flags & SYN) + bool(packet.flags & FIN)
            if packet.flags & SYN or packet.seq <= self.rcv_nxt < end:
                self.rcv_nxt = end
            if packet.flags & ACK:
                self.una = max(self.una, packet.ack)
            self.peer_window = sender.announced(packet)
            if packet.timestamps:
                self.peer_clock = packet.timestamps[0]
