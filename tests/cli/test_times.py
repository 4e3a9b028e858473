"""Times and spans as people type them."""

import click
import pytest

from tcpstall.cli.options.quantities import MOMENT, SPAN

FIRST_NS = 1_772_361_949_051_409_000  # 2026-03-01T10:45:49.051409Z
DAY_NS = 1_772_323_200_000_000_000


@pytest.mark.parametrize(
    ("text", "ns"),
    [
        ("2026-03-01T10:45:49.051409", FIRST_NS),
        ("2026-03-01 10:45:49.051409Z", FIRST_NS),
        ("2026-03-01T12:45:49.051409+02:00", FIRST_NS),
        ("2026-03-01T05:15:49.051409-0530", FIRST_NS),
        ("2026-03-01T10:45:49.051409001", FIRST_NS + 1),
        ("2026-03-01", DAY_NS),
        ("2026-03-01T10:45", DAY_NS + 38_700 * 10**9),
        ("1772361949.051409", FIRST_NS),
        ("0", 0),
        ("10:45:49.051409", FIRST_NS),
        ("10:45", DAY_NS + 38_700 * 10**9),
        ("+1.5s", FIRST_NS + 1_500_000_000),
        ("+1.5", FIRST_NS + 1_500_000_000),
        ("+300ms", FIRST_NS + 300_000_000),
        ("+2m", FIRST_NS + 120 * 10**9),
    ],
)
def test_a_moment_is_read_as_its_writer_meant_it(text: str, ns: int) -> None:
    assert MOMENT.convert(text, None, None).resolve(FIRST_NS) == ns


@pytest.mark.parametrize(
    "text", ["", "yesterday", "10:65", "25:00:00", "2026-13-01", "+", "+x", "-5s", "10:45:49.0000000001"]
)
def test_what_is_no_time_is_refused_with_examples(text: str) -> None:
    with pytest.raises(click.BadParameter, match=r"10:45:49\.05"):
        MOMENT.convert(text, None, None)


@pytest.mark.parametrize(
    ("text", "ns"),
    [
        ("5ms", 5_000_000),
        ("1.5s", 1_500_000_000),
        ("200 us", 200_000),
        ("200µs", 200_000),
        ("0", 0),
        (".5m", 30 * 10**9),
    ],
)
def test_a_span_carries_its_unit(text: str, ns: int) -> None:
    assert SPAN.convert(text, None, None) == ns


@pytest.mark.parametrize("text", ["5", "ms", "-5ms", "5 parsecs", "1e3ms"])
def test_a_span_without_a_known_unit_is_refused(text: str) -> None:
    with pytest.raises(click.BadParameter, match="5ms"):
        SPAN.convert(text, None, None)
