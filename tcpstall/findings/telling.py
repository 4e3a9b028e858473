"""The flow that is told in full: one that shows the first finding, and not the one that was idle for longest."""

from collections.abc import Sequence

from tcpstall.findings.finding import Finding
from tcpstall.model import Analysis, Flow, Sort

__all__ = ["in_full", "telling"]


def telling(analysis: Analysis, found: Sequence[Finding], flows: Sequence[Flow], sort: Sort) -> Flow:
    """Of `flows`, sorted so, the example of the first finding, or the first at its service; else what lost most.

    It lies among the flows that are listed: what is told must not depend on how many others are held.
    """
    lead = next((finding for finding in found if finding.is_lead), None)
    if lead is None or sort != "lost":
        return analysis[analysis.ranked()[0]]
    example = [flow for flow in flows if lead.example and flow.id == lead.example.flow]
    return [*example, *(flow for flow in flows if _is_at(flow, lead)), *flows][0]


def _is_at(flow: Flow, finding: Finding) -> bool:
    host = flow.server.address == finding.address
    return host and finding.port in (None, flow.server.port) and flow.lost_ns > 0


def in_full(analysis: Analysis, found: Sequence[Finding], flows: Sequence[Flow], most: int, sort: Sort) -> list[Flow]:
    """The first `most` of `flows`, sorted so; the telling one leads unless another order was asked for."""
    if sort != "lost":
        return list(flows[:most])
    first = telling(analysis, found, flows, sort)
    return [first, *(flow for flow in flows if flow.id != first.id)][:most]
