"""Lines that fold between words, and never between a figure and what it counts."""

from collections.abc import Iterator

from rich.console import Console, ConsoleOptions, RenderableType
from rich.measure import Measurement
from rich.padding import Padding
from rich.segment import Segment
from rich.text import Text

from tcpstall.records import record
from tcpstall.units import held

__all__ = ["whole"]

_HELD = "\ue000"
"""A character of private use that holds them together while lines are made: rich folds at any white space."""


@record(frozen=True, slots=True)
class _Whole:
    """Prints the text as rich does, with its figures whole."""

    text: Text

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[Segment]:
        text = self.text.copy()
        text.plain = held(text.plain, _HELD)
        unfolded = bool(text.no_wrap or options.no_wrap)
        lines = Text("\n").join(
            text.wrap(console, options.max_width, overflow=text.overflow or options.overflow, no_wrap=unfolded)
        )
        lines.plain = lines.plain.replace(_HELD, " ")
        yield from lines.render(console, end=text.end)

    def __rich_measure__(self, console: Console, options: ConsoleOptions) -> Measurement:
        return Measurement.get(console, options, self.text)


def whole(part: RenderableType) -> RenderableType:
    """The text, made to fold so, indented or not; any other part stays as it is."""
    if isinstance(part, Text):
        return _Whole(part)
    if isinstance(part, Padding) and isinstance(part.renderable, Text):
        indent = (part.top, part.right, part.bottom, part.left)
        return Padding(_Whole(part.renderable), indent, style=part.style, expand=part.expand)
    return part
