"""Remedies as Markdown for tickets; commands are code."""

from collections.abc import Iterator, Sequence

from tcpstall.advice.remedy import Check, Platform, Remedy
from tcpstall.advice.sockets import Socket, held_against
from tcpstall.advice.treatment import Treatment
from tcpstall.model import Flow, Side
from tcpstall.report.remedies.words import PLATFORM, finding, headline, size_rows, sources, whatif
from tcpstall.report.ticket.blocks import Block, Code, Foreign, Heading, Items, Paragraph, Strong, Table, Words
from tcpstall.report.ticket.markdown import in_github_markdown
from tcpstall.units import duration

__all__ = ["Treated", "remedies_markdown"]

Treated = tuple[Flow, Sequence[Treatment], dict[Side, Socket]]


def remedies_markdown(
    flows: Sequence[Treated], told: Sequence[str], *, platform: Platform, link_bytes_per_s: int | None
) -> str:
    """One text for all flows; `told` is the result of matching pasted sockets."""
    return in_github_markdown(_content(flows, told, platform, link_bytes_per_s))


def _content(
    flows: Sequence[Treated], told: Sequence[str], platform: Platform, link_bytes_per_s: int | None
) -> Iterator[Block]:
    yield Heading(1, [f"What to change, on {PLATFORM[platform]}"])
    if told:
        yield Items([[line] for line in told])
    if not flows:
        yield Paragraph(["No flow to change anything about."])
    for flow, found, sockets in flows:
        yield Heading(2, [headline(flow)])
        if not found:
            yield Paragraph(["Nothing to change: it never waited longer than a round trip."])
        for treated in found:
            yield from _treatment(treated, platform)
        for side, socket in sockets.items():
            yield Heading(3, [f"The {side}'s socket beside the capture"])
            rows: list[list[Words]] = [
                [[held.name], [held.kernel], [held.capture], [held.word]] for held in held_against(flow, side, socket)
            ]
            yield Table(("figure", "kernel (ss)", "capture", ""), rows)
        if sizes := size_rows(flow, link_bytes_per_s):
            yield Heading(3, [f"Sizes for a round trip of {duration(flow.base_rtt_ns or 0)}, Linux"])
            headings = ("at", "in flight", "SO_SNDBUF", "tcp_wmem max", "SO_RCVBUF", "tcp_rmem max", "wscale ≥")
            yield Table(headings, [[[cell] for cell in row] for row in sizes], frozenset(range(1, len(headings))))


def _treatment(treated: Treatment, platform: Platform) -> Iterator[Block]:
    case = treated.case
    yield Heading(3, [f"{duration(case.time_ns)} {case.cause.value}, at the {case.sender}"])
    yield Paragraph([f"{finding(case)}."])
    if treated.kernel:
        yield Items([[Strong(f"ss {remark.word}"), f": {remark.text}"] for remark in treated.kernel])
    if treated.nothing:
        yield Paragraph([f"{treated.nothing[:1].upper()}{treated.nothing[1:]}."])
    for remedy in treated.remedies:
        yield Paragraph([Strong(remedy.title), f", at the {remedy.at}:"])
        step = remedy.steps[platform]
        if step.commands or step.program:
            yield Code([*step.commands, *(f"# in the program: {line}" for line in step.program)])
        yield Items(list(_remedy(remedy, platform, case.flow)))
    checks = [check for check in treated.checks if check.platform is platform]
    if checks:
        yield Paragraph([Strong("Confirm it first"), ":"])
    for check in checks:
        yield from _check(check)


def _remedy(remedy: Remedy, platform: Platform, flow: Flow) -> Iterator[Words]:
    step = remedy.steps[platform]
    if step.note:
        yield [step.note]
    yield [f"helps if {remedy.helps_if}"]
    yield [f"risks: {remedy.risk}"]
    if asked := whatif(remedy, flow):
        yield ["what it buys: ", Foreign(asked)]
    yield [f"source: {sources(remedy, step)}"]


def _check(check: Check) -> Iterator[Block]:
    yield Code([check.command])
    yield Paragraph([f"At the {check.at}: {check.shows}."])
