"""One flow over its time, or over its stream: lanes of waits above rasters of levels."""

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
from rich.text import Text

from tcpstall import units
from tcpstall.causes import Cause
from tcpstall.model import Side
from tcpstall.plot import bands, reduce, title
from tcpstall.plot.bands import Band
from tcpstall.plot.series import Levels, Spans, Steps, Times
from tcpstall.plot.subject import Subject
from tcpstall.plot.terminal import axes, lanes
from tcpstall.plot.terminal.axes import GUTTER
from tcpstall.plot.terminal.raster import Raster
from tcpstall.plot.terminal.screen import Screen
from tcpstall.plot.throughput import throughput

__all__ = ["over_time"]

_ROWS = {"overview": (15, 8), "sequence": (20,), "in-flight": (16,), "rtt": (16,), "throughput": (16,)}
_ROWS_BY_POSITION = 16
_NOTED = 3
"""A limit is drawn up to this multiple of the limited quantity."""

_DATA, _ACK, _EDGE, _CWND, _AGAIN, _SACK, _PROBE = "", "green", "yellow", "magenta", "bold red", "blue", "bold yellow"


class _Line(NamedTuple):
    """An entry of a legend."""

    sign: str
    dots: str
    style: str
    name: str


class _Chart(NamedTuple):
    """A raster's content."""

    name: str
    low: float
    high: float
    written: Callable[[int], str]
    paint: Callable[[Raster], list[_Line]]


def over_time(kind: str, subject: Subject, start_ns: int, end_ns: int, screen: Screen) -> Iterator[Text]:
    """The picture between two times in ns since the flow's start, from the top down."""
    flow, side = subject.flow, subject.side
    yield screen.text(title.what(flow, side, start_ns, end_ns), "bold")
    yield screen.text(title.losses(flow, lambda line: len(line) <= screen.width))
    if kind == "rtt-by-position":
        yield from _by_position(subject, screen)
        return
    yield from _waits(subject, start_ns, end_ns, screen)
    charts = {
        "overview": (_sequence, _in_flight),
        "sequence": (_sequence,),
        "in-flight": (_in_flight,),
        "rtt": (_round_trips,),
        "throughput": (_throughput,),
    }[kind]
    for rows, make in zip(_ROWS[kind], charts, strict=True):
        yield from _drawn(make(subject, start_ns, end_ns), rows, start_ns, end_ns, screen)
    yield from axes.below(start_ns, end_ns, axes.in_time, screen, "time since the flow's first packet")


def _waits(subject: Subject, start_ns: int, end_ns: int, screen: Screen) -> Iterator[Text]:
    flow, side, peer = subject.flow, subject.side, subject.peer
    rows: list[tuple[Side, list[Band]]] = [(side, bands.handshake_of(flow) + bands.bands_of(flow, side))]
    rows += [(peer, bands.bands_of(flow, peer))] if bands.bands_of(flow, peer) else []
    shown = [(end, bands.cut(sorted(waits, key=lambda band: band.start_ns), start_ns, end_ns)) for end, waits in rows]
    sums: dict[Cause, int] = {}
    for _, waits in reversed(shown):
        # Where both ends waited for the same reason, the time is that of the end that is drawn.
        sums |= _sums(waits)
    yield from lanes.legend(sums.items(), screen)
    for end, waits in shown:
        lane = lanes.lane(waits, start_ns, end_ns, screen.columns(GUTTER))
        yield Text.assemble((f"{end:>{GUTTER - 1}} ", "dim"), lane, no_wrap=True)


def _sums(waits: Sequence[Band]) -> dict[Cause, int]:
    sums: dict[Cause, int] = {}
    for band in waits:
        sums[band.cause] = sums.get(band.cause, 0) + band.length_ns
    return sums


def _drawn(chart: _Chart, rows: int, start: int, end: int, screen: Screen) -> Iterator[Text]:
    raster = Raster(rows, screen.columns(GUTTER), chart.low, chart.high, start, max(end, start + 1), screen.unicode)
    entries = chart.paint(raster)
    legend = Text(f"{'':{GUTTER}}", no_wrap=True).append(screen.shown(chart.name), "bold")
    for entry in entries:
        legend.append("   ").append(entry.dots if screen.unicode else entry.sign, entry.style)
        legend.append(f" {screen.shown(entry.name)}")
    legend.truncate(screen.width)
    yield legend
    yield from axes.beside(raster.lines(), chart.low, chart.high, chart.written, screen)


def _sequence(subject: Subject, start_ns: int, end_ns: int) -> _Chart:
    series = subject.series
    view = reduce.View(start_ns, end_ns, 1_000)
    data, again = reduce.spans_seen(series.data, view), reduce.spans_seen(series.retransmissions, view)
    acked = reduce.steps_seen(series.acked, view)
    low, high = _range([data.low, data.high, again.low, again.high, acked.level])

    def paint(raster: Raster) -> list[_Line]:
        raster.step(series.edge, _EDGE, "-", dashed=True)
        raster.step(series.acked, _ACK, ".")
        raster.strokes(reduce.spans_seen(series.data, raster.view), _DATA, "|")
        raster.strokes(reduce.spans_seen(series.sacks, raster.view), _SACK, "s")
        raster.marks(reduce.marks_seen(series.retransmissions, raster.view, raster.rows), _AGAIN, "x")
        raster.marks(reduce.marks_seen(series.probes, raster.view, raster.rows), _PROBE, "v")
        told = [_Line("|", "⡇", _DATA, "data"), _Line(".", "⣀", _ACK, "acknowledged"), _Line("-", "⠒", _EDGE, "window")]
        told += [_Line("s", "⡇", _SACK, "SACK")] if len(series.sacks.at_ns) else []
        told += (
            [_Line("x", "x", _AGAIN, _counted(series.retransmissions, "retransmission"))] if len(again.at_ns) else []
        )
        told += [_Line("v", "v", _PROBE, _counted(series.probes, "window probe"))] if len(series.probes.at_ns) else []
        return told

    return _Chart(f"sequence number of the {subject.side}'s data", low, high, axes.in_bytes, paint)


