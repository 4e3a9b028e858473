"""The answer in plain words: which flow lost how much to what, and what to change."""

from collections.abc import Iterator, Sequence

from rich.console import RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from tcpstall.causes import Cause
from tcpstall.model import Analysis, Flow, Side, Stall
from tcpstall.report.limits import lifting
from tcpstall.report.path import reached_link
from tcpstall.report.phrases import phrase
from tcpstall.report.spikes import spike_lines
from tcpstall.report.style import cause_text
from tcpstall.report.trust import short_doubts
from tcpstall.report.waits import by_cause, main_sender, own_pauses, real_stalls, waited_ns
from tcpstall.units import counted, duration, number, percent
from tcpstall.untrusted import in_terminal

__all__ = ["overall", "verdict"]

_NOISE_SHARE = 100
"""A cause that owns less than a hundredth of what the largest owns is told in the last line only."""

_UNSURE = 0.6
"""Below this confidence the answer says `probably`."""

_SLOW_HANDSHAKE = 3
"""A handshake of more than so many round trips is a finding of its own."""

_NOTES = {
    "roles-guessed": "the SYN was not captured: which end is the client was guessed",
    "exchange-limit": "there were more exchanges than are kept: their list is incomplete",
    "flow-limit": "the flow was let go while it was open: too many were open at once, or it was silent for too long",
    "stall-limit": "there were more stalls than are kept: from the first of the others on the time is unexplained",
    "packets-left-out": "the capture says that packets are left out: waits across the holes cannot be judged",
    "acked-unseen": "data was acknowledged that the capture does not hold: waits there cannot be judged",
    "mptcp": "one subflow of a multipath connection: its windows and pauses are those of all subflows",
    "time-went-back": "packets are stamped earlier than those before them: waits around them look too short",
}


_TOLD_BY_TRUST = {
    "roles-guessed": {"handshake-missing"},
    "packets-left-out": {"packets-left-out"},
    "acked-unseen": {"data-unseen", "one-sided"},
    "time-went-back": {"clock-stepped"},
}
"""Notes that the line about trust tells already, with the reasons that do."""


def verdict(flow: Flow, *, width: int, rank: str = "") -> Iterator[RenderableType]:
    """The flow's headline, then a line for each cause that matters, with what to change."""
    yield from _headline(flow, width, rank)
    if flow.tunnel:
        yield Padding(Text(f"through {flow.tunnel}", "cyan"), (0, 0, 0, 2))
    if flow.label:
        yield Padding(Text(in_terminal(flow.label), "cyan"), (0, 0, 0, 2))
    groups = _groups(flow)
    if groups:
        yield Padding(_causes(flow, groups), (0, 0, 0, 2))
    for line in spike_lines(flow):
        yield Padding(Text(line), (0, 0, 0, 2))
    yield Padding(Text(_remainder(flow, groups), "dim"), (0, 0, 0, 2))
    if doubt := short_doubts(flow):
        yield Padding(Text(doubt, "yellow"), (0, 0, 0, 2))
    for note in flow.notes:
        if _TOLD_BY_TRUST.get(note, set()) & set(flow.trust.reasons):
            continue
        said = _NOTES.get(note, note.replace("-", " "))
        yield Padding(Text(f"note: {said}", "yellow"), (0, 0, 0, 2))


def overall(analysis: Analysis) -> Text:
    """One line about all flows together."""
    sums = analysis.time_ns()
    lost = {cause: sums[cause] for cause in Cause if sums[cause]}
    ranking = sorted(lost, key=lambda cause: -lost[cause])
    parts = [f"{duration(lost[cause])} {cause.value}" for cause in ranking]
    total = duration(sum(lost.values()))
    return Text(
        f"all {counted(len(analysis), 'flow')} together lost {total}" + (f": {', '.join(parts)}" if parts else "")
    )


