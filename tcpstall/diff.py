"""Changes between two captures: causes by service, like compared with like.

Captures seldom hold the same number of flows, so times are those of a flow. A longer round trip or
more data makes waits longer without any other cause: a cause has changed by what lies beyond that.
"""

import json
import math
import os
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from statistics import median

from tcpstall import _core
from tcpstall.causes import Cause
from tcpstall.keys import derived
from tcpstall.model import Capture, Endpoint, Path, raise_unreadable

__all__ = ["Change", "Comparison", "Facts", "Moments", "ServiceChange", "compare"]

_LEAST_NS = 200_000
"""Difference between captures of the same thing: interrupts, wake-ups, stamping."""

_SHARE_OF_CAUSE = 0.1
"""A cause has changed if it did so by a tenth of itself at least,"""

_SHARE_OF_HELD = 0.02
"""and by a fiftieth of all time that it was not the applications that were waited for,"""

_SHARE_OF_ROUND_TRIP = 0.25
"""and by a quarter of a round trip: waits begin and end with packets, which come in bursts that long."""

_ERRORS = 2.0
"""Standard errors that a change must exceed where enough flows show how they vary: chance does so one time in 20."""

_ENOUGH_FLOWS = 3

_WITH_ROUND_TRIPS = frozenset(
    {Cause.HANDSHAKE, Cause.CWND_LIMITED, Cause.RWND_LIMITED, Cause.SNDBUF_LIMITED, Cause.IDLE_RESTART}
    | {Cause.NAGLE, Cause.BURST_LIMITED, Cause.RETRANSMISSION}
)
"""Causes that wait for an answer from the other end, and so grow with the round trip."""

_WITH_DATA = frozenset(Cause) - {Cause.HANDSHAKE, Cause.APP_LIMITED, Cause.IDLE_RESTART}
"""Causes that grow with the data, at most in proportion: slow start for one grows with its logarithm."""


@dataclass(frozen=True, slots=True)
class Moments:
    """Time of flows that one owner took: the sum of the nanoseconds, and that of the squares."""

    sum_ns: int = 0
    squares_ns2: int = 0


_NOTHING = Moments()


@dataclass(frozen=True, slots=True)
class Facts:
    """Facts about the flows of one service in one capture; medians are over flows, and None where nothing is known.

    `time_ns` holds what the flows gave to each owner of time (causes, sending, in-transit, closing) that has any.
    `duration_ns` is the length of all flows added up.
    """

    flows: int
    bytes: int
    retransmitted_bytes: int
    repairs: int
    duration_ns: int
    time_ns: Mapping[str, Moments]
    base_rtt_ns: int | None
    initial_window_segments: int | None
    levels: Mapping[str, int]
    """Bytes in flight, or for `rwnd-limited` the window, in most of the time that each cause took."""

    def of_flow(self, owner: str) -> float:
        """Time that the owner took of a flow on average."""
        return float(self.time_ns.get(owner, _NOTHING).sum_ns) / self.flows if self.flows else 0.0

    @property
    def mean_duration_ns(self) -> int:
        """From a flow's first packet to its last, on average."""
        return round(float(self.duration_ns) / self.flows) if self.flows else 0

    def variance_of_mean(self, owner: str) -> float:
        """Variance of `of_flow`, ns²; 0 with too few flows to know."""
        if self.flows < _ENOUGH_FLOWS:
            return 0.0
        moments, flows = self.time_ns.get(owner, _NOTHING), self.flows
        return float(Fraction(flows * moments.squares_ns2 - moments.sum_ns**2, flows * (flows - 1))) / flows

    @property
    def bytes_of_flow(self) -> float:
        """On average."""
        return self.bytes / self.flows if self.flows else 0.0

    @property
    def held_of_flow(self) -> float:
        """Time of a flow that causes other than its applications took, on average: applications may pause at will."""
        return sum(self.of_flow(cause) for cause in Cause if cause is not Cause.APP_LIMITED)

    @property
    def lost_share(self) -> float:
        """Bytes that were sent again, of all."""
        return self.retransmitted_bytes / self.bytes if self.bytes else 0.0


