"""Chooses the flows and exchanges that a picture has room for."""

import numpy as np
from numpy.typing import NDArray

from tcpstall import _core
from tcpstall.model import Analysis, Exchange, Flow

__all__ = ["ROWS", "costliest", "latencies_ns", "slowest"]

ROWS = 30
"""Flows or exchanges of a picture unless told otherwise: about a page."""

_KEY = ("flow", "start_ns", "latency_ns")
_EVER = np.iinfo(np.int64).max


def costliest(analysis: Analysis, rows: int, start_ns: int | None, end_ns: int | None) -> list[Flow]:
    """The `rows` flows alive between two times (ns since the epoch) that lost most, by their start."""
    chosen: list[Flow] = []
    for row in analysis.ranked("lost"):
        flow = analysis[row]
        if chosen and not flow.lost_ns:
            break
        if (start_ns is None or flow.end_ns >= start_ns) and (end_ns is None or flow.start_ns < end_ns):
            chosen.append(flow)
        if len(chosen) == rows:
            break
    return sorted(chosen, key=lambda flow: flow.start_ns)


def _inside(analysis: Analysis, start_ns: int | None, end_ns: int | None) -> NDArray[np.bool_]:
    began_ns = _column(analysis.exchanges, "start_ns")
    return (began_ns >= (start_ns or 0)) & (began_ns < (_EVER if end_ns is None else end_ns))


def latencies_ns(analysis: Analysis, start_ns: int | None, end_ns: int | None) -> NDArray[np.int64]:
    """The latencies of all exchanges that began between two times (ns since the epoch)."""
    return _column(analysis.exchanges, "latency_ns")[_inside(analysis, start_ns, end_ns)]


def slowest(analysis: Analysis, rows: int, start_ns: int | None, end_ns: int | None) -> list[tuple[Flow, Exchange]]:
    """The `rows` slowest of them, by their start, with their flows."""
    inside = np.flatnonzero(_inside(analysis, start_ns, end_ns))
    latency_ns = _column(analysis.exchanges, "latency_ns")[inside]
    slowest = inside[np.argsort(-latency_ns, kind="stable")[:rows]]
    wanted = list(zip(*(_column(analysis.exchanges, name)[slowest].tolist() for name in _KEY), strict=True))
    row_of = {id_: row for row, id_ in enumerate(_column(analysis.flows, "flow").tolist())}
    flows = {id_: analysis[row_of[id_]] for id_ in sorted({id_ for id_, _, _ in wanted})}
    by_key = {
        (id_, exchange.start_ns, exchange.latency_ns): (flow, exchange)
        for id_, flow in flows.items()
        for exchange in flow.exchanges
    }
    return sorted((by_key[key] for key in wanted), key=lambda pair: (pair[1].start_ns, pair[0].id))


def _column(table: _core.Table, name: str) -> NDArray[np.int64]:
    return np.frombuffer(table.int64(name), np.int64)
