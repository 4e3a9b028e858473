"""One diagnosis from two captures of the same traffic, taken at both ends.

The tap next to a sender sees what freed it without the way in between, so its word on a wait's cause counts; what the
other tap called the same wait stands beside it. How long packets took between the taps tells what of a wait was
the network's, and what either host's.
"""

import json
import os
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal, TypeAlias

from tcpstall import _core
from tcpstall.causes import Cause
from tcpstall.model import Analysis, Capture, Endpoint, Flow, Path, Side, Stall, analyze
from tcpstall.shares import OF_THE_SENDER, Losses, Packets, Spans
from tcpstall.shares import share as shared

__all__ = ["Clock", "Ends", "Event", "PairedFlow", "TwoViews", "Wait", "pair"]

Tap: TypeAlias = Literal["client", "server"]
"""The capture taken nearer to whoever opened most flows, and the other."""

_TAPS: tuple[Tap, Tap] = ("client", "server")

_MOSTLY = 0.5
"""Two waits are one where at least this share of the shorter lies in the other."""


@dataclass(frozen=True, slots=True)
class Clock:
    """The server side's clock against the client side's.

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
    """The fate of one packet between the taps; see `_core.Pairing.events`."""

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
    shares sum to `duration_ns`; all are None where the clocks could not be aligned. `loss_ns` is the part of
    `network_ns` in which something lost between the taps had not arrived yet.
    """

    sender: Side
    start_ns: int
    duration_ns: int
    near: Stall | None
    far: Stall | None
    network_ns: int | None = None
    sender_ns: int | None = None
    receiver_ns: int | None = None
    loss_ns: int | None = None

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
        """The fate of the packets of one end."""
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
    lookups, transits = [_Lookup(view) for view in views], _Transits(native.delays, native.recoveries)
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
    """Times at which each packet was sent and arrived, and the losses meanwhile, by flow and sender."""

    def __init__(self, delays: _core.Table, recoveries: _core.Table) -> None:
        self._delays = _OfFlows(delays, "time_ns", "delay_ns", "bytes")
        self._recoveries = _OfFlows(recoveries, "start_ns", "end_ns", "data")

    def of(self, flow: int, sender: Side) -> Packets:
        """The packets that both taps saw."""
        return Packets(*self._delays.of(flow, sender))

    def lost(self, flow: int, sender: Side) -> Losses:
        """From the sending of what was lost until it had arrived."""
        rows = list(zip(*self._recoveries.of(flow, sender), strict=True))
        data, acks = (Spans((start, end) for start, end, is_data in rows if is_data == kind) for kind in (1, 0))
        return Losses(data, acks)


class _OfFlows:
    """Columns of a native table whose rows are in the order of flows, the client's before the server's."""

    def __init__(self, table: _core.Table, *names: str) -> None:
        self._flow, self._from_server, *self._columns = (
            array("q", table.int64(name)) for name in ("flow", "from_server", *names)
        )

    def of(self, flow: int, sender: Side) -> Sequence[Sequence[int]]:
        """Rows of one end of a flow."""
        low, high = bisect_left(self._flow, flow), bisect_right(self._flow, flow)
        server = bisect_left(self._from_server, 1, low, high)
        span = slice(low, server) if sender == "client" else slice(server, high)
        return [column[span] for column in self._columns]


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
    sightings = {side: _sightings(flow, side, clock) for side in sides}
    packets = {side: transits.of(flow.id, side) for side in sides}
    lost = {side: transits.lost(flow.id, side) for side in sides}
    for sender, receiver in (sides, sides[::-1]):
        near, far = sightings[sender]
        own_doing = Spans(_own_doing(sightings[receiver][0]))
        told: set[int] = set()
        for own, at in _matched(near, far):
            share = _NOBODYS
            if packets["client"] or packets["server"]:
                both = (packets[sender], packets[receiver]), (lost[sender], lost[receiver])
                share = asdict(shared(own.start_ns, own.end_ns, own.stall.cause, *both, own_doing))
            seen = None if at is None else far[at].stall
            told |= set() if at is None else {at}
            yield Wait(sender, own.start_ns, own.stall.duration_ns, own.stall, seen, **share)
        rest = (other for at, other in enumerate(far) if at not in told)
        yield from (Wait(sender, other.start_ns, other.stall.duration_ns, None, other.stall) for other in rest)


_NOBODYS: Mapping[str, int | None] = {}


def _own_doing(sightings: Iterable[_Sighting]) -> Iterator[tuple[int, int]]:
    """Times in which an end waited for nobody else, each moment once."""
    until = None
    for sighting in sightings:
        if sighting.stall.cause in OF_THE_SENDER:
            begin = sighting.start_ns if until is None else max(sighting.start_ns, until)
            if begin < sighting.end_ns:
                yield begin, sighting.end_ns
                until = sighting.end_ns


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
