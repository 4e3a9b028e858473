"""Units of the axes: time in ms or s, bytes as B, kB or MB, chosen by how much is shown."""

from dataclasses import dataclass

from matplotlib.axis import Axis
from matplotlib.ticker import FuncFormatter, MaxNLocator


@dataclass(frozen=True)
class Scale:
    """An axis unit and how many nanoseconds or bytes it holds."""

    unit: str
    size: int


def of_time(shown_ns: int) -> Scale:
    """Milliseconds up to two seconds, then seconds."""
    return Scale("ms", 1_000_000) if shown_ns < 2_000_000_000 else Scale("s", 1_000_000_000)


def of_bytes(most: float) -> Scale:
    """The unit that leaves at most four digits before the point."""
    if most < 10_000:
        return Scale("bytes", 1)
    return Scale("kB", 1_000) if most < 10_000_000 else Scale("MB", 1_000_000)


def ticks(axis: Axis, most: int) -> None:
    """Round numbers with thousands separators, `most` of them."""
    axis.set_major_locator(MaxNLocator(nbins=most, steps=[1, 2, 2.5, 5, 10]))
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.10g}".replace("-", "−")))
