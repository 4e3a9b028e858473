"""Content of a ticket: the verdict, owners of the time, stalls by packet, remedies, trust."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from tcpstall.causes import Cause
from tcpstall.errors import UNREAD
from tcpstall.findings import Finding, led, telling
from tcpstall.model import Analysis, Capture, Flow, Service, Side, Sort, Stall
from tcpstall.report.answer import amount, findings, loss, notes, remainder, set_up, together
from tcpstall.report.findings import MOST, heading, told
from tcpstall.report.first_change import first_change
from tcpstall.report.inputs import as_a_whole, as_read, facts, named, nothing_in
from tcpstall.report.outcome import owner
from tcpstall.report.services import idle_line, service_line
from tcpstall.report.spikes import spike_lines
from tcpstall.report.stalls import bytes_of, length_of, longest, packets_of
from tcpstall.report.summary import story
from tcpstall.report.sums import latency_sum
from tcpstall.report.ticket.blocks import Block, Code, Foreign, Heading, Items, Paragraph, Picture, Strong, Table, Words
from tcpstall.report.trust import TOLD, doubts, short_doubts
from tcpstall.report.waits import main_sender, real_stalls, sum_by_cause
from tcpstall.units import confidence, counted, duration, number, offset, percent

__all__ = ["Detail", "content"]

_STALLS_OF_ONE, _STALLS_OF_SEVERAL = 20, 8
_EXCHANGES = 5
_SERVICES = 5


@dataclass(frozen=True)
class Detail:
    """Length of a ticket: `listed` flows in the table, `explained` ones with a section, in the order of `sort`."""

    listed: int = 10
    explained: int = 3
    sort: Sort = "lost"
    min_stall_ns: int = 0
    pictures: Sequence[Picture] = ()
    """Of the whole capture."""
    pictures_of: Mapping[int, Sequence[Picture]] = field(default_factory=dict)
    """By flow."""


def content(analysis: Analysis, detail: Detail, command: str, version: str) -> Iterator[Block]:
    """The ticket from top to bottom; nothing where no input could be read."""
    read = [capture for capture in analysis.captures if capture.exit_code not in UNREAD]
    if not read:
        return
    yield Heading(1, ["Why TCP waited: ", *_named(read)])
    if analysis.total == 0:
        for capture in read:
            yield Paragraph([Foreign(capture.path), f": {nothing_in(capture)}"])
    else:
        yield from _of_flows(analysis, detail)
    yield from _trust(read)
    yield Paragraph([f"Made by tcpstall {version}: ", Foreign(command)])


def _named(captures: Sequence[Capture]) -> Iterator[str | Foreign]:
    for place, members in enumerate(as_read(captures)):
        if place:
            yield ", "
        yield Foreign(named(members))


def _of_flows(analysis: Analysis, detail: Detail) -> Iterator[Block]:
    ranked = analysis.ranked(detail.sort)
    flows = [analysis[row] for row in ranked[: max(detail.listed, detail.explained)]]
    tells = telling(analysis, flows, detail.sort, detail.explained)
    shown = tells.shown
    yield Paragraph([Strong(story(tells.findings, analysis.worst, analysis)), "."])
    yield from _findings(tells.findings)
    yield from _verdict(shown, analysis.total, lost_most=shown.id == analysis.worst.id)
    if analysis.total > 1:
        yield Paragraph([_sentence(together(analysis)) + "."])
    yield from detail.pictures
    yield from _change(led(shown, tells.in_full))
    if analysis.total > 1:
        yield Heading(2, ["Flows"])
        yield _flow_table(flows[: detail.listed])
        if analysis.total > detail.listed:
            yield Paragraph([f"and {counted(analysis.total - detail.listed, 'more flow')}"])
        yield from _services(analysis)
    for flow in tells.in_full:
        yield from _explained(flow, detail, _STALLS_OF_ONE if len(tells.in_full) == 1 else _STALLS_OF_SEVERAL)


def _findings(found: Sequence[Finding]) -> Iterator[Block]:
    """The finding that a change would help most first."""
    if found:
        yield Items([[Strong(heading(one)), f": {told(one)}"] for one in found[:MOST]])


def _verdict(flow: Flow, flows: int, *, lost_most: bool) -> Iterator[Block]:
    sender = main_sender(flow)
    receiver: Side = "client" if sender == "server" else "server"
    which = f"the worst of {number(flows)}" if lost_most else f"one of {number(flows)} that shows it"
    rank = f"Flow {flow.id}, {which}: " if flows > 1 else ""
    reset = ", ended by a reset" if flow.state == "reset" else ""
    yield Paragraph(
        [
            Strong(f"{rank}{flow.end(sender)} → {flow.end(receiver)}"),
            f" sent {amount(flow, sender)} in {duration(flow.duration_ns)}: {loss(flow)}, {set_up(flow)}{reset}.",
        ]
    )
    if flow.label:
        yield Paragraph(["It carries ", Foreign(flow.label), *([f", through {flow.tunnel}"] if flow.tunnel else [])])
    elif flow.tunnel:
        yield Paragraph([f"It came through {flow.tunnel}"])
    found = findings(flow)
    if found:
        yield Items(
            [
                [
                    Strong(f"{duration(one.time_ns)} {one.cause}"),
                    f" ({percent(one.time_ns, flow.duration_ns)}): {one.what}",
                ]
                for one in found
            ]
        )
    if spikes := list(spike_lines(flow)):
        yield Items([[_sentence(line)] for line in spikes])
    yield Paragraph([_sentence(remainder(flow, found)) + "."])


def _change(flows: Sequence[Flow]) -> Iterator[Block]:
    """Each advice once, with the time that it is about."""
    about: dict[str, dict[Cause, int]] = {}
    for flow in flows:
        for finding in findings(flow):
            if finding.advice:
                times = about.setdefault(finding.advice, {})
                times[finding.cause] = times.get(finding.cause, 0) + finding.time_ns
    if about:
        yield Heading(2, ["What to change"])
        ranked = sorted(about, key=lambda advice: -sum(about[advice].values()))
        yield Items([[_sentence(advice), f" ({_times(about[advice])})"] for advice in ranked])
        yield from _first_change(flows[0])


def _first_change(flow: Flow) -> Iterator[Block]:
    """The worst finding's change as a command, and what confirms the finding."""
    if change := first_change(flow):
        yield Paragraph([Strong(f"{change.cause}, on Linux"), f" at the {change.at}: {change.title}."])
        yield Code(change.lines)
        yield Paragraph([f"Confirm it first at the {change.confirm_at}: {change.shows}."])
        yield Code([change.confirm])


