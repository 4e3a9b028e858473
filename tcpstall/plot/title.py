"""The two lines above a picture: which flow it is, and what its time was lost to."""

from collections.abc import Callable

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
    lost = sorted(
        ((flow.time_ns[cause], cause) for cause in Cause if flow.time_ns.get(cause, 0) > 0),
        key=lambda row: -row[0],
    )
    if not lost:
        return "no time lost to waits"
    total = f"lost {units.duration(flow.lost_ns)} ({units.percent(flow.lost_ns, flow.duration_ns)})"
    parts = [f"{cause} {units.duration(span_ns)}" for span_ns, cause in lost]
    for shown in range(len(parts), 0, -1):
        rest = [f"{len(parts) - shown} more"] if shown < len(parts) else []
        line = f"{total}: {', '.join(parts[:shown] + rest)}"
        if fits(line):
            return line
    return total
