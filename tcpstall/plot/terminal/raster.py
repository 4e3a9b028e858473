"""A grid of dots, eight to a character, in layers of which the later ones lie above."""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from rich.text import Text

from tcpstall.plot.reduce import View
from tcpstall.plot.series import Levels, Spans, Steps

__all__ = ["Raster"]

_BRAILLE = 0x2800
_BITS = np.array([[0x01, 0x08], [0x02, 0x10], [0x04, 0x20], [0x40, 0x80]])
"""Unicode 15 §21.1: dots 1 to 3 and 7 go down the left column, 4 to 6 and 8 down the right."""

_DASH = 4
"""Dots of a dash and its gap together."""


@dataclass
class _Layer:
    dots: NDArray[np.bool_]
    style: str
    sign: str


@dataclass
class Raster:
    """Levels from `low` to `high` over `view`, `rows` lines of `columns` characters: dots with `unicode` or signs."""

    rows: int
    columns: int
    low: float
    high: float
    start: int
    end: int
    unicode: bool
    _layers: list[_Layer] = field(default_factory=list)
    _marks: dict[tuple[int, int], tuple[str, str]] = field(default_factory=dict)

    @property
    def view(self) -> View:
        """The stretch, in columns of dots."""
        return View(self.start, self.end, self.columns * self._across)

    @property
    def _across(self) -> int:
        return 2 if self.unicode else 1

    @property
    def _down(self) -> int:
        return 4 if self.unicode else 1

    def step(self, steps: Steps, style: str, sign: str, *, dashed: bool = False) -> None:
        """A level that holds, over all that it reaches in each column."""
        low, high = _extremes(steps, self.view)
        layer = self._layer(style, sign)
        for column in np.flatnonzero(~np.isnan(low)):
            if not dashed or not self.unicode or column % _DASH < _DASH // 2 or high[column] > low[column]:
                self._stroke(layer, int(column), low[column], high[column])

    def strokes(self, spans: Spans, style: str, sign: str) -> None:
        """Vertical strokes."""
        layer = self._layer(style, sign)
        inside = (spans.at_ns >= self.start) & (spans.at_ns <= self.end)
        columns = np.minimum(self.view.column_of(spans.at_ns[inside]), self.view.columns - 1)
        for column, low, high in zip(columns, spans.low[inside], spans.high[inside], strict=True):
            self._stroke(layer, int(column), low, high)

    def marks(self, spans: Spans, style: str, sign: str) -> None:
        """A character of its own at each, above everything."""
        inside = (spans.at_ns >= self.start) & (spans.at_ns <= self.end)
        columns = np.minimum(self.view.column_of(spans.at_ns[inside]), self.view.columns - 1) // self._across
        levels = (spans.low[inside] + spans.high[inside]) / 2
        for column, level in zip(columns, levels, strict=True):
            self._marks[self._row_of(level) // self._down, int(column)] = (sign, style)

    def lines(self) -> list[Text]:
        """From the top down, each as wide as the raster."""
        return [self._line(row) for row in range(self.rows)]

    def _layer(self, style: str, sign: str) -> _Layer:
        made = _Layer(np.zeros((self.rows * self._down, self.columns * self._across), np.bool_), style, sign)
        self._layers.append(made)
        return made

    def _stroke(self, layer: _Layer, column: int, low: float, high: float) -> None:
        if np.isnan(low) or np.isnan(high) or low > self.high or high < self.low:
            return
        layer.dots[self._row_of(min(high, self.high)) : self._row_of(max(low, self.low)) + 1, column] = True

    def _row_of(self, level: float) -> int:
        """From the top."""
        last = self.rows * self._down - 1
        share = (level - self.low) / max(self.high - self.low, 1e-9)
        return min(last, max(0, last - round(share * last)))

    def _line(self, row: int) -> Text:
        text = Text(no_wrap=True)
        top = row * self._down
        block = [layer.dots[top : top + self._down] for layer in self._layers]
        for column in range(self.columns):
            if mark := self._marks.get((row, column)):
                text.append(*mark)
                continue
            left = column * self._across
            cells = [dots[:, left : left + self._across] for dots in block]
            seen = [place for place, cell in enumerate(cells) if cell.any()]
            if not seen:
                text.append(" ")
                continue
            above = self._layers[seen[-1]]
            text.append(_braille(cells) if self.unicode else above.sign, above.style)
        return text


def _braille(cells: list[NDArray[np.bool_]]) -> str:
    return chr(_BRAILLE + int(_BITS[np.logical_or.reduce(cells)].sum()))


def _extremes(steps: Steps, view: View) -> tuple[Levels, Levels]:
    """The lowest and highest level in each column, the one held from before included; NaN where none is known."""
    edges = view.start_ns + np.arange(view.columns) * (view.length_ns / view.columns)
    before = np.searchsorted(steps.at_ns, edges, side="left") - 1
    held = np.where(before >= 0, steps.level[before] if len(steps.level) else np.nan, np.nan)
    low, high = held.copy(), held.copy()
    inside = (steps.at_ns >= view.start_ns) & (steps.at_ns <= view.end_ns)
    columns = np.minimum(view.column_of(steps.at_ns[inside]), view.columns - 1)
    np.fmin.at(low, columns, steps.level[inside])
    np.fmax.at(high, columns, steps.level[inside])
    return low, high
