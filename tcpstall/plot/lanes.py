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
    _boxes(axes, shown, view, time, tint=1.0)
    axes.set_ylim(0, 1)
    axes.set_yticks([0.5], [name])
    axes.tick_params(axis="both", length=0, labelbottom=False)
    axes.set_facecolor("#f6f6f6")
    for spine in axes.spines.values():
        spine.set_visible(False)
    for label in bands.labels(shown, view, lambda text: _width_px(axes, text)):
        axes.text(
            label.middle_ns / time.size,
            0.47,
            label.text,
            ha="center",
            va="center",
            fontsize=8,
            color=style.ink_on(label.cause.colour),
            bbox={"facecolor": label.cause.colour, "edgecolor": "none", "pad": 1.2},
        )


def tint(axes: Axes, waits: Sequence[Band], view: View, time: Scale) -> None:
    """The same bands as a light ground across a panel."""
    _boxes(axes, bands.apart(waits, view), view, time, tint=style.BAND_TINT)


def _boxes(axes: Axes, shown: Sequence[Band], view: View, time: Scale, tint: float) -> None:
    pixel_ns = view.length_ns / view.columns
    for cause in dict.fromkeys(band.cause for band in shown):
        boxes, seams = [], []
        for band in shown:
            if band.cause is cause:
                # A wait of less than a pixel still shows as one.
                end_ns = max(float(band.end_ns), band.start_ns + pixel_ns)
                left, right = band.start_ns / time.size, end_ns / time.size
                boxes.append([(left, 0), (left, 1), (right, 1), (right, 0)])
                # A white seam parts neighbours; on a narrow band it would be all there is to see.
                seams.append(0.8 if tint == 1.0 and band.length_ns > 6 * pixel_ns else 0.0)
        drawn = PolyCollection(
            boxes,
            facecolors=cause.colour,
            edgecolors="white",
            linewidths=seams,
            alpha=tint,
            zorder=0.5,
            transform=axes.get_xaxis_transform(),
            rasterized=len(boxes) > view.columns // 2,
        )
        drawn.set_label(cause.value)
        axes.add_collection(drawn, autolim=False)


def _width_px(axes: Axes, text: str) -> float:
    probe = Text(0, 0, text, fontsize=8, figure=axes.figure)
    return float(probe.get_window_extent().width)
