"""Quantities that rules measure of flows: the time that causes took, latencies, outcomes, bytes sent again."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from tcpstall.causes import Cause
from tcpstall.check.chunk import Chunk
from tcpstall.check.rule import LATENCY, LOST, OUTCOMES, RETRANSMITTED
from tcpstall.model import Flow, Stall

__all__ = ["Amount", "Quantity", "Waits", "quantity"]

_ITS_OWN_PROOF = frozenset({Cause.UNEXPLAINED, Cause.CAPTURE_GAP})
"""Labels that state a lack of evidence: more confidence would be another label."""


@dataclass(frozen=True, slots=True)
class Amount:
    """Amount that a flow, by its row, adds to a rule: by all labels, and by the sure ones alone."""

    row: int
    seen: int
    sure: int


class Quantity(Protocol):
    """A quantity that a rule measures."""

    def amounts(self, chunk: Chunk) -> Iterator[Amount]:
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

    def amounts(self, chunk: Chunk) -> Iterator[Amount]:
        """See Quantity; a handshake only of flows that show one."""
        columns = {cause: chunk.time_ns(cause) for cause in self.causes}
        set_up = chunk.handshakes if set(columns) == {Cause.HANDSHAKE} else None
        for row in chunk.rows:
            if set_up is None or set_up[row] is not None:
                spans = {cause: column[row] for cause, column in columns.items() if column[row]}
                seen = sum(spans.values())
                yield Amount(row, seen, seen - sum(self._unsure(chunk, row, *span) for span in spans.items()))

    def _unsure(self, chunk: Chunk, row: int, cause: Cause, span: int) -> int:
        """Part of a cause's time in a flow that may have been another's, or nobody's."""
        if not self.by_label:
            return span if cause is Cause.CAPTURE_GAP else 0
        return 0 if cause in _ITS_OWN_PROOF else min(span, chunk.unsure_ns(row, cause))

    def whole(self, chunk: Chunk) -> int:
        """The length of the flows, ns."""
        lengths = chunk.integers("duration_ns")
        return sum(lengths[row] for row in chunk.rows)

    def shown_by(self, flow: Flow) -> Sequence[Stall]:
        """Those of the causes."""
        return [stall for stall in flow.stalls if stall.cause in self.causes]


class _Latency:
    """From a request's first byte to its response's last."""

    def amounts(self, chunk: Chunk) -> Iterator[Amount]:
        """See Quantity."""
        return (Amount(row, latency, latency) for row, latency in chunk.latencies_ns())

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

    def amounts(self, chunk: Chunk) -> Iterator[Amount]:
        """See Quantity."""
        for row in chunk.rows:
            came = int(chunk.outcomes.get(row) == self.name)
            yield Amount(row, came, came)

    def whole(self, chunk: Chunk) -> int:
        """The number of flows."""
        return len(chunk.rows)

    def shown_by(self, flow: Flow) -> Sequence[Stall]:
        """The waits that never ended; else all."""
        return [stall for stall in flow.stalls if not stall.ended] or flow.stalls


class _Retransmitted:
    """Payload that was sent again."""

    def amounts(self, chunk: Chunk) -> Iterator[Amount]:
        """See Quantity."""
        sums = _both(chunk, "retransmitted_bytes")
        return (Amount(row, sums[row], sums[row]) for row in chunk.rows)

    def whole(self, chunk: Chunk) -> int:
        """Payload of the flows, bytes."""
        sums = _both(chunk, "bytes")
        return sum(sums[row] for row in chunk.rows)

    def shown_by(self, flow: Flow) -> Sequence[Stall]:
        """Repairs that were waited for."""
        return [stall for stall in flow.stalls if stall.cause is Cause.RETRANSMISSION]


def _both(chunk: Chunk, name: str) -> list[int]:
    ends = (chunk.integers(f"{side}_{name}") for side in ("client", "server"))
    return [client + server for client, server in zip(*ends, strict=True)]


def quantity(name: str, causes: Sequence[Cause]) -> Quantity:
    """The one of a rule's name; `causes` narrow what counts as lost."""
    if name == LOST:
        return Waits(causes or list(Cause), by_label=bool(causes))
    if name == LATENCY:
        return _Latency()
    if name == RETRANSMITTED:
        return _Retransmitted()
    return _Outcome(name) if name in OUTCOMES else Waits([Cause(name)])
