"""What changed between two captures: causes by service, like compared with like.

Captures seldom hold the same number of flows, so times are those of a flow. A longer round trip or
more data makes waits longer without any other cause: a cause has changed by what lies beyond that.
"""

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import fmean, median, variance

from tcpstall import _core
from tcpstall.causes import Cause
from tcpstall.model import Analysis, Capture, Endpoint, Path, analyze

__all__ = ["Change", "Comparison", "Facts", "ServiceChange", "compare"]

_LEAST_NS = 200_000
"""What captures of the same thing differ by: interrupts, wake-ups, stamping."""

_SHARE_OF_CAUSE = 0.1
"""A cause has changed if it did so by a tenth of itself at least,"""

_SHARE_OF_HELD = 0.02
"""and by a fiftieth of all time that it was not the applications that were waited for,"""

_SHARE_OF_ROUND_TRIP = 0.25
"""and by a quarter of a round trip: waits begin and end with packets, which come in bursts that long."""

_ERRORS = 2.0
"""Where there are flows enough to see how they vary, by so many standard errors: chance does so one time in 20."""

_ENOUGH_FLOWS = 3

_WITH_ROUND_TRIPS = frozenset(
    {Cause.HANDSHAKE, Cause.CWND_LIMITED, Cause.RWND_LIMITED, Cause.SNDBUF_LIMITED, Cause.IDLE_RESTART}
    | {Cause.NAGLE, Cause.BURST_LIMITED, Cause.RETRANSMISSION}
)
"""What waits for an answer from the other end, and so grows with the way there."""

_WITH_DATA = frozenset(Cause) - {Cause.HANDSHAKE, Cause.APP_LIMITED, Cause.IDLE_RESTART}
"""What grows with the data, at most in proportion: slow start for one grows with its logarithm."""


@dataclass(frozen=True, slots=True)
class Facts:
    """What the flows of one service came to in one capture; medians are over flows, and None where nothing is known.

    `time_ns` holds for each owner of time (causes, sending, in-transit, closing) what each flow gave it.
    """

    flows: int
    bytes: int
    retransmitted_bytes: int
    repairs: int
    duration_ns: Sequence[int]
    time_ns: Mapping[str, Sequence[int]]
    base_rtt_ns: int | None
    initial_window_segments: int | None
    levels: Mapping[str, int]
    """What was in flight, or for `rwnd-limited` the window, in most of the time that each cause took, bytes."""

    def of_flow(self, owner: str) -> float:
        """What a flow gave that owner on average."""
        return fmean(self.time_ns[owner]) if self.flows else 0.0

    @property
    def mean_duration_ns(self) -> int:
        """From a flow's first packet to its last, on average."""
        return round(fmean(self.duration_ns)) if self.flows else 0

    @property
    def bytes_of_flow(self) -> float:
        """On average."""
        return self.bytes / self.flows if self.flows else 0.0

    @property
    def held_of_flow(self) -> float:
        """What a flow gave to causes other than its applications, which may pause as long as they like, on average."""
        return sum(self.of_flow(cause) for cause in Cause if cause is not Cause.APP_LIMITED)

    @property
    def lost_share(self) -> float:
        """Bytes that were sent again, of all."""
        return self.retransmitted_bytes / self.bytes if self.bytes else 0.0


@dataclass(frozen=True, slots=True)
class Change:
    """How one cause's time of a flow changed.

    Of `grew_ns` the round trip and the amount of data explain all but `own_ns`. It is `proven` where that is more than
    captures of the same thing differ by.
    """

    cause: Cause
    good_ns: int
    bad_ns: int
    own_ns: int
    noise_ns: int

    @property
    def grew_ns(self) -> int:
        """Negative where it shrank."""
        return self.bad_ns - self.good_ns

    @property
    def proven(self) -> bool:
        """More than noise."""
        return abs(self.own_ns) >= self.noise_ns


