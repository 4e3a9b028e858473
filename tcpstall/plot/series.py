"""Samples of a flow as numpy arrays about the data of one end."""

from dataclasses import dataclass
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from tcpstall import _core

Times = NDArray[np.int64]
Levels = NDArray[np.float64]
_Mask = NDArray[np.bool_]

_Scalar = TypeVar("_Scalar", bound=np.generic)

_UNKNOWN = np.iinfo(np.int64).min
_KINDS = {"data": 0, "retransmission": 1, "ack": 2, "probe": 3}
_DATA, _RETRANSMISSION, _ACK, _PROBE = range(4)


class Spans(NamedTuple):
    """Ranges of bytes, each at one time."""

    at_ns: Times
    low: Levels
    high: Levels


class Steps(NamedTuple):
    """A level that holds until the next time; NaN where it is unknown."""

    at_ns: Times
    level: Levels


class RoundTrips(NamedTuple):
    """Whole round trips that ACKs measured, each with the byte up to which its ACK reached."""

    at_ns: Times
    position: Levels
    rtt_ns: Times


@dataclass(frozen=True)
class Series:
    """Data that one end sent and ACKs for it; times in ns since the flow's start, bytes relative to its ISN."""

    data: Spans
    retransmissions: Spans
    probes: Spans
    sacks: Spans
    acked: Steps
    edge: Steps
    in_flight: Steps
    window: Steps
    cwnd: Steps
    round_trips: RoundTrips


def read(samples: _core.Table, side: str, start_ns: int) -> Series:
    """The series about the data that `side` ("client" or "server") sent."""
    columns = _Columns(samples, side, start_ns)
    own, kind = columns.own, columns.kind
    bytes_ = columns.known("bytes")
    seq = columns.known("seq")
    sack_left, sack_right = columns.known("sack_left"), columns.known("sack_right")
    ack = columns.known("ack")
    edge = columns.known("edge")

    # A pure ACK's row tells of the data it acknowledges, any other row of its own sender's data.
    about = own != (kind == _ACK)
    acking = ~own & ~np.isnan(ack)
    acked = np.fmax.accumulate(np.where(acking, ack, np.nan)) if len(ack) else ack
    window = np.maximum(edge - acked, 0)
    rtt_ns = columns.known("rtt_ns")
    measured = about & ~np.isnan(rtt_ns)

    def spans(chosen: _Mask, low: Levels, high: Levels) -> Spans:
        return Spans(columns.at_ns[chosen], low[chosen], high[chosen])

    def steps(chosen: _Mask, level: Levels) -> Steps:
        return Steps(columns.at_ns[chosen], level[chosen])

    return Series(
        data=spans(own & (kind == _DATA), seq, seq + bytes_),
        retransmissions=spans(own & (kind == _RETRANSMISSION), seq, seq + bytes_),
        probes=spans(own & (kind == _PROBE), seq, seq + bytes_),
        sacks=spans(~own & ~np.isnan(sack_left) & ~np.isnan(sack_right), sack_left, sack_right),
        acked=steps(acking, acked),
        edge=steps(about, edge),
        in_flight=steps(about, columns.known("in_flight_bytes")),
        window=steps(about, window),
        cwnd=steps(about, columns.known("cwnd_bytes")),
        round_trips=RoundTrips(columns.at_ns[measured], acked[measured], rtt_ns[measured].astype(np.int64)),
    )


class _Columns:
    """The table's columns in order of time."""

    def __init__(self, samples: _core.Table, side: str, start_ns: int) -> None:
        self._samples = samples
        at_ns = np.frombuffer(samples.int64("time_ns"), np.int64) - start_ns
        # Capture files may hold packets slightly out of order; a step function may not.
        self._order = None if bool(np.all(at_ns[1:] >= at_ns[:-1])) else np.argsort(at_ns, kind="stable")
        self.at_ns = self._sorted(at_ns)
        self.own: _Mask = self._sorted(np.fromiter(map(side.__eq__, samples.column("sender")), np.bool_, len(samples)))
        codes = np.fromiter(map(_KINDS.__getitem__, samples.column("kind")), np.int8, len(samples))
        self.kind: NDArray[np.int8] = self._sorted(codes)

    def known(self, name: str) -> Levels:
        """An integer column as floats, NaN where unknown."""
        raw = np.frombuffer(self._samples.int64(name), np.int64)
        level = raw.astype(np.float64)
        level[raw == _UNKNOWN] = np.nan
        return self._sorted(level)

    def _sorted(self, column: NDArray[_Scalar]) -> NDArray[_Scalar]:
        return column if self._order is None else column[self._order]
