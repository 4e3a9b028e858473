"""Numbers beside and below a raster."""

from collections.abc import Callable, Iterator, Sequence

from rich.text import Text

from tcpstall import units
from tcpstall.plot.terminal.screen import Screen

__all__ = ["GUTTER", "below", "beside", "round_levels"]

GUTTER = 12
"""Columns left of a raster: a number with its unit."""

_STEPS = (1, 2, 5, 10)


def round_levels(low: float, high: float, most: int) -> list[int]:
    """Round numbers between, no more than `most`."""
    span = max(high - low, 1.0)
    power = 1
    while True:
        for step in _STEPS:
            if span / (step * power) <= most:
                first = -(-int(low) // (step * power)) * step * power
                return list(range(first, int(high) + 1, step * power))
        power *= 10


def beside(
    lines: Sequence[Text], low: float, high: float, name: Callable[[int], str], screen: Screen
) -> Iterator[Text]:
    """The lines with numbers to their left, where round ones fall."""
    rows = len(lines)
    told: dict[int, str] = {}
    for level in round_levels(low, high, max(3, rows // 3)):
        told[round((high - level) / max(high - low, 1e-9) * (rows - 1))] = name(level)
    bar, tick = ("│", "┤") if screen.unicode else ("|", "+")
    for row, line in enumerate(lines):
        number = screen.shown(told.get(row, ""))
        number = number if len(number) < GUTTER else ""
        yield Text.assemble((f"{number:>{GUTTER - 1}}", "dim"), (tick if number else bar, "dim"), line, no_wrap=True)


def below(start: int, end: int, name: Callable[[int], str], screen: Screen, what: str) -> Iterator[Text]:
    """The horizontal axis and what it counts."""
    columns = screen.columns(GUTTER)
    line, tick = ("─", "┬") if screen.unicode else ("-", "+")
    axis, numbers = [line] * columns, [" "] * (columns + GUTTER)
    free = 0
    for level in round_levels(start, end, columns // 14):
        column = min(columns - 1, round((level - start) / max(end - start, 1) * columns))
        number = screen.shown(name(level))
        at = min(GUTTER + column - len(number) // 2, columns + GUTTER - len(number))
        if at < free:
            continue
        axis[column] = tick
        numbers[at : at + len(number)] = number
        free = at + len(number) + 2
    corner = "└" if screen.unicode else "+"
    yield Text(f"{'':{GUTTER - 1}}{corner}{''.join(axis)}", "dim", no_wrap=True)
    yield Text("".join(numbers).rstrip(), "dim", no_wrap=True)
    yield screen.text(f"{'':{GUTTER}}{what}", "dim")


def short(text: str) -> str:
    """Without a needless fraction: `500.0 kB` as `500 kB`."""
    return text.replace(".0 ", " ").replace(".00 ", " ")


def in_time(span_ns: int) -> str:
    """A duration on an axis."""
    return "0" if span_ns == 0 else short(units.duration(span_ns))


def in_bytes(size: int) -> str:
    """A size on an axis."""
    return "0" if size == 0 else short(units.size(size)).replace(" bytes", " B")


def in_rate(bytes_per_s: int) -> str:
    """A rate on an axis."""
    return "0" if bytes_per_s == 0 else short(units.rate(bytes_per_s, 1_000_000_000))
