"""The sheet of a picture: places of title, lanes, panels and legends, in inches."""

from collections.abc import Iterable, Sequence

from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.legend import Legend
from matplotlib.text import Text

from tcpstall.plot import ink, style

_TOP_IN, _BOTTOM_IN, _GAP_IN = 0.78, 0.55, 0.16
_LEFT_IN, _LEGEND_IN = 0.95, 2.75
_LANE_GAP_IN = 0.04
_WHAT_PT, _BELOW_PT = 11.5, 9.5
_LEAST_WIDTH_IN = 6.0


class Sheet:
    """Panels of these heights from the top down on one horizontal axis, lanes above them, legends to their right."""

    def __init__(self, width_in: float, panels_in: Sequence[float], lanes: int = 0, left_in: float = _LEFT_IN) -> None:
        self._width_in = max(width_in, _LEAST_WIDTH_IN)
        self._left_in = left_in
        lanes_in = lanes * (style.LANE_IN + _LANE_GAP_IN)
        self._height_in = _TOP_IN + lanes_in + sum(panels_in) + _GAP_IN * (len(panels_in) - 1) + _BOTTOM_IN
        self._panel_in = self._width_in - left_in - _LEGEND_IN
        self.figure = Figure(figsize=(self._width_in, self._height_in), dpi=style.DPI, facecolor="white")
        FigureCanvasAgg(self.figure)  # measures text; pyplot would pick a window system
        self.panels = self._panels(panels_in)
        self.lanes = self._lanes(lanes)

    @property
    def columns(self) -> int:
        """Pixels across a panel."""
        return max(1, int(self._panel_in * style.DPI))

    def _panels(self, heights_in: Sequence[float]) -> list[Axes]:
        bottom_in, made = _BOTTOM_IN, list[Axes]()
        for height_in in reversed(heights_in):
            made.insert(0, self._add(bottom_in, height_in, made[-1] if made else None))
            bottom_in += height_in + _GAP_IN
        for axes in made[:-1]:
            axes.tick_params(labelbottom=False)
        return made

    def _lanes(self, count: int) -> list[Axes]:
        top_in = self._height_in - _TOP_IN
        lane_in = style.LANE_IN + _LANE_GAP_IN
        bottoms_in = [top_in - (row + 1) * lane_in + _LANE_GAP_IN for row in range(count)]
        return [self._add(bottom_in, style.LANE_IN, self.panels[-1]) for bottom_in in bottoms_in]

    def _add(self, bottom_in: float, height_in: float, shared: Axes | None) -> Axes:
        place = (
            self._left_in / self._width_in,
            bottom_in / self._height_in,
            self._panel_in / self._width_in,
            height_in / self._height_in,
        )
        return self.figure.add_axes(place, sharex=shared)

    def fits(self, line: str) -> bool:
        """True where the second line of the title has room for the text."""
        return self._width_of(line, _BELOW_PT, "normal") <= self._width_in - _LEFT_IN - 0.1

    def head(self, what: str, below: str) -> None:
        """The title's two lines, the first in smaller letters where it is long."""
        room_in = self._width_in - _LEFT_IN - 0.1
        what_pt = _WHAT_PT * min(1.0, room_in / self._width_of(what, _WHAT_PT, "bold"))
        for text, below_in, size, weight in ((what, 0.30, what_pt, "bold"), (below, 0.56, _BELOW_PT, "normal")):
            self.figure.text(
                _LEFT_IN / self._width_in, 1 - below_in / self._height_in, text, fontsize=size, fontweight=weight
            )

    def _width_of(self, line: str, size: float, weight: str) -> float:
        text = Text(0, 0, line, fontsize=size, fontweight=weight, figure=self.figure)
        return float(text.get_window_extent().width) / style.DPI

    def legends(self, groups: Iterable[tuple[str, Sequence[Artist]]]) -> None:
        """Beside the panels, from the top down: titled groups, then the lines and marks of each panel beside it."""
        top_in = self._height_in - _TOP_IN
        for name, entries in groups:
            top_in = self._legend(name, entries, top_in)
        for axes in self.panels:
            ceiling_in = axes.get_position().y1 * self._height_in
            top_in = self._legend("", ink.legend_entries(axes), min(top_in, ceiling_in))

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
