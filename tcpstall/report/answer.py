"""The answer in words, free of any form: what a flow lost to which cause and what to change."""

from collections.abc import Iterator, Sequence

from tcpstall.causes import Cause, Detail
from tcpstall.facts import own_pauses
from tcpstall.model import Analysis, Flow, Side, Stall
from tcpstall.records import record
from tcpstall.report.limits import lifting
from tcpstall.report.outcome import headline
from tcpstall.report.path import reached_link
from tcpstall.report.phrases import phrase
from tcpstall.report.waits import by_cause, real_stalls
from tcpstall.trust import SURE
from tcpstall.units import counted, duration, number, percent

__all__ = ["Finding", "amount", "findings", "loss", "notes", "remainder", "set_up", "together"]

_NOISE_SHARE = 100
"""A cause that owns less than this fraction (1/100) of the largest appears in the last line only."""

_SLOW_HANDSHAKE = 3
"""Round trips beyond which a handshake is a finding of its own."""

_NOTES = {
    "roles-guessed": "the SYN was not captured: which end is the client was guessed",
    "exchange-limit": "there were more exchanges than are kept: their list is incomplete",
    "flow-limit": "the flow was let go while it was open: too many were open at once, or it was silent for too long",
    "flight-limit": "more was in flight at once than is remembered: the oldest frames gave no round trip",
    "stall-limit": "there were more stalls than are kept: from the first of the others on the time is unexplained",
    "packets-left-out": "the capture says that packets are left out: waits across the holes cannot be judged",
    "acked-unseen": "data was acknowledged that the capture does not hold: waits there cannot be judged",
    "mptcp": "one subflow of a multipath connection: its windows and pauses are those of all subflows",
    "time-went-back": "packets are stamped earlier than those before them: waits around them look too short",
    "late-stamps": "by both ends' clocks packets are stamped late, many at once: waits between them may not be real",
}

_TOLD_BY_TRUST = {
    "roles-guessed": {"handshake-missing"},
    "packets-left-out": {"packets-left-out"},
    "acked-unseen": {"data-unseen", "one-sided"},
    "time-went-back": {"clock-stepped"},
}
"""Notes that the line about trust covers, with the reasons that cover them."""


@record(frozen=True, slots=True)
class Finding:
    """A cause that matters to a flow: how much of its time it owns, what happened, what to change, and its summary."""

    cause: Cause
    time_ns: int
    what: str
    advice: str
    summary: str


def findings(flow: Flow) -> list[Finding]:
    """The causes worth a line, the one with most time first."""
    found = []
    for cause, all_stalls in _groups(flow).items():
        time_ns = flow.time_ns.get(cause, 0)
        windows = _windows_above(all_stalls, time_ns)
        stalls = windows or own_pauses(all_stalls)
        what = _doubted(stalls, phrase(cause, flow, stalls))
        summary = "the application's own window was full" if windows else cause.summary
        found.append(Finding(cause, time_ns, what, _advice(flow, stalls) or cause.advice, summary))
    return found


def _windows_above(stalls: Sequence[Stall], time_ns: int) -> Sequence[Stall]:
    """The waits for a window above TCP, where most of the cause's time is theirs: others claim none."""
    windows = [stall for stall in stalls if stall.detail == Detail.APPLICATION_WINDOW]
    return windows if 2 * sum(stall.duration_ns for stall in windows) >= time_ns else []


def together(analysis: Analysis) -> str:
    """Lost time of all flows, by cause."""
    sums = analysis.time_ns()
    lost = {cause: sums[cause] for cause in Cause if sums[cause]}
    ranking = sorted(lost, key=lambda cause: -lost[cause])
    parts = [f"{duration(lost[cause])} {cause.value}" for cause in ranking]
    total = duration(sum(lost.values()))
    return f"all {counted(analysis.total, 'flow')} together lost {total}" + (f": {', '.join(parts)}" if parts else "")


def notes(flow: Flow) -> Iterator[str]:
    """Notes for the reader, without those that the line about trust covers."""
    for note in flow.notes:
        if not _TOLD_BY_TRUST.get(note, set()) & set(flow.trust.reasons):
            yield _NOTES.get(note, note.replace("-", " "))


def amount(flow: Flow, sender: Side) -> str:
    """`524,583 bytes`, `no data`."""
    size = flow.directions[sender].bytes
    return counted(size, "byte") if size else "no data"


