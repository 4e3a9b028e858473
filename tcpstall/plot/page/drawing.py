"""The plots of one flow: waits, time and sequence, in flight, round trips, throughput, on one axis of time."""

from dataclasses import dataclass

import numpy as np

from tcpstall import _core, units
from tcpstall.model import Flow, Side
from tcpstall.plot import reduce, scale, style
from tcpstall.plot.page import waits
from tcpstall.plot.page.frame import LIMIT, Entry, Frame, FrameMaker
from tcpstall.plot.page.pack import packed
from tcpstall.plot.reduce import View
from tcpstall.plot.series import Series, Spans, read
from tcpstall.plot.throughput import throughput

__all__ = ["Drawing", "Entry", "Panel", "draw"]

_ROWS = 700
"""Marks closer than this share of the height cover each other."""

_US, _MS, _S = 1_000, 1_000_000, 1_000_000_000
_BITS = 8


@dataclass(frozen=True)
class Panel:
    """A plot's place in the page and the words above it."""

    element: str
    title: str
    unit: str
    legend: tuple[Entry, ...]


@dataclass(frozen=True)
class Drawing:
    """The plots of one flow: `payload` is what the page's script unpacks; `reduced` where not every packet is drawn."""

    side: Side
    time_unit: str
    unit_ns: int
    panels: tuple[Panel, ...]
    payload: str
    reduced: bool


def draw(flow: Flow, samples: _core.Table, side: Side, columns: int) -> Drawing | None:
    """The data that `side` sent, reduced to so many columns with their extremes; None where no data was sent."""
    if not len(samples) or not any(direction.bytes for direction in flow.directions.values()):
        return None
    series = read(samples, side, flow.start_ns)
    view = View(0, max(1, flow.duration_ns), columns)
    time = scale.of_time(view.length_ns)
    maker = FrameMaker(view, time.size)
    sides: list[Side] = [side, "client" if side == "server" else "server"]
    sources = waits.evidenced(flow, sides, time.size)
    made: list[tuple[str, str, Frame]] = []
    if sources:
        strip = maker.frame(28 + 26 * len(sources))
        waits.lanes(strip, flow, sources)
        made.append(("what each end waited for", "", strip))
    made += [_sequence(maker, series, side), _in_flight(maker, series, flow, side), _round_trips(maker, series, flow)]
    made.append(_throughput(maker, series, flow, side))
    if side in sources:
        for _, _, frame in made[1:]:
            waits.tint(frame, sources[side])
    panels = tuple(
        Panel(f"plot-{flow.id}-{place}", title, unit, tuple(frame.legend))
        for place, (title, unit, frame) in enumerate(made)
    )
    data = {source: columns for _, _, frame in made for source, columns in frame.data.items()}
    elements = [panel.element for panel in panels]
    payload = packed(f"f{flow.id}", [frame.plot for _, _, frame in made], elements, data)
    return Drawing(side, time.unit, time.size, panels, payload, reduce.is_dense(series.in_flight.at_ns, view))


def _sequence(maker: FrameMaker, series: Series, side: Side) -> tuple[str, str, Frame]:
    frame, view, peer = maker.frame(280, "fit", "sequence"), maker.view, _peer(side)
    data, again = reduce.spans_seen(series.data, view), reduce.spans_seen(series.retransmissions, view)
    unit = scale.of_bytes(max((float(spans.high.max()) for spans in (data, again) if len(spans.at_ns)), default=0.0))
    edge, acked = reduce.steps_seen(series.edge, view), reduce.steps_seen(series.acked, view)
    window = Entry(f"the {peer}'s window, right edge", style.EDGE, "line")
    frame.steps(edge, 1 / unit.size, window, role=LIMIT, width=2.0)
    frame.steps(acked, 1 / unit.size, Entry(f"acknowledged by the {peer}", style.ACK, "line"))
    frame.strokes(data, 1 / unit.size, Entry("data", style.DATA, "stroke"))
    frame.strokes(
        reduce.spans_seen(series.sacks, view), 1 / unit.size, Entry("SACK block", style.SACK, "stroke"), width=1.4
    )
    frame.strokes(again, 1 / unit.size, Entry("sent again", style.RETRANSMISSION, "stroke"))
    for spans, text, colour, mark in (
        (series.retransmissions, "retransmission", style.RETRANSMISSION, "cross"),
        (series.probes, "window probe", style.PROBE, "triangle"),
    ):
        marks = reduce.marks_seen(spans, view, _ROWS)
        entry = Entry(f"{text} ({units.number(len(spans.at_ns))})", colour, mark)
        frame.marks(marks.at_ns, (marks.low + marks.high) / 2, 1 / unit.size, entry, size_px=8)
    return f"sequence number of the {side}'s data", unit.unit, frame


