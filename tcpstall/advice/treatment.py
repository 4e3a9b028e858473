"""Each finding of a flow with what to change about it, or why nothing on the hosts would help."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from tcpstall.advice import buffers, needs, path, segments, start
from tcpstall.advice.case import Case, cases
from tcpstall.advice.confirm import checks
from tcpstall.advice.remedy import Check, Remedy
from tcpstall.advice.sockets import Matched, Remark, Socket, word_on
from tcpstall.causes import Cause, Detail
from tcpstall.model import Analysis, Endpoint, Flow, Service, Side

__all__ = ["Treatment", "services_by_end", "treatments"]

_MS = 1_000_000

_SHORT_PATH_NS = 20 * _MS
"""Below this round trip Linux's floor of 200 ms for its timer is ten times the path."""

_UNSCALED = 65_535


@dataclass(frozen=True)
class Treatment:
    """`nothing` says why no change of TCP on these hosts helps; then `remedies` may be empty.

    `kernel` is what pasted sockets say of the finding.
    """

    case: Case
    remedies: tuple[Remedy, ...]
    nothing: str
    checks: tuple[Check, ...]
    kernel: tuple[Remark, ...] = ()


def treatments(
    flow: Flow, *, service: Service | None = None, link_bytes_per_s: int | None = None, sockets: Matched | None = None
) -> list[Treatment]:
    """Treatment of each finding, the one that cost most first."""
    own: dict[Side, Socket] = dict(sockets.of(flow)) if sockets is not None else {}
    return [_treated(case, own) for case in cases(flow, service, link_bytes_per_s)]


def services_by_end(analysis: Analysis) -> dict[Endpoint, Service]:
    """The services by the address and port that a flow's server has."""
    return {Endpoint(service.address, service.port): service for service in analysis.services}


def _treated(case: Case, sockets: dict[Side, Socket]) -> Treatment:
    remedies, nothing = _BY_CAUSE.get(case.cause, _as_the_core_advises)(case)
    said = word_on(
        case.flow, case.cause, case.sender, case.stalls, sockets.get(case.sender), sockets.get(case.receiver)
    )
    return Treatment(case, tuple(remedies), nothing, checks(case), tuple(said))


_Answer = tuple[Sequence[Remedy], str]


_NEVER_STOOD = {
    "unreachable": "nothing to change in TCP: nobody answered; check that the host is up and the port listens "
    "(ss -tln), that no firewall drops the SYNs, and that a route leads there and back",
    "refused": "nothing to change in TCP: start the service, or find the firewall that rejects the connection",
    "half-open": "nothing to change in TCP: find out why the client does not complete the handshake, or whether its "
    "address is forged (a SYN flood)",
    "aborted": "nothing to change in TCP: the client reset the connection although the server had accepted it",
    "too-early": "nothing to change before it is known: capture for longer, the answer may have come later",
    "one-sided": "nothing to change before it is known: capture both directions",
}
"""Reasons why no change of TCP helps a connection that the capture never shows established."""

_GONE = (
    "nothing to change in TCP: find out whether the {peer}'s host still runs, and what on the path stopped carrying "
    "packets (a route, or a firewall or NAT that forgot the connection)"
)


def _as_the_core_advises(case: Case) -> _Answer:
    return (), f"nothing to change in TCP that is known: {case.stalls[0].advice if case.stalls else case.cause.advice}"


def _handshake(case: Case) -> _Answer:
    if nothing := _NEVER_STOOD.get(case.flow.outcome or ""):
        return (), nothing
    if case.kind in (Detail.REFUSED, Detail.UNANSWERED, Detail.HALF_OPEN):
        return (), f"nothing to change in TCP: {case.stalls[0].advice}"
    close = case.service.idle_close if case.service is not None else None
    again = (start.reuse(case), *((start.keep_open(case, close),) if close is not None else ()))
    return (start.accept_queue(case), *again) if case.kind == Detail.SYN_LOSS else again, ""


def _cwnd_limited(case: Case) -> _Answer:
    if case.kind == Detail.SLOW_START:
        reached = (case.own.initial_window_bytes or 0) >= needs.initial_window(case).segments * case.mss_bytes
        first = () if reached else (start.first_segments(case),)
        return (*first, start.reuse(case)), ""
    return (path.find_losses(case), path.another_control(case), path.paced_bursts(case)), ""


