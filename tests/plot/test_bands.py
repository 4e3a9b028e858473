"""Names stand inside their bands and never on each other."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from tcpstall.causes import Cause
from tcpstall.plot import bands
from tcpstall.plot.bands import Band, Label
from tcpstall.plot.reduce import View

VIEW = View(start_ns=0, end_ns=1_000_000, columns=1_000)


def width_px(text: str) -> float:
    return 6.0 * len(text)


@st.composite
def rows_of_bands(draw: st.DrawFn) -> list[Band]:
    row, at_ns = [], 0
    for _ in range(draw(st.integers(0, 40))):
        start_ns = at_ns + draw(st.integers(0, 30_000))
        at_ns = start_ns + draw(st.integers(1, 200_000))
        row.append(Band(start_ns, at_ns, draw(st.sampled_from(list(Cause)[:3]))))
    return row


def ends_px(label: Label) -> tuple[float, float]:
    middle_px = label.middle_ns * VIEW.columns / VIEW.length_ns
    return middle_px - width_px(label.text) / 2, middle_px + width_px(label.text) / 2


@given(rows_of_bands())
def test_labels_do_not_overlap_and_stay_over_bands_of_their_cause(row: list[Band]) -> None:
    placed = bands.labels(row, VIEW, width_px)
    for left, right in pairwise(placed):
        assert ends_px(left)[1] < ends_px(right)[0]
    for label in placed:
        left_ns, right_ns = (edge * VIEW.length_ns / VIEW.columns for edge in ends_px(label))
        under = [band for band in row if band.start_ns < right_ns and band.end_ns > left_ns]
        assert under
        assert {band.cause for band in under} == {label.cause}


def test_wide_bands_are_each_named() -> None:
    cause = list(Cause)[1]
    row = [Band(0, 400_000, cause), Band(401_000, 800_000, cause)]
    assert [label.text for label in bands.labels(row, VIEW, width_px)] == [cause.value, cause.value]


def test_a_row_of_narrow_neighbours_is_named_once_with_their_number() -> None:
    cause = list(Cause)[1]
    row = [Band(at_ns, at_ns + 19_000, cause) for at_ns in range(0, 400_000, 20_000)]
    assert [label.text for label in bands.labels(row, VIEW, width_px)] == [f"{cause.value} × 20"]


def test_a_band_too_narrow_for_its_name_has_none() -> None:
    assert bands.labels([Band(0, 10_000, next(iter(Cause)))], VIEW, width_px) == []


def test_crowded_bands_show_the_cause_that_took_most_of_each_pixel() -> None:
    often, once = list(Cause)[1:3]
    row = [
        Band(at_ns, at_ns + (150 if at_ns % 1_000 == 500 else 90), once if at_ns % 1_000 == 500 else often)
        for at_ns in range(0, 1_000_000, 100)
        if at_ns % 1_000 != 600
    ]
    shown = bands.apart(row, VIEW)
    assert len(shown) == VIEW.columns
    assert {band.cause for band in shown} == {often}


def test_crowded_bands_are_named_without_a_number() -> None:
    cause = list(Cause)[1]
    row = [Band(at_ns, at_ns + 400, cause) for at_ns in range(0, 1_000_000, 500)]
    assert [label.text for label in bands.labels(bands.apart(row, VIEW), VIEW, width_px)] == [cause.value]


def test_a_long_band_stays_whole_among_crowded_ones() -> None:
    often, long = list(Cause)[1:3]
    row = [Band(at_ns, at_ns + 400, often) for at_ns in range(0, 500_000, 500)] + [Band(500_000, 900_000, long)]
    assert bands.apart(row, VIEW)[-1] == Band(500_000, 900_000, long)


def test_bands_are_cut_to_the_time_that_is_shown() -> None:
    cause = list(Cause)[1]
    row = [Band(0, 100, cause), Band(100, 300, cause), Band(400, 500, cause)]
    assert bands.cut(row, 200, 400) == [Band(200, 300, cause)]
