"""Rules over the flows of captures, for pipelines: which hold, which are broken, and which flow shows it."""

from tcpstall.check.checking import Checked, Checking, State, Verdict
from tcpstall.check.growth import Grown
from tcpstall.check.measure import Worst
from tcpstall.check.rule import (
    GROWTH,
    LATENCY,
    LOST,
    NAMES,
    OUTCOMES,
    RETRANSMITTED,
    WORST,
    Limit,
    Over,
    Rule,
    Unit,
    units_of,
)
from tcpstall.check.services import ServedAt

__all__ = [
    "GROWTH",
    "LATENCY",
    "LOST",
    "NAMES",
    "OUTCOMES",
    "RETRANSMITTED",
    "WORST",
    "Checked",
    "Checking",
    "Grown",
    "Limit",
    "Over",
    "Rule",
    "ServedAt",
    "State",
    "Unit",
    "Verdict",
    "Worst",
    "units_of",
]