@dataclass(frozen=True, slots=True)
class Change:
    """The change of one cause's time of a flow.

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
    """Two captures, `good` and `bad`. Services are matched by address and port, else by a port that each has once.

    `dropped_flows` of each capture go to services beyond a limit, and are not in any sum.
    """

    captures: tuple[Capture, Capture]
    overall: ServiceChange
    services: tuple[ServiceChange, ...]
    only_good: tuple[tuple[Endpoint, Facts], ...]
    only_bad: tuple[tuple[Endpoint, Facts], ...]
    dropped_flows: tuple[int, int] = (0, 0)


def compare(
    good: Path,
    bad: Path,
    *,
    anonymise: bytes | None = None,
    strict: bool = True,
    progress: Callable[[int, int | None], None] | None = None,
) -> Comparison:
    """Reads two captures and says which causes grew from one to the other. Raises like analyze()."""
    before = _read(good, anonymise, strict, progress, None)
    after = _read(bad, anonymise, strict, progress, before)
    # Whether a port occurs once is unknown where services were left out.
    pairs = _matched(before.rows, after.rows, by_port=not before.dropped_flows and not after.dropped_flows)
    services = [_change((first, second), before.facts([first]), after.facts([second])) for first, second in pairs]
    firsts, seconds = {first: None for first, _ in pairs}, {second: None for _, second in pairs}
    return Comparison(
        captures=(before.capture, after.capture),
        overall=_change((None, None), before.facts(firsts), after.facts(seconds)),
        services=tuple(sorted(services, key=_most, reverse=True)),
        only_good=tuple((end, before.facts([end])) for end in before.rows if end not in firsts),
        only_bad=tuple((end, after.facts([end])) for end in after.rows if end not in seconds),
        dropped_flows=(before.dropped_flows, after.dropped_flows),
    )


def _read(
    path: Path,
    anonymise: bytes | None,
    strict: bool,
    progress: Callable[[int, int | None], None] | None,
    beside: "_Services | None",
) -> "_Services":
    secret = None if anonymise is None else derived(anonymise)
    native = _core.compared(
        os.fspath(path), secret=secret, progress=progress, beside=None if beside is None else beside.native
    )
    services = _Services(native)
    if strict:
        raise_unreadable(services.capture)
    return services


def _most(service: ServiceChange) -> float:
    return max((abs(change.own_ns) for change in service.proven), default=0) * service.bad.flows


def _matched(
    before: Iterable[Endpoint], after: Iterable[Endpoint], *, by_port: bool
) -> list[tuple[Endpoint, Endpoint]]:
    others = set(after)
    pairs = [(end, end) for end in before if end in others]
    if not by_port:
        return pairs
    same = {end for end, _ in pairs}
    ports: dict[int, tuple[list[Endpoint], list[Endpoint]]] = defaultdict(lambda: ([], []))
    for side, ends in enumerate((before, after)):
        for end in ends:
            if end not in same:
                ports[end.port][side].append(end)
    return pairs + [(ones[0], twos[0]) for ones, twos in ports.values() if len(ones) == len(twos) == 1]


class _Services:
    """The flows of one capture by service."""

    def __init__(self, native: _core.Compared) -> None:
        self.native = native
        self.capture = Capture.from_status(native.captures[0])
        self.dropped_flows = native.dropped_flows
        self.rows = {Endpoint(*end): row for row, end in enumerate(native.services)}

    def facts(self, services: Iterable[Endpoint]) -> Facts:
        """Of these services together."""
        row = json.loads(self.native.facts_json([self.rows[service] for service in services]))
        return Facts(
            flows=row["flows"],
            bytes=row["bytes"],
            retransmitted_bytes=row["retransmitted_bytes"],
            repairs=row["repairs"],
            duration_ns=row["duration_ns"],
            time_ns={owner: Moments(sum_ns, squares_ns2) for owner, sum_ns, squares_ns2 in row["time_ns"]},
            base_rtt_ns=_middle(row["base_rtt_ns"]),
            initial_window_segments=_middle(row["initial_window_segments"]),
            levels=dict(row["levels"]),
        )


def _middle(values: Sequence[int]) -> int | None:
    """Of the values in the middle, if there are any."""
    return round(median(values)) if values else None


def _change(services: tuple[Endpoint | None, Endpoint | None], good: Facts, bad: Facts) -> ServiceChange:
    causes = [cause for cause in Cause if cause in good.time_ns or cause in bad.time_ns]
    changes = [_of_cause(cause, good, bad) for cause in causes] if good.flows and bad.flows else []
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
        _ERRORS * math.sqrt(sum(facts.variance_of_mean(cause) for facts in (good, bad))),
    )
