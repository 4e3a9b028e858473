"""The rows of the page's tables, as text."""

from dataclasses import dataclass

from tcpstall import facts
from tcpstall.causes import Cause
from tcpstall.model import Exchange, Flow, Stall
from tcpstall.report.html.ledger import look
from tcpstall.report.html.wireshark import stall_filter
from tcpstall.report.outcome import owner
from tcpstall.report.sums import latency_sum
from tcpstall.report.waits import real_stalls, sum_by_cause
from tcpstall.units import clock, confidence, counted, duration, number, offset, percent

__all__ = ["ExchangeRow", "FlowRow", "StallRow", "exchange_rows", "flow_row", "stall_rows"]

_STALLS = 50
_EXCHANGES = 20


@dataclass(frozen=True)
class FlowRow:
    """A flow in the table of flows; spans and the share once more as figures, to sort by."""

    id: int
    client: str
    server: str
    label: str
    sent: str
    received: str
    length: str
    lost: str
    share: str
    handshake: str
    stalls: str
    mostly: str
    colour: str
    pattern: int
    length_ns: int
    lost_ns: int
    lost_share: float
    handshake_ns: int | None


@dataclass(frozen=True)
class StallRow:
    """A stall in a flow's table; `start_ns` and `end_ns` count from the flow's first packet."""

    start_ns: int
    end_ns: int
    after: str
    clock: str
    sender: str
    cause: str
    detail: str
    colour: str
    pattern: int
    length: str
    in_flight: str
    window: str
    confidence: str
    packets: str
    filter: str
    facts: list[tuple[str, str]]
    also: str
    missing: str
    advice: str


@dataclass(frozen=True)
class ExchangeRow:
    """An exchange with its latency as a sum."""

    after: str
    request: str
    response: str
    total: str
    sum: str


def flow_row(flow: Flow) -> FlowRow:
    """The flow in figures."""
    main = max(Cause, key=lambda cause: flow.time_ns.get(cause, 0))
    owned = bool(flow.time_ns.get(main, 0))
    colour, pattern = look(main.value)
    span = flow.handshake.duration_ns
    return FlowRow(
        id=flow.id,
        client=str(flow.client),
        server=str(flow.server),
        label=flow.label or "",
        sent=number(flow.directions["client"].bytes),
        received=number(flow.directions["server"].bytes),
        length=duration(flow.duration_ns),
        lost=duration(flow.lost_ns),
        share=percent(flow.lost_ns, flow.duration_ns),
        handshake="?" if span is None else duration(span),
        stalls=number(len(real_stalls(flow))),
        mostly=owner(flow, main) if owned else flow.outcome or "–",
        colour=colour if owned else "",
        pattern=pattern,
        length_ns=flow.duration_ns,
        lost_ns=flow.lost_ns,
        lost_share=flow.lost_ns / flow.duration_ns if flow.duration_ns else 0.0,
        handshake_ns=span,
    )


def stall_rows(flow: Flow, min_stall_ns: int) -> tuple[list[StallRow], str]:
    """The longest stalls in order of time, and a line about those left out."""
    long_enough = [stall for stall in flow.stalls if stall.duration_ns >= min_stall_ns]
    shown = sorted(long_enough, key=lambda stall: -stall.duration_ns)[:_STALLS]
    kept = {id(stall) for stall in shown}
    left_out = [stall for stall in flow.stalls if id(stall) not in kept]
    rest = f"and {counted(len(left_out), 'shorter stall')}: {sum_by_cause(left_out)}" if left_out else ""
    return [_stall_row(flow, stall) for stall in sorted(shown, key=lambda stall: stall.start_ns)], rest


def exchange_rows(flow: Flow) -> tuple[list[ExchangeRow], str]:
    """The slowest exchanges, and a line about the others."""
    slowest = sorted(flow.exchanges, key=lambda exchange: -exchange.latency_ns)[:_EXCHANGES]
    more = flow.connection.exchanges - len(slowest)
    rest = f"and {counted(more, 'faster exchange')}" if more > 0 else ""
    return [_exchange_row(flow, exchange) for exchange in slowest], rest


def _stall_row(flow: Flow, stall: Stall) -> StallRow:
    colour, pattern = look(stall.cause.value)
    return StallRow(
        start_ns=stall.start_ns - flow.start_ns,
        end_ns=stall.end_ns - flow.start_ns,
        after=offset(stall.start_ns - flow.start_ns),
        clock=clock(stall.start_ns),
        sender=stall.sender,
        cause=stall.cause.value,
        detail=stall.detail or "",
        colour=colour,
        pattern=pattern,
        length=facts.length(stall),
        in_flight=_bytes(stall, "in_flight_bytes"),
        window=_bytes(stall, "peer_window_bytes"),
        confidence=confidence(stall.confidence),
        packets=" → ".join(map(str, facts.packets(stall))) or "–",
        filter=stall_filter(flow, stall),
        facts=facts.facts(stall),
        also=", then ".join(cause.value for cause in stall.also),
        missing="; ".join(stall.missing),
        advice=stall.advice,
    )


def _bytes(stall: Stall, name: str) -> str:
    value = stall.evidence.get(name)
    return "?" if value is None else number(value)


def _exchange_row(flow: Flow, exchange: Exchange) -> ExchangeRow:
    total, _, parts = latency_sum(exchange, flow.base_rtt_ns).partition(": ")
    return ExchangeRow(
        after=offset(exchange.start_ns - flow.start_ns),
        request=number(exchange.request_bytes),
        response=number(exchange.response_bytes),
        total=total,
        sum=parts,
    )
