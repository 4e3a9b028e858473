"""Content of the panels over a flow's time: sequence numbers, bytes in flight, round trips, throughput."""

import numpy as np
from numpy.typing import NDArray

from tcpstall import units
from tcpstall.plot import ink, reduce, scale, style
from tcpstall.plot import throughput as rates
from tcpstall.plot.ink import Panel
from tcpstall.plot.reduce import View
from tcpstall.plot.series import Spans, Times
from tcpstall.plot.subject import Subject

_LEAST_SEEN = 0.15  # share of a window's steps that must fit for the axis to make room
_LEAST_SEQUENCE, _LEAST_IN_FLIGHT = 1_000.0, 100.0  # bytes: an axis of less would show noise
_LEAST_RATE = 1_000.0  # bytes a second
_LOGARITHMIC = 20  # times the median round trip: a higher one would press the others to the floor
_FINE = 1_000.0  # logarithms this often, as reduction thinks in whole numbers
_S = 1_000_000_000


def sequence(panel: Panel, subject: Subject) -> None:
    """Data as vertical strokes between the ACK line and the window's edge, with what was repaired as marks."""
    view, series, side, peer = panel.view, subject.series, subject.side, subject.peer
    data = reduce.spans_seen(series.data, view)
    again = reduce.spans_seen(series.retransmissions, view)
    acked, edge = reduce.steps_seen(series.acked, view), reduce.steps_seen(series.edge, view)
    low, high = _range([data.low, data.high, again.low, again.high, acked.level])
    top = _top_with(high, low, edge.level, 0.35)
    unit = scale.of_bytes(top)
    panel.axes.set_label("sequence")
    ink.frame(panel, low - 0.03 * (top - low), top, f"sequence number of the {side}'s data", unit)

    sacks = reduce.spans_seen(series.sacks, view)
    # Edge and ACK line coincide while the window is closed: the wider one goes below.
    ink.step(panel, edge, unit, style.EDGE, f"the {peer}'s window, right edge", width=2.2, top=top)
    ink.step(panel, acked, unit, style.ACK, f"acknowledged by the {peer}", width=1.2)
    ink.strokes(panel, data, unit, style.DATA, "data", width=2.0, order=3)
    ink.strokes(panel, sacks, unit, style.SACK, "SACK block", width=1.4, order=3.2)
    ink.strokes(panel, again, unit, style.RETRANSMISSION, "", width=2.0, order=4)
    ink.marks(panel, series.retransmissions, unit, "x", style.RETRANSMISSION, "retransmission")
    ink.marks(panel, series.probes, unit, "v", style.PROBE, "window probe")
    if not len(data.at_ns) and not len(again.at_ns):
        ink.remark(panel, f"the {side} sent no data here")


def in_flight(panel: Panel, subject: Subject) -> None:
    """Bytes in flight as a filled step under the window and the estimated congestion window."""
    view, series = panel.view, subject.series
    flight, cwnd = reduce.steps_seen(series.in_flight, view), reduce.steps_seen(series.cwnd, view)
    window = reduce.steps_seen(series.window, view)
    bdp = subject.flow.directions[subject.side].bdp_bytes
    _, flown = _range([flight.level, np.zeros(1)], _LEAST_IN_FLIGHT)
    top = max(_top_with(flown, 0.0, cwnd.level, 2.0), _top_with(flown, 0.0, window.level, 1.5))
    unit = scale.of_bytes(top)
    panel.axes.set_label("in flight")
    ink.frame(panel, -0.03 * top, top, "in flight", unit)

    ink.filled(panel, flight, unit, style.DATA)
    ink.step(panel, flight, unit, style.DATA, "in flight", width=1.2)
    ink.step(panel, window, unit, style.EDGE, f"the {subject.peer}'s window", width=2.0, top=top)
    ink.step(panel, cwnd, unit, style.CWND, "congestion window (estimate)", width=1.2, top=top, dashed=True)
    if bdp is not None:
        ink.line(panel, bdp, unit, style.BDP, f"bandwidth-delay product\n({units.size(bdp)})")


def round_trips(panel: Panel, subject: Subject) -> None:
    """Whole round trips at the times that their ACKs came."""
    measured = subject.series.round_trips
    _round_trips(panel, subject, measured.at_ns, measured.rtt_ns)


