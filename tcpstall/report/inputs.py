"""The inputs: one line per capture or set of files read as one, with warnings beneath."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import PurePath

from rich.padding import Padding
from rich.text import Text

from tcpstall.model import Capture
from tcpstall.report.trust import TOLD, doubts
from tcpstall.units import clock, counted, date, duration, number
from tcpstall.untrusted import in_terminal

__all__ = ["as_a_whole", "as_read", "described", "facts", "in_brief", "named", "nothing_in", "without_flows"]

_DAY_NS = 86_400 * 10**9

_BEGINNINGS = 5
"""Files of a stream listed with the number of their first packet."""

_INPUTS = 3
"""Inputs that are named in brief, and remarks on them."""

_LACKS = 3

_SKIPPED = {
    "not_ip": "not IP",
    "not_tcp": "IP but not TCP",
    "ip_fragment": "IP fragments",
    "cut_short": "cut before the end of the TCP header",
}


def as_read(captures: Sequence[Capture]) -> list[list[Capture]]:
    """The captures in groups that were read as one, in order of time, at the place of each group's first."""
    sets: dict[tuple[str, int], list[Capture]] = {}
    for place, capture in enumerate(captures):
        of = ("alone", place) if capture.stream is None else ("stream", capture.stream)
        sets.setdefault(of, []).append(capture)
    return [sorted(members, key=lambda capture: capture.first_packet or 0) for members in sets.values()]


def named(members: Sequence[Capture]) -> str:
    """The name of captures that were read as one."""
    paths = [capture.path for capture in members]
    match paths:
        case [path]:
            return path
        case [first, second]:
            return f"{first} and {second}"
        case _:
            return f"{paths[0]} … {paths[-1]}"


def described(members: Sequence[Capture]) -> Iterator[Text | Padding]:
    """A line for the group, then the gaps of each of its captures, then the warnings, a line each."""
    if len(members) == 1:
        yield from _capture(members[0])
        return
    what = f"{named(members)}: {facts(as_a_whole(members))}; {_numbers(members)}"
    yield Text(f"{len(members)} files read as one: {in_terminal(what)}", "dim")
    for capture in members:
        if len(lines := list(_capture(capture))) > 1:
            yield from lines


def in_brief(captures: Sequence[Capture], width: int) -> Iterator[Text]:
    """The inputs in a few lines: the first ones, with gaps that matter."""
    sets = as_read(captures)
    for members in sets[:_INPUTS]:
        whole = as_a_whole(members) if len(members) > 1 else members[0]
        one = f"{len(members)} files read as one: " if len(members) > 1 else ""
        name, short = one + in_terminal(named(members)), one + in_terminal(PurePath(members[0].path).name)
        packets = counted(whole.packets, "packet")
        several = (f"{name}: {packets}{_span(whole)}", f"{name}: {packets}") if one else ()
        told = (f"{name}: {facts(whole)}", *several, f"{short}: {facts(whole)}", f"{short}: {packets}{_span(whole)}")
        yield _cut(next((line for line in told if len(line) <= width), short), width, "dim")
    if len(sets) > _INPUTS:
        yield Text(f"and {counted(len(sets) - _INPUTS, 'more input')}", "dim")
    lines = [line for capture in captures for line in _lacks(capture)]
    for line in lines[:_LACKS]:
        yield _cut(f"  {line}", width, "yellow")
    if (more := len(lines) - _LACKS) and more > 0:
        yield Text(f"  and {counted(more, 'more remark')}: --stalls shows them", "yellow")


def _lacks(capture: Capture) -> Iterator[str]:
    yield from (doubt for doubt in doubts(capture) if not doubt.startswith("→"))
    for remark in (*capture.remarks_but(TOLD), *([capture.error] if capture.error else [])):
        yield f"warning: {in_terminal(remark)}"


def _cut(line: str, width: int, style: str) -> Text:
    """The line's beginning, up to a space."""
    if len(line) <= width:
        return Text(line, style)
    end = line.rfind(" ", 0, width - 1)
    return Text(f"{line[: end if end > width // 2 else width - 1]} …"[:width], style)


def _numbers(members: Sequence[Capture]) -> str:
    """Place of a packet by its number in the whole stream."""
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
    """The reason of each capture for having nothing to diagnose."""
    for members in as_read(captures):
        for capture in members:
            yield Text(f"{in_terminal(capture.path)}: {nothing_in(capture)}", "bold")
        yield from described(members)


def nothing_in(capture: Capture) -> str:
    """The reason why there is nothing to diagnose."""
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
