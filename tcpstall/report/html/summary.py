"""The verdict for somebody who never saw a packet: the first finding, then the flow that shows it, then all flows."""

from collections.abc import Sequence
from dataclasses import dataclass

from tcpstall.causes import Cause
from tcpstall.findings import Finding as OfMany
from tcpstall.findings import advice
from tcpstall.findings.finding import IDLE
from tcpstall.model import Analysis, Flow, Side
from tcpstall.report.answer import Finding, findings, together
from tcpstall.report.html.ledger import look
from tcpstall.report.outcome import headline
from tcpstall.report.summary import recoverable, story
from tcpstall.report.trust import short_doubts
from tcpstall.report.waits import main_sender, real_stalls
from tcpstall.units import counted, duration, number, percent, rate, size

__all__ = ["Answer", "Reason", "answer", "figures", "figures_of_many"]

_REASONS = 3
"""Most causes listed."""


@dataclass(frozen=True)
class Reason:
    """A cause of the flow's lost time, the share of that time which it owns, and what happened."""

    cause: Cause
    time: str
    share: str
    what: str
    colour: str
    pattern: int


@dataclass(frozen=True)
class Answer:
    """The first finding, what to change, and what the flow that shows it or lost most did, with the reasons.

    `change`, `all_flows` and `doubt` are empty where there is nothing to say.
    """

    first: str
    change: str
    flow: str
    reasons: list[Reason]
    all_flows: str
    doubt: str


def answer(flow: Flow, analysis: Analysis, of_many: Sequence[OfMany]) -> Answer:
    """The answer; `flow` shows the first finding, or lost most time."""
    found = findings(flow)
    return Answer(
        first=f"{story(of_many, analysis.worst, analysis)}.",
        change=_change(flow, found, of_many) if found else "",
        flow=f"{_happened(flow, analysis)} {_lost(flow)}",
        reasons=[_reason(finding, flow) for finding in found[:_REASONS]],
        all_flows=f"{_sentence(together(analysis))}." if analysis.total > 1 else "",
        doubt=short_doubts(flow).partition(" ")[2],
    )


def _change(flow: Flow, found: Sequence[Finding], of_many: Sequence[OfMany]) -> str:
    """The change; of the capture's first finding where this flow shows it and that knows more than a wait's cause."""
    first = of_many[0] if of_many else None
    if first is None or first.kind in IDLE:
        return found[0].advice if first is None else ""
    shows = first.is_lead and first.example is not None and first.example.flow == flow.id
    knows_more = first.kind not in set(Cause) or first.told_losses or first.behind
    return advice(first) if shows and knows_more else found[0].advice


def figures(flow: Flow) -> list[tuple[str, str, str]]:
    """Key figures: name, figure, and the figure to compare it with."""
    side = main_sender(flow)
    sent = flow.directions[side].bytes
    trip = flow.base_rtt_ns
    return [
        ("lost", duration(flow.lost_ns), f"{percent(flow.lost_ns, flow.duration_ns)} of {duration(flow.duration_ns)}"),
        ("stalls", number(len(real_stalls(flow))), "longer than a round trip explains"),
        ("round trip", "unknown" if trip is None else duration(trip), "the shortest seen"),
        ("moved", size(sent), f"by the {side}"),
        ("on average", rate(sent, flow.duration_ns), "payload"),
    ]


def figures_of_many(analysis: Analysis, found: Sequence[OfMany]) -> list[tuple[str, str, str]]:
    """The summary of a capture with several flows: its totals."""
    sums = analysis.time_ns()
    lost, passed = sum(sums[cause] for cause in Cause), sum(sums.values())
    first = min((capture.first_ns for capture in analysis.captures if capture.first_ns is not None), default=0)
    last = max((capture.last_ns for capture in analysis.captures if capture.last_ns is not None), default=0)
    return [
        ("lost", duration(lost), f"{percent(lost, passed)} of {duration(passed)}, all flows added up"),
        ("can be saved", duration(recoverable(found)), "at most, by what stands below"),
        ("flows", number(analysis.total), f"in {duration(last - first)}"),
        ("moved", size(analysis.bytes), "payload, both ways"),
        ("on average", rate(analysis.bytes, last - first), "payload"),
    ]


def _happened(flow: Flow, analysis: Analysis) -> str:
    sender = main_sender(flow)
    receiver: Side = "client" if sender == "server" else "server"
    ends = f"from the {sender} {flow.end(sender)} to the {receiver} {flow.end(receiver)}"
    most = "lost most time" if flow.id == analysis.worst.id else "shows it"
    of_many = f"Of {counted(analysis.total, 'connection')} in this capture, flow {flow.id} {most}: "
    which = of_many if analysis.total > 1 else ""
    sent = flow.directions[sender].bytes
    what = f"{size(sent)} {ends} took" if sent else f"a connection {ends} without data lasted"
    return _sentence(f"{which}{what} {duration(flow.duration_ns)}.")


def _lost(flow: Flow) -> str:
    lost = f"{duration(flow.lost_ns)} of that ({percent(flow.lost_ns, flow.duration_ns)})"
    if told := headline(flow):
        return _sentence(f"{told}. It lost {lost}.")
    if not real_stalls(flow):
        shaken = flow.handshake.duration_ns is not None
        included, after = (", the handshake included", "after that ") if shaken else ("", "")
        owed = flow.connection.unanswered
        rest = f"{counted(owed, 'request')} had no answer" if owed else f"{after}nobody waited longer than a round trip"
        return f"It lost {lost}{included}; {rest}."
    return f"It lost {lost}: data could have moved and did not."


def _reason(finding: Finding, flow: Flow) -> Reason:
    what = finding.what if finding.what.startswith(finding.summary) else f"{finding.summary}; {finding.what}"
    share = percent(finding.time_ns, flow.lost_ns)
    return Reason(finding.cause, duration(finding.time_ns), share, what, *look(finding.cause.value))


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:]
