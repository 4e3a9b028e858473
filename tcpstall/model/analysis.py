"""The flows, services and captures of one analysis, over columns that stay in the native core.

A flow is decoded only when somebody looks at it.
"""

import json
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any, Literal, TypeAlias

from tcpstall import _core
from tcpstall.causes import Cause
from tcpstall.model.capture import Capture
from tcpstall.model.flow import Flow, Service
from tcpstall.model.order import Sort
from tcpstall.model.rows import as_flow, as_service, column, combined
from tcpstall.records import record
from tcpstall.units import counted, duration

Table: TypeAlias = Literal["flows", "bursts", "stalls", "exchanges"]
"""The tables of an analysis."""


@record(frozen=True, slots=True)
class Held:
    """The flows that an analysis holds: the first `top` by `sort`, and the first `top` by time lost."""

    top: int
    sort: Sort


class Analysis:
    """The diagnosis of one or more captures: a sequence of flows over columns that stay in the native core.

    `flows`, `bursts`, `stalls` and `exchanges` are tables that Polars, PyArrow and DuckDB take without a copy (Arrow
    PyCapsule interface); times are int64 nanoseconds since the epoch in the capture's own clock, sizes payload bytes.
    `len()`, iteration and indexing give Flow objects, each decoded when it is asked for.

    With `top` only the flows that come first are held, and `len()`, tables and rows are of those; `total`, `time_ns()`
    and `services` are of all flows all the same.
    """

    anonymised = False
    """Pseudonyms stand for addresses, and for the names of captures."""

    def __init__(self, report: _core.Report, *, anonymised: bool = False, held: "Held | None" = None) -> None:
        self._report = report
        self._held = held
        self.anonymised = anonymised
        self.captures: tuple[Capture, ...] = tuple(Capture.from_status(status) for status in report.captures)

    @cached_property
    def flows(self) -> _core.Table:
        """A row a flow."""
        return self._report.flows

    @cached_property
    def bursts(self) -> _core.Table:
        """A row a burst; empty with `bursts=False`."""
        return self._report.bursts

    @cached_property
    def stalls(self) -> _core.Table:
        """A row a stall."""
        return self._report.stalls

    @cached_property
    def exchanges(self) -> _core.Table:
        """A row an exchange, its latency added up by leg; empty with `exchanges=False`."""
        return self._report.exchanges

    @cached_property
    def services(self) -> tuple[Service, ...]:
        """The connections by service, those first that would gain most by reuse."""
        return tuple(as_service(row) for row in json.loads(self._report.services_json))

    @property
    def findings_facts(self) -> str:
        """Facts that `tcpstall.findings` ranks and words: JSON text of the native core, of all flows."""
        return self._report.findings_json

    @property
    def bytes(self) -> int:
        """Payload of all flows, both directions."""
        return self._report.bytes

    @property
    def total(self) -> int:
        """Number of flows, held or not."""
        return len(self) if self._whole is None else self._whole[0]

    @cached_property
    def _whole(self) -> tuple[int, Sequence[tuple[str, int]]] | None:
        """All flows, their number and their ledger, where only some are held."""
        return None if self._held is None else self._report.whole

    def __repr__(self) -> str:
        lost = sum(self.time_ns()[cause] for cause in Cause)
        inputs = counted(len(self.captures), "capture")
        return f"<Analysis of {inputs}: {counted(self.total, 'flow')} lost {duration(lost)}>"

    def _repr_html_(self) -> str:
        from tcpstall.report.notebook import html

        return html(self)

    def to_pandas(self, table: Table = "flows") -> Any:
        """That table as a pandas data frame; ImportError without PyArrow and pandas."""
        import pyarrow

        return pyarrow.table(getattr(self, table)).to_pandas()

    def to_polars(self, table: Table = "flows") -> Any:
        """That table as a Polars data frame; ImportError without Polars."""
        import polars

        return polars.DataFrame(getattr(self, table))

    def __len__(self) -> int:
        return len(self._report)

    def __getitem__(self, row: int) -> Flow:
        rows = len(self)
        if not -rows <= row < rows:
            raise IndexError(f"flow row {row} of {rows}")
        return as_flow({**json.loads(self._report.flow_json(row % rows)), "idle_ns": self._report.idle_ns(row % rows)})

    def __iter__(self) -> Iterator[Flow]:
        return (self[row] for row in range(len(self)))

    @property
    def worst(self) -> Flow:
        """The flow in which somebody waited longest, else that which lost most; IndexError where there is none."""
        return self[self.ranked()[0]]

    def ranked(self, by: Sort = "lost") -> list[int]:
        """Rows of `flows` in order: most first, for `start` earliest first; ties in order of the flows' ids.

        Where only the first flows are held there are no more rows than that. Raises ValueError for an order whose first
        flows are not held.
        """
        if self._held is None:
            return self._in_order(by)
        if by not in (self._held.sort, "lost"):
            raise ValueError(f"the flows are held that come first by {self._held.sort}, not by {by}")
        return self._in_order(by)[: self._held.top]

    def _in_order(self, by: Sort) -> list[int]:
        table = self.flows
        match by:
            case "start":
                keys = column(table, "start_ns")
                return sorted(range(len(self)), key=keys.__getitem__)
            case "duration":
                keys = combined(table, "end_ns", "start_ns", -1)
            case "bytes":
                keys = combined(table, "client_bytes", "server_bytes", 1)
            case "lost":
                return self._report.by_lost()
            case "stalls":
                keys = column(table, "stalls")
        return sorted(range(len(self)), key=lambda row: -keys[row])

    def time_ns(self) -> dict[str, int]:
        """The time ledgers of all flows added up, by owner: the causes, then sending, in-transit, closing."""
        if self._whole is not None:
            return dict(self._whole[1])
        return {owner: sum(column(self.flows, f"time_{owner.replace('-', '_')}_ns")) for owner in _core.owners()}
