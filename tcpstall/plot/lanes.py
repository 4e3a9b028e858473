"""The rows of coloured bands above the panels: one for each end that waited, with the causes' names."""

from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.collections import PolyCollection
from matplotlib.text import Text

from tcpstall.plot import bands, style
from tcpstall.plot.bands import Band
from tcpstall.plot.reduce import View
from tcpstall.plot.scale import Scale


def draw(axes: Axes, waits: Sequence[Band], view: View, time: Scale, name: str) -> None:
    """A lane of solid bands with their names in them."""
    axes.set_label(name)
    shown = bands.apart(waits, view)
    boxes(axes, shown, view, time, tint=1.0)
    axes.set_ylim(0, 1)
    axes.set_yticks([0.5], [name])
    axes.tick_params(axis="both", length=0, labelbottom=False)
    axes.set_facecolor("#f6f6f6")
    for spine in axes.spines.values():
        spine.set_visible(False)
    names(axes, shown, view, time, 0.47)


def names(axes: Axes, shown: Sequence[Band], view: View, time: Scale, at: float, size_pt: float = 8) -> None:
    """The causes' names in the bands that have room for them, at that height."""
    for label in bands.labels(shown, view, lambda text: _width_px(axes, text, size_pt)):
        axes.text(
            label.middle_ns / time.size,
            at,
            label.text,
            ha="center",
            va="center",
            fontsize=size_pt,
            color=style.ink_on(label.cause.colour),
            bbox={"facecolor": label.cause.colour, "edgecolor": "none", "pad": 1.2},
        )


def tint(axes: Axes, waits: Sequence[Band], view: View, time: Scale) -> None:
    """The same bands as a light ground across a panel."""
    boxes(axes, bands.apart(waits, view), view, time, tint=style.BAND_TINT)


def boxes(
    axes: Axes, shown: Sequence[Band], view: View, time: Scale, tint: float, row: tuple[float, float] | None = None
) -> None:
    """Bands from top to bottom, or between the two heights of a `row`."""
    bottom, top = row or (0.0, 1.0)
    pixel_ns = view.length_ns / view.columns
    for cause in dict.fromkeys(band.cause for band in shown):
        corners, seams = [], []
        for band in shown:
            if band.cause is cause:
                # A wait of less than a pixel still shows as one.
                end_ns = max(float(band.end_ns), band.start_ns + pixel_ns)
                left, right = band.start_ns / time.size, end_ns / time.size
                corners.append([(left, bottom), (left, top), (right, top), (right, bottom)])
                # A white seam parts neighbours; on a narrow band it would be all there is to see.
                seams.append(0.8 if tint == 1.0 and band.length_ns > 6 * pixel_ns else 0.0)
        drawn = PolyCollection(
            corners,
            facecolors=cause.colour,
            edgecolors="white",
            linewidths=seams,
            alpha=tint,
            zorder=0.5 if row is None else 2,
            transform=axes.get_xaxis_transform() if row is None else axes.transData,
            rasterized=len(corners) > view.columns // 2,
        )
        drawn.set_label(cause.value)
        axes.add_collection(drawn, autolim=False)


def _width_px(axes: Axes, text: str, size_pt: float) -> float:
    probe = Text(0, 0, text, fontsize=size_pt, figure=axes.figure)
    return float(probe.get_window_extent().width)
