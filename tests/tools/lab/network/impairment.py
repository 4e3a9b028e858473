"""The path of one direction: what it drops, doubles and holds back, and when a packet comes out."""

import random
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

from tests.tools.lab.network.frames import Segment
from tests.tools.lab.scenario import Rule, Scenario

_NANOS = 1_000_000_000


@dataclass(slots=True)
class Outcome:
    """Departure of a packet from the path; None is never. `queued` is the share of the delay spent before the wire."""

    due: int | None
    why: str = ""
    queued: int = 0


class Delay:
    """One-way delay over time, linear between points: seconds since the first SYN, and microseconds."""

    def __init__(self, points: Sequence[tuple[float, float]]) -> None:
        self._times = [seconds * _NANOS for seconds, _ in points]
        self._delays = [round(us * 1000) for _, us in points]

    def at(self, elapsed: int) -> int:
        """Nanoseconds of one-way delay, `elapsed` after the first SYN."""
        after = bisect_right(self._times, elapsed)
        if after == 0 or after == len(self._times):
            return self._delays[min(after, len(self._times) - 1)] if after == 0 else self._delays[-1]
        t0, t1 = self._times[after - 1], self._times[after]
        d0, d1 = self._delays[after - 1], self._delays[after]
        return round(d0 + (d1 - d0) * (elapsed - t0) / (t1 - t0))


class Bottleneck:
    """A link of a fixed rate behind a drop-tail queue, shared with cross traffic that only takes up room."""

    def __init__(self, rate: float, queue: int, cross: tuple[tuple[float, float, float], ...]) -> None:
        self.rate = rate
        self._queue = queue
        self._cross = cross
        self._free_at = 0

    def pass_through(self, now: int, elapsed: int, size: int) -> int | None:
        """Time at which the last bit of a packet is out; None if the queue is full."""
        if not self.rate:
            return now
        backlog = max(0, self._free_at - now)
        if self._queue and backlog * self.rate / (8 * _NANOS) + size > self._queue:
            return None
        taken = sum(share for begin, end, share in self._cross if begin * _NANOS <= elapsed < end * _NANOS)
        self._free_at = max(now, self._free_at) + round(size * 8 * _NANOS / (self.rate * (1 - min(taken, 0.95))))
        return self._free_at


class Path:
    """One direction of the middle; remembers initial sequence numbers to speak of payload offsets."""

    def __init__(self, scenario: Scenario, way: str) -> None:
        self.rules = [rule for rule in scenario.rules if rule.way == way]
        self._random = random.Random(f"{scenario.seed}{way}")
        self._delay = Delay(scenario.delay or ((0.0, scenario.one_way_us),))
        rate, queue = (scenario.rate_a, scenario.queue_a) if way == "a" else (scenario.rate_b, scenario.queue_b)
        self._link = Bottleneck(rate, queue, scenario.cross if way == "a" else ())
        self._isn: dict[tuple[int, int], int] = {}
        self._counts: dict[object, int] = {}
        self._last = 0
        self.rated = bool(rate)
        self.per_packet = bool(self.rules or rate)

    def offset(self, segment: Segment) -> int:
        """Payload offset of a segment; remembers the SYN's number."""
        flow = (segment.source, segment.target)
        if segment.syn:
            self._isn[flow] = segment.seq
        return (segment.seq - self._isn.get(flow, segment.seq) - 1) & 0xFFFFFFFF

    def carry(self, segment: Segment, now: int, elapsed: int, size: int) -> list[Outcome]:
        """Fate of a packet that enters now: one outcome for each copy that leaves."""
        offset = self.offset(segment)
        count = self._tick(("data", segment.source)) if segment.payload else 0
        extra, copies = 0, 1
        for number, rule in enumerate(self.rules):
            if not self._matches(rule, number, segment, offset, count, elapsed):
                continue
            if rule.do == "drop":
                return [Outcome(None, "rule")]
            if rule.do == "dup":
                copies += 1
            else:
                extra += rule.extra_us * 1000
        out = self._link.pass_through(now, elapsed, size)
        if out is None:
            return [Outcome(None, "queue")]
        due = out + self._delay.at(elapsed)
        if extra:
            return [Outcome(due + extra, "delay")]
        # A path that gets shorter does not let packets overtake each other.
        self._last = due = max(due, self._last)
        return [Outcome(due, "dup" if copy else "", out - now) for copy in range(copies)]

    def _matches(self, rule: Rule, number: int, segment: Segment, offset: int, count: int, elapsed: int) -> bool:
        if rule.syn != segment.syn or (rule.pure_ack and (segment.payload or segment.flags & 7)):
            return False
        if rule.first is not None or rule.last is not None or rule.nth:
            if not segment.payload or (rule.nth and count not in rule.nth):
                return False
            if offset + segment.payload <= (rule.first or 0) or (rule.last is not None and offset >= rule.last):
                return False
        if not (rule.begin_s or 0) * _NANOS <= elapsed < (1e9 if rule.end_s is None else rule.end_s) * _NANOS:
            return False
        if rule.times and self._tick((number, offset)) > rule.times:
            return False
        if rule.every > 1 and self._tick((number, "every")) % rule.every:
            return False
        return rule.chance >= 1 or self._random.random() < rule.chance

    def _tick(self, key: object) -> int:
        self._counts[key] = self._counts.get(key, 0) + 1
        return self._counts[key]
