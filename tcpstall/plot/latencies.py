"""Latencies of exchanges as sums: one stacked bar an exchange."""

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch
from matplotlib.text import Text
from numpy.typing import NDArray

from tcpstall import _core, units
from tcpstall.model import Analysis, Exchange, Flow, Part
from tcpstall.plot import scale, style
from tcpstall.plot.sheet import Sheet

__all__ = ["ROWS", "draw"]

ROWS = 30
"""Exchanges of a picture unless told otherwise: about a page."""

_ROW_IN, _NAME_PT = 0.33, 7.0
_LEFT_IN = 2.6
_BAR = 0.7
_TOO_MANY_ROUND_TRIPS = 100  # then they are not what the latency was made of
_ENOUGH_FOR_A_TAIL = 100
_KEY = ("flow", "start_ns", "latency_ns")
_EVER = np.iinfo(np.int64).max
_ROOM_FOR_SUM = 1.16  # of the longest bar, for the sum behind it


class _Look(NamedTuple):
    """Parts that look alike are one entry of the legend."""

    name: str
    colour: str
    hatch: str = ""


_PLAIN = {
    "handshake": _Look("handshake", "#999999"),
    "travel": _Look("base round trip", style.TRAVEL),
    "think": _Look("responder's own time", style.THINK),
    "overlap": _Look("both at once", style.SACK),
    "turnaround": _Look("travel and responder", style.THINK),
    "request": _Look("sending the request", style.DATA, "////"),
    "response": _Look("sending the response", style.DATA),
}


def draw(analysis: Analysis, rows: int, start_ns: int | None, end_ns: int | None, width_in: float) -> Figure | None:
    """The `rows` slowest exchanges of all flows that began between two times (ns since the epoch), in order of time.

    None where there are none.
    """
    every_ns = _latencies(analysis, start_ns, end_ns)
    chosen = _slowest(analysis, rows, start_ns, end_ns)
    if not chosen:
        return None
    legend = _patches(chosen)
    height_in = max(style.ENTRY_IN * (len(legend) + 1), _ROW_IN * len(chosen))
    sheet = Sheet(width_in + _LEFT_IN / 2, [height_in], left_in=_LEFT_IN)
    (axes,) = sheet.panels
    longest_ns = max(exchange.latency_ns for _, exchange in chosen)
    time = scale.of_time(longest_ns)
    axes.set_xlim(0, longest_ns * _ROOM_FOR_SUM / time.size)
    axes.set_ylim(len(chosen) - 0.4, -0.6)
    px_per_ns = sheet.columns / (longest_ns * _ROOM_FOR_SUM)
    for row, (_, exchange) in enumerate(chosen):
        for look, start_ns, length_ns in stacked(exchange):
            _bar(axes, row, start_ns / time.size, length_ns / time.size, look, length_ns * px_per_ns)
        axes.text(exchange.latency_ns / time.size, row, f"  {_sum(exchange)}", va="center", fontsize=_NAME_PT + 1)
    _frame(axes, [_name(flow, exchange) for flow, exchange in chosen], time)
    sheet.head(*_title(len(chosen), every_ns, analysis))
    sheet.legends([("parts of the latency", legend)])
    return sheet.figure


def _inside(analysis: Analysis, start_ns: int | None, end_ns: int | None) -> NDArray[np.bool_]:
    began_ns = _column(analysis.exchanges, "start_ns")
    return (began_ns >= (start_ns or 0)) & (began_ns < (_EVER if end_ns is None else end_ns))


def _latencies(analysis: Analysis, start_ns: int | None, end_ns: int | None) -> NDArray[np.int64]:
    return _column(analysis.exchanges, "latency_ns")[_inside(analysis, start_ns, end_ns)]


def _slowest(analysis: Analysis, rows: int, start_ns: int | None, end_ns: int | None) -> list[tuple[Flow, Exchange]]:
    inside = np.flatnonzero(_inside(analysis, start_ns, end_ns))
    latency_ns = _column(analysis.exchanges, "latency_ns")[inside]
    slowest = inside[np.argsort(-latency_ns, kind="stable")[:rows]]
    wanted = list(zip(*(_column(analysis.exchanges, name)[slowest].tolist() for name in _KEY), strict=True))
    row_of = {id_: row for row, id_ in enumerate(_column(analysis.flows, "flow").tolist())}
    flows = {id_: analysis[row_of[id_]] for id_ in sorted({id_ for id_, _, _ in wanted})}
    by_key = {
        (id_, exchange.start_ns, exchange.latency_ns): (flow, exchange)
        for id_, flow in flows.items()
        for exchange in flow.exchanges
    }
    return sorted((by_key[key] for key in wanted), key=lambda pair: (pair[1].start_ns, pair[0].id))


