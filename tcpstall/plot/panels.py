"""The two panels: time/sequence, and bytes in flight against the windows."""

from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from numpy.typing import NDArray

from tcpstall import units
from tcpstall.model import Side
from tcpstall.plot import reduce, scale, style
from tcpstall.plot.reduce import View
from tcpstall.plot.scale import Scale
from tcpstall.plot.series import Series, Spans, Steps

_ROWS = 700  # pixel rows of a panel, about: marks closer than that cover each other
_MARK_COLUMNS = 12  # a mark is about this wide, in pixels
_LEAST_SEEN = 0.15  # share of a window's steps that must fit for the axis to make room
_LEAST_SEQUENCE, _LEAST_IN_FLIGHT = 1_000.0, 100.0  # bytes: an axis of less would show noise


@dataclass(frozen=True)
class Panel:
    """An empty panel and its horizontal axis."""

    axes: Axes
    view: View
    time: Scale

    def x(self, at_ns: NDArray[np.int64]) -> NDArray[np.float64]:
        """Times on this panel's axis."""
        return at_ns / self.time.size


def sequence(panel: Panel, series: Series, side: Side) -> None:
    """Data as vertical strokes between the ACK line and the window's edge, with what was repaired as marks."""
    view, peer = panel.view, "client" if side == "server" else "server"
    data = reduce.spans_seen(series.data, view)
    again = reduce.spans_seen(series.retransmissions, view)
    acked, edge = reduce.steps_seen(series.acked, view), reduce.steps_seen(series.edge, view)
    low, high = _range([data.low, data.high, again.low, again.high, acked.level])
    top = _top_with(high, low, edge.level, 0.35)
    panel.axes.set_label("sequence")
    unit = _frame(panel, low - 0.03 * (top - low), top, f"sequence number of the {side}'s data")

    sacks = reduce.spans_seen(series.sacks, view)
    # Edge and ACK line coincide while the window is closed: the wider one goes below.
    _step(panel, edge, unit, style.EDGE, f"the {peer}'s window, right edge", width=2.2, top=top)
    _step(panel, acked, unit, style.ACK, f"acknowledged by the {peer}", width=1.2)
    _strokes(panel, data, unit, style.DATA, "data", width=2.0, order=3)
    _strokes(panel, sacks, unit, style.SACK, "SACK block", width=1.4, order=3.2)
    _strokes(panel, again, unit, style.RETRANSMISSION, "", width=2.0, order=4)
    _marks(panel, series.retransmissions, unit, "x", style.RETRANSMISSION, "retransmission")
    _marks(panel, series.probes, unit, "v", style.PROBE, "window probe")
    if not len(data.at_ns) and not len(again.at_ns):
        panel.axes.text(0.5, 0.75, f"the {side} sent no data here", ha="center", transform=panel.axes.transAxes)


def in_flight(panel: Panel, series: Series, side: Side) -> None:
    """Bytes in flight as a filled step under the window and the estimated congestion window."""
    view, peer = panel.view, "client" if side == "server" else "server"
    flight, cwnd = reduce.steps_seen(series.in_flight, view), reduce.steps_seen(series.cwnd, view)
    window = reduce.steps_seen(series.window, view)
    _, flown = _range([flight.level, np.zeros(1)], _LEAST_IN_FLIGHT)
    top = max(_top_with(flown, 0.0, cwnd.level, 2.0), _top_with(flown, 0.0, window.level, 1.5))
    panel.axes.set_label("in flight")
    unit = _frame(panel, -0.03 * top, top, "in flight")

    axes, x = panel.axes, panel.x(_held(flight, view).at_ns)
    axes.fill_between(
        x,
        _held(flight, view).level / unit.size,
        step="post",
        color=style.DATA,
        alpha=0.22,
        linewidth=0,
        zorder=1.5,
        rasterized=reduce.is_dense(series.in_flight.at_ns, view),
    )
    _step(panel, flight, unit, style.DATA, "in flight", width=1.2)
    _step(panel, window, unit, style.EDGE, f"the {peer}'s window", width=2.0, top=top)
    _step(panel, cwnd, unit, style.CWND, "congestion window (estimate)", width=1.2, top=top, dashed=True)


def _frame(panel: Panel, bottom: float, top: float, name: str) -> Scale:
    unit = scale.of_bytes(top)
    axes = panel.axes
    axes.set_ylim(bottom / unit.size, top / unit.size)
    axes.set_ylabel(f"{name} ({unit.unit})")
    axes.grid(color=style.GRID, linewidth=0.6)
    axes.set_axisbelow(True)
    scale.ticks(axes.yaxis, 7)
    return unit


