"""Subject of a picture of one flow: the data of one of its ends."""

import os
from collections.abc import Sequence
from dataclasses import dataclass

from tcpstall import _core
from tcpstall.model import Flow, Paths, Side
from tcpstall.plot import series
from tcpstall.plot.series import Series

__all__ = ["Subject", "subjects"]


@dataclass(frozen=True)
class Subject:
    """End whose data is drawn."""

    flow: Flow
    series: Series
    side: Side

    @property
    def peer(self) -> Side:
        """The end that receives it."""
        return "client" if self.side == "server" else "server"


def subjects(
    paths: Paths,
    flows: Sequence[Flow],
    *,
    since_ns: int | None = None,
    until_ns: int | None = None,
    max_expansion: int | None = None,
    sets: Sequence[int] = (),
    missing_before: Sequence[int] = (),
) -> list[Subject]:
    """Subjects of some flows: the series about the data of the end that sent most of it, from one reading.

    The interval, `max_expansion`, `sets` and `missing_before` are those of the analyze() that gave the flows. A flow
    that only shook hands has no subject.
    """
    several = [paths] if isinstance(paths, (str, os.PathLike)) else paths
    tables = _core.samples(
        [os.fspath(path) for path in several],
        [flow.id for flow in flows],
        since_ns=since_ns,
        until_ns=until_ns,
        max_expansion=max_expansion,
        sets=sets,
        missing_before=missing_before,
    )
    return [
        Subject(flow, series.read(samples, side, flow.start_ns), side)
        for flow, samples, side in zip(flows, tables, map(_side, flows), strict=True)
        if len(samples)
    ]


def _side(flow: Flow) -> Side:
    client, server = flow.directions["client"].bytes, flow.directions["server"].bytes
    return "client" if client > server else "server"
