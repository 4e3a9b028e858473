"""The two lines above a picture: which flow it is, and what its time was lost to."""

from collections.abc import Callable, Mapping

from tcpstall import units
from tcpstall.causes import Cause
from tcpstall.model import Flow, Side


def what(flow: Flow, side: Side, start_ns: int, end_ns: int) -> str:
    """The flow, the bytes of the end that is drawn, the duration, and which part of it is shown."""
    peer: Side = "client" if side == "server" else "server"
    sent = units.counted(flow.directions[side].bytes, "byte")
    whole = f"{flow.end(side)} → {flow.end(peer)}   {sent} in {units.duration(flow.duration_ns)}"
    if end_ns - start_ns == flow.duration_ns:
        return whole
    return f"{whole}   (shown: {units.duration(start_ns)} to {units.duration(end_ns)})"


def losses(flow: Flow, fits: Callable[[str], bool]) -> str:
    """Time lost by cause, the largest first; the smallest are counted only where the line would not fit."""
    return losses_of(flow.time_ns, flow.duration_ns, fits)


def losses_of(time_ns: Mapping[str, int], whole_ns: int, fits: Callable[[str], bool]) -> str:
    """The same of any ledger."""
    lost = sorted(((time_ns.get(cause, 0), cause) for cause in Cause if time_ns.get(cause, 0) > 0), key=_most_first)
    if not lost:
        return "no time lost to waits"
    lost_ns = sum(span_ns for span_ns, _ in lost)
    total = f"lost {units.duration(lost_ns)} ({units.percent(lost_ns, whole_ns)})"
    parts = [f"{cause} {units.duration(span_ns)}" for span_ns, cause in lost]
    for shown in range(len(parts), 0, -1):
        rest = [f"{len(parts) - shown} more"] if shown < len(parts) else []
        line = f"{total}: {', '.join(parts[:shown] + rest)}"
        if fits(line):
            return line
    return total


def _most_first(row: tuple[int, Cause]) -> int:
    return -row[0]