@dataclass(frozen=True, slots=True)
class ServiceChange:
    """One service in both captures, or all of those together (`good_service` is None); the largest changes first."""

    good_service: Endpoint | None
    bad_service: Endpoint | None
    good: Facts
    bad: Facts
    changes: tuple[Change, ...]

    @property
    def proven(self) -> tuple[Change, ...]:
        """Without noise."""
        return tuple(change for change in self.changes if change.proven)


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two captures, `good` and `bad`. Services are matched by address and port, else by a port that each has once."""

    captures: tuple[Capture, Capture]
    overall: ServiceChange
    services: tuple[ServiceChange, ...]
    only_good: tuple[tuple[Endpoint, Facts], ...]
    only_bad: tuple[tuple[Endpoint, Facts], ...]


def compare(
    good: Path,
    bad: Path,
    *,
    anonymise: bytes | None = None,
    strict: bool = True,
    progress: Callable[[int, int | None], None] | None = None,
) -> Comparison:
    """Reads two captures and says which causes grew from one to the other. Raises like analyze()."""
    one, other = (
        analyze(path, bursts=False, exchanges=False, anonymise=anonymise, strict=strict, progress=progress)
        for path in (good, bad)
    )
    before, after = _Services(one), _Services(other)
    pairs = _matched(before.rows, after.rows)
    services = [_change((first, second), before.facts([first]), after.facts([second])) for first, second in pairs]
    firsts, seconds = [first for first, _ in pairs], [second for _, second in pairs]
    return Comparison(
        captures=(one.captures[0], other.captures[0]),
        overall=_change((None, None), before.facts(firsts), after.facts(seconds)),
        services=tuple(sorted(services, key=_most, reverse=True)),
        only_good=tuple((end, before.facts([end])) for end in before.rows if end not in firsts),
        only_bad=tuple((end, after.facts([end])) for end in after.rows if end not in seconds),
    )


def _most(service: ServiceChange) -> float:
    return max((abs(change.own_ns) for change in service.proven), default=0) * service.bad.flows


def _matched(before: Iterable[Endpoint], after: Iterable[Endpoint]) -> list[tuple[Endpoint, Endpoint]]:
    others = set(after)
    pairs = [(end, end) for end in before if end in others]
    same = {end for end, _ in pairs}
    ports: dict[int, tuple[list[Endpoint], list[Endpoint]]] = defaultdict(lambda: ([], []))
    for side, ends in enumerate((before, after)):
        for end in ends:
            if end not in same:
                ports[end.port][side].append(end)
    return pairs + [(ones[0], twos[0]) for ones, twos in ports.values() if len(ones) == len(twos) == 1]


@dataclass(slots=True)
class _Levels:
    """Bytes by the time that they stood."""

    spans: dict[int, int] = field(default_factory=lambda: defaultdict(int))

    def most(self) -> int:
        """The weighted median."""
        half, sum_ns = sum(self.spans.values()) / 2, 0
        for level in sorted(self.spans):
            sum_ns += self.spans[level]
            if sum_ns >= half:
                break
        return level


class _Services:
    """The flows of one capture by service, as columns."""

    def __init__(self, analysis: Analysis) -> None:
        flows = analysis.flows
        ends = zip(flows.column("server_address"), flows.column("server_port"), strict=True)
        self.rows: dict[Endpoint, list[int]] = defaultdict(list)
        for row, (address, port) in enumerate(ends):
            self.rows[Endpoint(address, port)].append(row)
        self._flows = flows
        self._stalls = _by_flow(analysis.stalls)
        self._ids = flows.column("flow")

    def facts(self, services: Sequence[Endpoint]) -> Facts:
        """Of these services together."""
        rows = [row for service in services for row in self.rows[service]]
        column = self._picked(rows)
        both = [(column(f"client_{name}"), column(f"server_{name}")) for name in ("bytes", "retransmitted_bytes")]
        repairs = ("timeouts", "fast_retransmits", "tail_probes")
        return Facts(
            flows=len(rows),
            bytes=_sum(*both[0]),
            retransmitted_bytes=_sum(*both[1]),
            repairs=_sum(*(column(f"{side}_{name}") for side in ("client", "server") for name in repairs)),
            duration_ns=[value or 0 for value in column("duration_ns")],
            time_ns={
                owner: [value or 0 for value in column(f"time_{owner.replace('-', '_')}_ns")]
                for owner in _core.owners()
            },
            base_rtt_ns=_middle(column("base_rtt_ns")),
            initial_window_segments=self._initial_window(rows),
            levels=self._levels(rows),
        )

    def _picked(self, rows: Sequence[int]) -> Callable[[str], list[int | None]]:
        def column(name: str) -> list[int | None]:
            values = self._flows.column(name)
            return [values[row] for row in rows]

        return column

    def _initial_window(self, rows: Sequence[int]) -> int | None:
        """Of the end that sent more, in segments: the first burst as far as it was cut by the window."""
        column = self._picked(rows)
        sides = [[column(f"{side}_{name}") for name in _WINDOW] for side in ("client", "server")]
        windows: list[int | None] = []
        for client, server in zip(zip(*sides[0], strict=True), zip(*sides[1], strict=True), strict=True):
            _, window, mss = max(client, server, key=lambda row: row[0] or 0)
            windows.append(-(-window // mss) if window and mss else None)
        return _middle(windows)

    def _levels(self, rows: Sequence[int]) -> dict[str, int]:
        levels: dict[str, _Levels] = defaultdict(_Levels)
        for row in rows:
            for cause, level, span in self._stalls.get(self._ids[row], ()):
                levels[cause].spans[level] += span
        return {cause: found.most() for cause, found in levels.items()}


_WINDOW = ("bytes", "initial_window_bytes", "mss_bytes")


def _by_flow(stalls: _core.Table) -> dict[int, list[tuple[str, int, int]]]:
    """(cause, bytes, ns) of each flow's stalls; the bytes are the window where that was the limit."""
    found: dict[int, list[tuple[str, int, int]]] = defaultdict(list)
    names = ("flow", "cause", "in_flight_bytes", "peer_window_bytes", "duration_ns")
    for flow, cause, in_flight, window, span in zip(*(stalls.column(name) for name in names), strict=True):
        level = window if cause == Cause.RWND_LIMITED else in_flight
        if level is not None:
            found[flow].append((cause, level, span))
    return found


