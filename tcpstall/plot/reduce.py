"""Reduction of long series to the pixel columns of a picture, extremes kept."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tcpstall.plot.series import Levels, Spans, Steps, Times


@dataclass(frozen=True)
class View:
    """The stretch of time that is drawn, ns since the flow's start, and how many pixels wide."""

    start_ns: int
    end_ns: int
    columns: int

    def column_of(self, at_ns: Times) -> NDArray[np.int64]:
        """The pixel column of each time; times outside the view lie left or right of the picture."""
        return ((at_ns - self.start_ns) * (self.columns / self.length_ns)).astype(np.int64)

    @property
    def length_ns(self) -> int:
        """Length of the stretch; never 0, so that a flow of one packet has a picture too."""
        return max(1, self.end_ns - self.start_ns)


def spans_seen(spans: Spans, view: View) -> Spans:
    """The spans inside the view; dense ones as one a column, from its lowest to its highest byte."""
    first, last = np.searchsorted(spans.at_ns, [view.start_ns, view.end_ns + 1])
    seen = Spans(spans.at_ns[first:last], spans.low[first:last], spans.high[first:last])
    if not is_dense(seen.at_ns, view):
        return seen
    heads = _column_heads(seen.at_ns, view)
    return Spans(seen.at_ns[heads], np.minimum.reduceat(seen.low, heads), np.maximum.reduceat(seen.high, heads))


def steps_seen(steps: Steps, view: View) -> Steps:
    """The steps that shape the view, the level at its left edge included.

    Dense ones become the first, lowest, highest and last of each column.
    """
    first, last = np.searchsorted(steps.at_ns, [view.start_ns, view.end_ns + 1])
    first = max(0, int(first) - 1)
    at_ns, level = steps.at_ns[first:last], steps.level[first:last]
    if not is_dense(at_ns, view):
        return Steps(at_ns, level)
    heads = _column_heads(at_ns, view)
    tails = np.append(heads[1:], len(at_ns)) - 1
    lowest, highest = np.fmin.reduceat(level, heads), np.fmax.reduceat(level, heads)
    levels = np.column_stack([level[heads], lowest, highest, level[tails]])
    times = np.column_stack([at_ns[heads], at_ns[heads], at_ns[tails], at_ns[tails]])
    return Steps(times.ravel(), levels.ravel())


def marks_seen(marks: Spans, view: View, rows: int) -> Spans:
    """The marks inside the view, one for each pixel that would be covered anyway."""
    first, last = np.searchsorted(marks.at_ns, [view.start_ns, view.end_ns + 1])
    seen = Spans(marks.at_ns[first:last], marks.low[first:last], marks.high[first:last])
    if not is_dense(seen.at_ns, view):
        return seen
    rows_of = _row_of(seen.high, rows)
    _, kept = np.unique(view.column_of(seen.at_ns) * rows + rows_of, return_index=True)
    kept.sort()
    return Spans(seen.at_ns[kept], seen.low[kept], seen.high[kept])


def is_dense(at_ns: Times, view: View) -> bool:
    """More points than the pixel columns can show apart."""
    return len(at_ns) > 2 * view.columns


def _column_heads(at_ns: Times, view: View) -> NDArray[np.intp]:
    column = view.column_of(at_ns)
    return np.flatnonzero(np.concatenate([[True], column[1:] != column[:-1]]))


def _row_of(level: Levels, rows: int) -> NDArray[np.int64]:
    low, high = float(level.min()), float(level.max())
    row: NDArray[np.int64] = ((level - low) * ((rows - 1) / max(1.0, high - low))).astype(np.int64)
    return row
