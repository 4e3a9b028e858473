"""One diagnosis from two captures of the same traffic, taken at both ends.

The tap next to a sender sees what freed it without the way in between, so its word on a wait's cause counts; what the
other tap called the same wait stands beside it. How long packets took between the taps tells what of a wait was
the network's, and what either host's.
"""

import json
import os
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from tcpstall import _core
from tcpstall.causes import Cause
from tcpstall.model import Analysis, Capture, Endpoint, Flow, Path, Side, Stall, analyze

__all__ = ["Clock", "Ends", "Event", "PairedFlow", "TwoViews", "Wait", "pair"]

Tap: TypeAlias = Literal["client", "server"]
"""The capture taken nearer to whoever opened most flows, and the other."""

_TAPS: tuple[Tap, Tap] = ("client", "server")

_SAME_MOMENT_NS = 200_000
"""A wait begins with the packet before it: two taps' and the rules' moments differ by no more than stamping does."""

_MOSTLY = 0.5
"""Two waits are one where at least this share of the shorter lies in the other."""


@dataclass(frozen=True, slots=True)
class Clock:
    """How the server side's clock stands against the client side's.

    `alignment` is `both-ways`, `one-way` (delays are those above the least), `same-clock` (the user says so), `stepped`
    (a clock was set meanwhile: delays are not known) or `unknown`. The offset, server side less client side, holds at
    `reference_ns` of the client side's clock; a drift of 0 is one that cannot be seen.
    """

    alignment: str
    offset_ns: int
    reference_ns: int
    drift_ppm: float
    drift_uncertainty_ppm: float | None
    least_round_trip_ns: int | None

    def by_client_side(self, time_ns: int) -> int:
        """A moment of the server side's clock by the client side's."""
        since = time_ns - self.offset_ns - self.reference_ns
        return time_ns - self.offset_ns - round(since * self.drift_ppm * 1e-6)


@dataclass(frozen=True, slots=True)
class Event:
    """What befell one packet between the taps; see `_core.Pairing.events`."""

    flow: int
    sender: Side
    kind: str
    time_ns: int
    sent_packet: int | None
    seen_packet: int | None
    seq: int
    bytes: int
    late_ns: int | None
    repair_sent_packet: int | None
    repair_seen_packet: int | None


@dataclass(frozen=True, slots=True)
class Wait:
    """One wait of one sender, by the client side's clock, with both taps' words on it.

    `near` is what the tap next to the sender saw, `far` what the other did: None where it saw no such wait. The three
    shares sum to `duration_ns`; all are None where the clocks could not be aligned.
    """

    sender: Side
    start_ns: int
    duration_ns: int
    near: Stall | None
    far: Stall | None
    network_ns: int | None = None
    sender_ns: int | None = None
    receiver_ns: int | None = None

    @property
    def cause(self) -> Cause:
        """The near tap's, where it saw the wait."""
        return (self.near or self.far or _nobody()).cause

    @property
    def agreed(self) -> bool:
        """Both taps saw it and give it the same cause."""
        return self.near is not None and self.far is not None and self.near.cause == self.far.cause


def _nobody() -> Stall:
    raise ValueError("a wait is what one of the taps saw")


@dataclass(frozen=True, slots=True)
class TwoViews:
    """A flow's waits by both taps."""

    waits: tuple[Wait, ...]

    def of_near(self) -> tuple[Wait, ...]:
        """Those that the tap next to the sender saw: the diagnosis."""
        return tuple(wait for wait in self.waits if wait.near is not None)


@dataclass(frozen=True, slots=True)
class PairedFlow:
    """One flow at both taps. `row` is the native side's (see the JSON report); pairs are client side, server side."""

    id: int
    row: Mapping[str, Any]
    views: tuple[Flow | None, Flow | None]
    both: TwoViews

    def end(self, side: Side, tap: int = 0) -> Endpoint:
        """An end of the connection, as that tap saw it."""
        return Endpoint(**self.row[side][tap])

    def way(self, sender: Side) -> Mapping[str, Any]:
        """What became of the packets of one end."""
        way: Mapping[str, Any] = self.row[f"{sender}_sent"]
        return way

    def near(self, sender: Side) -> int:
        """The tap next to that end: 0 the client side's, 1 the server side's."""
        return int((sender == "client") == self.row["opened_from_server_side"])


