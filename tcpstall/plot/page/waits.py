"""Waits of each end: lanes above the plots, tints behind them, evidence under the pointer."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from bokeh.core.properties import value
from bokeh.models import ColumnDataSource, FixedTicker, HoverTool, Range1d
from bokeh.models.glyphs import Text
from bokeh.models.renderers import GlyphRenderer

from tcpstall import facts, units
from tcpstall.causes import Cause
from tcpstall.model import Flow, Side, Stall
from tcpstall.plot import style
from tcpstall.plot.page.frame import Entry, Frame

__all__ = ["evidenced", "lanes", "tint"]

_MOST_WAITS = 3_000
"""Of one end, the longest; a page of more would be slow to move."""

_MOST_NAMES = 300
"""Of one end, for the longest waits; the page shows those that have room."""

_PATTERNS = (" ", "/", "\\", "x", ".", "-", "|", "+", "o", "`", "v", ">", "@", "*")
"""Bokeh's hatches: causes next to each other in the table differ by more than colour."""

_TIP = (
    '<div style="max-width:21em;font:12px/1.45 system-ui,sans-serif;color:#222">'
    '<div style="font-weight:650">@cause &middot; @length</div><div>@what</div>'
    '<div style="white-space:pre-line;color:#555">@evidence</div></div>'
)


def pattern(cause: Cause) -> int:
    """The number of a cause's hatch; the page's own patterns have the same numbers."""
    return cause.code % len(_PATTERNS)


def evidenced(flow: Flow, sides: Sequence[Side], unit_ns: int) -> dict[Side, ColumnDataSource]:
    """The waits of each end that waited with what the pointer shows, for all plots of the flow to share."""
    stalls = {side: longest(flow, side) for side in sides}
    return {side: _source(own, flow.start_ns, unit_ns) for side, own in stalls.items() if own}


def tint(frame: Frame, source: ColumnDataSource) -> None:
    """The waits of one end as a light ground, each with its evidence."""
    bands = frame.plot.vstrip(
        "x0", "x1", source=source, fill_color="colour", fill_alpha=style.BAND_TINT,
        line_color=None, level="underlay", hover_fill_alpha=0.34, hover_fill_color="colour", hover_line_color=None,
    )  # fmt: skip
    bands.name = "waits"
    frame.plot.add_tools(_hover(bands))


def lanes(frame: Frame, flow: Flow, sources: Mapping[Side, ColumnDataSource]) -> None:
    """A row for each end, from the top down."""
    plot, sides = frame.plot, list(sources)
    plot.y_range = Range1d(start=0, end=len(sides))
    plot.ygrid.visible = plot.xgrid.visible = False
    rows = [len(sides) - 0.5 - row for row in range(len(sides))]
    plot.yaxis.ticker = FixedTicker(ticks=rows)
    plot.yaxis.major_label_overrides = dict(zip(rows, sides, strict=True))
    plot.yaxis.axis_line_color = plot.yaxis.major_tick_line_color = None
    for row, side in zip(rows, sides, strict=True):
        bars = plot.quad(
            "x0", "x1", row + 0.4, row - 0.4, source=sources[side], fill_color="colour", line_color="colour",
            line_width=0.6,
        )  # fmt: skip
        bars.name = "waits"
        plot.add_tools(_hover(bars))
        _hatch(frame, longest(flow, side), flow, row)
        _names(frame, longest(flow, side), flow, row)
    frame.legend += _legend(flow, sides)


def longest(flow: Flow, side: Side) -> list[Stall]:
    """The waits of one end that are drawn, in order of time; both ends wait for a handshake."""
    own = [stall for stall in flow.stalls if stall.sender == side or stall.cause is Cause.HANDSHAKE]
    kept = sorted(own, key=lambda stall: -stall.duration_ns)[:_MOST_WAITS]
    return sorted(kept, key=lambda stall: stall.start_ns)


def _legend(flow: Flow, sides: Sequence[Side]) -> list[Entry]:
    """The causes drawn, those with most time first."""
    sums: Counter[Cause] = Counter()
    for stall in {id(stall): stall for side in sides for stall in longest(flow, side)}.values():
        sums[stall.cause] += stall.duration_ns
    return [
        Entry(f"{cause.value} {units.duration(span)}", cause.colour, "band", pattern(cause))
        for cause, span in sums.most_common()
    ]


def _hatch(frame: Frame, stalls: Sequence[Stall], flow: Flow, row: float) -> None:
    """A plot for each cause: BokehJS makes a canvas for every row of a column of hatches, each time it is drawn."""
    for cause in sorted({stall.cause for stall in stalls}, key=lambda cause: cause.code):
        if not pattern(cause):
            continue
        own = [stall for stall in stalls if stall.cause is cause]
        source = ColumnDataSource(
            {
                "x0": [(stall.start_ns - flow.start_ns) / frame.unit_ns for stall in own],
                "x1": [(stall.end_ns - flow.start_ns) / frame.unit_ns for stall in own],
            }
        )
        frame.plot.quad(
            "x0", "x1", row + 0.4, row - 0.4, source=source, fill_color=None, line_color="#ffffff", hatch_scale=7,
            hatch_pattern=_PATTERNS[pattern(cause)], hatch_color="#ffffff", hatch_alpha=0.42, hatch_weight=1.2,
        )  # fmt: skip


def _names(frame: Frame, stalls: Sequence[Stall], flow: Flow, row: float) -> None:
    named = sorted(stalls, key=lambda stall: -stall.duration_ns)[:_MOST_NAMES]
    start = [(stall.start_ns - flow.start_ns) / frame.unit_ns for stall in named]
    end = [(stall.end_ns - flow.start_ns) / frame.unit_ns for stall in named]
    source = ColumnDataSource(
        {
            "from": start,
            "to": end,
            "x": [(left + right) / 2 for left, right in zip(start, end, strict=True)],
            "name": [stall.cause.value for stall in named],
            "ink": [style.ink_on(stall.cause.colour) for stall in named],
            "ground": [stall.cause.colour for stall in named],
        }
    )
    name = Text(
        x="x", y=row, text="name", text_color="ink", text_align="center", text_baseline="middle", text_font_size="11px",
        text_font=value("system-ui, sans-serif"), background_fill_color="ground",
    )  # fmt: skip
    frame.plot.add_glyph(source, name).tags = ["names"]


def _source(stalls: Sequence[Stall], start_ns: int, unit_ns: int) -> ColumnDataSource:
    return ColumnDataSource(
        {
            "x0": [(stall.start_ns - start_ns) / unit_ns for stall in stalls],
            "x1": [(stall.end_ns - start_ns) / unit_ns for stall in stalls],
            "colour": [stall.cause.colour for stall in stalls],
            "cause": [_named(stall) for stall in stalls],
            "length": [facts.length(stall) for stall in stalls],
            "what": [f"the {stall.sender} waited: {stall.cause.summary}" for stall in stalls],
            "evidence": ["\n".join(_lines(stall, start_ns)) for stall in stalls],
        }
    )


def _named(stall: Stall) -> str:
    return f"{stall.cause.value} {stall.detail}" if stall.detail else stall.cause.value


def _lines(stall: Stall, start_ns: int) -> list[str]:
    first = f"from {units.offset(stall.start_ns - start_ns)} s"
    return [first, *(f"{name}: {value}" for name, value in facts.facts(stall))]


def _hover(renderer: "GlyphRenderer[Any]") -> HoverTool:
    return HoverTool(renderers=[renderer], tooltips=_TIP, limit=2, point_policy="follow_mouse")
