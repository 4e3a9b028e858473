"""A slow tracker on dpkt that shares no line with the core: what a flow's counts must be."""

from dataclasses import dataclass, field
from pathlib import Path

import dpkt

HALF, WHOLE = 1 << 31, 1 << 32


@dataclass(slots=True)
class Ranges:
    """A set of byte positions, kept as sorted, disjoint ranges."""

    ranges: list[tuple[int, int]] = field(default_factory=list)

    def add(self, left: int, right: int) -> int:
        """Adds a range and returns how much of it was there before."""
        known = sum(max(0, min(right, r) - max(left, l)) for l, r in self.ranges)  # noqa: E741
        apart = [(l, r) for l, r in self.ranges if r < left or l > right]  # noqa: E741
        touching = [(l, r) for l, r in self.ranges if not (r < left or l > right)]  # noqa: E741
        low = min([left, *(l for l, _ in touching)])  # noqa: E741
        high = max([right, *(r for _, r in touching)])
        self.ranges = sorted([*apart, (low, high)])
        return known

    def above(self, position: int) -> int:
        return sum(right - max(left, position) for left, right in self.ranges if right > position)

    def size(self) -> int:
        return sum(right - left for left, right in self.ranges)


@dataclass(slots=True)
class Direction:
    """Data that one end sent. Positions are unwrapped by distance from the last one."""

    seen: Ranges = field(default_factory=Ranges)
    sacked: Ranges = field(default_factory=Ranges)
    last: int | None = None
    nxt: int = 0
    una: int | None = None
    segments: int = 0
    retransmitted_bytes: int = 0
    max_in_flight_bytes: int = 0

    def unwrap(self, seq: int) -> int:
        if self.last is None:
            self.last = seq + WHOLE
            return self.last
        position: int = self.last + (seq - self.last + HALF) % WHOLE - HALF
        return position

    def sends(self, seq: int, payload: int) -> None:
        left = self.unwrap(seq)
        self.segments += 1
        self.retransmitted_bytes += self.seen.add(left, left + payload)
        self.last = self.nxt = max(self.nxt, left + payload)
        self.una = left if self.una is None else self.una
        self._measure()

    def is_acknowledged(self, ack: int, blocks: list[tuple[int, int]]) -> None:
        if self.last is None:
            return
        self.una = max(self.una or 0, self.unwrap(ack))
        for left, right in blocks:
            if self.unwrap(right) > self.una:
                self.sacked.add(self.unwrap(left), self.unwrap(right))

    def _measure(self) -> None:
        flight = self.nxt - (self.una or 0) - self.sacked.above(self.una or 0)
        self.max_in_flight_bytes = max(self.max_in_flight_bytes, flight)


@dataclass(slots=True)
class Flow:
    packets: int = 0
    syn_s: float | None = None
    syn_ack: int | None = None
    established_s: float | None = None
    client: Direction = field(default_factory=Direction)
    server: Direction = field(default_factory=Direction)

    def handshake_s(self) -> float | None:
        if self.syn_s is None or self.established_s is None:
            return None
        return self.established_s - self.syn_s


def track(path: Path) -> dict[tuple[int, int], Flow]:
    """Flows of a capture by (client port, server port). Read whole: it is for tests."""
    flows: dict[tuple[int, int], Flow] = {}
    with path.open("rb") as file:
        for time, data in dpkt.pcap.Reader(file):
            ip = dpkt.ethernet.Ethernet(data).data
            tcp = ip.data
            if not isinstance(tcp, dpkt.tcp.TCP):
                continue
            payload = _ip_payload(ip) - tcp.off * 4
            ports = (tcp.sport, tcp.dport)
            is_client = ports in flows or bool(tcp.flags & dpkt.tcp.TH_SYN and not tcp.flags & dpkt.tcp.TH_ACK)
            flow = flows.setdefault(ports if is_client else (tcp.dport, tcp.sport), Flow())
            _see(flow, is_client, float(time), tcp, payload)
    return flows


def _ip_payload(ip: dpkt.ip.IP | dpkt.ip6.IP6) -> int:
    return int(ip.plen if isinstance(ip, dpkt.ip6.IP6) else ip.len - ip.hl * 4)


def _see(flow: Flow, is_client: bool, time: float, tcp: dpkt.tcp.TCP, payload: int) -> None:
    flow.packets += 1
    own, other = (flow.client, flow.server) if is_client else (flow.server, flow.client)
    if tcp.flags & dpkt.tcp.TH_SYN:
        if is_client:
            flow.syn_s = time if flow.syn_s is None else flow.syn_s
        else:
            flow.syn_ack = (tcp.seq + 1) % WHOLE
        own.last = own.una = own.unwrap(tcp.seq) + 1
        own.nxt = own.last
        return
    if is_client and flow.syn_ack is not None and flow.established_s is None and tcp.ack == flow.syn_ack:
        flow.established_s = time
    if payload:
        own.sends(tcp.seq, payload)
    if tcp.flags & dpkt.tcp.TH_ACK:
        other.is_acknowledged(tcp.ack, _sack(tcp))


def _sack(tcp: dpkt.tcp.TCP) -> list[tuple[int, int]]:
    blocks = []
    for kind, value in dpkt.tcp.parse_opts(tcp.opts):
        if kind == dpkt.tcp.TCP_OPT_SACK:
            edges = [int.from_bytes(value[i : i + 4], "big") for i in range(0, len(value), 4)]
            blocks += list(zip(edges[::2], edges[1::2], strict=True))
    return blocks
