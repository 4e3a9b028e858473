"""The answer in plain words: which flow lost how much to what, and what to change."""

from collections.abc import Iterator, Sequence

from rich.console import RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from tcpstall.model import Analysis, Flow, Side
from tcpstall.report.answer import Finding, amount, findings, loss, notes, remainder, set_up, together
from tcpstall.report.spikes import spike_lines
from tcpstall.report.style import cause_text
from tcpstall.report.text import whole
from tcpstall.report.trust import short_doubts
from tcpstall.report.waits import main_sender
from tcpstall.units import duration
from tcpstall.untrusted import in_terminal

__all__ = ["overall", "verdict"]


def verdict(flow: Flow, *, width: int, rank: str = "") -> Iterator[RenderableType]:
    """The flow's headline, then a line for each cause that matters, with what to change."""
    yield from _headline(flow, width, rank)
    if flow.tunnel:
        yield Padding(Text(f"through {flow.tunnel}", "cyan"), (0, 0, 0, 2))
    if flow.label:
        yield Padding(Text(in_terminal(flow.label), "cyan"), (0, 0, 0, 2))
    found = findings(flow)
    if found:
        yield Padding(_causes(found), (0, 0, 0, 2))
    for line in spike_lines(flow):
        yield Padding(Text(line), (0, 0, 0, 2))
    yield Padding(Text(remainder(flow, found), "dim"), (0, 0, 0, 2))
    if doubt := short_doubts(flow):
        yield Padding(Text(doubt, "yellow"), (0, 0, 0, 2))
    for note in notes(flow):
        yield Padding(Text(f"note: {note}", "yellow"), (0, 0, 0, 2))


def overall(analysis: Analysis) -> Text:
    """One line about all flows together."""
    return Text(together(analysis))


def _headline(flow: Flow, width: int, rank: str) -> Iterator[Text]:
    sender = main_sender(flow)
    receiver: Side = "client" if sender == "server" else "server"
    ends = f"{rank}{': ' if rank else ''}{flow.end(sender)} → {flow.end(receiver)}"
    story = f"{amount(flow, sender)} in {duration(flow.duration_ns)}: {loss(flow)}, {set_up(flow)}{_ending(flow)}"
    if len(ends) + len(story) + 3 <= width:
        yield Text(f"{ends}   {story}", "bold")
    else:
        yield Text(ends, "bold")
        yield Text(story, "bold")


def _ending(flow: Flow) -> str:
    return ", ended by a reset" if flow.state == "reset" else ""


def _causes(found: Sequence[Finding]) -> Table:
    table = Table.grid(padding=(0, 2))
    table.add_column(justify="right", no_wrap=True)
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    for finding in found:
        what = Text(finding.what)
        if finding.advice:
            what.append(f"\n→ {finding.advice}", "bold")
        table.add_row(duration(finding.time_ns), cause_text(finding.cause), whole(what))
    return table
