"""Units of the axes: time in µs, ms or s, bytes as bytes, kB or MB, rates in bits, chosen by how much is shown."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis


@dataclass(frozen=True)
class Scale:
    """An axis unit and how many nanoseconds or bytes it holds."""

    unit: str
    size: int


def of_time(shown_ns: float) -> Scale:
    """Milliseconds up to two seconds, then seconds; microseconds below one millisecond."""
    if shown_ns < 1_000_000:
        return Scale("µs", 1_000)
    return Scale("ms", 1_000_000) if shown_ns < 2_000_000_000 else Scale("s", 1_000_000_000)


def of_bytes(most: float) -> Scale:
    """The unit that leaves at most four digits before the point."""
    if most < 10_000:
        return Scale("bytes", 1)
    return Scale("kB", 1_000) if most < 10_000_000 else Scale("MB", 1_000_000)


def of_rate(most: float) -> Scale:
    """Bits a second for bytes a second, as links are rated."""
    if most < 125_000:
        return Scale("kbit/s", 125)
    return Scale("Mbit/s", 125_000) if most < 1_250_000_000 else Scale("Gbit/s", 125_000_000)


def ticks(axis: "Axis", most: int) -> None:
    """Round numbers with thousands separators, `most` of them."""
    from matplotlib.ticker import FuncFormatter, MaxNLocator

    axis.set_major_locator(MaxNLocator(nbins=most, steps=[1, 2, 2.5, 5, 10]))
    axis.set_major_formatter(FuncFormatter(_written))


def logarithmic(axes: "Axes") -> None:
    """The vertical axis logarithmic, with numbers at 1, 2 and 5 of each power of ten."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    axes.set_yscale("log")
    axis = axes.yaxis
    axis.set_major_locator(LogLocator(subs=(1, 2, 5), numticks=12))
    axis.set_major_formatter(FuncFormatter(_written))
    axis.set_minor_formatter(NullFormatter())


def _written(value: float, _place: int | None) -> str:
    return f"{value:,.10g}".replace("-", "−")
