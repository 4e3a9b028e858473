"""What was read: one line a capture or set of files read as one, with warnings beneath."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from rich.padding import Padding
from rich.text import Text

from tcpstall.model import Capture
from tcpstall.report.trust import TOLD, doubts
from tcpstall.units import clock, counted, date, duration, number
from tcpstall.untrusted import in_terminal

__all__ = ["as_a_whole", "as_read", "described", "facts", "named", "nothing_in", "without_flows"]

_DAY_NS = 86_400 * 10**9

_BEGINNINGS = 5
"""Files of a stream whose first packet's number is told."""

_SKIPPED = {
    "not_ip": "not IP",
    "not_tcp": "IP but not TCP",
    "ip_fragment": "IP fragments",
    "cut_short": "cut before the end of the TCP header",
}


def as_read(captures: Sequence[Capture]) -> list[list[Capture]]:
    """Those that were read as one together, in order of time, where the first of them stands."""
    sets: dict[tuple[str, int], list[Capture]] = {}
    for place, capture in enumerate(captures):
        of = ("alone", place) if capture.stream is None else ("stream", capture.stream)
        sets.setdefault(of, []).append(capture)
    return [sorted(members, key=lambda capture: capture.first_packet or 0) for members in sets.values()]


def named(members: Sequence[Capture]) -> str:
    """What captures that were read as one are called."""
    paths = [capture.path for capture in members]
    match paths:
        case [path]:
            return path
        case [first, second]:
            return f"{first} and {second}"
        case _:
            return f"{paths[0]} … {paths[-1]}"


def described(members: Sequence[Capture]) -> Iterator[Text | Padding]:
    """What was read as one in a line, then what each capture of it lacks, then its warnings, a line each."""
    if len(members) == 1:
        yield from _capture(members[0])
        return
    what = f"{named(members)}: {facts(as_a_whole(members))}; {_numbers(members)}"
    yield Text(f"{len(members)} files read as one: {in_terminal(what)}", "dim")
    for capture in members:
        if len(lines := list(_capture(capture))) > 1:
            yield from lines


def _numbers(members: Sequence[Capture]) -> str:
    """Where to find a packet: its number is one of the whole stream."""
    later = [f"{capture.path} from {number(first)}" for capture in members[1:] if (first := capture.first_packet)]
    shown = later if len(later) <= _BEGINNINGS else [*later[: _BEGINNINGS - 1], "…", later[-1]]
    return f"packet numbers run on: {', '.join(shown)}"


def _capture(capture: Capture) -> Iterator[Text | Padding]:
    yield Text(f"{in_terminal(capture.path)}: {facts(capture)}", "dim")
    for doubt in doubts(capture):
        yield Padding(Text(doubt, "yellow"), (0, 0, 0, 2))
    for remark in (*capture.remarks_but(TOLD), *([capture.error] if capture.error else [])):
        yield Padding(Text(f"warning: {in_terminal(remark)}", "yellow"), (0, 0, 0, 2))


def facts(capture: Capture) -> str:
    """`pcap, 58 packets, 58 TCP segments, 63.1 ms from 10:45:49.051409`."""
    counts = f"{counted(capture.packets, 'packet')}, {counted(capture.tcp_segments, 'TCP segment')}"
    packed = f" in {capture.compression}" if capture.compression else ""
    return f"{capture.format}{packed}, {counts}{_span(capture)}"


def without_flows(captures: Sequence[Capture]) -> Iterator[Text | Padding]:
    """Why there is nothing to diagnose, for each capture."""
    for members in as_read(captures):
        for capture in members:
            yield Text(f"{in_terminal(capture.path)}: {nothing_in(capture)}", "bold")
        yield from described(members)


def nothing_in(capture: Capture) -> str:
    """Why there is nothing to diagnose."""
    if capture.packets == 0:
        return "no packets in it"
    if capture.tcp_segments:
        return f"no flow fits the options; it holds {counted(capture.tcp_segments, 'TCP segment')}"
    reasons = [f"{number(count)} {_SKIPPED.get(reason, reason)}" for reason, count in capture.skipped.items() if count]
    return f"no TCP in its {counted(capture.packets, 'packet')}" + (f": {', '.join(reasons)}" if reasons else "")


def as_a_whole(members: Sequence[Capture]) -> Capture:
    """A capture that holds what all of them hold, for `facts`."""
    kinds = dict.fromkeys(capture.format for capture in members if capture.format)
    return replace(
        members[0],
        format=" and ".join(kinds),
        compression=None,
        packets=sum(capture.packets for capture in members),
        tcp_segments=sum(capture.tcp_segments for capture in members),
        first_ns=min((capture.first_ns for capture in members if capture.first_ns is not None), default=None),
        last_ns=max((capture.last_ns for capture in members if capture.last_ns is not None), default=None),
    )


def _span(capture: Capture) -> str:
    if capture.first_ns is None or capture.last_ns is None:
        return ""
    day = f"{date(capture.first_ns)} " if capture.first_ns >= _DAY_NS else ""
    zone = " UTC" if day else ""
    return f", {duration(capture.last_ns - capture.first_ns)} from {day}{clock(capture.first_ns)}{zone}"