def _sum(*columns: Iterable[int | None]) -> int:
    return sum(value or 0 for column in columns for value in column)


def _middle(values: Iterable[int | None]) -> int | None:
    known = [value for value in values if value is not None]
    return round(median(known)) if known else None


def _change(services: tuple[Endpoint | None, Endpoint | None], good: Facts, bad: Facts) -> ServiceChange:
    changes = [_of_cause(cause, good, bad) for cause in Cause] if good.flows and bad.flows else []
    told = [change for change in changes if change.good_ns or change.bad_ns]
    told.sort(key=lambda change: (-abs(change.own_ns), -abs(change.grew_ns)))
    return ServiceChange(services[0], services[1], good, bad, tuple(told))


def _of_cause(cause: Cause, good: Facts, bad: Facts) -> Change:
    before, after = good.of_flow(cause), bad.of_flow(cause)
    trips = _ratio(bad.base_rtt_ns, good.base_rtt_ns) if cause in _WITH_ROUND_TRIPS else 1.0
    data = _ratio(bad.bytes_of_flow, good.bytes_of_flow) if cause in _WITH_DATA else 1.0
    # Anywhere between what it was and what it would be in proportion.
    expected = [before * ratio for ratio in (1.0, trips, data, trips * data)]
    own = after - min(max(after, min(expected)), max(expected))
    return Change(cause, round(before), round(after), round(own), round(_noise(cause, good, bad)))


def _ratio(bad: float | None, good: float | None) -> float:
    return bad / good if bad and good else 1.0


def _noise(cause: Cause, good: Facts, bad: Facts) -> float:
    trips = [facts.base_rtt_ns for facts in (good, bad) if facts.base_rtt_ns is not None]
    return max(
        _LEAST_NS,
        _SHARE_OF_ROUND_TRIP * min(trips, default=0),
        _SHARE_OF_CAUSE * max(good.of_flow(cause), bad.of_flow(cause)),
        _SHARE_OF_HELD * max(good.held_of_flow, bad.held_of_flow),
        _ERRORS * math.sqrt(sum(_error(facts.time_ns[cause]) for facts in (good, bad))),
    )


def _error(values: Sequence[int]) -> float:
    """The variance of the mean; nothing is known of it with few flows."""
    return variance(values) / len(values) if len(values) >= _ENOUGH_FLOWS else 0.0
