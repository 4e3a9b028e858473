"""A rule: what is limited, over which flows, and by how much."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Literal, TypeAlias

from tcpstall.causes import Cause

__all__ = [
    "GROWTH",
    "LATENCY",
    "LOST",
    "NAMES",
    "OUTCOMES",
    "RETRANSMITTED",
    "WORST",
    "Limit",
    "Over",
    "Rule",
    "Unit",
    "units_of",
]

Unit: TypeAlias = Literal["time", "share", "flows"]
"""Of a limit: nanoseconds, a ratio, or a number of flows."""

Over: TypeAlias = Literal["each", "total", "growth"]
"""Of a time: what each flow or exchange takes, all of them added up, or by how much a flow's grew on average."""

LOST = "lost"
LATENCY = "latency"
RETRANSMITTED = "retransmitted"
GROWTH = "growth"
OUTCOMES = ("unreachable", "refused", "half-open", "aborted", "gone")
"""Names in `Flow.outcome` of connections that came to nothing."""

NAMES = (*(cause.value for cause in Cause), LOST, LATENCY, RETRANSMITTED, *OUTCOMES, GROWTH)
"""Names of the things that a rule may be about."""

WORST = 100
"""The percentile of the worst."""


@dataclass(frozen=True, slots=True)
class Limit:
    """The most that a rule allows: ns, a ratio from 0, or flows, by its unit."""

    unit: Unit
    value: Fraction


@dataclass(frozen=True, slots=True)
class Rule:
    """A limit on one of `NAMES`. `text` is the rule as it was written: `max p95-latency=250ms`.

    A time is limited `over` each flow, and then up to that percentile (100 is the worst), over all flows in total, or
    in its growth from a baseline, where the name `growth` stands for every cause by itself. A share is one of the
    flows' time; of bytes where `retransmitted` is limited; of flows where an outcome is; of growth one of the baseline.
    """

    text: str
    name: str
    limit: Limit
    over: Over = "each"
    percentile: int = WORST


def units_of(name: str, over: Over, percentile: int = WORST) -> tuple[Unit, ...]:
    """The units in which that can be limited; none where it cannot be."""
    if over == "growth":
        return ("time", "share") if name == GROWTH or name in list(Cause) else ()
    if name == LATENCY:
        return ("time",) if over == "each" else ()
    if name == LOST or name in list(Cause):
        return ("time", "share", "flows") if (over, percentile) == ("each", WORST) else ("time",)
    return ("share", "flows") if (over, percentile) == ("each", WORST) else ()
