"""Flows that were open together between the same two hosts."""

from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet

from tcpstall.model import Analysis

__all__ = ["lines_of"]

_FOLLOWS_NS = 10_000_000
"""Longest pause between a flow and the next one of a program that transfers again and again."""


def lines_of(whole: Analysis, wanted: AbstractSet[int], sets: Sequence[int] = ()) -> list[list[int]]:
    """Flows with data that were open while a wanted one was, and while these were; a list for each two hosts and time.

    `whole` holds all flows of the captures; captures with the same number in `sets` are one stream.
    """
    columns = (
        "capture", "client_address", "server_address", "start_ns", "end_ns", "flow", "client_bytes", "server_bytes"
    )  # fmt: skip
    by_hosts: dict[tuple[int, frozenset[str]], list[tuple[int, int, int]]] = {}
    for capture, client, server, start, end, flow, *sent in zip(*map(whole.flows.column, columns), strict=True):
        if any(sent):
            stream = sets[capture] if sets else capture
            by_hosts.setdefault((stream, frozenset((client, server))), []).append((start, end, flow))
    lines = (line for flows in by_hosts.values() for line in _together(sorted(flows)))
    return [line for line in lines if not wanted.isdisjoint(line)]


def _together(flows: Sequence[tuple[int, int, int]]) -> Iterator[list[int]]:
    """Splits flows in the order of their starts where none was open."""
    line: list[int] = []
    until = 0
    for start, end, flow in flows:
        if line and start > until + _FOLLOWS_NS:
            yield sorted(line)
            line, until = [], 0
        line.append(flow)
        until = max(until, end)
    yield sorted(line)
