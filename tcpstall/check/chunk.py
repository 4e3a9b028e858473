"""Some flows of a run, as the native core hands them over, narrowed to the servers that are meant."""

from array import array
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from copy import copy
from functools import cached_property
from typing import TypeVar

from tcpstall import _core
from tcpstall.causes import Cause
from tcpstall.check.services import ServedAt
from tcpstall.model import Analysis, Endpoint, Flow

__all__ = ["Chunk"]


_Value = TypeVar("_Value")


class Chunk:
    """Columns of flows. `rows` are those of the flows that are checked; labels below `confidence` are unsure."""

    def __init__(self, report: _core.Report, services: Sequence[ServedAt], confidence: float) -> None:
        self._report = report
        self._confidence = confidence
        # Each look at a report's table makes the table anew.
        self._flows = report.flows
        self._integers: dict[str, Sequence[int]] = {}
        self.rows: Sequence[int] = range(len(self._flows))
        if services:
            served = (any(service.serves(*server) for service in services) for server in self._servers)
            self.rows = [row for row, is_served in enumerate(served) if is_served]

    def at(self, server: Endpoint) -> "Chunk":
        """The same with the flows to one server alone."""
        part = copy(self)
        part.rows = self._rows_at.get((server.address, server.port), [])
        return part

    @cached_property
    def _servers(self) -> list[tuple[str, int]]:
        return list(zip(self._flows.column("server_address"), self._flows.column("server_port"), strict=True))

    @cached_property
    def _rows_at(self) -> dict[tuple[str, int], list[int]]:
        rows: dict[tuple[str, int], list[int]] = defaultdict(list)
        for row in self.rows:
            rows[self._servers[row]].append(row)
        return rows

    def chosen(self, column: Sequence[_Value]) -> Sequence[_Value]:
        """Values of the flows that are checked."""
        return column if len(self.rows) == len(column) else [column[row] for row in self.rows]

    def integers(self, name: str) -> Sequence[int]:
        """An integer column that is known of every flow."""
        if name not in self._integers:
            self._integers[name] = array("q", self._flows.int64(name))
        return self._integers[name]

    def time_ns(self, cause: Cause) -> Sequence[int]:
        """Time that a cause took of each flow."""
        return self.integers(f"time_{cause.replace('-', '_')}_ns")

    def unsure_ns(self, cause: Cause) -> Mapping[int, int]:
        """Waits that have this label, but below the confidence, by the row of their flow."""
        return self._unsure[cause.value]

    @cached_property
    def _row_of(self) -> Mapping[int, int]:
        """Rows by the numbers of their flows."""
        return {flow: row for row, flow in enumerate(self.integers("flow"))}

    @cached_property
    def _unsure(self) -> Mapping[str, Counter[int]]:
        stalls = self._report.stalls
        columns = (stalls.column(name) for name in ("flow", "cause", "confidence", "duration_ns"))
        sums: dict[str, Counter[int]] = defaultdict(Counter)
        for flow, cause, confidence, span in zip(*columns, strict=True):
            if confidence < self._confidence:
                sums[cause][self._row_of[flow]] += span
        return sums

    @cached_property
    def handshakes(self) -> Sequence[int | None]:
        """Time that each connection took to be set up, ns; None where no SYN was captured."""
        return self._flows.column("handshake_ns")

    @cached_property
    def outcomes(self) -> Sequence[str | None]:
        """Outcomes of connections, as `Flow.outcome`; None of those that were established and heard to the end."""
        return self._flows.column("outcome")

    def latencies_ns(self) -> tuple[list[int], list[int]]:
        """The row and the latency of each exchange of the flows that are checked."""
        exchanges = self._report.exchanges
        rows = [self._row_of[flow] for flow in exchanges.column("flow")]
        latencies = exchanges.column("latency_ns")
        if len(self.rows) == len(self._flows):
            return rows, latencies
        checked = set(self.rows)
        pairs = [pair for pair in zip(rows, latencies, strict=True) if pair[0] in checked]
        return [row for row, _ in pairs], [latency for _, latency in pairs]

    def flow(self, row: int) -> Flow:
        """The whole of it."""
        return Analysis(self._report)[row]
