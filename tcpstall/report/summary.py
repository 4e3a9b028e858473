"""The first lines: what to know about a capture, in two sentences."""

from collections.abc import Iterator, Sequence

from rich.cells import cell_len
from rich.text import Text

from tcpstall.causes import Cause
from tcpstall.findings import Finding, idle_ns, sentence
from tcpstall.model import Analysis, Flow
from tcpstall.report.answer import amount, loss, set_up
from tcpstall.report.gaps import gap_first, is_timeless
from tcpstall.report.outcome import headline as ended_so
from tcpstall.report.waits import main_sender
from tcpstall.units import counted, duration, percent, rate, size

__all__ = ["recoverable", "story", "summary"]


_LITTLE_NS = 10_000_000
"""Less time in a whole capture is little: nobody sees a hundredth of a second."""

_WORTH_TELLING = 10
"""Idle time from this fraction (1/10) of the lost time on is told."""


def summary(found: Sequence[Finding], worst: Flow, analysis: Analysis, width: int) -> Iterator[Text]:
    """The first finding as a sentence, then what the capture lost and how much of it could be given back."""
    yield Text(story(found, worst, analysis), "bold")
    yield Text(_one(worst, width) if analysis.total == 1 else _many(found, analysis, width))


def story(found: Sequence[Finding], worst: Flow, analysis: Analysis) -> str:
    """The first finding, after the share of the data that the capture lacks, where that makes the finding doubtful."""
    gap = gap_first(found[0] if found else None, analysis, worst)
    if not (found or worst.outcome) and is_timeless(analysis):
        return gap
    return f"{gap}. {_first(found, worst)}" if gap else _first(found, worst)


def _first(found: Sequence[Finding], worst: Flow) -> str:
    """The first finding; without one, the end of the worst flow, or a line that nothing is wrong."""
    if not found:
        return _ended(worst) if worst.outcome else "Nothing to repair: no flow waited longer than a round trip"
    told = f"{_little(found)}{sentence(found[0])}"
    return told[0].upper() + told[1:] if not told[0].isdigit() else told


def _little(found: Sequence[Finding]) -> str:
    """`little to repair: ` where all changes together would give back next to nothing, and nothing failed."""
    failed = any(finding.is_failure or finding.kind == "loss" for finding in found)
    little = found[0].is_lead and not failed and not found[0].is_rate and 0 < recoverable(found) < _LITTLE_NS
    return "little to repair: " if little else ""


def _ended(flow: Flow) -> str:
    """The end of a connection without a finding, with advice."""
    advice = flow.stalls[0].advice if flow.stalls else ""
    return f"{ended_so(flow)}{f' → {advice}' if advice else ''}"


def recoverable(found: Sequence[Finding]) -> int:
    """Most time that changes could give back, nanoseconds of all flows."""
    return sum(finding.recoverable_ns or 0 for finding in found)


def _one(flow: Flow, width: int) -> str:
    sender = main_sender(flow)
    goodput = f" ({rate(flow.directions[sender].bytes, flow.duration_ns)})" if flow.directions[sender].bytes else ""
    ends = f"{flow.end(sender)} → {flow.end('client' if sender == 'server' else 'server')}"
    size_and_time = f"{amount(flow, sender)} in {duration(flow.duration_ns)}{goodput}"
    reset = ", ended by a reset" if flow.state == "reset" else ""
    lost = f"lost {duration(flow.lost_ns)} ({percent(flow.lost_ns, flow.duration_ns)})" if flow.lost_ns else ""
    whole = f"{ends}: {size_and_time}: {loss(flow)}, {set_up(flow)}{reset}"
    short = f"{ends}: {size_and_time}{f': {lost}' if lost else ''}"
    return next((line for line in (whole, f"{short}{reset}", short) if cell_len(line) <= width), short)


def _leaps(analysis: Analysis) -> bool:
    """Days without a packet: the time from the first packet to the last is no length of what was captured."""
    return any(warning.code == "clock-leaps" for capture in analysis.captures for warning in capture.warnings)


def _many(found: Sequence[Finding], analysis: Analysis, width: int) -> str:
    sums = analysis.time_ns()
    lost, passed = sum(sums[cause] for cause in Cause), sum(sums.values())
    begun = min((capture.first_ns for capture in analysis.captures if capture.first_ns is not None), default=0)
    last = max((capture.last_ns for capture in analysis.captures if capture.last_ns is not None), default=0)
    carried = f"{counted(analysis.total, 'flow')}, {size(analysis.bytes)}"
    leaps = _leaps(analysis)
    whole = carried if leaps else f"{carried} in {duration(last - begun)}"
    goodput = f" ({rate(analysis.bytes, last - begun)})" if last > begun and not leaps else ""
    back = recoverable(found)
    first = f"{whole}: together lost {duration(lost)}"
    share, most = f" ({percent(lost, passed)})", f", up to {duration(back)} can be saved" if back else ""
    nobodys = idle_ns(analysis)
    idle = f", {duration(nobodys)} of that idle" if nobodys and nobodys * _WORTH_TELLING >= lost else ""
    told = (
        f"{whole}{goodput}: together lost {duration(lost)}{share}{idle}{most}",
        f"{first}{idle}{most}",
        f"{first}{most}",
        first,
    )
    return next((line for line in told if cell_len(line) <= width), first)