def _rwnd_limited(case: Case) -> _Answer:
    if case.kind == Detail.SLOW_READER:
        return (), (
            f"nothing to change in TCP: the {case.receiver}'s application reads too slowly; a larger buffer only "
            "fills later"
        )
    scale = case.flow.directions[case.receiver].window_scale
    needed, _ = needs.needed_flight(case)
    scaling = (buffers.window_scaling(case),) if scale == 0 and needed > _UNSCALED else ()
    if case.window_grew:
        return (*scaling, buffers.larger_first_window(case)), ""
    return (*scaling, buffers.autotuned_receiving(case)), ""


def _zero_window(case: Case) -> _Answer:
    if case.kind == Detail.BELOW_SEGMENT:
        return (buffers.autotuned_receiving(case),), ""
    reading = (
        f"nothing to change in TCP: the {case.receiver}'s application must read, its buffer was full to the last byte"
    )
    return ((buffers.give_up_on_dead_reader(case),) if case.kind == Detail.NEVER_REOPENED else ()), reading


def _sndbuf_limited(case: Case) -> _Answer:
    return (buffers.autotuned_sending(case), buffers.larger_sndbuf(case)), ""


def _idle_restart(case: Case) -> _Answer:
    return (start.keep_window_after_idle(case), start.unresetting_control(case)), ""


def _app_limited(case: Case) -> _Answer:
    if case.kind == Detail.THINK_TIME:
        return (path.answer_sooner(case),), ""
    if case.kind == Detail.AWAITING_PEER:
        return (), "nothing to change on this host: it was the other end's turn to speak"
    if case.kind == Detail.APPLICATION_WINDOW:
        return (path.larger_application_window(case),), ""
    return (), f"nothing to change in TCP: the {case.sender}'s application had nothing to send"


def _retransmission(case: Case) -> _Answer:
    if case.flow.outcome == "gone" and case.flow.unanswered_sender == case.sender and not case.stalls[-1].ended:
        return (), _GONE.format(peer=case.receiver)
    if case.kind == Detail.SPURIOUS:
        return (path.patient_timer(case),), ""
    found = [path.find_losses(case), path.sooner_repair(case)]
    waited_for_timers = case.kind == Detail.TAIL_LOSS or bool(case.own.timeouts)
    if waited_for_timers and case.rtt_ns is not None and case.rtt_ns < _SHORT_PATH_NS:
        found.append(path.sooner_timer(case))
    return (*found, path.paced_bursts(case)), ""


def _nagle(case: Case) -> _Answer:
    return (segments.one_write(case), segments.nodelay(case)), ""


def _delayed_ack(case: Case) -> _Answer:
    return (segments.one_write(case), segments.nodelay(case), segments.prompt_acks(case)), ""


def _pacing(case: Case) -> _Answer:
    return (path.raised_pacing(case),), ""


def _burst_limited(case: Case) -> _Answer:
    return (path.new_stack(case),), ""


def _bandwidth_limited(case: Case) -> _Answer:
    nothing = "nothing to change on this host: the path carried all it could, and more in flight only queues"
    return (path.faster_link(case),), nothing


def _capture_gap(case: Case) -> _Answer:
    return (
        (),
        "nothing to change on this host before it is known: capture again with a larger buffer (tcpdump -B 65536 "
        "-s 128)",
    )


def _unexplained(case: Case) -> _Answer:
    return (
        (),
        "nothing to change on this host before it is known: capture again from the SYN on, at the sender if possible",
    )


_BY_CAUSE: dict[Cause, Callable[[Case], _Answer]] = {
    Cause.HANDSHAKE: _handshake,
    Cause.CWND_LIMITED: _cwnd_limited,
    Cause.RWND_LIMITED: _rwnd_limited,
    Cause.ZERO_WINDOW: _zero_window,
    Cause.SNDBUF_LIMITED: _sndbuf_limited,
    Cause.IDLE_RESTART: _idle_restart,
    Cause.APP_LIMITED: _app_limited,
    Cause.RETRANSMISSION: _retransmission,
    Cause.NAGLE: _nagle,
    Cause.DELAYED_ACK: _delayed_ack,
    Cause.PACING: _pacing,
    Cause.BURST_LIMITED: _burst_limited,
    Cause.BANDWIDTH_LIMITED: _bandwidth_limited,
    Cause.CAPTURE_GAP: _capture_gap,
    Cause.UNEXPLAINED: _unexplained,
}