@dataclass(frozen=True, slots=True)
class Ends:
    """Two captures of the same traffic, client side first: `swapped` if they were given in the other order."""

    captures: tuple[Capture, Capture]
    swapped: bool
    clock: Clock
    flows: tuple[PairedFlow, ...]
    events: tuple[Event, ...]
    unmatched: tuple[int, int]
    rewritten: int
    left_out: tuple[int, int]
    events_dropped: int


def pair(
    client_side: Path,
    server_side: Path,
    *,
    same_clock: bool = False,
    strict: bool = True,
    progress: Callable[[int, int | None], None] | None = None,
) -> Ends:
    """Reads two captures taken at both ends and says what happened in between, and to whom each wait belongs.

    `same_clock`: the times of both are one clock's. Raises like analyze(); without a common flow there are none.
    """
    paths = [os.fspath(client_side), os.fspath(server_side)]
    # A capture that cannot be read is told here, before it is looked for in the other.
    views = [analyze(path, bursts=False, exchanges=False, strict=strict, progress=progress) for path in paths]
    native = _core.pair(*paths, same_clock=same_clock)
    found = json.loads(native.json)
    if found["swapped"]:
        views.reverse()
    clock = Clock(**found["clock"])
    lookups, transits = [_Lookup(view) for view in views], _Transits(native.delays)
    flows = []
    for row in found["flows"]:
        seen = tuple(lookup.find(row, tap) for tap, lookup in enumerate(lookups))
        one = PairedFlow(row["id"], row, (seen[0], seen[1]), TwoViews(()))
        flows.append(PairedFlow(one.id, row, one.views, TwoViews(tuple(_waits(one, clock, transits)))))
    events = native.events
    rows = zip(*(events.column(name) for name in events.names), strict=True)
    return Ends(
        captures=(views[0].captures[0], views[1].captures[0]),
        swapped=found["swapped"],
        clock=clock,
        flows=tuple(flows),
        events=tuple(Event(*row) for row in rows),
        unmatched=tuple(found["unmatched"]),
        rewritten=found["rewritten"],
        left_out=tuple(found["left_out"]),
        events_dropped=found["events_dropped"],
    )


class _Lookup:
    """The flows of one capture by their ends."""

    def __init__(self, analysis: Analysis) -> None:
        self._analysis = analysis
        table = analysis.flows
        ends = [
            zip(table.column(f"{side}_address"), table.column(f"{side}_port"), strict=True)
            for side in ("client", "server")
        ]
        self._rows: dict[frozenset[tuple[str, int]], list[tuple[int, int]]] = {}
        for row, (client, server, start) in enumerate(zip(*ends, table.column("start_ns"), strict=True)):
            self._rows.setdefault(frozenset((client, server)), []).append((start, row))
        for rows in self._rows.values():
            rows.sort()

    def find(self, row: Mapping[str, Any], tap: int) -> Flow | None:
        """The flow that the native row is about: of the flows between its ends the one that began nearest to it."""
        key = frozenset((row[side][tap]["address"], row[side][tap]["port"]) for side in ("client", "server"))
        started = row["start_ns"][tap]
        rows = self._rows.get(key)
        if not rows:
            return None
        # Reused ports put many flows between two ends: only the flows next to the start are compared.
        at = bisect_left(rows, (started,))
        before, after = rows[max(at - 1, 0)], rows[min(at, len(rows) - 1)]
        nearest = before if started - before[0] < after[0] - started else after
        return self._analysis[nearest[1]]


class _Transits:
    """When each packet was sent and arrived, by flow and sender."""

    def __init__(self, delays: _core.Table) -> None:
        self._flow, self._from_server, self._sent, self._took, self._bytes = (
            array("q", delays.int64(name)) for name in ("flow", "from_server", "time_ns", "delay_ns", "bytes")
        )

    def of(self, flow: int, sender: Side) -> "_Packets":
        """Of the packets that both taps saw, in the order of arrival."""
        low, high = bisect_left(self._flow, flow), bisect_right(self._flow, flow)
        server = bisect_left(self._from_server, 1, low, high)
        span = slice(low, server) if sender == "client" else slice(server, high)
        sent, took = self._sent[span], self._took[span]
        return _Packets(
            sent=sent,
            arrived=array("q", (time + delay for time, delay in zip(sent, took, strict=True))),
            data_sent=array("q", (time for time, size in zip(sent, self._bytes[span], strict=True) if size)),
        )


@dataclass(frozen=True, slots=True)
class _Packets:
    """When packets of one end were sent and arrived, by the client side's clock, and when those with data were sent."""

    sent: Sequence[int]
    arrived: Sequence[int]
    data_sent: Sequence[int]


