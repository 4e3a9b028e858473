"""The path in plain words: its rate, its queue, and a flow's share of the link."""

from collections import Counter

from tcpstall.causes import Cause
from tcpstall.model import Flow, Side, Stall
from tcpstall.report.waits import main_sender
from tcpstall.units import duration, number, rate, share

__all__ = ["busy_path", "busy_path_of", "reached_link"]

_S = 1_000_000_000


def busy_path(flow: Flow) -> str:
    """The rate that the path carried, the queue before it, and from where on more in flight buys nothing."""
    side = _busiest(flow)
    way = flow.directions[side]
    if way.bottleneck_bytes_per_s is None and way.queue_delay_ns is not None:
        return _without_rate(side, way.queue_delay_ns)
    if way.bottleneck_bytes_per_s is None:
        reached = "" if way.link_share is None else f", {share(way.link_share)} of what it carries"
        return f"the link was full of the {side}'s data{reached}: more window or buffer buys nothing"
    carried = f"the path carried all it could of the {side}'s data, {rate(way.bottleneck_bytes_per_s, _S)}"
    queue = f", and packets queued {duration(way.queue_delay_ns)}" if way.queue_delay_ns is not None else ""
    if way.bdp_bytes is None:
        return carried + queue
    return f"{carried}{queue}: above {number(way.bdp_bytes)} bytes in flight more window or buffer buys nothing"


def _busiest(flow: Flow) -> Side:
    """The sender whose data kept the path busy; its waits tell where no direction does: a queue before the tap."""
    waited_ns = Counter[Side]()
    for stall in flow.stalls:
        waited_ns[stall.sender] += stall.duration_ns if stall.cause is Cause.BANDWIDTH_LIMITED else 0
    return max(("client", "server"), key=lambda end: (flow.directions[end].bandwidth_limited_ns, waited_ns[end]))


def busy_path_of(stall: Stall) -> str:
    """The path during one stall, by the stall's own figures."""
    evidence = stall.evidence
    carried, queue = evidence.get("bottleneck_bytes_per_s"), evidence.get("queue_ns")
    if carried is None:
        return (
            _without_rate(stall.sender, queue)
            if queue is not None
            else f"the path was full of the {stall.sender}'s data"
        )
    queued = f", and packets queued {duration(queue)}" if queue is not None else ""
    return f"the path carried all it could of the {stall.sender}'s data, {rate(carried, _S)}{queued}"


def _without_rate(side: Side, queue_ns: int) -> str:
    return (
        f"packets of the {side}'s data queued {duration(queue_ns)} on the path, too few of them to say which rate it "
        "carries for longer"
    )


def reached_link(flow: Flow) -> str:
    """The share of the link that the main sender's data reached; empty without the link's rate."""
    side = main_sender(flow)
    reached = flow.directions[side].link_share
    return "" if reached is None else f"the {side} reached {share(reached)} of the link"
