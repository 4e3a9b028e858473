"""An empty plot with axes, grid and tools, and the series that are added to it."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from bokeh.models import BasicTicker, BoxZoomTool, ColumnDataSource, NumeralTickFormatter, Range1d, WheelZoomTool
from bokeh.models.annotations import Span
from bokeh.models.renderers import GlyphRenderer
from bokeh.plotting import figure

from tcpstall.plot import style
from tcpstall.plot.page.pack import Column
from tcpstall.plot.reduce import View
from tcpstall.plot.series import Levels, Spans, Steps, Times

__all__ = ["Entry", "Frame", "FrameMaker"]

_LEFT_PX = 58
"""Room for the figures of every vertical axis, so that the plots of a flow stand in one line."""

_RIGHT_PX = 12

_US = 1_000
"""Finer than any screen shows a flow."""

BASE, LIMIT = "base", "limit"
"""The page fits the vertical axis to what is base; a limit is shown whole only where it is not far above that."""


@dataclass(frozen=True)
class Entry:
    """A line of a legend; `mark` is `line`, `dash`, `stroke`, `dot`, `cross`, `triangle` or `band` with a pattern."""

    text: str
    colour: str
    mark: str
    pattern: int = 0


@dataclass
class Frame:
    """A plot and the entries of its legend."""

    plot: figure
    view: View
    unit_ns: int
    legend: list[Entry] = field(default_factory=list)
    data: dict[ColumnDataSource, dict[str, Column]] = field(default_factory=dict)

    def steps(self, steps: Steps, unit: float, entry: Entry, *, role: str = BASE, width: float = 1.4) -> None:
        """A level that holds until the next, in whole numbers of `unit`; nothing where it is never known."""
        if not len(steps.at_ns) or bool(np.all(np.isnan(steps.level))):
            return
        held = _held(steps, self.view)
        renderer = self.plot.step(
            "x", "y", source=self._source(held.at_ns, unit, y=held.level), mode="after", color=entry.colour,
            line_width=width, line_dash=[5, 3] if entry.mark == "dash" else [],
        )  # fmt: skip
        self._drawn(renderer, [role, "y"], entry)

    def area(self, steps: Steps, unit: float, colour: str) -> None:
        """A level as a light ground."""
        if not len(steps.at_ns):
            return
        held = _held(steps, self.view)
        source = self._source(held.at_ns, unit, y=np.nan_to_num(held.level))
        self.plot.varea_step("x", y1=0, y2="y", source=source, step_mode="after", fill_color=colour, fill_alpha=0.16)

    def strokes(self, spans: Spans, unit: float, entry: Entry, *, width: float = 2.0) -> None:
        """Ranges of bytes as vertical strokes."""
        if not len(spans.at_ns):
            return
        source = self._source(spans.at_ns, unit, low=spans.low, high=spans.high)
        renderer = self.plot.segment("x", "low", "x", "high", source=source, color=entry.colour, line_width=width)
        self._drawn(renderer, [BASE, "low", "high"], entry)

    def marks(self, at_ns: Times, level: Levels, unit: float, entry: Entry, *, size_px: float) -> None:
        """Points."""
        if not len(at_ns):
            return
        shapes = {"cross": "x", "triangle": "inverted_triangle", "dot": "circle"}
        renderer = self.plot.scatter(
            "x", "y", source=self._source(at_ns, unit, y=level), marker=shapes[entry.mark], size=size_px,
            color=entry.colour, line_width=1.6 if entry.mark == "cross" else 0,
        )  # fmt: skip
        self._drawn(renderer, [BASE, "y"], entry)

    def level(self, value: float, entry: Entry) -> None:
        """A horizontal line across the plot; the page makes room for it where it is not far above the rest."""
        self.plot.add_layout(
            Span(
                location=value,
                dimension="width",
                line_color=entry.colour,
                line_width=1.4,
                line_dash=[7, 3],
                tags=[LIMIT],
            )
        )
        self.legend.append(entry)

    def _drawn(self, renderer: "GlyphRenderer[Any]", tags: Sequence[str], entry: Entry) -> None:
        renderer.tags = list(tags)
        # Points of an area would still be drawn one by one in the style of what is not selected.
        renderer.nonselection_glyph = None
        self.legend.append(entry)

    def _source(self, at_ns: Times, unit: float, **levels: Levels) -> ColumnDataSource:
        """An empty source for Bokeh; the page fills it from `data`."""
        source = ColumnDataSource({name: [] for name in ("x", *levels)})
        time = Column(at_ns / _US, _US / self.unit_ns)
        self.data[source] = {"x": time} | {name: Column(level, unit) for name, level in levels.items()}
        return source


class FrameMaker:
    """Makes the plots of a flow, which share one axis of time."""

    def __init__(self, view: View, unit_ns: int) -> None:
        self.view = view
        self.unit_ns = unit_ns
        start, end = view.start_ns / unit_ns, view.end_ns / unit_ns
        room = (end - start) * 0.01
        self._time = Range1d(start=start - room, end=end + room, bounds=(start - room, end + room))

    def frame(self, height_px: int, *tags: str) -> Frame:
        """An empty plot; the page fits the vertical axis of one tagged `fit`."""
        plot = figure(
            height=height_px, sizing_mode="stretch_width", toolbar_location=None, tools="", x_range=self._time,
            y_range=Range1d(start=0, end=1), min_border_left=_LEFT_PX, min_border_right=_RIGHT_PX, min_border_top=4,
            min_border_bottom=24, background_fill_color=None, border_fill_color=None, outline_line_color=None,
            lod_threshold=None, tags=list(tags),
        )  # fmt: skip
        zoom = BoxZoomTool(dimensions="width")
        wheel = WheelZoomTool(dimensions="width", modifiers="ctrl")
        plot.add_tools(zoom, wheel)
        plot.toolbar.active_drag, plot.toolbar.active_scroll = zoom, wheel
        for axis in (*plot.xaxis, *plot.yaxis):
            axis.axis_line_color = axis.major_tick_line_color = style.FAINT
            axis.minor_tick_line_color = None
            axis.major_label_text_color = style.INK
            axis.major_label_text_font_size = "11px"
            axis.major_label_text_font = "system-ui, sans-serif"
        plot.xaxis.formatter = NumeralTickFormatter(format="0,0.[000000]")
        plot.yaxis.formatter = NumeralTickFormatter(format="0,0.[000]")
        plot.yaxis.ticker = BasicTicker(desired_num_ticks=max(2, height_px // 45))
        plot.grid.grid_line_color = style.GRID
        return Frame(plot, self.view, self.unit_ns)


def _held(steps: Steps, view: View) -> Steps:
    """Without the points that change nothing, and with the last level held to the end."""
    level = steps.level
    same = (level[1:] == level[:-1]) | (np.isnan(level[1:]) & np.isnan(level[:-1]))
    kept = np.concatenate([[True], ~same])
    at_ns = np.append(steps.at_ns[kept], view.end_ns)
    return Steps(at_ns, np.append(level[kept], level[-1]))
