"""Rules held against the flows of a run: each holds, is broken, or cannot be told."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Literal, TypeAlias

from tcpstall import _core
from tcpstall.causes import Cause
from tcpstall.check.chunk import Chunk
from tcpstall.check.growth import Grown, Growth
from tcpstall.check.measure import Measure, Worst
from tcpstall.check.quantities import quantity
from tcpstall.check.rule import Rule
from tcpstall.check.services import ServedAt
from tcpstall.diff import Comparison
from tcpstall.model import Capture

__all__ = ["Checked", "Checking", "State", "Verdict"]

State: TypeAlias = Literal["holds", "broken", "unsure", "nothing"]
"""`unsure` is a rule that labels below the confidence alone would break: it holds. `nothing` was there to measure."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """The outcome of a rule.

    `value` is what was compared with the limit, in its unit: by sure labels of a broken rule, by all labels of every
    other. `items` counts what was measured: flows, exchanges, or services that both captures hold. `whole` is what a
    share is one of. `grown` are the causes that a rule about growth found, the worst first.
    """

    rule: Rule
    state: State
    value: Fraction | None
    items: int
    whole: int = 0
    worst: Worst | None = None
    grown: tuple[Grown, ...] = ()


@dataclass(frozen=True, slots=True)
class Checked:
    """All verdicts, in the order of the rules; labels below `confidence` were unsure."""

    verdicts: tuple[Verdict, ...]
    flows: int
    confidence: float
    captures: tuple[Capture, ...]

    def those(self, state: State) -> list[Verdict]:
        """The rules of which that became."""
        return [verdict for verdict in self.verdicts if verdict.state == state]


@dataclass(slots=True)
class Checking:
    """Takes the flows of a run in parts, holds none of them, and judges each rule in the end.

    `services` are the servers that are meant, empty for all; `causes` narrow what counts as lost and as growth.
    Rules about growth need a comparison.
    """

    rules: Sequence[Rule]
    services: Sequence[ServedAt] = ()
    causes: Sequence[Cause] = ()
    confidence: float = 0.0
    comparison: Comparison | None = None
    flows: int = 0
    _measures: list[Measure | Growth] = field(init=False)

    def __post_init__(self) -> None:
        self._measures = [self._measure(rule) for rule in self.rules]

    def take(self, report: _core.Report) -> None:
        """Some flows, each of them whole."""
        chunk = Chunk(report, self.services, self.confidence)
        self.flows += len(chunk.rows)
        for measure in self._measures:
            measure.take(chunk)

    def checked(self, captures: Sequence[Capture]) -> Checked:
        """The verdicts over everything that was taken."""
        verdicts = tuple(
            _of_growth(rule, measure) if isinstance(measure, Growth) else _verdict(rule, measure)
            for rule, measure in zip(self.rules, self._measures, strict=True)
        )
        return Checked(verdicts, self.flows, self.confidence, tuple(captures))

    def _measure(self, rule: Rule) -> Measure | Growth:
        if rule.over != "growth":
            return Measure(quantity(rule.name, self.causes), self.confidence, rule.percentile)
        if self.comparison is None:
            raise ValueError(f"{rule.text} needs a baseline")
        return Growth(rule, self.comparison, self.services, self.causes, self.confidence)


def _verdict(rule: Rule, measure: Measure) -> Verdict:
    seen, sure = (measure.value(tally, rule) for tally in (measure.seen, measure.sure))
    items, whole = measure.seen.items, measure.whole
    if not items:
        return Verdict(rule, "nothing", None, items)
    if sure > rule.limit.value:
        return Verdict(rule, "broken", sure, items, whole, measure.sure.worst)
    state: State = "unsure" if seen > rule.limit.value else "holds"
    return Verdict(rule, state, seen, items, whole, measure.seen.worst)


def _of_growth(rule: Rule, growth: Growth) -> Verdict:
    sure, unsure = growth.found()
    if not growth.items:
        return Verdict(rule, "nothing", None, 0)
    grown = tuple(sure or unsure)
    state: State = "broken" if sure else "unsure" if unsure else "holds"
    value = _as_limited(rule, grown[0]) if grown else None
    return Verdict(rule, state, value, growth.items, worst=grown[0].worst if grown else None, grown=grown)


def _as_limited(rule: Rule, grown: Grown) -> Fraction | None:
    """The growth in the unit of the limit; None of what is new, where a share is limited."""
    own, before = grown.change.own_ns, grown.change.good_ns
    if rule.limit.unit == "share":
        return Fraction(own, before) if before else None
    return Fraction(own)
