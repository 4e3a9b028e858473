"""Some flows of a run, as the native core hands them over, narrowed to the servers that are meant."""

import json
from array import array
from collections import Counter, defaultdict
from collections.abc import Sequence
from copy import copy
from functools import cached_property

from tcpstall import _core
from tcpstall.causes import Cause
from tcpstall.check.services import ServedAt
from tcpstall.model import Analysis, Endpoint, Flow

__all__ = ["Chunk"]


class Chunk:
    """Columns of flows. `rows` are those of the flows that are checked; labels below `confidence` are unsure."""

    def __init__(self, report: _core.Report, services: Sequence[ServedAt], confidence: float) -> None:
        self._report = report
        self._confidence = confidence
        # Each look at a report's table makes the table anew.
        self._flows = report.flows
        self._integers: dict[str, Sequence[int]] = {}
        ends = (self._flows.column(f"server_{part}") for part in ("address", "port"))
        self._servers = list(zip(*ends, strict=True))
        self.rows = [
            row
            for row, server in enumerate(self._servers)
            if not services or any(service.serves(*server) for service in services)
        ]

    def at(self, server: Endpoint) -> "Chunk":
        """The same with the flows to one server alone."""
        part = copy(self)
        part.rows = self._rows_at.get((server.address, server.port), [])
        return part

    @cached_property
    def _rows_at(self) -> dict[tuple[str, int], list[int]]:
        rows: dict[tuple[str, int], list[int]] = defaultdict(list)
        for row in self.rows:
            rows[self._servers[row]].append(row)
        return rows

    def integers(self, name: str) -> Sequence[int]:
        """An integer column that is known of every flow."""
        if name not in self._integers:
            self._integers[name] = array("q", self._flows.int64(name))
        return self._integers[name]

    def time_ns(self, cause: Cause) -> Sequence[int]:
        """Time that a cause took of each flow."""
        return self.integers(f"time_{cause.replace('-', '_')}_ns")

    def unsure_ns(self, row: int, cause: Cause) -> int:
        """Waits of a flow that have this label, but below the confidence."""
        return self._unsure[self._ids[row], cause.value]

    @cached_property
    def _stalls(self) -> _core.Table:
        return self._report.stalls

    @cached_property
    def _ids(self) -> Sequence[int]:
        return self.integers("flow")

    @cached_property
    def _unsure(self) -> Counter[tuple[int, str]]:
        columns = (self._stalls.column(name) for name in ("flow", "cause", "confidence", "duration_ns"))
        sums: Counter[tuple[int, str]] = Counter()
        for flow, cause, confidence, span in zip(*columns, strict=True):
            if confidence < self._confidence:
                sums[flow, cause] += span
        return sums

    @cached_property
    def handshakes(self) -> Sequence[int | None]:
        """Time that each connection took to be set up, ns; None where no SYN was captured."""
        return self._flows.column("handshake_ns")

    @cached_property
    def outcomes(self) -> dict[int, str]:
        """Outcomes of connections by row, as `Flow.outcome`; all others were established and heard to the end."""
        waits = zip(self._stalls.column("flow"), self._stalls.column("ended"), strict=True)
        endless = {flow for flow, ended in waits if not ended}
        complete = self._flows.column("handshake_complete")
        # Only these can have one: a flow's JSON is read for no others.
        rows = [row for row in self.rows if not complete[row] or self._ids[row] in endless]
        told = {row: json.loads(self._report.flow_json(row))["outcome"] for row in rows}
        return {row: outcome for row, outcome in told.items() if outcome}

    def latencies_ns(self) -> list[tuple[int, int]]:
        """The row and the latency of each exchange of the flows that are checked."""
        exchanges = self._report.exchanges
        checked = {self._ids[row]: row for row in self.rows}
        pairs = zip(exchanges.column("flow"), exchanges.column("latency_ns"), strict=True)
        return [(checked[flow], latency) for flow, latency in pairs if flow in checked]

    def flow(self, row: int) -> Flow:
        """The whole of it."""
        return Analysis(self._report)[row]