@dataclass(frozen=True, slots=True)
class _Sighting:
    """A stall by the client side's clock, as the sender lived it."""

    start_ns: int
    end_ns: int
    stall: Stall

    @property
    def length_ns(self) -> int:
        return self.end_ns - self.start_ns

    def common(self, other: "_Sighting") -> int:
        return min(self.end_ns, other.end_ns) - max(self.start_ns, other.start_ns)


def _waits(flow: PairedFlow, clock: Clock, transits: _Transits) -> Iterator[Wait]:
    sides: tuple[Side, Side] = ("client", "server")
    for sender, receiver in (sides, sides[::-1]):
        near, far = _sightings(flow, sender, clock)
        packets = transits.of(flow.id, sender), transits.of(flow.id, receiver)
        told: set[int] = set()
        for own, at in _matched(near, far):
            shares = _shares(own, *packets) if packets[0].sent or packets[1].sent else (None, None, None)
            seen = None if at is None else far[at].stall
            told |= set() if at is None else {at}
            yield Wait(sender, own.start_ns, own.stall.duration_ns, own.stall, seen, *shares)
        rest = (other for at, other in enumerate(far) if at not in told)
        yield from (Wait(sender, other.start_ns, other.stall.duration_ns, None, other.stall) for other in rest)


def _matched(near: Sequence[_Sighting], far: Sequence[_Sighting]) -> Iterator[tuple[_Sighting, int | None]]:
    """Each wait of one view with the number of the other view's that it is mostly one with; both in order of time."""
    begin = 0
    for own in near:
        while begin < len(far) and far[begin].end_ns <= own.start_ns:
            begin += 1
        end = begin
        while end < len(far) and far[end].start_ns < own.end_ns:
            end += 1
        best = max(range(begin, end), key=lambda at: own.common(far[at]), default=None)
        if best is None or own.common(far[best]) < _MOSTLY * min(own.length_ns, far[best].length_ns):
            yield own, None
            continue
        yield own, best
        begin = best + 1


def _sightings(flow: PairedFlow, sender: Side, clock: Clock) -> tuple[list[_Sighting], list[_Sighting]]:
    """The sender's waits as the tap next to it saw them, and as the other did, moved to when the sender lived them."""
    found: list[list[_Sighting]] = []
    delay = flow.way(sender)["delay"]
    for tap in (flow.near(sender), 1 - flow.near(sender)):
        view = flow.views[tap]
        travel_ns = delay["least_ns"] if delay and tap != flow.near(sender) else 0
        own = (
            [] if view is None else [stall for stall in view.stalls if view.end(stall.sender) == flow.end(sender, tap)]
        )
        starts = [stall.start_ns if tap == 0 else clock.by_client_side(stall.start_ns) for stall in own]
        found.append(
            [
                _Sighting(start - travel_ns, start - travel_ns + stall.duration_ns, stall)
                for start, stall in zip(starts, own, strict=True)
            ]
        )
    return _in_order(found[0]), _in_order(found[1])


def _in_order(sightings: list[_Sighting]) -> list[_Sighting]:
    return sorted(sightings, key=lambda sighting: sighting.start_ns)


def _shares(wait: _Sighting, own: _Packets, answers: _Packets) -> tuple[int, int, int]:
    """What of a wait was the network's, the sender's own host's and the receiver's.

    The last packet before it was under way at first, and the last answer within it at the end; what came after that
    answer was the sender's, and what lay between the two the receiver's. Time until data was sent again was the
    sender's timer. Without an answer nobody else was waited for.
    """
    start, end = wait.start_ns, wait.end_ns
    answer = bisect_right(answers.arrived, end + _SAME_MOMENT_NS) - 1
    if answer < 0 or answers.arrived[answer] <= start + _SAME_MOMENT_NS:
        return 0, end - start, 0
    came = min(answers.arrived[answer], end)
    left = min(max(answers.sent[answer], start), came)
    again = bisect_right(own.data_sent, left) - 1
    begun = min(max(start, own.data_sent[again]), left) if again >= 0 else start
    last = bisect_right(own.sent, begun + _SAME_MOMENT_NS) - 1
    arrived = min(max(own.arrived[last], begun), left) if last >= 0 else begun
    network = arrived - begun + came - left
    receiver = left - arrived
    return network, end - start - network - receiver, receiver
