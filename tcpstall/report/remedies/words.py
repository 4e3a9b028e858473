"""Findings, changes and checks in words, free of any form."""

from collections.abc import Iterator, Mapping, Sequence

from tcpstall.advice import sizing
from tcpstall.advice.case import Case
from tcpstall.advice.needs import sizes
from tcpstall.advice.remedy import Platform, Remedy, Step
from tcpstall.advice.sockets import Matched, Paste
from tcpstall.model import Flow, Side
from tcpstall.report.answer import amount, findings, loss
from tcpstall.report.waits import main_sender
from tcpstall.units import counted, duration, number, percent, rate, size, times

__all__ = ["PLATFORM", "finding", "headline", "size_rows", "sources", "told_of_paste", "whatif"]

PLATFORM: Mapping[Platform, str] = {
    Platform.LINUX: "Linux",
    Platform.WINDOWS: "Windows",
    Platform.BSD: "FreeBSD and macOS",
}

_S = 1_000_000_000

_ORIENTATION = (12_500_000, 125_000_000)
"""100 Mbit/s and 1 Gbit/s, where the path's rate is not known, bytes a second."""


def headline(flow: Flow) -> str:
    """`flow 0  10.0.0.1:80 → 10.0.0.2:44612   524,583 bytes in 63.1 ms: lost 49.4 ms (78 %), 6 stalls`."""
    sender = main_sender(flow)
    receiver: Side = "client" if sender == "server" else "server"
    told = f"{amount(flow, sender)} in {duration(flow.duration_ns)}: {loss(flow)}"
    return f"flow {flow.id}  {flow.end(sender)} → {flow.end(receiver)}   {told}"


def finding(case: Case) -> str:
    """The clause of `analyze` for the cause of the finding; else a short one."""
    what = next((one.what for one in findings(case.flow) if one.cause is case.cause), case.cause.summary)
    kind = f" ({case.kind})" if case.kind else ""
    return f"{percent(case.time_ns, case.flow.duration_ns)}{kind}: {what}"


def whatif(remedy: Remedy, flow: Flow) -> str:
    """The command that predicts what it buys; empty without one."""
    return f"tcpstall whatif CAPTURE --flow {flow.id} --set {remedy.whatif}" if remedy.whatif else ""


def sources(remedy: Remedy, step: Step) -> str:
    """Of the way on a platform and of the change as such, each once."""
    return "; ".join(dict.fromkeys(f"{step.source}; {remedy.source}".removeprefix("; ").split("; ")))


def size_rows(flow: Flow, link_bytes_per_s: int | None) -> list[Sequence[str]]:
    """Sizes for rates on this path: the link's, the path's own, else two for orientation.

    Nothing without a round trip.
    """
    sender = main_sender(flow)
    if not flow.base_rtt_ns:
        return []
    known = list(sizes(flow, sender, link_bytes_per_s))
    mss = flow.directions[sender].mss_bytes or sizing.USUAL_SEGMENT
    usual = (("for orientation", sizing.sizes_for(rate, flow.base_rtt_ns, mss)) for rate in _ORIENTATION)
    return [_row(sized, name) for name, sized in known or usual]


def _row(sized: sizing.Sizes, name: str) -> Sequence[str]:
    return (
        f"{rate(sized.rate_bytes_per_s, _S)}, {name}",
        size(sized.bdp_bytes),
        number(sized.so_sndbuf_bytes),
        number(sized.tcp_wmem_max_bytes),
        number(sized.so_rcvbuf_bytes),
        number(sized.tcp_rmem_max_bytes),
        str(sized.window_scale),
    )


def told_of_paste(paste: Paste, matched: Matched) -> Iterator[str]:
    """Result of matching the pasted sockets."""
    flows, ends = len(matched.sockets), sum(map(len, matched.sockets.values()))
    told = f"pasted: {counted(ends, 'socket')} of {counted(flows, 'flow')} in the capture"
    if (seen := sum(matched.snapshots.values())) > ends:
        told += f", seen {times(seen)}: the latest counts"
    yield told + (f"; {counted(matched.strangers, 'other')} of none" if matched.strangers else "")
    if len(paste.sockets) and not flows:
        yield "no socket has both addresses and ports of a flow: was the paste taken on another host, or behind a NAT?"
    if paste.unnamed:
        yield f"{counted(paste.unnamed, 'socket')} with names for ports or hosts: run ss with -n"
    for flow in matched.ambiguous:
        yield f"flow {flow} has the ends of an earlier flow: the sockets are taken for the later one's"
