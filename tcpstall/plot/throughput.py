"""Bytes a second over the time of a flow, in bins of about a round trip."""

from typing import NamedTuple

import numpy as np

from tcpstall.plot.series import Levels, Series, Steps, Times

_S = 1_000_000_000

_LEAST_NS = 1_000
"""A flow of one packet, or of several that a clock stamped alike, has no rate."""

_BINS_WITHOUT_ROUND_TRIP = 200

MOST_BINS = 400
"""Most bins: more would show the bursts of single round trips as one grey area."""


class Throughput(NamedTuple):
    """Bytes a second of payload: what left the sender, repairs included, and what the peer acknowledged."""

    bin_ns: int
    sent: Steps
    acked: Steps


def throughput(
    series: Series, start_ns: int, end_ns: int, base_rtt_ns: int | None, most_bins: int = MOST_BINS
) -> Throughput:
    """The rates between two times in ns since the flow's start.

    A bin is a base round trip long, so that a window's worth of data is never cut into burst and pause; longer where
    there would be more than `most_bins`. The bins are of one length and end where the interval ends: a shorter last one
    would show a rate that never was. After the last bin the level is unknown, and everywhere where no time passed.
    """
    length_ns = max(1, end_ns - start_ns)
    wanted = length_ns / base_rtt_ns if base_rtt_ns else _BINS_WITHOUT_ROUND_TRIP
    bins = max(1, min(round(wanted), most_bins, length_ns))
    edges_ns = np.linspace(start_ns, start_ns + length_ns, bins + 1).astype(np.int64)
    data, again, acked = series.data, series.retransmissions, series.acked
    sent_ns = np.concatenate([data.at_ns, again.at_ns])
    sent_bytes = np.concatenate([data.high - data.low, again.high - again.low])
    return Throughput(
        bin_ns=length_ns // bins,
        sent=_rates(sent_ns, sent_bytes, edges_ns),
        acked=_rates(acked.at_ns, _newly_acked(series), edges_ns),
    )


def _newly_acked(series: Series) -> Levels:
    """Bytes that each ACK acknowledged beyond earlier ACKs."""
    level = series.acked.level
    if not len(level):
        return level
    # The first ACK in the capture counts from the first data in it, which an ACK of the client's request may cover.
    first = min([*series.data.low[:1], level[0]])
    return np.diff(level, prepend=first)


def _rates(at_ns: Times, size_bytes: Levels, edges_ns: Times) -> Steps:
    if edges_ns[-1] - edges_ns[0] < _LEAST_NS:
        return Steps(edges_ns, np.full(len(edges_ns), np.nan))
    summed, _ = np.histogram(at_ns, bins=edges_ns, weights=size_bytes)
    return Steps(edges_ns, np.append(summed * _S / np.diff(edges_ns), np.nan))
