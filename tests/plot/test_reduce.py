"""Reduction to pixel columns loses nothing that a pixel would have shown."""

import numpy as np
import pytest

from tcpstall.plot import reduce
from tcpstall.plot.reduce import View
from tcpstall.plot.series import Spans, Steps

VIEW = View(start_ns=0, end_ns=1_000_000, columns=50)


def many_times(count: int) -> np.ndarray:
    return np.sort(np.random.default_rng(1).integers(0, 1_000_001, count))


def by_column(at_ns: np.ndarray, level: np.ndarray) -> dict[int, np.ndarray]:
    column = VIEW.column_of(at_ns)
    return {int(one): level[column == one] for one in np.unique(column)}


def test_a_dense_step_keeps_first_lowest_highest_and_last_of_each_column() -> None:
    at_ns = many_times(20_000)
    level = np.random.default_rng(2).normal(size=20_000)

    reduced = reduce.steps_seen(Steps(at_ns, level), VIEW)

    assert len(reduced.at_ns) <= 4 * (VIEW.columns + 1)
    before, after = by_column(at_ns, level), by_column(reduced.at_ns, reduced.level)
    assert before.keys() == after.keys()
    for column, levels in before.items():
        kept = after[column]
        assert (kept[0], kept.min(), kept.max(), kept[-1]) == (levels[0], levels.min(), levels.max(), levels[-1])


def test_a_single_spike_among_a_million_points_survives() -> None:
    level = np.zeros(1_000_000)
    level[654_321] = 7.0
    reduced = reduce.steps_seen(Steps(np.arange(1_000_000), level), VIEW)
    assert reduced.level.max() == 7.0
    at_ns = reduced.at_ns[reduced.level.argmax()]
    assert VIEW.column_of(np.array([at_ns])) == VIEW.column_of(np.array([654_321]))


def test_dense_spans_keep_the_lowest_and_highest_byte_of_each_column() -> None:
    at_ns = many_times(20_000)
    low = np.random.default_rng(3).normal(size=20_000)
    spans = Spans(at_ns, low, low + 1.0)

    reduced = reduce.spans_seen(spans, VIEW)

    lows, highs = by_column(at_ns, spans.low), by_column(at_ns, spans.high)
    for at, bottom, top in zip(reduced.at_ns, reduced.low, reduced.high, strict=True):
        column = int(VIEW.column_of(np.array([at]))[0])
        assert (bottom, top) == (lows.pop(column).min(), highs.pop(column).max())
    assert not lows


def test_few_points_are_left_as_they_are() -> None:
    at_ns = np.array([10, 20, 30])
    spans = Spans(at_ns, np.array([1.0, 2.0, 3.0]), np.array([2.0, 3.0, 4.0]))
    for before, after in zip(spans, reduce.spans_seen(spans, VIEW), strict=True):
        np.testing.assert_array_equal(before, after)


def test_a_level_set_before_the_view_still_holds_at_its_left_edge() -> None:
    steps = Steps(np.array([0, 10, 500, 900]), np.array([1.0, 2.0, 3.0, 4.0]))
    seen = reduce.steps_seen(steps, View(100, 600, 50))
    np.testing.assert_array_equal(seen.level, [2.0, 3.0])


def test_an_unknown_stretch_is_never_bridged() -> None:
    level = np.ones(20_000)
    level[5_000:15_000] = np.nan
    at_ns = np.arange(20_000) * 50
    reduced = reduce.steps_seen(Steps(at_ns, level), VIEW)
    unknown = reduced.at_ns[np.isnan(reduced.level)]
    column_ns = VIEW.length_ns // VIEW.columns
    assert unknown.min() <= at_ns[5_000] + column_ns
    assert unknown.max() >= at_ns[14_999] - column_ns


def test_marks_leave_one_for_each_pixel_and_keep_the_outermost() -> None:
    at_ns = np.repeat(np.arange(0, 1_000_000, 20_000), 1_000)
    high = np.tile(np.arange(1_000.0), 50)
    marks = reduce.marks_seen(Spans(at_ns, high, high), VIEW, rows=100)
    assert len(marks.at_ns) == 50 * 100
    assert marks.high.min() == 0.0
    assert marks.high.max() == 999.0


@pytest.mark.parametrize("count", [0, 1])
def test_almost_nothing_reduces_to_itself(count: int) -> None:
    at_ns, level = np.arange(count), np.ones(count)
    assert len(reduce.steps_seen(Steps(at_ns, level), VIEW).at_ns) == count
    assert len(reduce.spans_seen(Spans(at_ns, level, level), VIEW).at_ns) == count
    assert len(reduce.marks_seen(Spans(at_ns, level, level), VIEW, rows=10).at_ns) == count
