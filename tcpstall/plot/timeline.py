"""The waits of many flows: one row a flow, on the capture's own time."""

from collections.abc import Sequence

from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from tcpstall import units
from tcpstall.causes import Cause
from tcpstall.model import Analysis, Flow
from tcpstall.plot import bands, choice, lanes, scale, style, title
from tcpstall.plot.reduce import View
from tcpstall.plot.scale import Scale
from tcpstall.plot.sheet import Sheet

__all__ = ["draw"]

_ROW_IN, _NAME_PT = 0.33, 7.0
_LEAST_LEFT_IN, _LETTER_IN = 2.2, 0.057
_BAND = 0.36  # half a band's height, rows being one apart
_LIFE = 0.07


def draw(analysis: Analysis, rows: int, start_ns: int | None, end_ns: int | None, width_in: float) -> Figure | None:
    """The `rows` flows that lost most of those alive between two times (ns since the epoch), the earliest uppermost.

    None where there is none.
    """
    flows = choice.costliest(analysis, rows, start_ns, end_ns)
    if not flows:
        return None
    zero_ns = min((capture.first_ns for capture in analysis.captures if capture.first_ns is not None), default=0)
    left_ns = min(flow.start_ns for flow in flows) if start_ns is None else start_ns
    right_ns = max(flow.end_ns for flow in flows) if end_ns is None else end_ns

    names = ["\n".join(title.flow(flow)) for flow in flows]
    longest = max(len(line) for name in names for line in name.split("\n"))
    left_in = max(_LEAST_LEFT_IN, longest * _LETTER_IN + 0.2)
    legend = _patches(flows)
    height_in = max(style.ENTRY_IN * (len(legend) + 1), _ROW_IN * len(flows))
    sheet = Sheet(width_in + left_in / 2, [height_in], left_in=left_in)
    (axes,) = sheet.panels
    view = View(left_ns - zero_ns, max(right_ns, left_ns + 1) - zero_ns, sheet.columns)
    time = scale.of_time(view.length_ns)
    for row, flow in enumerate(flows):
        _row(axes, flow, row, zero_ns, view, time)
    _frame(axes, names, view, time)
    sheet.head(*title.flows(analysis, flows, sheet.fits))
    sheet.legends([("waits", legend)])
    return sheet.figure


def _row(axes: Axes, flow: Flow, row: int, zero_ns: int, view: View, time: Scale) -> None:
    since_ns = flow.start_ns - zero_ns
    lived = [since_ns / time.size, (since_ns + flow.duration_ns) / time.size]
    axes.fill_between(lived, row - _LIFE, row + _LIFE, color=style.LIFE, linewidth=0, zorder=1)
    shown = bands.apart(bands.cut(bands.shifted(bands.row_of(flow), since_ns), view.start_ns, view.end_ns), view)
    lanes.boxes(axes, shown, view, time, 1.0, (row - _BAND, row + _BAND))
    lanes.names(axes, shown, view, time, row + 0.03, _NAME_PT)


def _frame(axes: Axes, names: Sequence[str], view: View, time: Scale) -> None:
    axes.set_label("timeline")
    axes.set_xlim(view.start_ns / time.size, view.end_ns / time.size)
    axes.set_ylim(len(names) - 0.4, -0.6)
    axes.set_yticks(range(len(names)), names, fontsize=_NAME_PT)
    axes.tick_params(axis="y", length=0)
    axes.spines["left"].set_visible(False)
    axes.grid(axis="x", color=style.GRID, linewidth=0.6)
    axes.set_axisbelow(True)
    axes.set_xlabel(f"time since the capture's first packet ({time.unit})")
    scale.ticks(axes.xaxis, 12)


def _patches(flows: Sequence[Flow]) -> list[Artist]:
    total_ns = {cause: sum(flow.time_ns.get(cause, 0) for flow in flows) for cause in Cause}
    ranked = sorted((cause for cause in Cause if total_ns[cause]), key=lambda cause: -total_ns[cause])
    return [
        *(Patch(facecolor=one.colour, label=f"{one}  {units.duration(total_ns[one])}") for one in ranked),
        Line2D([], [], color=style.LIFE, linewidth=3, label="sending, travel or closing"),
    ]
