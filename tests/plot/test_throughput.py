"""Throughput loses no byte, and its bins are alike and about a round trip long."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tcpstall import _core
from tcpstall.model import analyze
from tcpstall.plot import series
from tcpstall.plot.series import Series, Spans, Steps
from tcpstall.plot.throughput import throughput

SLOWSTART = Path(__file__).parents[2] / "fixtures" / "slowstart-rtt7ms-512k.pcap"
S = 1_000_000_000


def of(sent: list[tuple[int, int]], acked: list[tuple[int, int]], again: list[tuple[int, int]] = []) -> Series:  # noqa: B006
    """`sent` and `again`: (time, size) of segments; `acked`: (time, level)."""
    empty, nothing = np.array([], np.int64), np.array([])
    spans, steps = Spans(empty, nothing, nothing), Steps(empty, nothing)

    def sizes(rows: list[tuple[int, int]]) -> Spans:
        low = 1 + np.cumsum([0, *(size for _, size in rows)])[:-1]
        return Spans(np.array([at for at, _ in rows], np.int64), low, low + [size for _, size in rows])

    levels = Steps(np.array([at for at, _ in acked], np.int64), np.array([float(level) for _, level in acked]))
    round_trips = series.RoundTrips(empty, nothing, empty)
    return Series(sizes(sent), sizes(again), spans, spans, levels, steps, steps, steps, steps, round_trips)


def test_each_bin_has_the_rate_of_its_round_trip() -> None:
    rates = throughput(of([(0, 1000), (500, 500), (1000, 3000)], [(1000, 1501), (2000, 4501)]), 0, 3000, 1000)
    assert rates.bin_ns == 1000
    np.testing.assert_array_equal(rates.sent.at_ns, [0, 1000, 2000, 3000])
    np.testing.assert_allclose(rates.sent.level, [1.5 * S, 3 * S, 0, np.nan])
    np.testing.assert_allclose(rates.acked.level, [0, 1.5 * S, 3 * S, np.nan])


def test_what_is_sent_again_counts_as_sent() -> None:
    rates = throughput(of([(0, 1000)], [], again=[(500, 1000)]), 0, 1000, 1000)
    assert rates.sent.level[0] == 2 * S


def test_the_first_ack_counts_from_the_first_data() -> None:
    rates = throughput(of([(0, 1000)], [(1000, 1001)]), 0, 1000, 1000)
    assert rates.acked.level[0] == S


@given(st.integers(1_000, 10**12), st.one_of(st.none(), st.integers(1, 10**10)), st.integers(1, 50))
def test_bins_are_alike_and_few(length_ns: int, rtt_ns: int | None, most: int) -> None:
    rates = throughput(of([(0, 1000)], [(length_ns, 1001)]), 0, length_ns, rtt_ns, most)
    widths = np.diff(rates.sent.at_ns)
    assert len(widths) <= most
    assert widths.max() - widths.min() <= 1
    if rtt_ns is not None:
        assert widths.min() * 1.5 + 1 >= min(rtt_ns, length_ns)
    assert np.nansum(rates.acked.level[:-1] * widths) == pytest.approx(1000 * S)


def test_the_sum_over_a_real_transfer_is_its_size() -> None:
    (flow,) = analyze(SLOWSTART)
    drawn = series.read(_core.samples([str(SLOWSTART)], [flow.id])[0], "server", flow.start_ns)
    rates = throughput(drawn, 0, flow.duration_ns, flow.base_rtt_ns)
    widths = np.diff(rates.acked.at_ns)
    for steps in (rates.sent, rates.acked):
        total = float((steps.level[:-1] * widths).sum() / S)
        assert total == pytest.approx(flow.directions["server"].bytes, abs=1)  # the FIN counts as one


def test_nothing_sent_is_a_rate_of_zero() -> None:
    rates = throughput(of([], []), 0, 5_000, 5_000)
    assert list(rates.sent.level[:-1]) == [0]


def test_where_no_time_passed_there_is_no_rate() -> None:
    rates = throughput(of([(0, 1000)], []), 0, 1, None)
    assert np.isnan(rates.sent.level).all()