def _times(times_ns: Mapping[Cause, int]) -> str:
    return ", ".join(f"{duration(span_ns)} {cause}" for cause, span_ns in times_ns.items())


def _services(analysis: Analysis) -> Iterator[Block]:
    """Services with several connections, where reuse would have saved time."""
    several = [service for service in analysis.services if service.connections > 1]
    worth = [service for service in several if service.avoidable_handshakes or service.idle_close][:_SERVICES]
    if worth:
        yield Heading(2, ["Services"])
        told = (
            f"{service_line(service).replace('  ', ': ')}; {_idle(service)}".removesuffix("; ") for service in worth
        )
        yield Items([[line] for line in told])


def _idle(service: Service) -> str:
    return idle_line(service.idle_close) if service.idle_close else ""


def _flow_table(flows: Sequence[Flow]) -> Table:
    headings = ["flow", "client → server", "client bytes", "server bytes", "length", "lost", "share", "mostly"]
    rows = [_flow_row(flow) for flow in flows]
    if any(flow.label for flow in flows):
        headings.append("carries")
        rows = [[*row, [Foreign(flow.label or "")]] for row, flow in zip(rows, flows, strict=True)]
    return Table(headings, rows, frozenset({0, 2, 3, 4, 5, 6}))


def _flow_row(flow: Flow) -> list[Words]:
    mostly = max(Cause, key=lambda cause: flow.time_ns.get(cause, 0))
    return [
        [number(flow.id)],
        [f"{flow.client} → {flow.server}"],
        [number(flow.directions["client"].bytes)],
        [number(flow.directions["server"].bytes)],
        [duration(flow.duration_ns)],
        [duration(flow.lost_ns)],
        [percent(flow.lost_ns, flow.duration_ns)],
        [owner(flow, mostly) if flow.time_ns.get(mostly, 0) else flow.outcome or "–"],
    ]


