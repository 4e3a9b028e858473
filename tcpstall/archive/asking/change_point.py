"""Detects whether and since when a series of sums is higher than before."""

from collections.abc import Sequence
from itertools import accumulate

__all__ = ["changed"]

_LEAST = 1.5
"""A level that is not half as high again is no change worth telling."""

_LASTING = 3
"""Least number of values on either side: one alone is a spike."""

_CERTAIN = 5.0
"""The rise between both levels, in standard errors: of hundreds of series some come to 3 by chance."""


def changed(series: Sequence[int]) -> int | None:
    """The number from which on the level is certainly higher, to the end; None if there is none."""
    count, whole = len(series), sum(series)
    best, at = 0.0, 0
    for index, before in enumerate(accumulate(series[:-1]), start=1):
        rise = (whole - before) / (count - index) - before / index
        if min(index, count - index) < _LASTING:
            continue
        gain = rise * (index * (count - index)) ** 0.5
        if gain > best:
            best, at = gain, index
    if not at:
        return None
    low, high = sum(series[:at]) / at, sum(series[at:]) / (count - at)
    if high < _LEAST * low or high - low < _CERTAIN * _error(series, at, low, high):
        return None
    return at


def _error(series: Sequence[int], at: int, before: float, after: float) -> float:
    """The standard error of the rise."""
    spread = sum((value - before) ** 2 for value in series[:at]) + sum((value - after) ** 2 for value in series[at:])
    variance = spread / max(1, len(series) - 2)
    return float((variance * (1 / at + 1 / (len(series) - at))) ** 0.5)
