"""Pictures of one flow: title, lanes of waits, panels on one axis, legends beside them."""

from collections.abc import Callable

import numpy as np
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from tcpstall import units
from tcpstall.causes import Cause
from tcpstall.model import Flow, Side
from tcpstall.plot import bands, lanes, panels, scale, title
from tcpstall.plot.bands import Band
from tcpstall.plot.ink import Panel
from tcpstall.plot.reduce import View
from tcpstall.plot.sheet import Sheet
from tcpstall.plot.subject import Subject

__all__ = ["OVER_TIME", "by_position", "over_time"]

_Draw = Callable[[Panel, Subject], None]

OVER_TIME: dict[str, tuple[tuple[float, _Draw], ...]] = {
    "overview": ((3.5, panels.sequence), (2.1, panels.in_flight)),
    "sequence": ((4.8, panels.sequence),),
    "in-flight": ((4.2, panels.in_flight),),
    "rtt": ((4.2, panels.round_trips),),
    "throughput": ((4.2, panels.throughput),),
}
"""The panels of each kind, with their heights in inches."""


def over_time(kind: str, subject: Subject, start_ns: int, end_ns: int, width_in: float) -> Figure:
    """The picture between two times in ns since the flow's start, the subject's waits behind it."""
    flow, side, peer = subject.flow, subject.side, subject.peer
    own = sorted(bands.handshake_of(flow) + bands.bands_of(flow, side), key=lambda band: band.start_ns)
    waits = {side: bands.cut(own, start_ns, end_ns)}
    if theirs := bands.cut(bands.bands_of(flow, peer), start_ns, end_ns):
        waits[peer] = theirs

    sheet = Sheet(width_in, [height_in for height_in, _ in OVER_TIME[kind]], len(waits))
    view = View(start_ns, end_ns, sheet.columns)
    time = scale.of_time(view.length_ns)
    for axes, (end, its_waits) in zip(sheet.lanes, waits.items(), strict=True):
        lanes.draw(axes, its_waits, view, time, f"{end} waits")
    for axes, (_, draw) in zip(sheet.panels, OVER_TIME[kind], strict=True):
        lanes.tint(axes, waits[side], view, time)
        draw(Panel(axes, view, time), subject)

    lowest = sheet.panels[-1]
    lowest.set_xlim(view.start_ns / time.size, view.end_ns / time.size)
    lowest.set_xlabel(f"time since the flow's first packet ({time.unit})")
    scale.ticks(lowest.xaxis, 12)
    sheet.head(title.what(flow, side, start_ns, end_ns), title.losses(flow, sheet.fits))
    groups = {end: _patches(its_waits) for end, its_waits in waits.items()}
    groups[side] += _busy(flow, side)
    # The title counts each moment once, and no normal round trip as an application's wait.
    sheet.legends((f"{end} waits, as drawn", patches) for end, patches in groups.items())
    return sheet.figure


def by_position(subject: Subject, start_ns: int, end_ns: int, width_in: float) -> Figure:
    """Round trips between two times, over the byte of the stream that was acknowledged."""
    series = subject.series
    sheet = Sheet(width_in, [4.2])
    (axes,) = sheet.panels
    reached = series.acked.level[(series.acked.at_ns >= start_ns) & (series.acked.at_ns <= end_ns)]
    reached = reached[~np.isnan(reached)]
    first, last = (int(reached[0]), int(reached[-1])) if len(reached) else (0, 1)
    view = View(first, max(last, first + 1), sheet.columns)
    size = scale.of_bytes(view.end_ns)
    panels.round_trips_by_position(Panel(axes, view, size), subject)
    axes.set_xlim(view.start_ns / size.size, view.end_ns / size.size)
    axes.set_xlabel(f"position in the {subject.side}'s stream that the ACK reached ({size.unit})")
    scale.ticks(axes.xaxis, 12)
    sheet.head(title.what(subject.flow, subject.side, start_ns, end_ns), title.losses(subject.flow, sheet.fits))
    sheet.legends([])
    return sheet.figure


def _patches(waits: list[Band]) -> list[Patch]:
    total_ns: dict[str, int] = {}
    for band in waits:
        total_ns[band.cause] = total_ns.get(band.cause, 0) + band.length_ns
    colours = {band.cause: band.cause.colour for band in waits}
    ranked = sorted(colours, key=lambda cause: -total_ns[cause])
    return [Patch(facecolor=colours[cause], label=f"{cause}  {units.duration(total_ns[cause])}") for cause in ranked]


def _busy(flow: Flow, side: Side) -> list[Patch]:
    """A busy path owns time in which its sender never paused: that has no band."""
    gaps_ns = sum(stall.duration_ns for stall in flow.stalls if stall.cause is Cause.BANDWIDTH_LIMITED)
    steady_ns = flow.directions[side].bandwidth_limited_ns - gaps_ns
    if steady_ns <= 0:
        return []
    cause = Cause.BANDWIDTH_LIMITED
    return [Patch(facecolor="none", edgecolor=cause.colour, label=f"{cause}, no gaps  {units.duration(steady_ns)}")]
