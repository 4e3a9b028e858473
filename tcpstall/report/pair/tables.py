"""Both ends for reading: the answer, the clocks, the way between the taps, then the waits by both views."""

from collections.abc import Iterator, Sequence
from itertools import chain

from rich.console import RenderableType
from rich.padding import Padding
from rich.text import Text

from tcpstall.model import Side
from tcpstall.pair import Ends, Event, PairedFlow, Wait
from tcpstall.report.inputs import described
from tcpstall.report.pair.words import (
    alignment,
    changed,
    diagnosis,
    disagreement,
    happened,
    headline,
    held_ns,
    in_all,
    uncaptured,
)
from tcpstall.report.style import cause_text, figures, table, words
from tcpstall.units import clock, counted, duration, exact, number

__all__ = ["render_pair"]

_FLOWS = 10
_EVENTS = 20
_WAITS = 20

_MANY_FLOWS = 3
"""Flows up to which each is shown packet by packet; of more only the worst is."""

_LEVELS = "▁▂▃▄▅▆▇█"

_SENDERS: tuple[Side, Side] = ("client", "server")

_VISIBLE = 0.02
"""A range of medians narrower than this share of the least delay is drawn flat."""


def render_pair(ends: Ends, *, width: int) -> Iterator[RenderableType]:
    """The page from top to bottom."""
    flows = sorted(ends.flows, key=held_ns, reverse=True)
    yield Text(headline(flows[0], ends), "bold")
    for line in chain(in_all(ends), alignment(ends), uncaptured(ends)):
        yield Padding(Text(line), (0, 0, 0, 2))
    yield Text()
    for capture, side in zip(ends.captures, ("client", "server"), strict=True):
        yield Text(f"{side} side:", "dim")
        yield from described([capture])
    shown = flows[:_FLOWS]
    yield Text()
    yield _ways(shown, width)
    if len(flows) > _FLOWS:
        yield Padding(Text(f"and {counted(len(flows) - _FLOWS, 'more flow')}; JSON has them all", "dim"), (0, 0, 0, 1))
    for flow in shown[: _FLOWS if len(flows) <= _MANY_FLOWS else 1]:
        yield from _flow(flow, ends, width)


def _ways(flows: Sequence[PairedFlow], width: int) -> RenderableType:
    columns = [
        *figures("flow"),
        words("sent by"),
        *figures("sent", "seen", "least", "median", "99 %", "longest", "lost", "twice", "late", "hops"),
        words("delay over time"),
    ]
    rows = [_way(flow, sender) for flow in flows for sender in _SENDERS]
    spare = ("delay over time", "hops", "99 %", "twice", "late", "median")
    return table("between the taps: packets and their one-way delays", columns, rows, width, spare)


def _way(flow: PairedFlow, sender: Side) -> list[str | Text]:
    way, delay = flow.way(sender), flow.way(sender)["delay"]
    spans = [delay[f"{name}_ns"] for name in ("least", "median", "p99", "most")] if delay else []
    return [
        number(flow.id),
        str(flow.end(sender, flow.near(sender))),
        number(way["sent_packets"]),
        number(way["seen_packets"]),
        *([exact(span) for span in spans] or ["–"] * 4),
        number(way["lost_segments"]),
        number(way["duplicated_packets"]),
        number(way["reordered_packets"]),
        "?" if way["hops"] is None else number(way["hops"]),
        _drawn([period["median_ns"] for period in way["over_time"]]),
    ]


def _drawn(medians: Sequence[int]) -> str:
    """A bar a stretch of time, from the least median to the greatest."""
    if not medians:
        return ""
    step = -(-len(medians) // 20)
    tallest = [max(medians[at : at + step]) for at in range(0, len(medians), step)]
    low, high = min(tallest), max(tallest)
    if high - low <= abs(low) * _VISIBLE:
        return _LEVELS[0] * len(tallest)
    return "".join(_LEVELS[(value - low) * (len(_LEVELS) - 1) // (high - low)] for value in tallest)


def _flow(flow: PairedFlow, ends: Ends, width: int) -> Iterator[RenderableType]:
    name = f"flow {flow.id}: {flow.end('client')} → {flow.end('server')}"
    lines = [*diagnosis(flow), *changed(flow), *([disagreement(flow)] if flow.both.waits else [])]
    if lines:
        yield Text()
        yield Text(name, "bold")
        for line in lines:
            yield Padding(Text(line), (0, 0, 0, 2))
    events = [event for event in ends.events if event.flow == flow.id]
    if events:
        yield Text()
        yield _events(flow, events, width)
        if len(events) > _EVENTS:
            yield Padding(Text(f"and {number(len(events) - _EVENTS)} more; JSON has them", "dim"), (0, 0, 0, 1))
    if flow.both.waits:
        yield Text()
        yield _waits(flow, width)
        if len(flow.both.waits) > _WAITS:
            yield Padding(Text(f"and {counted(len(flow.both.waits) - _WAITS, 'shorter wait')}", "dim"), (0, 0, 0, 1))


def _events(flow: PairedFlow, events: Sequence[Event], width: int) -> RenderableType:
    columns = [
        *figures("time"),
        words("sender"),
        words("what"),
        *figures("№ at client", "№ at server", "seq", "bytes"),
        words("then"),
    ]
    rows = [_event(flow, event) for event in events[:_EVENTS]]
    return table(f"flow {flow.id}: what befell packets between the taps", columns, rows, width, ("seq", "bytes"))


def _event(flow: PairedFlow, event: Event) -> list[str | Text]:
    packets = [event.sent_packet, event.seen_packet]
    client_side, server_side = packets if flow.near(event.sender) == 0 else packets[::-1]
    return [
        clock(event.time_ns),
        event.sender,
        event.kind,
        *("–" if packet is None else number(packet) for packet in (client_side, server_side)),
        number(event.seq),
        number(event.bytes),
        happened(event),
    ]


def _waits(flow: PairedFlow, width: int) -> RenderableType:
    columns = [
        *figures("time"),
        words("sender"),
        *figures("waited"),
        words("by near tap"),
        words("by far tap"),
        *figures("network", "of it losses", "sender", "receiver"),
    ]
    longest = sorted(flow.both.waits, key=lambda wait: -wait.duration_ns)[:_WAITS]
    rows = [_wait(wait) for wait in sorted(longest, key=lambda wait: wait.start_ns)]
    spare = ("of it losses", "by far tap", "receiver")
    return table(f"flow {flow.id}: waits by both views, and whose time they were", columns, rows, width, spare)


def _wait(wait: Wait) -> list[str | Text]:
    shares = (wait.network_ns, wait.loss_ns, wait.sender_ns, wait.receiver_ns)
    return [
        clock(wait.start_ns),
        wait.sender,
        exact(wait.duration_ns),
        cause_text(wait.near.cause) if wait.near else Text("no wait"),
        Text("the same") if wait.agreed else cause_text(wait.far.cause) if wait.far else Text("no wait"),
        *("–" if share is None else duration(share) for share in shares),
    ]