def _explained(flow: Flow, detail: Detail, stalls: int) -> Iterator[Block]:
    yield Heading(2, [f"Flow {flow.id}: {flow.client} ↔ {flow.server}"])
    if flow.label:
        yield Paragraph([Foreign(flow.label)])
    yield from detail.pictures_of.get(flow.id, ())
    if doubt := short_doubts(flow):
        yield Paragraph([_sentence(doubt)])
    for note in notes(flow):
        yield Paragraph([f"Note: {note}"])
    yield Heading(3, ["Where the time went"])
    yield _ledger(flow)
    yield from _stalls(flow, detail, stalls)
    yield from _exchanges(flow)


def _ledger(flow: Flow) -> Table:
    owned = sorted(((span, owner) for owner, span in flow.time_ns.items() if span), reverse=True)
    rows: list[list[Words]] = [[[owner], [duration(span)], [percent(span, flow.duration_ns)]] for span, owner in owned]
    rows.append([[Strong("all")], [duration(flow.duration_ns)], [percent(1, 1)]])
    return Table(("owner", "time", "share"), rows, frozenset({1, 2}))


def _stalls(flow: Flow, detail: Detail, most: int) -> Iterator[Block]:
    shown = longest([stall for stall in real_stalls(flow) if stall.duration_ns >= detail.min_stall_ns], most)
    if not shown:
        return
    yield Heading(3, ["Stalls"])
    headings = ("#", "start, s", "sender", "cause", "duration", "in flight", "window", "sure", "packets")
    yield Table(headings, [_stall_row(flow, stall) for stall in shown], frozenset({0, 1, 4, 5, 6, 7}))
    kept = {id(stall) for stall in shown}
    if left_out := [stall for stall in real_stalls(flow) if id(stall) not in kept]:
        yield Paragraph([f"and {counted(len(left_out), 'shorter stall')}: {sum_by_cause(left_out)}"])
    yield Paragraph(["Packets: the last data before the wait → what freed it → the first data after it."])


def _stall_row(flow: Flow, stall: Stall) -> list[Words]:
    return [
        [number(stall.number)],
        [offset(stall.start_ns - flow.start_ns)],
        [stall.sender],
        [f"{stall.cause.value} ({stall.detail})" if stall.detail else stall.cause.value],
        [length_of(stall)],
        [bytes_of(stall, "in_flight_bytes")],
        [bytes_of(stall, "peer_window_bytes")],
        [confidence(stall.confidence)],
        [packets_of(stall)],
    ]


def _exchanges(flow: Flow) -> Iterator[Block]:
    if len(flow.exchanges) == 0:
        return
    slowest = sorted(flow.exchanges, key=lambda exchange: -exchange.latency_ns)[:_EXCHANGES]
    several = f"The slowest of {counted(flow.connection.exchanges, 'exchange')}"
    yield Heading(3, [several if flow.connection.exchanges > len(slowest) else "Exchanges"])
    yield Items(
        [
            [
                Strong(offset(exchange.start_ns - flow.start_ns) + " s"),
                f", {number(exchange.request_bytes)} → {number(exchange.response_bytes)} bytes: ",
                latency_sum(exchange, flow.base_rtt_ns),
            ]
            for exchange in slowest
        ]
    )


def _trust(captures: Sequence[Capture]) -> Iterator[Block]:
    yield Heading(2, ["How far to trust this"])
    for members in as_read(captures):
        if len(members) == 1:
            yield Paragraph([Foreign(members[0].path), f": {facts(members[0])}"])
            told = _told(members[0])
        else:
            count = f"{len(members)} files read as one: "
            yield Paragraph([count, Foreign(named(members)), f": {facts(as_a_whole(members))}"])
            told = [[Foreign(capture.path), ": ", *line] for capture in members for line in _told(capture)]
        yield Items(told) if told else Paragraph([_nothing_lacks(members[0])])


def _told(capture: Capture) -> list[Words]:
    told: list[Words] = [[line] for line in doubts(capture)]
    warnings = (*capture.remarks_but(TOLD), *([capture.error] if capture.error else []))
    return told + [["warning: ", Foreign(warning)] for warning in warnings]


def _nothing_lacks(capture: Capture) -> str:
    where = f"Taken {capture.trust.vantage}; nothing" if capture.trust.vantage else "Nothing"
    return f"{where} that the labels need is missing." if capture.trust.flows else "It holds no flow to be judged."


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:]
