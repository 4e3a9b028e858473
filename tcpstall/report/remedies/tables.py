"""Remedies for reading in a terminal: each finding with its changes, how to confirm it, and what the kernel says."""

from collections.abc import Iterator, Sequence

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.text import Text

from tcpstall.advice.remedy import Check, Platform, Remedy
from tcpstall.advice.sockets import Socket, held_against
from tcpstall.advice.treatment import Treatment
from tcpstall.model import Flow, Side
from tcpstall.report.remedies.words import PLATFORM, finding, headline, size_rows, sources, whatif
from tcpstall.report.style import cause_text, figures, table, words
from tcpstall.units import duration

__all__ = ["render_remedies"]

_LOOKS = {"agrees": "green", "disagrees": "bold red", "adds": "cyan", "says nothing": "dim"}


def render_remedies(
    flow: Flow,
    found: Sequence[Treatment],
    *,
    platform: Platform,
    sockets: dict[Side, Socket],
    link_bytes_per_s: int | None,
    width: int,
) -> Iterator[RenderableType]:
    """One flow from top to bottom."""
    yield Text(headline(flow), "bold")
    if not found:
        yield _line("nothing to change: it never waited longer than a round trip")
    for place, treated in enumerate(found, 1):
        yield Text()
        yield from _treatment(place, treated, platform)
    for side, socket in sockets.items():
        yield Text()
        yield _agreement(flow, side, socket, width)
    if rows := size_rows(flow, link_bytes_per_s):
        yield Text()
        trip = duration(flow.base_rtt_ns or 0)
        columns = [
            words("at"),
            *figures("in flight", "SO_SNDBUF", "tcp_wmem max", "SO_RCVBUF", "tcp_rmem max", "wscale ≥"),
        ]
        spare = ("wscale ≥", "in flight")  # the sizes to set stay
        yield table(f"sizes for a round trip of {trip}, Linux", columns, rows, width, spare)


def _treatment(place: int, treated: Treatment, platform: Platform) -> Iterator[RenderableType]:
    case = treated.case
    yield Text.assemble(
        f"{place}  {duration(case.time_ns)}  ", cause_text(case.cause), f" at the {case.sender}  {finding(case)}"
    )
    for remark in treated.kernel:
        yield _line(Text.assemble((f"ss {remark.word}: ", _LOOKS[remark.word]), remark.text))
    if treated.nothing:
        yield _line(treated.nothing)
    for remedy in treated.remedies:
        yield from _remedy(remedy, platform, case.flow)
    checks = [check for check in treated.checks if check.platform is platform]
    if checks:
        yield _line(Text("confirm it first", "bold"))
    for check in checks:
        yield from _check(check)


def _remedy(remedy: Remedy, platform: Platform, flow: Flow) -> Iterator[RenderableType]:
    step = remedy.steps[platform]
    yield _line(Text.assemble("→ ", (remedy.title, "bold"), f"  at the {remedy.at}"))
    for command in step.commands:
        yield _command(f"{_prompt(platform)} {command}")
    for line in step.program:
        yield _command(f"in the program: {line}")
    if step.note:
        yield _line(f"{PLATFORM[platform]}: {step.note}", 7)
    yield _line(f"helps if {remedy.helps_if}", 7)
    yield _line(f"risks: {remedy.risk}", 7)
    if asked := whatif(remedy, flow):
        yield _line(f"what it buys: {asked}", 7)
    yield _line(Text(f"source: {sources(remedy, step)}", "dim"), 7)


def _check(check: Check) -> Iterator[RenderableType]:
    yield _command(f"{check.at} {_prompt(check.platform)} {check.command}", 5)
    yield _line(check.shows, 7)


def _prompt(platform: Platform) -> str:
    return "PS>" if platform is Platform.WINDOWS else "#"


def _line(text: str | Text, indent: int = 5) -> RenderableType:
    return Padding(text if isinstance(text, Text) else Text(text), (0, 0, 0, indent))


def _command(text: str, indent: int = 7) -> RenderableType:
    """In one line however long, so that it can be copied."""
    return Group(Text(" " * indent + text, "cyan", no_wrap=True, overflow="ignore"))


def _agreement(flow: Flow, side: Side, socket: Socket, width: int) -> RenderableType:
    columns = [words("figure"), words("kernel (ss)"), words("capture"), words("")]
    rows: list[list[str | Text]] = [
        [held.name, held.kernel, held.capture, Text(held.word, _LOOKS[held.word])]
        for held in held_against(flow, side, socket)
    ]
    return table(f"flow {flow.id}: the {side}'s socket {flow.end(side)} beside the capture", columns, rows, width)
