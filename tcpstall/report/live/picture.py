"""The picture of a live capture: what fits on a screen, drawn from the state and from what the user looks at."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from tcpstall.causes import Cause
from tcpstall.live import Served, State
from tcpstall.model import Endpoint, Flow
from tcpstall.report.stalls import stall_list
from tcpstall.report.style import cause_text, figures, table, words
from tcpstall.report.verdict import verdict
from tcpstall.units import counted, duration, number, size
from tcpstall.untrusted import in_terminal

__all__ = ["ORDERS", "Look", "picture", "shown_flows"]

ORDERS = ("now", "lost", "bytes", "flows")
"""Keys that services are sorted by: time lost in the interval, all of it, bytes, flows."""

_LINES = 12
"""Of headline, headings, spaces and the line of keys."""

_FLOWS = 5
_CAUSES = 4
_STALLS = 10


@dataclass(frozen=True, slots=True)
class Look:
    """The part that the user looks at: services in an order, the marked flow by its place, the open one by its id.

    `said` is a line about what the last key did.
    """

    order: str = "now"
    marked: int = 0
    opened: int | None = None
    said: str = ""
    keeps: bool = False
    """A ring keeps the packets, so that a flow can be saved."""


def picture(state: State, look: Look, *, width: int, height: int) -> Iterator[RenderableType]:
    """From top to bottom; the services that have no room are counted."""
    yield Text(_headline(state, width), "bold", no_wrap=True, overflow="ellipsis")
    yield _losses(state)
    yield Text()
    opened = next((flow for flow in state.flows if flow.id == look.opened), None)
    if opened is not None:
        yield from verdict(opened, width=width, rank=f"flow {opened.id}")
        yield from stall_list(opened, width=width, rows=_STALLS)
    else:
        flows = state.flows[:_FLOWS]
        yield from _services(state, look, max(height - _LINES - len(flows), 1), width)
        yield Text()
        if flows:
            yield _flows(flows, look, width)
    yield Text(in_terminal(look.said) or _keys(look, opened), "dim", no_wrap=True, overflow="ellipsis")


def shown_flows(state: State) -> Sequence[Flow]:
    """Those that can be marked."""
    return state.flows[:_FLOWS]


def _headline(state: State, width: int) -> str:
    capture, totals = state.capture, state.totals
    began, last = capture.first_ns or 0, capture.last_ns or 0
    parts = (
        f"{in_terminal(capture.path)}  {duration(last - began)}",
        counted(capture.packets, "packet"),
        f"{number(state.counts.dropped)} dropped",
        f"{counted(totals.flows, 'flow')}, {number(totals.open_flows)} open",
        f"every {duration(state.every_ns)}",
    )
    line = parts[0]
    for part in parts[1:]:
        line = f"{line}  {part}" if len(line) + len(part) + 2 <= width else line
    return line


def _losses(state: State) -> Text:
    """Time lost in the interval, to which causes first, and in all."""
    new = state.interval
    causes = sorted((cause for cause in Cause if new.time_ns.get(cause, 0) > 0), key=lambda one: -new.time_ns[one])
    line = Text(f"lost now {duration(max(new.lost_ns, 0))}", no_wrap=True, overflow="ellipsis")
    for place, cause in enumerate(causes[:_CAUSES]):
        line.append(", " if place else ": ").append(f"{duration(new.time_ns[cause])} ").append(cause_text(cause))
    return line.append(f"; in all {duration(state.lost_ns)}")


def _services(state: State, look: Look, room: int, width: int) -> Iterator[RenderableType]:
    ranked = sorted(state.services, key=lambda one: (-_weight(one, look.order), one.address, one.port))
    columns = [words("service"), *figures("open", "flows", "bytes", "lost now", "lost", "since"), words("mostly")]
    last = state.capture.last_ns or 0
    rows = [_row(one, last) for one in ranked[:room]]
    if not rows:
        yield Text("no TCP connection so far", "dim")
        return
    title = f"services by {'time lost now' if look.order == 'now' else look.order}"
    yield table(title, columns, rows, width, spare=("since", "bytes", "flows", "open"))
    if more := len(ranked) - len(rows):
        yield Text(f" and {counted(more, 'more service')}", "dim")
    if further := state.totals.further_flows:
        yield Text(f" and {counted(further, 'flow')} of services beyond the limit", "yellow")


def _weight(one: Served, order: str) -> int:
    return {"now": one.new_lost_ns, "lost": one.lost_ns, "bytes": one.bytes, "flows": one.flows}[order]


def _row(one: Served, last_ns: int) -> list[str | Text]:
    return [
        str(Endpoint(one.address, one.port)),
        number(one.open_flows),
        number(one.flows),
        size(one.bytes),
        duration(max(one.new_lost_ns, 0)),
        duration(one.lost_ns),
        duration(last_ns - one.first_ns),
        cause_text(one.main_cause) if one.main_cause else Text("–"),
    ]


def _flows(flows: Sequence[Flow], look: Look, width: int) -> Table:
    columns = [*figures("", "flow"), words("client → server"), *figures("length", "lost"), words("mostly")]
    rows: list[list[str | Text]] = []
    for place, flow in enumerate(flows):
        cause = max(Cause, key=lambda one: flow.time_ns.get(one, 0))
        rows.append(
            [
                f"{'▸' if place == look.marked else ' '}{place + 1}",
                number(flow.id),
                f"{flow.client} → {flow.server}",
                duration(flow.duration_ns),
                duration(flow.lost_ns),
                cause_text(cause) if flow.time_ns.get(cause, 0) else Text(flow.outcome or "–"),
            ]
        )
    return table("flows by time waited", columns, rows, width, spare=("length",))


def _keys(look: Look, opened: Flow | None) -> str:
    save = "  e saves its packets" if look.keeps else ""
    if opened is not None:
        return f"Enter closes the flow{save}  q ends with the report"
    following = ORDERS[(ORDERS.index(look.order) + 1) % len(ORDERS)]
    return f"s sorts by {following}  ↑↓ mark  Enter or 1-{_FLOWS} opens a flow{save}  q ends"
