"""The order of the page: the answer first, then what it rests on."""

from collections.abc import Iterator

from rich.console import RenderableType
from rich.padding import Padding
from rich.text import Text

from tcpstall.errors import ExitCode
from tcpstall.model import Analysis, Capture, Flow, Sort
from tcpstall.report.exchanges import exchange_list
from tcpstall.report.flows import flow_table
from tcpstall.report.inputs import as_read, described, without_flows
from tcpstall.report.services import service_list
from tcpstall.report.stalls import stall_list
from tcpstall.report.verdict import overall, verdict
from tcpstall.units import counted

__all__ = ["render"]

_UNREAD = (ExitCode.CANNOT_OPEN, ExitCode.NOT_A_CAPTURE)

_MANY_FLOWS = 3
_STALLS_OF_FEW = 20
_STALLS_OF_MANY = 5
_EXCHANGES_OF_FEW = 5
_EXCHANGES_OF_MANY = 1


def render(
    analysis: Analysis, *, width: int, sort: Sort = "lost", top: int = 10, min_stall_ns: int = 0
) -> Iterator[RenderableType]:
    """The page from top to bottom; `width` in columns decides between one line a row and two.

    `top` flows are shown in the order of `sort`. Stalls shorter than `min_stall_ns` are left out of the lists but not
    of the sums, so `analysis` must have been made without a limit of its own.
    """
    read = [capture for capture in analysis.captures if capture.exit_code not in _UNREAD]
    if not read:
        return
    if analysis.total == 0:
        yield from without_flows(read)
        return
    worst = analysis[analysis.ranked()[0]]
    yield from _answer(worst, analysis, width)
    yield from _inputs(read, width)
    flows = [analysis[row] for row in analysis.ranked(sort)[:top]]
    if analysis.total > 1:
        yield from _ranking(flows, analysis.total, sort, width)
        yield from service_list(analysis.services)
    few = len(flows) <= _MANY_FLOWS
    for flow in flows:
        yield from stall_list(
            flow,
            width=width,
            rows=_STALLS_OF_FEW if few else _STALLS_OF_MANY,
            min_stall_ns=min_stall_ns,
            trust=flow.id != worst.id,
        )
        yield from exchange_list(flow, rows=_EXCHANGES_OF_FEW if few else _EXCHANGES_OF_MANY)


def _answer(worst: Flow, analysis: Analysis, width: int) -> Iterator[RenderableType]:
    yield from verdict(
        worst, width=width, rank=f"flow {worst.id}, worst of {analysis.total}" if analysis.total > 1 else ""
    )
    if analysis.total > 1:
        yield overall(analysis)


def _inputs(captures: list[Capture], width: int) -> Iterator[RenderableType]:
    yield Text()
    for members in as_read(captures):
        yield from described(members)


def _ranking(flows: list[Flow], all_flows: int, sort: Sort, width: int) -> Iterator[RenderableType]:
    yield Text()
    yield flow_table(flows, sort=sort, width=width)
    if more := all_flows - len(flows):
        yield Padding(
            Text(f"and {counted(more, 'more flow')}; --top shows more, --flow N one of them", "dim"), (0, 0, 0, 1)
        )