def _step(
    panel: Panel,
    steps: Steps,
    unit: Scale,
    colour: str,
    name: str,
    *,
    width: float,
    top: float = np.inf,
    dashed: bool = False,
) -> None:
    if np.all(np.isnan(steps.level)):
        return
    most = float(np.nanmax(steps.level))
    if most > top:
        name = f"{name}\n(off the axis: up to {most / unit.size:,.0f} {unit.unit})"
    held = _held(steps, panel.view)
    dense = reduce.is_dense(steps.at_ns, panel.view)
    panel.axes.plot(
        panel.x(held.at_ns),
        held.level / unit.size,
        drawstyle="steps-post",
        color=colour,
        linewidth=width / 2 if dense else width,  # a dense step is an area already
        linestyle=(0, (5, 2)) if dashed else "-",
        label=name,
        zorder=2.5,
        rasterized=dense,
    )


def _held(steps: Steps, view: View) -> Steps:
    """The steps with the last level held to the view's right edge, and the first cut at its left."""
    if not len(steps.at_ns):
        return steps
    at_ns = np.append(np.maximum(steps.at_ns, view.start_ns), view.end_ns)
    return Steps(at_ns, np.append(steps.level, steps.level[-1]))


def _strokes(panel: Panel, spans: Spans, unit: Scale, colour: str, name: str, *, width: float, order: float) -> None:
    """Vertical strokes in that drawing order; a crowd of them stays below the data (order 3) all the same."""
    if not len(spans.at_ns):
        return
    # One line with breaks: a LineCollection of as many strokes takes 30 times as long to draw.
    gap = np.full(len(spans.at_ns), np.nan)
    ends = np.column_stack([spans.low, spans.high, gap]) / unit.size
    panel.axes.plot(
        np.repeat(panel.x(spans.at_ns), 3),
        ends.ravel(),
        color=colour,
        linewidth=width,
        solid_capstyle="projecting",
        label=name,
        zorder=min(order, 2.9) if order > 3 and _crowd(spans, panel.view) else order,
        rasterized=len(spans.at_ns) > panel.view.columns // 2,
    )


def _marks(panel: Panel, spans: Spans, unit: Scale, shape: str, colour: str, name: str) -> None:
    marks = reduce.marks_seen(spans, panel.view, _ROWS)
    if not len(marks.at_ns):
        return
    # Where marks would bury the data they become ticks at the panel's foot.
    crowd = _crowd(marks, panel.view)
    level = (marks.low + marks.high) / 2 / unit.size
    axes = panel.axes
    axes.plot(
        panel.x(marks.at_ns),
        np.full_like(level, 0.0) if crowd else level,
        transform=axes.get_xaxis_transform() if crowd else axes.transData,
        linestyle="none",
        marker="|" if crowd else shape,
        markersize=11 if crowd else 6,
        markeredgewidth=0.6 if crowd else 1.6 if shape == "x" else 0.8,
        markerfacecolor=colour,
        markeredgecolor=colour if crowd or shape == "x" else style.INK,
        label=f"{name} ({units.number(_count(spans, panel.view))})",
        zorder=5,
        clip_on=crowd,
        rasterized=reduce.is_dense(marks.at_ns, panel.view),
    )


def _crowd(spans: Spans, view: View) -> bool:
    return len(spans.at_ns) > view.columns // _MARK_COLUMNS


def _count(spans: Spans, view: View) -> int:
    return int(np.count_nonzero((spans.at_ns >= view.start_ns) & (spans.at_ns <= view.end_ns)))


def _range(levels: list[NDArray[np.float64]], least: float = _LEAST_SEQUENCE) -> tuple[float, float]:
    known = np.concatenate(levels)
    known = known[~np.isnan(known)]
    if not len(known):
        return 0.0, least
    low, high = float(known.min()), float(known.max())
    missing = max(0.0, least - (high - low))
    low = max(min(low, 0.0), low - missing / 2)
    return low, max(high, low + least)


def _top_with(high: float, low: float, limit: NDArray[np.float64], room: float) -> float:
    """The axis's top: above `high`, higher if `limit` fits now and then into `room` (share of what is drawn)."""
    most = high + room * (high - low)
    known = limit[~np.isnan(limit)]
    if len(known) and np.count_nonzero(known <= most) >= _LEAST_SEEN * len(known):
        high = max(high, min(float(known.max()), most))
    return high + 0.06 * (high - low)


def legend_entries(axes: Axes) -> list[Line2D]:
    """What a panel shows, in the order it was drawn."""
    return [line for line in axes.get_lines() if not str(line.get_label()).startswith("_") and line.get_label()]
