"""A quantity folded over all flows, whatever their number, with the flow that shows it best."""

from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from tcpstall.check.chunk import Chunk
from tcpstall.check.quantities import Quantity
from tcpstall.check.rule import WORST, Rule
from tcpstall.facts import own_pauses
from tcpstall.model import Flow, Stall

__all__ = ["Measure", "Tally", "Worst"]

_NOTHING = Fraction(0)


@dataclass(frozen=True, slots=True)
class Worst:
    """The flow that adds most: so much, ns, bytes, or 1; and the longest of its stalls that show it."""

    flow: Flow
    amount: int
    stall: Stall | None


class Tally:
    """Amounts added up as one rule asks."""

    def __init__(self, percentile: int) -> None:
        self._percentile = percentile
        self._all = array("q")
        self._best: tuple[int, int] | None = None
        self.items = 0
        """Flows, or exchanges."""
        self.flows = 0
        """Those of them that have any."""
        self.total = 0
        self.worst: Worst | None = None

    def add(self, rows: Sequence[int], amounts: Sequence[int]) -> None:
        """The items of a chunk, each with the row of its flow."""
        self.items += len(amounts)
        self.flows += sum(map((0).__lt__, amounts))
        self.total += sum(amounts)
        if self._percentile != WORST:
            self._all.extend(amounts)
        most = max(amounts, default=0)
        if most > (self.worst.amount if self.worst else 0):
            self._best = rows[amounts.index(most)], most

    def keep(self, chunk: Chunk, what: Quantity, confidence: float) -> None:
        """Looks at the chunk's worst flow while it is there."""
        if self._best is None:
            return
        row, amount = self._best
        flow, self._best = chunk.flow(row), None
        shown = what.shown_by(flow)
        sure = [stall for stall in shown if stall.confidence >= confidence]
        best = own_pauses(sure or shown)
        self.worst = Worst(flow, amount, max(best, key=lambda stall: stall.duration_ns, default=None))

    def within(self) -> int:
        """The percentile of all items, by the nearest rank."""
        if self._percentile == WORST:
            return self.worst.amount if self.worst else 0
        return sorted(self._all)[-(-self.items * self._percentile // 100) - 1] if self.items else 0


class Measure:
    """A quantity by all labels, and by the sure ones alone."""

    def __init__(self, what: Quantity, confidence: float, percentile: int = WORST) -> None:
        self._what = what
        self._confidence = confidence
        self.seen, self.sure = Tally(percentile), Tally(percentile)
        self.whole = 0

    def take(self, chunk: Chunk) -> None:
        """Adds the flows of a chunk."""
        self.whole += self._what.whole(chunk)
        amounts = self._what.amounts(chunk)
        self.seen.add(amounts.rows, amounts.seen)
        self.sure.add(amounts.rows, amounts.sure)
        self.seen.keep(chunk, self._what, 0.0)
        self.sure.keep(chunk, self._what, self._confidence)

    def value(self, tally: Tally, rule: Rule) -> Fraction:
        """The value that a rule compares with its limit, in the limit's unit."""
        match rule.limit.unit:
            case "flows":
                return Fraction(tally.flows)
            case "share":
                return Fraction(tally.total, self.whole) if self.whole else _NOTHING
        return Fraction(tally.total if rule.over == "total" else tally.within())
