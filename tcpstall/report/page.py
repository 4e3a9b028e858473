"""The order of the page: the answer, the findings, the flows, then what they rest on for whoever asks."""

from collections.abc import Iterator, Sequence

from rich.console import RenderableType
from rich.padding import Padding
from rich.text import Text

from tcpstall.errors import UNREAD
from tcpstall.findings import Finding, findings
from tcpstall.model import Analysis, Capture, Flow, Sort
from tcpstall.report.exchanges import exchange_list
from tcpstall.report.findings import MOST, findings_list
from tcpstall.report.flows import flow_list, flow_table
from tcpstall.report.inputs import as_read, described, in_brief, without_flows
from tcpstall.report.services import service_list
from tcpstall.report.stalls import stall_list
from tcpstall.report.summary import summary
from tcpstall.report.verdict import verdict
from tcpstall.units import counted

__all__ = ["render"]

_LINES = 40
"""Lines of the page as long as nobody asks for the stalls: what a screen shows."""

_ROWS_OF_HEADING = 4
"""Lines of a table's head: an empty line, title, columns, rule."""

_MANY_FLOWS = 3
_STALLS_OF_FEW = 20
_STALLS_OF_MANY = 5
_EXCHANGES_OF_FEW = 5
_EXCHANGES_OF_MANY = 1


def render(
    analysis: Analysis, *, width: int, sort: Sort = "lost", top: int = 10, min_stall_ns: int = 0, stalls: bool = False
) -> Iterator[RenderableType]:
    """The page from top to bottom, as it fits into `width` columns.

    `top` flows are shown in the order of `sort`. With `stalls` each is told whole: what it lost to each cause, its
    stalls and exchanges, and the services. Stalls shorter than `min_stall_ns` are left out of the lists but not of the
    sums, so `analysis` must have been made without a limit of its own.
    """
    read = [capture for capture in analysis.captures if capture.exit_code not in UNREAD]
    if not read:
        return
    if analysis.total == 0:
        yield from without_flows(read)
        return
    found = findings(analysis)
    flows = [analysis[row] for row in analysis.ranked(sort)[:top]]
    yield from summary(found, analysis.worst, analysis, width)
    if not stalls:
        yield from _short(found, flows, analysis, read, sort, width)
        return
    yield from _inputs(read)
    yield Text()
    yield from findings_list(found, width=width)
    if analysis.total > 1:
        yield from _ranking(flows, analysis.total, sort, width)
        yield from service_list(analysis.services)
    yield from _whole(flows, width, min_stall_ns)


def _short(
    found: Sequence[Finding],
    flows: Sequence[Flow],
    analysis: Analysis,
    captures: Sequence[Capture],
    sort: Sort,
    width: int,
) -> Iterator[RenderableType]:
    """The parts that fit on a screen; where they do not fit, findings with least time are dropped first."""
    inputs = list(in_brief(captures, width))
    table = list(_list(flows, analysis.total, sort, width)) if analysis.total > 1 else []
    rows = len(flows) + _ROWS_OF_HEADING + 1 if table else 0
    room = max(1, min(MOST, (_LINES - 4 - len(inputs) - rows) // 2))
    yield from inputs
    if found:
        yield Text()
        yield from findings_list(found, width=width, most=room)
    yield from table


def _list(flows: Sequence[Flow], all_flows: int, sort: Sort, width: int) -> Iterator[RenderableType]:
    yield Text()
    yield flow_list(flows, sort=sort, width=width)
    more = all_flows - len(flows)
    rest = f"and {counted(more, 'more flow')} (--top); " if more else ""
    yield Padding(Text(f"{rest}--stalls says why each waited, --flow N one of them", "dim"), (0, 0, 0, 1))


def _whole(flows: Sequence[Flow], width: int, min_stall_ns: int) -> Iterator[RenderableType]:
    """Each flow with what it lost to each cause, its stalls and its exchanges."""
    few = len(flows) <= _MANY_FLOWS
    for flow in flows:
        yield Text()
        yield from verdict(flow, width=width, rank=f"flow {flow.id}")
        yield from stall_list(
            flow, width=width, rows=_STALLS_OF_FEW if few else _STALLS_OF_MANY, min_stall_ns=min_stall_ns
        )
        yield from exchange_list(flow, rows=_EXCHANGES_OF_FEW if few else _EXCHANGES_OF_MANY)


def _inputs(captures: list[Capture]) -> Iterator[RenderableType]:
    for members in as_read(captures):
        yield from described(members)


def _ranking(flows: list[Flow], all_flows: int, sort: Sort, width: int) -> Iterator[RenderableType]:
    yield Text()
    yield flow_table(flows, sort=sort, width=width)
    if more := all_flows - len(flows):
        yield Padding(
            Text(f"and {counted(more, 'more flow')}; --top shows more, --flow N one of them", "dim"), (0, 0, 0, 1)
        )
