"""What a capture cannot show, as the first sentence of the answer: data that it lacks, or times of two clocks."""

from itertools import islice

from tcpstall.findings import Finding
from tcpstall.model import Analysis, Flow
from tcpstall.trust import CaptureTrust, Trust
from tcpstall.units import share

__all__ = ["gap_first", "is_timeless"]

_MOST_ROUNDS = 0.067
"""Share of missing data from which most rounds of ten segments lack one: 1 - 0.5^(1/10). Trust is low from there on."""


_MOST = 0.5
"""Share of missing data from which no finding speaks for the capture: most of what passed is in none."""


_CLOCKS = (5, 10)
"""Steps back from which, and packets for each of them up to which, two clocks stamped the packets: one that is set back
rests until it is set back again. The core judges a flow's waits by the same numbers (`flow/tap/clock_steps.rs`)."""


_TIMES = 5
"""Different times from which it is no chance that all are whole seconds apart: a program that wrote no fractions."""


_PACKETS = 10
"""Packets from which it is no chance that all have the same time: a program that wrote no times."""


_FLOWS = 20
"""Flows that are read for such times."""


def gap_first(first: Finding | None, analysis: Analysis, worst: Flow) -> str:
    """`The capture lacks 68 % of the data`; empty where it holds most of it, and most rounds of the flow that shows."""
    return (
        _without_times(analysis)
        or _of_clocks(first, analysis, worst)
        or _of_seconds(analysis, worst)
        or _of_finding(first, analysis, worst)
        or _of_captures(analysis)
    )


def is_timeless(analysis: Analysis) -> bool:
    """True where each packet of the analysis has the same time as the others, so that no wait can be measured."""
    moments = {moment for one in analysis.captures for moment in (one.first_ns, one.last_ns)}
    return len(moments) == 1 and sum(one.packets for one in analysis.captures) >= _PACKETS


def _without_times(analysis: Analysis) -> str:
    return "All packets are stamped with the same time: no wait can be measured" if is_timeless(analysis) else ""


def _of_clocks(first: Finding | None, analysis: Analysis, worst: Flow) -> str:
    """The packets of a whole capture, or of the flow that shows the finding, were stamped by two clocks in turn."""
    trusts: list[tuple[Trust | CaptureTrust, int]] = [(one.trust, one.packets) for one in analysis.captures]
    if not (first and first.example) or first.example.flow == worst.id:
        trusts.append((worst.trust, worst.segments))
    least, packets = _CLOCKS
    counts = [(trust.clock_steps, seen - trust.duplicates_removed) for trust, seen in trusts]
    mixed = any(steps >= least and packets * steps >= seen for steps, seen in counts)
    return "The packets come from two clocks: short waits cannot be measured" if mixed else ""


def _of_seconds(analysis: Analysis, worst: Flow) -> str:
    """Each packet that begins or ends a flow or a wait is stamped at the same fraction of a second as the others."""
    times = _times(worst)
    if len(times) >= _TIMES and _are_whole(times):
        times.update(*map(_times, islice(analysis, _FLOWS)))
        if _are_whole(times):
            return "The packets are stamped a whole number of seconds apart: shorter waits cannot be measured"
    return ""


def _times(flow: Flow) -> set[int]:
    return {flow.start_ns, flow.end_ns, *(moment for stall in flow.stalls for moment in (stall.start_ns, stall.end_ns))}


def _are_whole(times: set[int]) -> bool:
    return len({moment % 1_000_000_000 for moment in times}) == 1


def _of_captures(analysis: Analysis) -> str:
    """The share that one of the captures lacks, where it is most of its data and both directions were captured."""
    trusts = [capture.trust for capture in analysis.captures if 2 * capture.trust.flows_one_sided < capture.trust.flows]
    missing = max((trust.unseen_share or 0.0 for trust in trusts), default=0.0)
    return f"The capture lacks {share(missing)} of the data" if missing > _MOST else ""


def _of_finding(first: Finding | None, analysis: Analysis, worst: Flow) -> str:
    example = first.example if first else None
    own = not example or example.flow == worst.id
    if (example.trust if example else worst.trust.level) != "low" or (own and worst.trust.one_sided):
        return ""
    shares = [worst.trust] if own else [capture.trust for capture in analysis.captures]
    missing = max((trust.unseen_share or 0.0 for trust in shares), default=0.0)
    if missing < _MOST_ROUNDS:
        return ""
    of_flow = f" of flow {worst.id}" if own and analysis.total > 1 else ""
    looks = ": packets that it lacks look like loss" if first and first.kind == "loss" else ""
    return f"The capture lacks {share(missing)} of the data{of_flow}{looks}"
