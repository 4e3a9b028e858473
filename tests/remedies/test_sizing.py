"""Sizes are computed as documented, and hold what they are for."""

import math

from hypothesis import given
from hypothesis import strategies as st

from tcpstall.advice import sizing

MS = 1_000_000
MSS = 1_448
sizes = st.integers(min_value=1, max_value=1 << 32)
segments = st.integers(min_value=88, max_value=65_483)


def test_a_bandwidth_delay_product_is_rate_times_round_trip() -> None:
    assert sizing.bdp_bytes(12_500_000, 20 * MS) == 250_000
    assert sizing.bdp_bytes(1, 1) == 1


def test_linux_autotuning_reaches_what_fresh_sockets_show() -> None:
    # `tb` of a fresh socket with ten segments of an initial window, as ss prints it.
    assert sizing.tcp_wmem_max_for(10 * MSS, MSS) == 87_040
    # Over loopback with BBR, which holds three windows instead of two.
    assert sizing.tcp_wmem_max_for(10 * 65_483, 65_483) * 3 // 2 == 3_939_840


def test_a_send_buffer_holds_the_flight_while_the_writer_sleeps() -> None:
    # 16 KB asked for, one segment a buffer: 21,720 bytes were in flight on Linux 6.18 when the writer was asleep.
    asked = sizing.so_sndbuf_for(21_720, MSS)
    assert asked == math.ceil(15 * (MSS + 832) * 3 / 4)
    assert asked > 16_384


@given(flight=sizes, mss=segments)
def test_two_thirds_of_a_doubled_send_buffer_hold_the_flight(flight: int, mss: int) -> None:
    doubled = 2 * sizing.so_sndbuf_for(flight, mss)
    assert doubled * 2 / 3 >= sizing.segments_in(flight, mss) * (mss + sizing.SEGMENT_OVERHEAD)


@given(flight=sizes, more=sizes, mss=segments)
def test_more_in_flight_never_needs_less(flight: int, more: int, mss: int) -> None:
    assert sizing.so_sndbuf_for(flight, mss) <= sizing.so_sndbuf_for(flight + more, mss)
    assert sizing.tcp_wmem_max_for(flight, mss) <= sizing.tcp_wmem_max_for(flight + more, mss)


def test_half_of_a_receive_buffer_becomes_window() -> None:
    assert sizing.so_rcvbuf_for(65_536) == 65_536  # it is doubled
    assert sizing.tcp_rmem_max_for(65_536) == 131_072  # it is not


def test_a_scale_holds_the_window_that_a_rate_needs() -> None:
    assert sizing.sizes_for(12_500_000, 20 * MS, MSS).window_scale == 2
    assert sizing.sizes_for(1_000_000, 1 * MS, MSS).window_scale == 0
    assert sizing.largest_window(None) == sizing.largest_window(0) == 65_535
    assert sizing.largest_window(200) == 65_535 << 14


def test_the_window_binds_before_the_response_is_out() -> None:
    fit = sizing.fitting_initcwnd(524_583, MSS, window_bytes=65_160)
    assert (fit.segments, fit.bound, fit.response_segments) == (45, "window", 363)


def test_a_response_that_fits_needs_no_larger_window() -> None:
    fit = sizing.fitting_initcwnd(30_000, MSS, window_bytes=65_160)
    assert (fit.segments, fit.bound) == (21, "response")


def test_more_than_the_path_holds_is_not_suggested() -> None:
    fit = sizing.fitting_initcwnd(524_583, MSS, window_bytes=1 << 20, path_bdp_bytes=29_000)
    assert (fit.segments, fit.bound) == (21, "path")


def test_a_short_path_still_starts_with_ten() -> None:
    assert sizing.fitting_initcwnd(524_583, MSS, path_bdp_bytes=1_000).segments == 10


def test_no_burst_beyond_a_hundred_where_nothing_is_known() -> None:
    fit = sizing.fitting_initcwnd(22_000_000, MSS)
    assert (fit.segments, fit.bound) == (100, "burst")


@given(size=sizes, mss=segments, window=st.none() | sizes, path=st.none() | sizes)
def test_an_initial_window_keeps_to_every_limit(size: int, mss: int, window: int | None, path: int | None) -> None:
    fit = sizing.fitting_initcwnd(size, mss, window_bytes=window, path_bdp_bytes=path)
    assert 1 <= fit.segments <= fit.response_segments
    if window is not None:
        assert fit.segments <= max(1, window // mss)
    if path is not None:
        assert fit.segments <= max(10, sizing.segments_in(path, mss))


def test_slow_start_waits_once_a_doubling() -> None:
    assert sizing.slow_start_rounds(14_480, MSS, 10) == 0
    assert sizing.slow_start_rounds(14_481, MSS, 10) == 1
    assert sizing.slow_start_rounds(524_583, MSS, 10) == 5
    assert sizing.slow_start_rounds(30_000, MSS, 21) == 0


@given(size=sizes, initial=st.integers(min_value=-1, max_value=1 << 20))
def test_a_larger_start_never_costs_a_round_trip(size: int, initial: int) -> None:
    rounds = sizing.slow_start_rounds(size, MSS, initial)
    assert 0 <= sizing.slow_start_rounds(size, MSS, max(1, initial) * 2) <= rounds <= 40


@given(st.integers(min_value=-5, max_value=10_000))
def test_windows_takes_even_numbers_from_2_to_64(count: int) -> None:
    taken = sizing.windows_initcwnd(count)
    assert 2 <= taken <= 64
    assert taken % 2 == 0
    assert taken >= min(count, 64)


def test_a_window_without_a_round_trip_has_no_rate() -> None:
    assert sizing.rate_bytes_per_s(65_535, 0) is None
    assert sizing.rate_bytes_per_s(65_535, 100 * MS) == 655_350


def test_no_buffer_is_asked_for_that_is_smaller_than_a_fresh_socket_has() -> None:
    assert [sizing.so_sndbuf_for(size, MSS) for size in (506, 10_000)] == [16_384, 16_384]
    assert [sizing.so_rcvbuf_for(size) for size in (506, 16_384, 307_800)] == [16_384, 16_384, 307_800]


@given(rate=st.integers(0, 1 << 40))
def test_a_faster_link_is_one_that_is_sold_and_twice_as_fast(rate: int) -> None:
    link = sizing.faster_link(rate) * 8
    assert max(2 * 8 * rate, 1_000_000) <= link <= max(1_000_000, 5 * 8 * rate)
    assert str(link).rstrip("0") in {"1", "2", "5"}