def loss(flow: Flow) -> str:
    """`lost 49.4 ms (78 %), 6 stalls`, the handshake's time included; how it ended first, where nobody answered."""
    lost = f"lost {duration(flow.lost_ns)} ({percent(flow.lost_ns, flow.duration_ns)})"
    if told := headline(flow):
        return f"{told}; {lost}"
    if not flow.lost_ns:
        return "never waited longer than a round trip"
    stalls = real_stalls(flow)
    return f"{lost}, {counted(len(stalls), 'stall')}" if stalls else f"{lost}, never waited longer than a round trip"


def set_up(flow: Flow) -> str:
    """`handshake 6.9 ms`."""
    if flow.handshake.duration_ns is None:
        return "handshake not captured"
    if flow.was_set_up and flow.trust.handshake == "partial":
        return "handshake captured in part"
    span = duration(flow.handshake.duration_ns)
    if not flow.was_set_up:
        return f"no handshake in {span}"
    return f"handshake {span}" if flow.handshake.complete else f"handshake never completed in {span}"


def _groups(flow: Flow) -> dict[Cause, list[Stall]]:
    """The stalls of each cause worth a line, the cause with most time first."""
    groups = by_cause(flow.stalls)
    if not _handshake_stands_out(flow):
        groups.pop(Cause.HANDSHAKE, None)
    if flow.time_ns.get(Cause.BANDWIDTH_LIMITED):
        # A path can be busy for as long as it likes without a single gap.
        groups.setdefault(Cause.BANDWIDTH_LIMITED, [])
    owned = {cause: flow.time_ns.get(cause, 0) for cause in groups}
    least = max(owned.values(), default=0) // _NOISE_SHARE
    worth = [cause for cause in owned if owned[cause] > least or (cause is Cause.HANDSHAKE and not flow.was_set_up)]
    return {cause: groups[cause] for cause in sorted(worth, key=lambda cause: -owned[cause])}


def _handshake_stands_out(flow: Flow) -> bool:
    if not flow.handshake.complete:
        return True
    span, round_trip = flow.handshake.duration_ns, flow.base_rtt_ns
    return span is not None and round_trip is not None and span > _SLOW_HANDSHAKE * round_trip


def _doubted(stalls: Sequence[Stall], told: str) -> str:
    """What is `told`, after `probably: ` or with the runner-up where the labels are not sure: said once, and first."""
    span = sum(stall.duration_ns for stall in stalls) or 1
    sure = sum(stall.confidence * stall.duration_ns for stall in stalls) / span
    if not stalls or sure >= SURE or stalls[0].cause in (Cause.UNEXPLAINED, Cause.CAPTURE_GAP):
        return told
    others = dict.fromkeys(other.value for stall in stalls for other in stall.also[:1])
    doubt = f"probably (else {' or '.join(others)}): " if others else "probably: "
    return doubt + told.replace(" was probably ", " was ")


def _advice(flow: Flow, stalls: Sequence[Stall]) -> str:
    """The advice of the stalls with most time among those that share it, with the figures that they suggest."""
    groups: dict[str, list[Stall]] = {}
    for stall in stalls:
        groups.setdefault(stall.advice, []).append(stall)
    if not groups:
        return ""
    advice = max(groups, key=lambda advice: sum(stall.duration_ns for stall in groups[advice]))
    figures = lifting(flow, groups[advice])
    return f"{advice} ({figures})" if advice and figures else advice


def remainder(flow: Flow, told: Sequence[Finding]) -> str:
    """Owners of the rest of the time, so that the lines add up to the flow's length."""
    named = {finding.cause.value for finding in told}
    rest = {owner: span for owner, span in flow.time_ns.items() if span and owner not in named}
    parts = [f"{owner} {duration(span)}" for owner, span in sorted(rest.items(), key=lambda row: -row[1])]
    segments = f"{number(flow.segments)} segments" if flow.segments != 1 else "1 segment"
    round_trip = f", base round trip {duration(flow.base_rtt_ns)}" if flow.base_rtt_ns is not None else ""
    link = f", {reached}" if (reached := reached_link(flow)) else ""
    return (f"the rest of the time: {', '.join(parts)}; " if parts else "") + segments + round_trip + link
