"""The words above a picture and beside its rows: its subject, and the causes of lost time."""

from collections.abc import Callable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from tcpstall import units
from tcpstall.causes import Cause
from tcpstall.model import Analysis, Exchange, Flow, Side

_ENOUGH_FOR_A_TAIL = 100
_TOO_MANY_ROUND_TRIPS = 100
"""Round trips from which a latency is not shown in round trips."""


def what(flow: Flow, side: Side, start_ns: int, end_ns: int) -> str:
    """The flow, the bytes of the end that is drawn, the duration, and which part of it is shown."""
    peer: Side = "client" if side == "server" else "server"
    sent = units.counted(flow.directions[side].bytes, "byte")
    whole = f"{flow.end(side)} → {flow.end(peer)}, {sent} in {units.duration(flow.duration_ns)}"
    if end_ns - start_ns == flow.duration_ns:
        return whole
    return f"{whole} (shown: {units.duration(start_ns)} to {units.duration(end_ns)})"


def losses(flow: Flow, fits: Callable[[str], bool]) -> str:
    """The limit of the rate, then lost time by cause, the largest first; causes that do not fit are counted."""
    rate = _rate(flow)
    line = rate + losses_of(flow.time_ns, flow.duration_ns, lambda losses: fits(rate + losses))
    return line if fits(line) else losses_of(flow.time_ns, flow.duration_ns, fits)


def _rate(flow: Flow) -> str:
    if flow.rate_set_by is None:
        return ""
    sent = max(direction.bytes for direction in flow.directions.values())
    by = flow.rate_set_by.replace("-", " ")
    whose = "" if by == "pacing" else "the "
    return f"{units.rate(sent, flow.duration_ns)} set by {whose}{by}; "


def losses_of(time_ns: Mapping[str, int], whole_ns: int, fits: Callable[[str], bool]) -> str:
    """Lost time by cause of any ledger."""
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


def flow(one: Flow) -> tuple[str, str]:
    """The two lines beside a flow's row."""
    lost = f"lost {units.duration(one.lost_ns)} of {units.duration(one.duration_ns)}"
    return f"flow {one.id}: {lost}", f"{one.client} → {one.server}"


def flows(analysis: Analysis, shown: Sequence[Flow], fits: Callable[[str], bool]) -> tuple[str, str]:
    """The two lines above many flows."""
    rest = analysis.total - len(shown)
    count = units.counted(len(shown), "flow")
    what = f"Waits of the {count} that lost most, of {units.number(analysis.total)}" if rest else f"Waits of {count}"
    whole = analysis.time_ns()
    own: dict[str, int] = {cause: sum(one.time_ns.get(cause, 0) for one in shown) for cause in Cause}
    left_out = units.duration(sum(whole[cause] - own[cause] for cause in Cause))
    others = f"; {units.counted(rest, 'other flow')} lost {left_out}" if rest else ""
    shown_ns = sum(one.duration_ns for one in shown)
    return what, losses_of(own, shown_ns, lambda line: fits(line + others)) + others


def exchange(its_flow: Flow, one: Exchange) -> tuple[str, str]:
    """The two lines beside an exchange's row."""
    sizes = f"{units.number(one.request_bytes)} → {units.number(one.response_bytes)} bytes"
    return f"flow {its_flow.id}, {units.offset(one.start_ns - its_flow.start_ns)} s", sizes


def latency(one: Exchange) -> str:
    """`400.4 ms = 4 RTT`."""
    least = "" if one.complete else "≥ "
    trips = round((one.round_trips or 0) * 100)
    told = f" = {units.ratio(trips, 100)} RTT" if 0 < trips < 100 * _TOO_MANY_ROUND_TRIPS else ""
    return f"{least}{units.duration(one.latency_ns)}{told}"


def exchanges(shown: int, every_ns: NDArray[np.int64], analysis: Analysis) -> tuple[str, str]:
    """The two lines above the slowest of many exchanges."""
    (first,) = analysis.flows.column("flow")[:1]
    whose = f"flow {first}" if analysis.total == 1 else units.counted(analysis.total, "flow")
    if shown == len(every_ns):
        what = f"Latency of {units.counted(shown, 'exchange')} of {whose}"
    else:
        what = f"Latency of the {units.counted(shown, 'slowest exchange')} of {units.number(len(every_ns))}, {whose}"
    if len(every_ns) == 1:
        return what, units.duration(int(every_ns[0]))
    middle, tail = (units.duration(int(value)) for value in np.percentile(every_ns, [50, 99]))
    most = f", 99 % below {tail}" if len(every_ns) >= _ENOUGH_FOR_A_TAIL else ""
    return what, f"median {middle}{most}, longest {units.duration(int(every_ns.max()))}"
