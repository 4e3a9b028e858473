"""Chooses the flow to show in full: one that shows the first finding, not the one that was idle longest."""

from collections.abc import Sequence

from tcpstall.findings.finding import Finding
from tcpstall.findings.ranking import findings
from tcpstall.model import Analysis, Flow, Sort
from tcpstall.records import record

__all__ = ["Telling", "first_to_see", "led", "telling"]


@record(frozen=True, slots=True)
class Telling:
    """Content of a report of many flows: findings, the flow that shows the first, and flows to show in full."""

    findings: Sequence[Finding]
    shown: Flow
    in_full: Sequence[Flow]


def telling(analysis: Analysis, flows: Sequence[Flow], sort: Sort, most: int) -> Telling:
    """The content for an analysis that lists `flows` in the order of `sort`, the first `most` of them in full."""
    found = findings(analysis)
    shown = _showing(analysis, found, flows, sort)
    return Telling(found, shown, _in_full(shown, flows, most, sort, found))


def _showing(analysis: Analysis, found: Sequence[Finding], flows: Sequence[Flow], sort: Sort) -> Flow:
    """The example of the first finding among `flows`, else the first flow at its service, else the worst flow.

    The choice is one of the listed flows, so that it does not depend on the number of flows in memory.
    """
    lead = next((finding for finding in found if finding.is_lead), None)
    if lead is None or sort != "lost":
        return analysis.worst
    example = [flow for flow in flows if lead.example and flow.id == lead.example.flow]
    return [*example, *(flow for flow in flows if _is_at(flow, lead)), *flows][0]


def first_to_see(analysis: Analysis) -> Flow:
    """The flow to show where the user asked for none, chosen from all flows in memory."""
    lead = next((finding for finding in findings(analysis) if finding.is_lead), None)
    ids = analysis.flows.column("flow")
    if lead is None or lead.example is None or lead.example.flow not in ids:
        return analysis.worst
    return analysis[ids.index(lead.example.flow)]


def _is_at(flow: Flow, finding: Finding) -> bool:
    host = flow.server.address == finding.address
    return host and finding.port in (None, flow.server.port) and flow.lost_ns > 0


def _in_full(shown: Flow, flows: Sequence[Flow], most: int, sort: Sort, found: Sequence[Finding]) -> list[Flow]:
    """The first `most` of `flows`; sorted by lost time, flows that show findings come first."""
    if sort != "lost":
        return list(flows)[:most]
    by_id = {flow.id: flow for flow in flows}
    shows = [one.example.flow for one in found if one.is_lead and one.example is not None]
    first = {shown.id: shown} | {flow: by_id[flow] for flow in shows if flow in by_id}
    return list((first | by_id).values())[:most]


def led(shown: Flow, flows: Sequence[Flow]) -> list[Flow]:
    """The flows with `shown` first."""
    return [shown, *(flow for flow in flows if flow.id != shown.id)]
