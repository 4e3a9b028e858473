"""Quantities that rules measure of flows: the time that causes took, latencies, outcomes, bytes sent again."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from itertools import repeat
from operator import add, sub
from typing import Protocol

from tcpstall.causes import Cause
from tcpstall.check.chunk import Chunk
from tcpstall.check.rule import LATENCY, LOST, OUTCOMES, RETRANSMITTED
from tcpstall.model import Flow, Stall

__all__ = ["Amounts", "Quantity", "Waits", "quantity"]

_ITS_OWN_PROOF = frozenset({Cause.UNEXPLAINED, Cause.CAPTURE_GAP})
"""Labels that state a lack of evidence: more confidence would be another label."""


@dataclass(frozen=True, slots=True)
class Amounts:
    """Columns of what flows or exchanges add to a rule: by all labels, and by the sure ones alone; none is negative."""

    rows: Sequence[int]
    """Row of the flow."""
    seen: Sequence[int]
    sure: Sequence[int]


class Quantity(Protocol):
    """A quantity that a rule measures."""

    def amounts(self, chunk: Chunk) -> Amounts:
        """One a flow, or one an exchange; ns, bytes, or 1 of a flow that has it."""

    def whole(self, chunk: Chunk) -> int:
        """The whole of which a share is taken: ns, bytes or flows."""

    def shown_by(self, flow: Flow) -> Sequence[Stall]:
        """The stalls of a flow that may show it."""


@dataclass(frozen=True, slots=True)
class Waits:
    """The time that flows gave to one of some causes.

    Without `by_label` the time counts as lost whatever its label: a wait under a wrong name is a wait. Only what the
    capture lacks may have been none.
    """

    causes: Collection[Cause]
    by_label: bool = True

    def amounts(self, chunk: Chunk) -> Amounts:
        """See Quantity; a handshake only of flows that show one."""
        rows = chunk.rows
        if set(self.causes) == {Cause.HANDSHAKE}:
            set_up = chunk.handshakes
            rows = [row for row in rows if set_up[row] is not None]
        seen = unsure = [0] * len(rows)
        for cause in self.causes:
            column = chunk.time_ns(cause)
            if any(column):
                spans = [column[row] for row in rows]
                seen = list(map(add, seen, spans))
                unsure = list(map(add, unsure, self._unsure(chunk, cause, rows, spans)))
        return Amounts(rows, seen, list(map(sub, seen, unsure)))

    def _unsure(self, chunk: Chunk, cause: Cause, rows: Sequence[int], spans: Sequence[int]) -> Iterable[int]:
        """Parts of a cause's times in flows that may have been another's, or nobody's."""
        if not self.by_label:
            return spans if cause is Cause.CAPTURE_GAP else repeat(0)
        if cause in _ITS_OWN_PROOF or not (unsure := chunk.unsure_ns(cause)):
            return repeat(0)
        return [min(span, unsure.get(row, 0)) for row, span in zip(rows, spans, strict=True)]

    def whole(self, chunk: Chunk) -> int:
        """The length of the flows, ns."""
        return sum(chunk.chosen(chunk.integers("duration_ns")))

    def shown_by(self, flow: Flow) -> Sequence[Stall]:
        """Those of the causes."""
        return [stall for stall in flow.stalls if stall.cause in self.causes]


class _Latency:
    """From a request's first byte to its response's last."""

    def amounts(self, chunk: Chunk) -> Amounts:
        """See Quantity."""
        rows, latencies = chunk.latencies_ns()
        return Amounts(rows, latencies, latencies)

    def whole(self, chunk: Chunk) -> int:
        """See Quantity: a latency is no share of anything."""
        return 0

    def shown_by(self, flow: Flow) -> Sequence[Stall]:
        """Those within the longest exchange."""
        longest = max(flow.exchanges, key=lambda exchange: exchange.latency_ns)
        return [
            stall
            for stall in flow.stalls
            if stall.start_ns < longest.end_ns and longest.start_ns < stall.end_ns and stall.ended
        ]


@dataclass(frozen=True, slots=True)
class _Outcome:
    """Connections that came to this."""

    name: str

    def amounts(self, chunk: Chunk) -> Amounts:
        """See Quantity."""
        came = [int(outcome == self.name) for outcome in chunk.chosen(chunk.outcomes)]
        return Amounts(chunk.rows, came, came)

    def whole(self, chunk: Chunk) -> int:
        """The number of flows."""
        return len(chunk.rows)

    def shown_by(self, flow: Flow) -> Sequence[Stall]:
        """The waits that never ended; else all."""
        return [stall for stall in flow.stalls if not stall.ended] or flow.stalls


class _Retransmitted:
    """Payload that was sent again."""

    def amounts(self, chunk: Chunk) -> Amounts:
        """See Quantity."""
        sums = _both(chunk, "retransmitted_bytes")
        return Amounts(chunk.rows, sums, sums)

    def whole(self, chunk: Chunk) -> int:
        """Payload of the flows, bytes."""
        return sum(_both(chunk, "bytes"))

    def shown_by(self, flow: Flow) -> Sequence[Stall]:
        """Repairs that were waited for."""
        return [stall for stall in flow.stalls if stall.cause is Cause.RETRANSMISSION]


def _both(chunk: Chunk, name: str) -> list[int]:
    client, server = (chunk.chosen(chunk.integers(f"{side}_{name}")) for side in ("client", "server"))
    return list(map(add, client, server))


def quantity(name: str, causes: Sequence[Cause]) -> Quantity:
    """The one of a rule's name; `causes` narrow what counts as lost."""
    if name == LOST:
        return Waits(causes or list(Cause), by_label=bool(causes))
    if name == LATENCY:
        return _Latency()
    if name == RETRANSMITTED:
        return _Retransmitted()
    return _Outcome(name) if name in OUTCOMES else Waits([Cause(name)])
