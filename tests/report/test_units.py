"""Rounding, in the one place where it happens."""

import re
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tcpstall import units
from tcpstall.cli.options.quantities import SIZE
from tcpstall.whatif import change

MS = 1_000_000
S = 1000 * MS


@pytest.mark.parametrize(
    ("ns", "text"),
    [
        (0, "0 ns"),
        (999, "999 ns"),
        (149_000, "149 µs"),
        (999_499, "999 µs"),
        (999_500, "1.0 ms"),
        (6_858_000, "6.9 ms"),
        (42_350_000, "42.4 ms"),
        (999_949_999, "999.9 ms"),
        (999_950_000, "1.00 s"),
        (9_993 * MS, "9.99 s"),
        (59_995 * MS, "1 min 00 s"),
        (125 * S, "2 min 05 s"),
        (3600 * S, "1 h 00 min"),
        (11_220 * S, "3 h 07 min"),
        (187_200 * S, "2 d 4 h"),
        (-7_124_000, "-7.1 ms"),
    ],
)
def test_a_duration_has_the_digits_that_a_reader_needs(ns: int, text: str) -> None:
    assert units.duration(ns) == text


@pytest.mark.parametrize(
    ("ns", "text"), [(7_124_000, "7.124 ms"), (149_000, "0.149 ms"), (9_993 * MS, "9.993 s"), (350, "350 ns")]
)
def test_an_exact_span_goes_to_the_microsecond(ns: int, text: str) -> None:
    assert units.exact(ns) == text


@given(st.integers(0, 10**18))
def test_no_span_ever_reads_1000_or_60_of_a_unit(ns: int) -> None:
    for text in (units.duration(ns), units.exact(ns)):
        assert not re.match(r"1,?000(\.0+)? (ns|µs|ms)", text)
        assert not re.search(r"\b60(\.0+)? (s|min)\b", text)
        assert not re.search(r"\b24 h\b", text)


@pytest.mark.parametrize(
    ("part", "whole", "text"),
    [(42_350, 63_063, "67 %"), (1, 1000, "<1 %"), (0, 5, "0 %"), (999, 1000, ">99 %"), (5, 5, "100 %"), (1, 0, "0 %")],
)
def test_a_share_is_never_rounded_to_nothing_or_all(part: int, whole: int, text: str) -> None:
    assert units.percent(part, whole) == text


@given(st.datetimes(min_value=datetime(1970, 1, 1), max_value=datetime(2400, 1, 1)))
def test_clock_and_date_agree_with_the_calendar(moment: datetime) -> None:
    since = moment.replace(tzinfo=UTC) - datetime(1970, 1, 1, tzinfo=UTC)
    ns = (since.days * 86_400 + since.seconds) * S + since.microseconds * 1000
    assert units.clock(ns) == f"{moment:%H:%M:%S.%f}"
    assert units.date(ns) == moment.date().isoformat()


def test_the_clock_of_hostile_times_does_not_fail() -> None:
    for ns in (-1, -(2**63), 2**63 - 1):
        assert units.clock(ns)
        assert units.date(ns)


@pytest.mark.parametrize(("value", "text"), [(1, "once"), (2, "twice"), (3, "3 times"), (1200, "1,200 times")])
def test_how_often_is_a_word_where_there_is_one(value: int, text: str) -> None:
    assert units.times(value) == text


def test_counts_agree_with_their_nouns() -> None:
    assert (units.counted(1, "stall"), units.counted(1234, "stall")) == ("1 stall", "1,234 stalls")


@pytest.mark.parametrize(
    ("size", "ns", "text"),
    [(524_583, 63_063_000, "66.5 Mbit/s"), (10, S, "80 bit/s"), (5, 0, "–"), (10**9, S, "8.0 Gbit/s")],
)
def test_a_rate_is_in_bits(size: int, ns: int, text: str) -> None:
    assert units.rate(size, ns) == text


def test_an_offset_is_in_seconds_to_the_microsecond() -> None:
    assert (units.offset(10_381_000), units.offset(-1_000)) == ("+0.010381", "-0.000001")


@pytest.mark.parametrize(
    ("value", "text"),
    [(0, "0 bytes"), (1, "1 byte"), (724, "724 bytes"), (8_688, "8.7 kB"), (999_949, "999.9 kB"), (999_950, "1.0 MB")],
)
def test_a_size_has_one_decimal_from_a_kilobyte_on(value: int, text: str) -> None:
    assert units.size(value) == text


@pytest.mark.parametrize(
    ("low", "high", "text"),
    [(5_792, 8_688, "5.8–8.7 kB"), (724, 2_896, "0.7–2.9 kB"), (100, 700, "100–700 bytes"), (8_688, 8_688, "8.7 kB")],
)
def test_a_range_is_told_in_the_unit_of_its_larger_end(low: int, high: int, text: str) -> None:
    assert units.size_range(low, high) == text


def test_a_rate_of_bytes_a_second_is_told_in_bits() -> None:
    assert [units.per_second(value) for value in (40, 217_140, 1_632_539)] == ["320 bit/s", "1.7 Mbit/s", "13.1 Mbit/s"]


@pytest.mark.parametrize(
    ("value", "said"), [(0.956, "96 %"), (1.04, "104 %"), (0.001, "<1 %"), (0.0, "0 %"), (1.0, "100 %")]
)
def test_a_share(value: float, said: str) -> None:
    assert units.share(value) == said


@pytest.mark.parametrize(
    ("written", "size"),
    [
        ("16384", 16_384),
        ("256K", 262_144),
        ("256k", 262_144),
        ("64KiB", 65_536),
        ("64kB", 64_000),
        (" 1.5 GB ", 1_500_000_000),
        ("1T", 1 << 40),
        ("600b", 600),
        ("", None),
        ("K", None),
        ("16Kbit", None),
        ("-1", None),
    ],
)
def test_a_size_is_binary_unless_it_ends_in_bytes(written: str, size: int | None) -> None:
    assert units.read_size(written) == size


def test_options_and_changes_read_sizes_alike() -> None:
    for written in ("256K", "256kB", "256KiB", "1.5M", "16384"):
        assert SIZE.convert(written, None, None) == change(f"sndbuf={written}").value == units.read_size(written)


@given(st.integers(min_value=0, max_value=1 << 50))
def test_a_size_that_is_shown_is_read_as_shown(size: int) -> None:
    shown = units.size(size).replace(",", "").removesuffix("ytes").removesuffix("yte")
    assert units.read_size(shown) == pytest.approx(size, rel=0.05)