def _in_flight(subject: Subject, start_ns: int, end_ns: int) -> _Chart:
    series = subject.series
    bdp = subject.flow.directions[subject.side].bdp_bytes
    _, most = _range([_inside(series.in_flight, start_ns, end_ns)])
    limits = [_inside(limit, start_ns, end_ns) for limit in (series.window, series.cwnd)]
    high = _room(most, limits)

    def paint(raster: Raster) -> list[_Line]:
        told = [_Line("#", "⡇", _DATA, "in flight")]
        told += [_Line("-", "⠒", _EDGE, f"the {subject.peer}'s window{_beyond(limits[0], high)}")]
        told += [_Line("c", "⠒", _CWND, f"cwnd (estimate){_beyond(limits[1], high)}")]
        raster.step(series.window, _EDGE, "-", dashed=True)
        raster.step(series.cwnd, _CWND, "c", dashed=True)
        if bdp is not None:
            raster.step(_level(raster, bdp), _ACK, "b", dashed=True)
            told.append(_Line("b", "⠒", _ACK, f"BDP {units.size(bdp)}"))
        raster.step(series.in_flight, _DATA, "#")
        return told

    return _Chart("in flight", 0.0, high, axes.in_bytes, paint)


def _round_trips(subject: Subject, start_ns: int, end_ns: int) -> _Chart:
    measured = subject.series.round_trips
    inside = (measured.at_ns >= start_ns) & (measured.at_ns <= end_ns)
    return _of_round_trips(subject, measured.at_ns[inside], measured.rtt_ns[inside])


def _of_round_trips(subject: Subject, at: Times, rtt_ns: Times) -> _Chart:
    base_ns = subject.flow.base_rtt_ns
    level = rtt_ns.astype(np.float64)
    most = max(float(level.max()) if len(level) else 0.0, float(base_ns or 0), 1_000.0)

    def paint(raster: Raster) -> list[_Line]:
        told = [_Line("o", "⠂", _DATA, f"round trips of {units.counted(len(at), 'ACK')}")]
        if base_ns is not None:
            raster.step(_level(raster, base_ns), _ACK, "-", dashed=True)
            told.append(_Line("-", "⠒", _ACK, f"base {units.duration(base_ns)}"))
        raster.strokes(reduce.marks_seen(Spans(at, level, level), raster.view, 4 * raster.rows), _DATA, "o")
        return told

    return _Chart("round trip", 0.0, 1.05 * most, axes.in_time, paint)


def _throughput(subject: Subject, start_ns: int, end_ns: int) -> _Chart:
    found = throughput(subject.series, start_ns, end_ns, subject.flow.base_rtt_ns, most_bins=100)
    limit = subject.flow.directions[subject.side].bottleneck_bytes_per_s
    _, most = _range([found.acked.level, found.sent.level])
    high = _room(most, [np.array([float(limit)])] if limit else [])

    def paint(raster: Raster) -> list[_Line]:
        told = [_Line("#", "⡇", _ACK, "acknowledged"), _Line("-", "⠒", _DATA, "sent, repairs included")]
        if limit is not None:
            raster.step(_level(raster, limit), _EDGE, "b", dashed=True)
            told.append(_Line("b", "⠒", _EDGE, f"path's bottleneck {units.rate(limit, 1_000_000_000)}"))
        raster.step(found.sent, _DATA, "-", dashed=True)
        raster.step(found.acked, _ACK, "#")
        return told

    return _Chart(f"throughput in bins of {units.duration(found.bin_ns)}", 0.0, high, axes.in_rate, paint)


def _by_position(subject: Subject, screen: Screen) -> Iterator[Text]:
    measured = subject.series.round_trips
    known = ~np.isnan(measured.position)
    position = measured.position[known].astype(np.int64)
    end = int(position[-1]) if len(position) else 1
    chart = _of_round_trips(subject, position, measured.rtt_ns[known])
    yield from _drawn(chart, _ROWS_BY_POSITION, 0, end, screen)
    yield from axes.below(
        0, end, axes.in_bytes, screen, f"position in the {subject.side}'s stream that the ACK reached"
    )


def _inside(steps: Steps, start_ns: int, end_ns: int) -> Levels:
    return reduce.steps_seen(steps, reduce.View(start_ns, end_ns, 1_000)).level


def _level(raster: Raster, level: float) -> Steps:
    return Steps(np.array([raster.start], np.int64), np.array([float(level)]))


def _range(levels: Sequence[Levels]) -> tuple[float, float]:
    known = np.concatenate(list(levels))
    known = known[~np.isnan(known)]
    if not len(known):
        return 0.0, 100.0
    low = min(float(known.min()), 0.0)
    return low, max(float(known.max()), low + 100.0)


def _room(most: float, limits: Sequence[Levels]) -> float:
    """The top: what is drawn, and the limits that lie near it."""
    near = [float(np.nanmax(limit)) for limit in limits if len(limit) and not np.all(np.isnan(limit))]
    return 1.02 * max([most, *(limit for limit in near if limit <= _NOTED * most)])


def _beyond(limit: Levels, high: float) -> str:
    if not len(limit) or np.all(np.isnan(limit)):
        return " (unknown)"
    return f" (up to {units.size(int(np.nanmax(limit)))})" if float(np.nanmax(limit)) > high else ""


def _counted(spans: Spans, noun: str) -> str:
    return units.counted(len(spans.at_ns), noun)