def round_trips_by_position(panel: Panel, subject: Subject) -> None:
    """Round trips over the byte that each ACK reached, with retransmissions at the foot: `panel.time` holds bytes."""
    measured, again = subject.series.round_trips, subject.series.retransmissions
    _round_trips(panel, subject, measured.position.astype(np.int64), measured.rtt_ns)
    ink.feet(panel, np.sort(again.low).astype(np.int64), style.RETRANSMISSION, "retransmitted here")


def throughput(panel: Panel, subject: Subject) -> None:
    """Payload a second, acknowledged and sent, below what the path's bottleneck carries."""
    flow, view = subject.flow, panel.view
    found = rates.throughput(subject.series, view.start_ns, view.end_ns, flow.base_rtt_ns)
    way = flow.directions[subject.side]
    limit = way.bottleneck_bytes_per_s
    _, most = _range([found.sent.level, found.acked.level], _LEAST_RATE)
    top = _top_with(most, 0.0, np.array([float(limit)]) if limit else np.array([]), 1.5)
    unit = scale.of_rate(top)
    panel.axes.set_label("throughput")
    ink.frame(panel, -0.03 * top, top, "throughput", unit)

    ink.filled(panel, found.acked, unit, style.ACK)
    # A cumulative ACK tells of all that came since the hole, at once.
    peaks = "\n(peaks: holes that were repaired)" if len(subject.series.retransmissions.at_ns) else ""
    ink.step(panel, found.acked, unit, style.ACK, f"acknowledged by the {subject.peer}{peaks}", width=1.6)
    ink.step(panel, found.sent, unit, style.DATA, "sent, repairs included", width=1.0)
    if limit is not None:
        ink.line(panel, limit, unit, style.BDP, f"{_bottleneck(way.bdp_bytes)}\n({units.rate(limit, _S)})")
    if np.isnan(found.sent.level).all():
        ink.remark(panel, "no time passed here, so there is no rate")
    panel.axes.plot([], [], linestyle="none", label=f"in bins of {units.duration(found.bin_ns)}")


def _bottleneck(bdp_bytes: int | None) -> str:
    return "path's bottleneck" if bdp_bytes is None else "path's bottleneck = BDP ÷ RTT"


def _round_trips(panel: Panel, subject: Subject, at: Times, rtt_ns: Times) -> None:
    panel.axes.set_label("round trip")
    base_ns = subject.flow.base_rtt_ns
    seen = _dots_seen(at, rtt_ns, panel.view)
    most = float(seen.high.max()) if len(seen.high) else float(base_ns or 1_000_000)
    logarithmic = len(seen.high) > 0 and most > _LOGARITHMIC * float(np.median(seen.high))
    unit = scale.of_time(most)
    if logarithmic:
        least = min(float(seen.high.min()), float(base_ns or most))
        ink.frame(panel, least / 1.5, most * 1.5, "round trip, logarithmic", unit)
        scale.logarithmic(panel.axes)
    else:
        ink.frame(panel, 0.0, 1.08 * most, "round trip", unit)
    ink.dots(panel, seen, unit, style.DATA, "round trip of an ACK")
    if base_ns is not None:
        ink.line(panel, base_ns, unit, style.ACK, f"base round trip\n({units.duration(base_ns)})")
    if not len(seen.at_ns):
        ink.remark(panel, "no round trip was measured here")


def _dots_seen(at: Times, rtt_ns: Times, view: View) -> Spans:
    """One dot per pixel, chosen by logarithms: right on either axis, where most dots are far below the others."""
    exponents = _FINE * np.log10(np.maximum(rtt_ns, 1))
    seen = reduce.marks_seen(Spans(at, exponents, exponents), view, ink.ROWS)
    levels = 10.0 ** (seen.high / _FINE)
    return Spans(seen.at_ns, levels, levels)


def _range(levels: list[NDArray[np.float64]], least: float = _LEAST_SEQUENCE) -> tuple[float, float]:
    known = np.concatenate(levels)
    known = known[~np.isnan(known)]
    if not len(known):
        return 0.0, least
    low, high = float(known.min()), float(known.max())
    missing = max(0.0, least - (high - low))
    low = max(min(low, 0.0), low - missing / 2)
    return low, max(high, low + least)


def _top_with(high: float, low: float, limit: NDArray[np.float64], room: float) -> float:
    """The axis's top: above `high`, higher if `limit` fits now and then into `room` (share of what is drawn)."""
    most = high + room * (high - low)
    known = limit[~np.isnan(limit)]
    if len(known) and np.count_nonzero(known <= most) >= _LEAST_SEEN * len(known):
        high = max(high, min(float(known.max()), most))
    return high + 0.06 * (high - low)
