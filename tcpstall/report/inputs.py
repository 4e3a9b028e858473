"""What was read: one line a capture, its warnings beneath."""

from collections.abc import Iterator, Sequence

from rich.padding import Padding
from rich.text import Text

from tcpstall.model import Capture
from tcpstall.report.trust import TOLD, doubts
from tcpstall.units import clock, counted, date, duration, number
from tcpstall.untrusted import in_terminal

__all__ = ["described", "facts", "nothing_in", "without_flows"]

_DAY_NS = 86_400 * 10**9

_SKIPPED = {
    "not_ip": "not IP",
    "not_tcp": "IP but not TCP",
    "ip_fragment": "IP fragments",
    "cut_short": "cut before the end of the TCP header",
}


def described(capture: Capture) -> Iterator[Text | Padding]:
    """The capture in one line, then what it lacks, then a line for each warning."""
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
    for capture in captures:
        yield Text(f"{in_terminal(capture.path)}: {nothing_in(capture)}", "bold")
        yield from described(capture)


def nothing_in(capture: Capture) -> str:
    """Why there is nothing to diagnose."""
    if capture.packets == 0:
        return "no packets in it"
    if capture.tcp_segments:
        return f"no flow fits the options; it holds {counted(capture.tcp_segments, 'TCP segment')}"
    reasons = [f"{number(count)} {_SKIPPED.get(reason, reason)}" for reason, count in capture.skipped.items() if count]
    return f"no TCP in its {counted(capture.packets, 'packet')}" + (f": {', '.join(reasons)}" if reasons else "")


def _span(capture: Capture) -> str:
    if capture.first_ns is None or capture.last_ns is None:
        return ""
    day = f"{date(capture.first_ns)} " if capture.first_ns >= _DAY_NS else ""
    zone = " UTC" if day else ""
    return f", {duration(capture.last_ns - capture.first_ns)} from {day}{clock(capture.first_ns)}{zone}"