def _in_flight(maker: FrameMaker, series: Series, flow: Flow, side: Side) -> tuple[str, str, Frame]:
    frame, view = maker.frame(180, "fit"), maker.view
    flight = reduce.steps_seen(series.in_flight, view)
    unit = scale.of_bytes(float(np.nanmax(flight.level, initial=0.0)))
    frame.area(flight, 1 / unit.size, style.DATA)
    frame.steps(flight, 1 / unit.size, Entry("in flight", style.DATA, "line"))
    window = Entry(f"the {_peer(side)}'s window", style.EDGE, "line")
    frame.steps(reduce.steps_seen(series.window, view), 1 / unit.size, window, role=LIMIT, width=2.0)
    estimate = Entry("congestion window (estimate)", style.CWND, "dash")
    frame.steps(reduce.steps_seen(series.cwnd, view), 1 / unit.size, estimate, role=LIMIT)
    if bdp := flow.directions[side].bdp_bytes:
        frame.level(bdp / unit.size, Entry(f"bandwidth-delay product, {units.size(bdp)}", style.FAINT, "dash"))
    return "in flight against the windows", unit.unit, frame


def _round_trips(maker: FrameMaker, series: Series, flow: Flow) -> tuple[str, str, Frame]:
    frame, trips = maker.frame(140, "fit"), series.round_trips
    measured = trips.rtt_ns.astype(np.float64)
    marks = reduce.marks_seen(Spans(trips.at_ns, measured, measured), maker.view, _ROWS) if len(measured) else None
    if marks is not None:
        frame.marks(
            marks.at_ns, marks.high / _US, _US / _MS, Entry("round trip of an ACK", style.DATA, "dot"), size_px=4
        )
    if flow.base_rtt_ns:
        base = Entry(f"base round trip, {units.duration(flow.base_rtt_ns)}", style.ACK, "dash")
        frame.level(flow.base_rtt_ns / _MS, base)
    return "round trip time", "ms", frame


def _throughput(maker: FrameMaker, series: Series, flow: Flow, side: Side) -> tuple[str, str, Frame]:
    frame, view = maker.frame(150, "fit"), maker.view
    rates = throughput(series, view.start_ns, view.end_ns, flow.base_rtt_ns)
    most = float(np.nanmax(np.concatenate([rates.sent.level, rates.acked.level]), initial=0.0)) * _BITS
    name, size = next(
        ((name, size) for name, size in (("Gbit/s", 1e9), ("Mbit/s", 1e6), ("kbit/s", 1e3)) if most >= size),
        ("bit/s", 1.0),
    )
    frame.area(rates.sent, _BITS / size, style.DATA)
    frame.steps(
        rates.sent, _BITS / size, Entry(f"sent, in steps of {units.duration(rates.bin_ns)}", style.DATA, "line")
    )
    frame.steps(rates.acked, _BITS / size, Entry("acknowledged", style.ACK, "line"))
    if carried := flow.directions[side].bottleneck_bytes_per_s:
        frame.level(
            carried * _BITS / size, Entry(f"what the path carries, {units.rate(carried, _S)}", style.FAINT, "dash")
        )
    return "throughput", name, frame


def _peer(side: Side) -> Side:
    return "client" if side == "server" else "server"