def _headline(flow: Flow, width: int, rank: str) -> Iterator[Text]:
    sender = main_sender(flow)
    receiver: Side = "client" if sender == "server" else "server"
    ends = f"{rank}{': ' if rank else ''}{flow.end(sender)} → {flow.end(receiver)}"
    story = f"{_amount(flow, sender)} in {duration(flow.duration_ns)}: {_loss(flow)}, {_handshake(flow)}{_ending(flow)}"
    if len(ends) + len(story) + 3 <= width:
        yield Text(f"{ends}   {story}", "bold")
    else:
        yield Text(ends, "bold")
        yield Text(story, "bold")


def _amount(flow: Flow, sender: Side) -> str:
    size = flow.directions[sender].bytes
    return counted(size, "byte") if size else "no data"


def _loss(flow: Flow) -> str:
    stalls = real_stalls(flow)
    if not stalls:
        return "never waited longer than a round trip"
    waited = waited_ns(flow)
    return f"waited {duration(waited)} ({percent(waited, flow.duration_ns)}) in {counted(len(stalls), 'stall')}"


def _handshake(flow: Flow) -> str:
    if flow.handshake.duration_ns is None:
        return "handshake not captured"
    span = duration(flow.handshake.duration_ns)
    return f"handshake {span}" if flow.handshake.complete else f"handshake never completed in {span}"


def _ending(flow: Flow) -> str:
    return ", ended by a reset" if flow.state == "reset" else ""


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
    worth = [cause for cause in owned if owned[cause] > least]
    return {cause: groups[cause] for cause in sorted(worth, key=lambda cause: -owned[cause])}


def _handshake_stands_out(flow: Flow) -> bool:
    if not flow.handshake.complete:
        return True
    span, round_trip = flow.handshake.duration_ns, flow.base_rtt_ns
    return span is not None and round_trip is not None and span > _SLOW_HANDSHAKE * round_trip


def _causes(flow: Flow, groups: dict[Cause, list[Stall]]) -> Table:
    table = Table.grid(padding=(0, 2))
    table.add_column(justify="right", no_wrap=True)
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    for cause, all_stalls in groups.items():
        stalls = own_pauses(all_stalls)
        what = Text(_doubt(stalls) + phrase(cause, flow, stalls))
        if advice := _advice(stalls) or cause.advice:
            what.append(f"\n→ {advice}", "bold")
        table.add_row(duration(flow.time_ns.get(cause, 0)), cause_text(cause), what)
    return table


def _doubt(stalls: Sequence[Stall]) -> str:
    """`probably: ` or with the runner-up, where the labels are not sure."""
    span = sum(stall.duration_ns for stall in stalls) or 1
    sure = sum(stall.confidence * stall.duration_ns for stall in stalls) / span
    if not stalls or sure >= _UNSURE or stalls[0].cause in (Cause.UNEXPLAINED, Cause.CAPTURE_GAP):
        return ""
    others = dict.fromkeys(other.value for stall in stalls for other in stall.also[:1])
    return f"probably (else {' or '.join(others)}): " if others else "probably: "


def _advice(stalls: Sequence[Stall]) -> str:
    """The advice of the stalls with most time among those that share it, with the figures that they suggest."""
    groups: dict[str, list[Stall]] = {}
    for stall in stalls:
        groups.setdefault(stall.advice, []).append(stall)
    if not groups:
        return ""
    advice = max(groups, key=lambda advice: sum(stall.duration_ns for stall in groups[advice]))
    figures = lifting(groups[advice])
    return f"{advice} ({figures})" if advice and figures else advice


def _remainder(flow: Flow, groups: dict[Cause, list[Stall]]) -> str:
    """Where the rest of the time went, so that the lines add up to the flow's length."""
    rest = {owner: span for owner, span in flow.time_ns.items() if span and owner not in groups}
    parts = [f"{owner} {duration(span)}" for owner, span in sorted(rest.items(), key=lambda row: -row[1])]
    segments = f"{number(flow.segments)} segments" if flow.segments != 1 else "1 segment"
    round_trip = f", base round trip {duration(flow.base_rtt_ns)}" if flow.base_rtt_ns is not None else ""
    link = f", {reached}" if (reached := reached_link(flow)) else ""
    return (f"the rest of the time: {', '.join(parts)}; " if parts else "") + segments + round_trip + link
