"""Latencies of exchanges as sums: one stacked bar an exchange."""

from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch
from matplotlib.text import Text

from tcpstall import units
from tcpstall.model import Analysis, Exchange, Flow
from tcpstall.plot import choice, scale, style, title
from tcpstall.plot.parts import Look, stacked
from tcpstall.plot.sheet import Sheet

__all__ = ["draw"]

_ROW_IN, _NAME_PT = 0.33, 7.0
_LEFT_IN = 2.6
_BAR = 0.7
_ROOM_FOR_SUM = 1.16  # of the longest bar, for the sum behind it


def draw(analysis: Analysis, rows: int, start_ns: int | None, end_ns: int | None, width_in: float) -> Figure | None:
    """The `rows` slowest exchanges of all flows that began between two times (ns since the epoch), in order of time.

    None where there are none.
    """
    every_ns = choice.latencies_ns(analysis, start_ns, end_ns)
    chosen = choice.slowest(analysis, rows, start_ns, end_ns)
    if not chosen:
        return None
    legend = _patches(chosen)
    height_in = max(style.ENTRY_IN * (len(legend) + 1), _ROW_IN * len(chosen))
    sheet = Sheet(width_in + _LEFT_IN / 2, [height_in], left_in=_LEFT_IN)
    (axes,) = sheet.panels
    longest_ns = max(1, *(exchange.latency_ns for _, exchange in chosen))
    time = scale.of_time(longest_ns)
    axes.set_xlim(0, longest_ns * _ROOM_FOR_SUM / time.size)
    axes.set_ylim(len(chosen) - 0.4, -0.6)
    px_per_ns = sheet.columns / (longest_ns * _ROOM_FOR_SUM)
    for row, (_, exchange) in enumerate(chosen):
        for look, start_ns, length_ns in stacked(exchange):
            _bar(axes, row, start_ns / time.size, length_ns / time.size, look, length_ns * px_per_ns)
        axes.text(
            exchange.latency_ns / time.size, row, f"  {title.latency(exchange)}", va="center", fontsize=_NAME_PT + 1
        )
    _frame(axes, ["\n".join(title.exchange(flow, exchange)) for flow, exchange in chosen], time)
    sheet.head(*title.exchanges(len(chosen), every_ns, analysis))
    sheet.legends([("parts of the latency", legend)])
    return sheet.figure


def _bar(axes: Axes, row: int, left: float, length: float, look: Look, width_px: float) -> None:
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


def _patches(chosen: Sequence[tuple[Flow, Exchange]]) -> list[Patch]:
    sums_ns: dict[Look, int] = {}
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
