"""The receiving half of a simulated transfer: reassembly, window, SACK, delayed ACKs, and the application's reads."""

from collections.abc import Callable
from dataclasses import replace

from tests.scene.host import REACTION_NS, Host
from tests.scene.network import Passage
from tests.scene.packet import ACK, Packet
from tests.scene.plan import Plan

Schedule = Callable[[int, Callable[[int], None]], None]

LEFT_OVER_NS = 20_000
"""Time that the receiver lets a burst go on before it acknowledges an odd segment, without delayed ACKs."""


class Receiver:
    def __init__(self, host: Host, peer: Host, plan: Plan, schedule: Schedule, deliver: Callable[[Passage], None]):
        self.host, self.peer, self.plan = host, peer, plan
        self.schedule, self.deliver = schedule, deliver
        self.first = host.rcv_nxt
        self.read_up_to = host.rcv_nxt
        self.islands: list[tuple[int, int]] = []
        self.pending = 0
        self.timer = 0
        self.asleep_until = 0
        self.pauses = list(plan.reader.pauses)
        self.ticking = False
        host.window = min(plan.reader.buffer, 65_535 << (host.window_scale or 0))

    def segment(self, now: int, packet: Packet) -> None:
        end = packet.seq + packet.payload
        if packet.timestamps and packet.seq <= self.host.rcv_nxt:
            self.host.peer_clock = packet.timestamps[0]
        if end <= self.host.rcv_nxt:
            duplicate = (packet.seq, end) if packet.payload else None
            self.acknowledge(now + REACTION_NS, duplicate)
            return
        repaired = bool(self.islands)
        self._merge(packet.seq, end)
        self._read(now)
        if repaired or self.islands:
            self.acknowledge(now + REACTION_NS)
            return
        self.pending += 1
        if self.pending >= self.plan.ack_every:
            self.acknowledge(now + REACTION_NS)
        elif self.pending == 1:
            self.timer += 1
            ticket = self.timer
            wait = LEFT_OVER_NS if self.plan.delayed_ack_ms is None else round(self.plan.delayed_ack_ms * 1e6)
            self.schedule(now + wait, lambda then: self._left_over(then, ticket))

    def _left_over(self, now: int, ticket: int) -> None:
        if ticket == self.timer and self.pending:
            self.acknowledge(now)

    def _merge(self, start: int, end: int) -> None:
        joined = [(start, end)]
        for left, right in self.islands:
            if right < joined[0][0] or left > joined[0][1]:
                joined.append((left, right))
            else:
                joined[0] = (min(left, joined[0][0]), max(right, joined[0][1]))
        # The block that holds the newest segment comes first (RFC 2018 §4).
        self.islands = joined
        for block in list(self.islands):
            if block[0] <= self.host.rcv_nxt:
                self.host.rcv_nxt = max(self.host.rcv_nxt, block[1])
                self.islands.remove(block)

    def acknowledge(self, now: int, duplicate: tuple[int, int] | None = None) -> None:
        self.pending = 0
        self.timer += 1
        self.host.window = self._window()
        packet = self.host.packet(self.peer.endpoint, now, ACK, seq=self.host.nxt)
        if self.host.sack:
            room = 3 if self.host.timestamps else 4
            blocks = ([duplicate] if duplicate else []) + self.islands
            packet = replace(packet, sack=tuple(blocks[:room]))
        self.deliver(self.host.transmit(packet, now))

    def _window(self) -> int:
        """The free buffer, never less than promised; closed below one segment (RFC 9293 §3.8.6.2.2)."""
        free = self.plan.reader.buffer - (self.host.rcv_nxt - self.read_up_to)
        if free < min(self.host.segment_bytes(), self.plan.reader.buffer // 2):
            free = 0
        free = min(free, 65_535 << (self.host.window_scale or 0))
        return max(free, self.host.edge - self.host.rcv_nxt, 0)

    def _read(self, now: int) -> None:
        if now < self.asleep_until:
            return
        if self.plan.reader.bytes_per_ms is not None:
            if not self.ticking:
                self.ticking = True
                self.schedule(now + 5_000_000, self._tick)
            return
        self._take(now, self.host.rcv_nxt)

    def _take(self, now: int, up_to: int) -> None:
        if self.pauses and up_to - self.first >= self.pauses[0][0]:
            after, pause_ms = self.pauses.pop(0)
            self.read_up_to = max(self.read_up_to, self.first + after)
            self.asleep_until = now + round(pause_ms * 1e6)
            self.schedule(self.asleep_until, self._wake)
        else:
            self.read_up_to = max(self.read_up_to, up_to)

    def _wake(self, now: int) -> None:
        self._read(now)
        self._tell_opening(now)

    def _tick(self, now: int) -> None:
        rate = self.plan.reader.bytes_per_ms or 0
        self._take(now, min(self.host.rcv_nxt, self.read_up_to + 5 * rate))
        self._tell_opening(now)
        self.ticking = self.read_up_to < self.host.rcv_nxt
        if self.ticking:
            self.schedule(now + 5_000_000, self._tick)

    def _tell_opening(self, now: int) -> None:
        """Linux tells of a window that at least doubled (tcp_cleanup_rbuf)."""
        left = self.host.edge - self.host.rcv_nxt
        window = self._window()
        if window and window >= 2 * left:
            self.acknowledge(now)
