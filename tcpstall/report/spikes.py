"""Round trips far above the base, the highest of a flow."""

from collections.abc import Iterator

from tcpstall.model import Flow, RttSpike
from tcpstall.units import counted, duration, number, offset

__all__ = ["spike_lines"]

_SHOWN = 3
"""The JSON report lists them all."""


def spike_lines(flow: Flow) -> Iterator[str]:
    """A line for each of the highest in order of time, and one about the rest."""
    highest = sorted(flow.rtt_spikes, key=lambda spike: -spike.rtt_ns)[:_SHOWN]
    for spike in sorted(highest, key=lambda spike: spike.time_ns):
        yield _line(flow, spike)
    more = len(flow.rtt_spikes) + flow.rtt_spikes_dropped - len(highest)
    if more:
        yield f"and {counted(more, 'lower spike')} of round trip time"


def _line(flow: Flow, spike: RttSpike) -> str:
    window = "?" if spike.peer_window_bytes is None else number(spike.peer_window_bytes)
    return (
        f"round trip of {duration(spike.rtt_ns)} at {offset(spike.time_ns - flow.start_ns)}: the {spike.sender} had "
        f"{number(spike.in_flight_bytes)} bytes in flight, peer window {window}"
    )