def _column(table: _core.Table, name: str) -> NDArray[np.int64]:
    return np.frombuffer(table.int64(name), np.int64)


def stacked(exchange: Exchange) -> Iterator[tuple[_Look, int, int]]:
    """Look, start and length; neighbours that look alike are one."""
    at_ns = 0
    for look, parts in groupby(exchange.parts, _look):
        length_ns = sum(part.duration_ns for part in parts)
        yield look, at_ns, length_ns
        at_ns += length_ns


def _look(part: Part) -> _Look:
    if part.cause is None:
        return _PLAIN.get(part.part, _Look(part.part, style.FAINT))
    if part.part not in ("request", "response"):
        return _Look(f"{part.part}: {part.cause}", part.cause.colour)
    return _Look(f"{part.part}: {part.cause}", part.cause.colour, "////" if part.part == "request" else "")


def _bar(axes: Axes, row: int, left: float, length: float, look: _Look, width_px: float) -> None:
    axes.barh(
        row,
        length,
        left=left,
        height=_BAR,
        color=look.colour,
        hatch=look.hatch,
        edgecolor="white",
        linewidth=0.6 if width_px > 6 else 0,
        zorder=2,
    )
    ground = {"facecolor": look.colour, "edgecolor": "none", "pad": 1.0}
    for text in (look.name, look.name.partition(": ")[2]):
        drawn = Text(0, 0, text, fontsize=_NAME_PT, figure=axes.figure)
        if text and drawn.get_window_extent().width + 8 <= width_px:
            ink = style.ink_on(look.colour)
            axes.text(
                left + length / 2, row + 0.03, text, ha="center", va="center", fontsize=_NAME_PT, color=ink, bbox=ground
            )
            return


def _frame(axes: Axes, names: Sequence[str], time: scale.Scale) -> None:
    axes.set_label("exchanges")
    axes.set_yticks(range(len(names)), names, fontsize=_NAME_PT)
    axes.tick_params(axis="y", length=0)
    axes.grid(axis="x", color=style.GRID, linewidth=0.6)
    axes.set_axisbelow(True)
    axes.set_xlabel(f"latency that the requester lived through ({time.unit})")
    scale.ticks(axes.xaxis, 12)


def _name(flow: Flow, exchange: Exchange) -> str:
    sizes = f"{units.number(exchange.request_bytes)} → {units.number(exchange.response_bytes)} bytes"
    return f"flow {flow.id}, {units.offset(exchange.start_ns - flow.start_ns)} s\n{sizes}"


def _sum(exchange: Exchange) -> str:
    least = "" if exchange.complete else "≥ "
    trips = round((exchange.round_trips or 0) * 100)
    told = f" = {units.ratio(trips, 100)} RTT" if 0 < trips < 100 * _TOO_MANY_ROUND_TRIPS else ""
    return f"{least}{units.duration(exchange.latency_ns)}{told}"


def _title(shown: int, every: NDArray[np.int64], analysis: Analysis) -> tuple[str, str]:
    whose = f"flow {_column(analysis.flows, 'flow')[0]}" if len(analysis) == 1 else units.counted(len(analysis), "flow")
    if shown == len(every):
        what = f"Latency of {units.counted(shown, 'exchange')} of {whose}"
    else:
        what = f"Latency of the {units.counted(shown, 'slowest exchange')} of {units.number(len(every))}, {whose}"
    if len(every) == 1:
        return what, units.duration(int(every[0]))
    middle, tail = (units.duration(int(value)) for value in np.percentile(every, [50, 99]))
    most = f", 99 % below {tail}" if len(every) >= _ENOUGH_FOR_A_TAIL else ""
    return what, f"median {middle}{most}, longest {units.duration(int(every.max()))}"


def _patches(chosen: Sequence[tuple[Flow, Exchange]]) -> list[Patch]:
    sums_ns: dict[_Look, int] = {}
    for _, exchange in chosen:
        for look, _, length_ns in stacked(exchange):
            sums_ns[look] = sums_ns.get(look, 0) + length_ns
    ranked = sorted((look for look in sums_ns if sums_ns[look]), key=lambda look: -sums_ns[look])
    return [
        Patch(
            facecolor=look.colour,
            hatch=look.hatch,
            edgecolor="white",
            label=f"{look.name}  {units.duration(sums_ns[look])}",
        )
        for look in ranked
    ]
