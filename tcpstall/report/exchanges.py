"""The slowest exchanges of one flow, each with its latency as a sum."""

from collections.abc import Iterator

from rich.console import RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from tcpstall.model import Exchange, Flow
from tcpstall.report.sums import latency_sum
from tcpstall.report.text import whole
from tcpstall.units import counted, duration, number, offset

__all__ = ["exchange_list"]

_CLOSING = {"fin": "", "rst": " with a reset"}


def exchange_list(flow: Flow, *, rows: int) -> Iterator[RenderableType]:
    """A line about all exchanges of the flow and one for each of the `rows` slowest; nothing for a flow without any."""
    if not flow.exchanges:
        return
    slowest = sorted(flow.exchanges, key=lambda exchange: -exchange.latency_ns)[:rows]
    yield Text()
    yield Text(f"{_how_many(flow)}{_closing(flow)}", "bold")
    yield Padding(_lines(flow, slowest), (0, 0, 0, 1))


def _how_many(flow: Flow) -> str:
    latencies = sorted(exchange.latency_ns for exchange in flow.exchanges)
    if len(latencies) == 1:
        return f"the exchange of flow {flow.id}"
    middle = duration(latencies[len(latencies) // 2])
    return f"the slowest of {counted(flow.connection.exchanges, 'exchange')} of flow {flow.id} (median {middle})"


def _closing(flow: Flow) -> str:
    connection = flow.connection
    if connection.closed_by is None or connection.idle_before_close_ns is None:
        return ""
    how = _CLOSING.get(connection.closed_with or "", "")
    return f"; the {connection.closed_by} closed{how} {duration(connection.idle_before_close_ns)} after the last"


def _lines(flow: Flow, exchanges: list[Exchange]) -> Table:
    table = Table.grid(padding=(0, 2))
    table.add_column(justify="right", no_wrap=True)
    table.add_column(justify="right", no_wrap=True)
    table.add_column(overflow="fold")
    for exchange in exchanges:
        sizes = f"{number(exchange.request_bytes)} → {number(exchange.response_bytes)} bytes"
        table.add_row(
            offset(exchange.start_ns - flow.start_ns), sizes, whole(Text(latency_sum(exchange, flow.base_rtt_ns)))
        )
    return table
