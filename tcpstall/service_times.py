"""Latencies of a service's requests before and after a change, and the flows that have no prediction."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from tcpstall.whatif import Expected, Forecast, Outcome, WhatIf

__all__ = ["Archived", "Latencies", "Part", "Requests", "after", "not_predicted", "requests"]

_MEDIAN, _HIGH = 50, 95


@dataclass(frozen=True, slots=True)
class Latencies:
    """Nearest-rank percentiles."""

    p50_ns: int
    p95_ns: int


@dataclass(frozen=True, slots=True)
class Requests:
    """Requests of flows with a prediction, without a change. `left_out` more were not kept one by one."""

    count: int
    captured: Latencies
    replayed: Latencies
    left_out: int


@dataclass(frozen=True, slots=True)
class Part:
    """Flows of one service or host of a store; `unopened` counts those that could not be read, by a word for why."""

    name: str
    forecasts: tuple[Forecast, ...]
    unopened: Mapping[str, int] = field(default_factory=dict)

    @property
    def flows(self) -> int:
        """Flows with a forecast or without."""
        return len(self.forecasts) + sum(self.unopened.values())

    @property
    def found(self) -> WhatIf:
        """Their forecasts, to be added up."""
        return WhatIf((), self.forecasts)

    @property
    def saved_ns(self) -> int:
        """Time that the change saves over all flows with a prediction."""
        return sum(outcome.saved_ns for outcome in self.found.totals)


@dataclass(frozen=True, slots=True)
class Archived:
    """Flows of a store, by service or host, those that the change saves most first.

    `left_out` more flows lost less time and were not opened.
    """

    parts: tuple[Part, ...]
    left_out: int


def requests(told: Sequence[Forecast]) -> Requests | None:
    """Of all these flows together; None without a request."""
    captured = [each for one in told if one.captured for each in one.captured.exchanges_ns]
    replayed = [each for one in told if one.replayed for each in one.replayed.exchanges_ns]
    if not captured or not replayed:
        return None
    return Requests(
        len(captured), _latencies(captured), _latencies(replayed), sum(one.exchanges_left_out for one in told)
    )


def after(outcome: Outcome) -> tuple[Expected, Expected] | None:
    """Median and 95th percentile with the change; None without a request.

    Each bound is the percentile of all requests at that bound together.
    """
    if not outcome.exchanges:
        return None
    expected, low, high = (
        _latencies(list(spans))
        for spans in zip(*((one.expected_ns, one.low_ns, one.high_ns) for one in outcome.exchanges), strict=True)
    )
    return Expected(expected.p50_ns, low.p50_ns, high.p50_ns), Expected(expected.p95_ns, low.p95_ns, high.p95_ns)


def not_predicted(forecasts: Iterable[Forecast]) -> dict[str, int]:
    """Flows without a prediction of everything that was asked for, by the word that says why, the most first."""
    reasons = (one.refused or (one.unpredicted[0].refused if one.unpredicted else None) for one in forecasts)
    return dict(Counter(reason for reason in reasons if reason).most_common())


def _latencies(spans: Sequence[int]) -> Latencies:
    ordered = sorted(spans)
    median, high = (ordered[-(-len(ordered) * percent // 100) - 1] for percent in (_MEDIAN, _HIGH))
    return Latencies(median, high)
