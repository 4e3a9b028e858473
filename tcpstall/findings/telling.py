"""The flow that is told in full: one that shows the first finding, and not the one that was idle for longest."""

from collections.abc import Sequence

from tcpstall.findings.finding import Finding
from tcpstall.model import Analysis, Flow, Sort

__all__ = ["in_full", "telling"]

_LOOKED_AT = 1_000
"""Of so many flows, by time lost, one is chosen."""


def telling(analysis: Analysis, found: Sequence[Finding]) -> Flow:
    """Of the flows kept the example of the first finding, or one at its service; else the one that lost most."""
    ranked = analysis.ranked()
    lead = next((finding for finding in found if finding.is_lead), None)
    if lead is None:
        return analysis[ranked[0]]
    near: Flow | None = None
    for row in ranked[:_LOOKED_AT]:
        flow = analysis[row]
        if lead.example and flow.id == lead.example.flow:
            return flow
        if near is None and _is_at(flow, lead):
            near = flow
    return near or analysis[ranked[0]]


def _is_at(flow: Flow, finding: Finding) -> bool:
    host = flow.server.address == finding.address
    return host and finding.port in (None, flow.server.port) and flow.lost_ns > 0


def in_full(analysis: Analysis, found: Sequence[Finding], flows: Sequence[Flow], most: int, sort: Sort) -> list[Flow]:
    """The first `most` of `flows`, which are sorted so; the telling one leads unless another order was asked for."""
    if sort != "lost":
        return list(flows[:most])
    first = telling(analysis, found)
    return [first, *(flow for flow in flows if flow.id != first.id)][:most]
