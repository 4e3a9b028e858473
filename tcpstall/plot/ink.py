"""Lines, strokes and marks on a panel, thinned out to what its pixels can show."""

from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from numpy.typing import NDArray

from tcpstall import units
from tcpstall.plot import reduce, scale, style
from tcpstall.plot.reduce import View
from tcpstall.plot.scale import Scale
from tcpstall.plot.series import Spans, Steps

ROWS = 700  # pixel rows of a panel, about: marks closer than that cover each other
_MARK_COLUMNS = 12  # a mark is about this wide, in pixels
_FEW_DOTS = 300


@dataclass(frozen=True)
class Panel:
    """An empty panel and its horizontal axis."""

    axes: Axes
    view: View
    time: Scale

    def x(self, at_ns: NDArray[np.int64]) -> NDArray[np.float64]:
        """Times on this panel's axis."""
        return at_ns / self.time.size


def frame(panel: Panel, bottom: float, top: float, name: str, unit: Scale) -> None:
    """The vertical axis, in that unit."""
    axes = panel.axes
    axes.set_ylim(bottom / unit.size, top / unit.size)
    axes.set_ylabel(f"{name} ({unit.unit})")
    axes.grid(color=style.GRID, linewidth=0.6)
    axes.set_axisbelow(True)
    scale.ticks(axes.yaxis, 7)


def step(
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
    """A level that holds; where its highest is above `top`, the legend says so."""
    if np.all(np.isnan(steps.level)):
        return
    most = float(np.nanmax(steps.level))
    if most > top:
        name = f"{name}\n(off the axis: up to {most / unit.size:,.0f} {unit.unit})"
    drawn = held(steps, panel.view)
    dense = reduce.is_dense(steps.at_ns, panel.view)
    panel.axes.plot(
        panel.x(drawn.at_ns),
        drawn.level / unit.size,
        drawstyle="steps-post",
        color=colour,
        linewidth=width / 2 if dense else width,  # a dense step is an area already
        linestyle=(0, (5, 2)) if dashed else "-",
        label=name,
        zorder=2.5,
        rasterized=dense,
    )


def held(steps: Steps, view: View) -> Steps:
    """The steps with the last level held to the view's right edge, and the first cut at its left."""
    if not len(steps.at_ns):
        return steps
    at_ns = np.append(np.maximum(steps.at_ns, view.start_ns), view.end_ns)
    return Steps(at_ns, np.append(steps.level, steps.level[-1]))


def filled(panel: Panel, steps: Steps, unit: Scale, colour: str) -> None:
    """The ground under a level."""
    drawn = held(steps, panel.view)
    # Corners by hand: matplotlib's own steps lose the last stretch before an unknown level.
    corners, level = np.repeat(panel.x(drawn.at_ns), 2)[1:], np.repeat(drawn.level, 2)[:-1]
    panel.axes.fill_between(
        corners,
        level / unit.size,
        color=colour,
        alpha=0.22,
        linewidth=0,
        zorder=1.5,
        rasterized=reduce.is_dense(steps.at_ns, panel.view),
    )


def line(panel: Panel, level: float, unit: Scale, colour: str, name: str) -> None:
    """A dashed line across the panel."""
    at_ns = np.array([panel.view.start_ns], np.int64)
    step(panel, Steps(at_ns, np.array([level])), unit, colour, name, width=1.4, dashed=True)


def strokes(panel: Panel, spans: Spans, unit: Scale, colour: str, name: str, *, width: float, order: float) -> None:
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


def marks(panel: Panel, spans: Spans, unit: Scale, shape: str, colour: str, name: str) -> None:
    """A mark in the middle of each span."""
    seen = reduce.marks_seen(spans, panel.view, ROWS)
    if not len(seen.at_ns):
        return
    # Where marks would bury the data they become ticks at the panel's foot.
    crowded = _crowd(seen, panel.view)
    level = (seen.low + seen.high) / 2 / unit.size
    axes = panel.axes
    axes.plot(
        panel.x(seen.at_ns),
        np.full_like(level, 0.0) if crowded else level,
        transform=axes.get_xaxis_transform() if crowded else axes.transData,
        linestyle="none",
        marker="|" if crowded else shape,
        markersize=11 if crowded else 6,
        markeredgewidth=0.6 if crowded else 1.6 if shape == "x" else 0.8,
        markerfacecolor=colour,
        markeredgecolor=colour if crowded or shape == "x" else style.INK,
        label=f"{name} ({units.number(_count(spans, panel.view))})",
        zorder=5,
        clip_on=crowded,
        rasterized=reduce.is_dense(seen.at_ns, panel.view),
    )


def dots(panel: Panel, points: Spans, unit: Scale, colour: str, name: str) -> None:
    """A dot a point, the smaller the more there are."""
    if not len(points.at_ns):
        return
    panel.axes.plot(
        panel.x(points.at_ns),
        points.high / unit.size,
        linestyle="none",
        marker="o",
        markersize=4.5 if len(points.at_ns) < _FEW_DOTS else 2.0,
        markerfacecolor=colour,
        markeredgewidth=0,
        label=name,
        zorder=3,
        clip_on=False,
        rasterized=reduce.is_dense(points.at_ns, panel.view),
    )


def feet(panel: Panel, at: NDArray[np.int64], colour: str, name: str) -> None:
    """Ticks at the panel's foot."""
    inside = at[(at >= panel.view.start_ns) & (at <= panel.view.end_ns)]
    if not len(inside):
        return
    columns, first = np.unique(panel.view.column_of(inside), return_index=True)
    panel.axes.plot(
        panel.x(inside[first]),
        np.zeros(len(columns)),
        transform=panel.axes.get_xaxis_transform(),
        linestyle="none",
        marker="|",
        markersize=11,
        markeredgewidth=0.6 if len(columns) > panel.view.columns // _MARK_COLUMNS else 1.2,
        markeredgecolor=colour,
        label=f"{name} ({units.number(len(inside))})",
        zorder=5,
    )


def remark(panel: Panel, text: str) -> None:
    """A word in a panel that would be empty without it."""
    panel.axes.text(0.5, 0.75, text, ha="center", transform=panel.axes.transAxes)


def _crowd(spans: Spans, view: View) -> bool:
    return len(spans.at_ns) > view.columns // _MARK_COLUMNS


def _count(spans: Spans, view: View) -> int:
    return int(np.count_nonzero((spans.at_ns >= view.start_ns) & (spans.at_ns <= view.end_ns)))


def legend_entries(axes: Axes) -> list[Line2D]:
    """Lines of a panel that have a label, in the order they were drawn."""
    return [line for line in axes.get_lines() if not str(line.get_label()).startswith("_") and line.get_label()]
