"""The sending half of a simulated transfer, after Linux: cwnd, send buffer, Nagle, pacing, probes and repair."""

from collections import Counter
from collections.abc import Callable

from tests.scene.host import REACTION_NS, Host
from tests.scene.network import Passage
from tests.scene.packet import ACK, PSH, Packet
from tests.scene.plan import Plan
from tests.scene.receiver import Schedule
from tests.scene.scoreboard import Scoreboard, Sent

RTO_MIN_NS = 200_000_000
TICK_NS = 4_000_000
"""A timer of a kernel with HZ=250 fires up to one tick late."""
WAKE_NS = 15_000
"""From the ACK that frees buffer space to the blocked application's next write."""
UNPACED_SEGMENTS = 10
REFILL = 2 / 3
"""A blocked writer wakes when no more than this share of its buffer is queued (sk_stream_is_writeable)."""


class Sender:
    def __init__(self, host: Host, peer: Host, plan: Plan, schedule: Schedule, deliver: Callable[[Passage], None]):
        self.host, self.peer, self.plan = host, peer, plan
        self.schedule, self.deliver = schedule, deliver
        self.board = Scoreboard()
        self.first = self.written = host.nxt
        self.expected = self.first + sum(size for _, size in plan.writes)
        self.backlog = 0
        self.blocked = False
        self.push_up_to = self.small_end = self.recover = self.probed_up_to = host.nxt
        self.losses = Counter(plan.lose)
        self.late = dict(plan.late)
        self.pace_free = 0
        self.burst_room = plan.burst_cap or 2**30
        self.backoff = self.ticket = 0
        if plan.initial_window not in (None, host.congestion.initial):
            host.congestion.cwnd = host.congestion.initial = plan.initial_window

    def done(self) -> bool:
        return self.host.una >= self.expected

    def start(self, now: int) -> None:
        for after_ms, size in self.plan.writes:
            self.schedule(now + round(after_ms * 1e6), lambda then, size=size: self._write(then, size))  # type: ignore[misc]

    def _write(self, now: int, size: int) -> None:
        self.backlog += size
        if not self.board and self.written == self.host.nxt:
            self._restart_after_idle(now)
        if not self.board and self.plan.burst_cap:
            self.burst_room = self.plan.burst_cap
        self._fill(now)

    def _restart_after_idle(self, now: int) -> None:
        window, rto = self.host.congestion, self._rto()
        idle = now - self.host.last_sent_ns
        if not self.plan.slow_start_after_idle or idle <= rto:
            return
        window.ssthresh = max(window.ssthresh, window.cwnd * 3 // 4) if window.ssthresh < 2**30 else window.ssthresh
        floor = min(window.initial, window.cwnd)
        if self.plan.after_idle == "initial":
            window.cwnd = floor
        while idle > rto and window.cwnd > floor:
            window.cwnd = max(window.cwnd // 2, floor)
            idle -= rto
        window.most_out = 0

    def _fill(self, now: int) -> None:
        """The application's write() copies what fits into the send buffer."""
        queued = self.written - self.host.una
        limit = self.plan.send_buffer
        least = self.plan.low_water
        full = limit and (limit - queued < least if least else queued > REFILL * limit)
        if self.backlog and not (self.blocked and full):
            taken = min(self.backlog, limit - queued if limit else self.backlog)
            self.written += taken
            self.backlog -= taken
            self.blocked = self.backlog > 0
            if self.blocked:
                self.push_up_to = self.written
        self._send(now)

    def acknowledged(self, now: int, packet: Packet) -> None:
        host, window = self.host, self.host.congestion
        host.heard_ns = max(host.heard_ns, now)
        host.peer_window = self.peer.announced(packet)
        host.una = max(host.una, packet.ack)
        if packet.timestamps:
            host.peer_clock = packet.timestamps[0]
        gone = self.board.acknowledge(packet.ack)
        self._measure(now, gone)
        self.board.mark_sacked(packet.sack)
        if self.board.mark_lost():
            self._enter_recovery()
        elif self.board.sacked:
            self.schedule(now + host.srtt_ns // 4, self._reordering_window_over)
        elif host.una >= self.recover or window.cwnd < window.ssthresh:
            self._grow(len(gone) if self.plan.growth == "per-segment" else min(len(gone), 1))
        if gone or (not self.board and host.peer_window):
            self.backoff = 0
        if self.plan.burst_cap:
            self.burst_room = self.plan.burst_cap
        if self.blocked:
            self.schedule(now + WAKE_NS, self._fill)
        self._send(now + REACTION_NS)
        self._arm(now)

    def _measure(self, now: int, gone: list[Sent]) -> None:
        if gone and gone[-1].times == 1:
            self.host.srtt_ns += (now - gone[-1].time_ns - self.host.srtt_ns) // 8

    def _enter_recovery(self) -> None:
        window = self.host.congestion
        if self.host.una >= self.recover:
            window.ssthresh = window.cwnd = max(2, round(window.cwnd * 0.7))
            self.recover = self.host.nxt

    def _reordering_window_over(self, now: int) -> None:
        """RACK: after a quarter of the round trip one report above a hole is enough (RFC 8985 §6.2)."""
        if self.board.mark_lost(above=1):
            self._enter_recovery()
            self._send(now)
            self._arm(now)

    def _grow(self, acked: int) -> None:
        window = self.host.congestion
        if not self.plan.grow:
            return
        if window.cwnd < window.ssthresh:
            if window.cwnd < 2 * window.most_out:
                window.cwnd = min(window.cwnd + acked, max(2 * window.most_out, window.cwnd))
        elif window.most_out >= window.cwnd:
            window.fraction += acked
            if window.fraction >= window.cwnd:
                window.fraction -= window.cwnd
                window.cwnd += 1

    def _send(self, now: int) -> None:
        now = self._repair(now)
        while size := self._next_size(now):
            now = self._emit(now, self.host.nxt, size)

    def _repair(self, now: int) -> int:
        while (hole := self.board.next_lost()) and self.board.in_flight() < self.host.congestion.cwnd:
            self.board.repair(hole, now)
            now = self._emit(now, hole.start, hole.end - hole.start)
        return now

    def _next_size(self, now: int) -> int:
        """Number of new bytes that may leave now."""
        mss, queued = self.host.segment_bytes(), self.written - self.host.nxt
        out = self.board.in_flight()
        segments = min(self.host.congestion.cwnd - out, self.burst_room, self.plan.tso)
        if not queued or segments <= 0:
            return 0
        if self.plan.pace and now < self.pace_free:
            self.schedule(self.pace_free, self._send)
            return 0
        room = self.host.una + self.host.peer_window - self.host.nxt
        size = min(queued, segments * mss)
        if room < size:
            # Linux cuts to whole segments, but with nothing in flight it takes what room there is.
            size = room - room % mss or (0 if self.board else room)
        if size % mss and size == queued and self._nagle_holds():
            size -= size % mss
        return max(size, 0)

    def _nagle_holds(self) -> bool:
        """Minshall's variant: a small segment waits for the ACK of the small one before it (tcp_nagle_check)."""
        if self.plan.nagle == "rfc896":
            return not self.plan.nodelay and bool(self.board)
        return not self.plan.nodelay and self.push_up_to < self.written and self.small_end > self.host.una

    def _emit(self, now: int, start: int, size: int) -> int:
        """Sends bytes, new or again, and returns when the next frame may follow."""
        host, mss = self.host, self.host.segment_bytes()
        flags = ACK | (PSH if start + size >= self.written else 0)
        packet = host.packet(self.peer.endpoint, now, flags, seq=start, payload=size)
        lost, late_ns, unseen = self._fate(start, size)
        passage = host.transmit(packet, now, lost=lost, late_ns=late_ns, unseen=unseen)
        sent = passage.time_ns
        if start == host.nxt:
            host.nxt += size
            self.board.add(start, host.nxt, mss, sent)
            self.burst_room -= -(-size // mss)
            self.small_end = host.nxt if size % mss else self.small_end
            self._track_most_out()
        if self.plan.pace and host.nxt - self.first > UNPACED_SEGMENTS * mss:
            self.pace_free = sent + round(size / self.plan.pace * 1e9)
        host.last_sent_ns = sent
        self.deliver(passage)
        self._arm(sent)
        return sent

    def _track_most_out(self) -> None:
        window, out = self.host.congestion, self.board.in_flight()
        if self.host.una >= window.round_ends or out > window.most_out:
            window.most_out, window.round_ends = out, self.host.nxt

    def _fate(self, start: int, size: int) -> tuple[frozenset[int], dict[int, int], bool]:
        """Wire packets of a frame that are lost or late (by sequence number), and whether the capture lacks it."""
        lost: set[int] = set()
        late_ns: dict[int, int] = {}
        mss = self.host.segment_bytes()
        for left in range(start, start + size, mss):
            held = range(left - self.first, min(left + mss, start + size) - self.first)
            for byte in [byte for byte in self.losses if byte in held and self.losses[byte]]:
                self.losses[byte] -= 1
                lost.add(left)
            for byte in [byte for byte in self.late if byte in held]:
                late_ns[left] = round(self.late.pop(byte) * 1e3)
        unseen = any(left <= start - self.first < right for left, right in self.plan.unseen)
        return frozenset(lost), late_ns, unseen

    def _rto(self) -> int:
        return self.host.srtt_ns + RTO_MIN_NS + TICK_NS

    def _arm(self, now: int) -> None:
        """Sets the one timer: tail loss probe, retransmission, or window probe."""
        self.ticket += 1
        ticket = self.ticket
        wait, act = self._rto() << self.backoff, self._timeout
        if not self.board:
            if self.written == self.host.nxt:
                return
            act = self._probe_window
        elif self.host.una >= self.recover and self.probed_up_to <= self.host.una:
            single = RTO_MIN_NS if len(self.board) == 1 else 0
            wait, act = min(2 * self.host.srtt_ns + TICK_NS + single, self._rto()), self._probe_tail
        self.schedule(now + wait, lambda then: act(then) if ticket == self.ticket else None)

    def _probe_tail(self, now: int) -> None:
        self.probed_up_to = self.host.nxt
        mss = self.host.segment_bytes()
        fresh = min(self.written - self.host.nxt, mss)
        if fresh and self.host.una + self.host.peer_window - self.host.nxt >= fresh:
            self._emit(now, self.host.nxt, fresh)
        else:
            last = self.board.segments[-1]
            last.times += 1
            self._emit(now, last.start, last.end - last.start)

    def _timeout(self, now: int) -> None:
        window = self.host.congestion
        self.backoff += 1
        if self.backoff == 1:
            window.ssthresh = max(2, self.board.in_flight() // 2)
        window.cwnd = 1
        self.recover = self.host.nxt
        self.board.mark_all_lost()
        self._send(now)

    def _probe_window(self, now: int) -> None:
        """Linux probes a closed window with an empty segment below SND.UNA (tcp_xmit_probe_skb)."""
        self.backoff += 1
        packet = self.host.packet(self.peer.endpoint, now, ACK, seq=self.host.una - 1)
        self.deliver(self.host.transmit(packet, now))
        self._arm(now)
