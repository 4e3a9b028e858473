"""The figure: title, lanes of waits, two panels on one time axis, legends beside them."""

from collections.abc import Iterable, Sequence

from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.legend import Legend
from matplotlib.patches import Patch
from matplotlib.text import Text

from tcpstall import units
from tcpstall.model import Flow, Side
from tcpstall.plot import bands, lanes, panels, scale, style, title
from tcpstall.plot.bands import Band
from tcpstall.plot.panels import Panel
from tcpstall.plot.reduce import View
from tcpstall.plot.series import Series

_LEFT_IN, _TOP_IN, _BOTTOM_IN, _GAP_IN = 0.95, 0.78, 0.55, 0.16
_SEQUENCE_IN, _IN_FLIGHT_IN = 3.5, 2.1
_LEGEND_IN = 2.75
_LANE_GAP_IN = 0.04
_WHAT_PT, _LOSSES_PT = 11.5, 9.5
_LEAST_WIDTH_IN = 6.0


def draw(flow: Flow, series: Series, side: Side, start_ns: int, end_ns: int, width_in: float) -> Figure:
    """The picture of the data that `side` sent, between two times in ns since the flow's start."""
    peer: Side = "client" if side == "server" else "server"
    own = sorted(bands.handshake_of(flow) + bands.bands_of(flow, side), key=lambda band: band.start_ns)
    waits = {side: bands.cut(own, start_ns, end_ns)}
    if theirs := bands.cut(bands.bands_of(flow, peer), start_ns, end_ns):
        waits[peer] = theirs

    sheet = _Sheet(width_in, len(waits))
    view = View(start_ns, end_ns, sheet.columns)
    time = scale.of_time(view.length_ns)
    upper, lower, *rows = sheet.axes()
    for axes, (end, its_waits) in zip(rows, waits.items(), strict=True):
        lanes.draw(axes, its_waits, view, time, f"{end} waits")
    for axes in (upper, lower):
        lanes.tint(axes, waits[side], view, time)
    panels.sequence(Panel(upper, view, time), series, side)
    panels.in_flight(Panel(lower, view, time), series, side)

    upper.tick_params(labelbottom=False)
    lower.set_xlim(view.start_ns / time.size, view.end_ns / time.size)
    lower.set_xlabel(f"time since the flow's first packet ({time.unit})")
    scale.ticks(lower.xaxis, 12)
    sheet.head(
        title.what(flow, side, start_ns, end_ns),
        title.losses(flow, sheet.fits),
    )
    sheet.legends(waits, [upper, lower])
    return sheet.figure


class _Sheet:
    """The paper: where things stand, in inches."""

    def __init__(self, width_in: float, rows: int) -> None:
        width_in = max(width_in, _LEAST_WIDTH_IN)
        lanes_in = rows * (style.LANE_IN + _LANE_GAP_IN)
        self._width_in = width_in
        self._height_in = _TOP_IN + lanes_in + _SEQUENCE_IN + _GAP_IN + _IN_FLIGHT_IN + _BOTTOM_IN
        self._panel_in = width_in - _LEFT_IN - _LEGEND_IN
        self._rows = rows
        self.figure = Figure(figsize=(width_in, self._height_in), dpi=style.DPI, facecolor="white")
        FigureCanvasAgg(self.figure)  # measures text; pyplot would pick a window system

    @property
    def columns(self) -> int:
        """Pixels across a panel."""
        return max(1, int(self._panel_in * style.DPI))

    def axes(self) -> list[Axes]:
        """The two panels, then the lanes from the top down, all on one time axis."""
        lower = self._add(_BOTTOM_IN, _IN_FLIGHT_IN, None)
        upper = self._add(_BOTTOM_IN + _IN_FLIGHT_IN + _GAP_IN, _SEQUENCE_IN, lower)
        top_in = self._height_in - _TOP_IN
        lane_in = style.LANE_IN + _LANE_GAP_IN
        bottoms_in = [top_in - (row + 1) * lane_in + _LANE_GAP_IN for row in range(self._rows)]
        rows = [self._add(bottom_in, style.LANE_IN, lower) for bottom_in in bottoms_in]
        return [upper, lower, *rows]

    def _add(self, bottom_in: float, height_in: float, shared: Axes | None) -> Axes:
        place = (
            _LEFT_IN / self._width_in,
            bottom_in / self._height_in,
            self._panel_in / self._width_in,
            height_in / self._height_in,
        )
        return self.figure.add_axes(place, sharex=shared)

    def fits(self, line: str) -> bool:
        """Whether the second line of the title has room for it."""
        return self._width_of(line, _LOSSES_PT, "normal") <= self._width_in - _LEFT_IN

    def head(self, what: str, losses: str) -> None:
        """The title's two lines, the first in smaller letters where it is long."""
        room_in = self._width_in - _LEFT_IN - 0.1
        what_pt = _WHAT_PT * min(1.0, room_in / self._width_of(what, _WHAT_PT, "bold"))
        for text, below_in, size, weight in (
            (what, 0.30, what_pt, "bold"),
            (losses, 0.56, _LOSSES_PT, "normal"),
        ):
            self.figure.text(
                _LEFT_IN / self._width_in, 1 - below_in / self._height_in, text, fontsize=size, fontweight=weight
            )

    def _width_of(self, line: str, size: float, weight: str) -> float:
        text = Text(0, 0, line, fontsize=size, fontweight=weight, figure=self.figure)
        return float(text.get_window_extent().width) / style.DPI

    def legends(self, waits: dict[Side, list[Band]], drawn: Iterable[Axes]) -> None:
        """Beside the panels, from the top down: what each end waited for, then the lines and marks of each panel."""
        top_in = self._height_in - _TOP_IN
        for end, its_waits in waits.items():
            top_in = self._legend(f"{end} waits", _patches(its_waits), top_in)
        for axes in drawn:
            ceiling_in = axes.get_position().y1 * self._height_in
            top_in = self._legend("", panels.legend_entries(axes), min(top_in, ceiling_in))

    def _legend(self, name: str, entries: Sequence[Artist], top_in: float) -> float:
        if not entries:
            return top_in
        legend = Legend(
            self.figure,
            list(entries),
            [str(entry.get_label()) for entry in entries],
            title=name or None,
            loc="upper left",
            bbox_to_anchor=((self._width_in - _LEGEND_IN + 0.1) / self._width_in, top_in / self._height_in),
            bbox_transform=self.figure.transFigure,
            frameon=False,
            alignment="left",
            borderaxespad=0,
            borderpad=0.1,
            handlelength=1.6,
            labelspacing=0.35,
        )
        self.figure.add_artist(legend)
        return top_in - legend.get_window_extent().height / style.DPI - 0.12


def _patches(waits: list[Band]) -> list[Patch]:
    total_ns: dict[str, int] = {}
    for band in waits:
        total_ns[band.cause] = total_ns.get(band.cause, 0) + band.length_ns
    colours = {band.cause: band.cause.colour for band in waits}
    ranked = sorted(colours, key=lambda cause: -total_ns[cause])
    return [Patch(facecolor=colours[cause], label=f"{cause}  {units.duration(total_ns[cause])}") for cause in ranked]
