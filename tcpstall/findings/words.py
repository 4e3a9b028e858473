"""A finding in words: its kind, its place, and the whole sentence."""

from tcpstall.causes import Detail
from tcpstall.findings.finding import RATES, Finding
from tcpstall.findings.proof import evidence, meanwhile, names, patience, rate_of, timed, too_late, unanswered
from tcpstall.model.endpoint import Endpoint
from tcpstall.units import clock, counted, duration, number

__all__ = ["flows_of", "headline", "sentence", "spread", "where"]

_HEADLINES = {
    "unreachable": "unreachable",
    "refused": "connection refused",
    "half-open": "handshake never completed",
    "aborted": "handshake broken off by the client",
    "peer-gone": "peer gone",
    "cut-answer": "answer cut short",
    "stale-connection": "request on a connection that the server had closed",
    "handshake-loss": "handshake slow by loss",
    "accept-queue": "server slow to accept",
    "handshake-slow": "handshake slow to be answered",
    "handshake-distance": "handshakes over a long path",
    "server-slow": "server slow to answer",
    "no-answer": "no answer until the client gave up",
    "server-timer": "server answers by a timer",
    "server-silent": "server silent before a message",
    "no-permission": "client waiting for 100 Continue",
    "flow-control": "the application's own window",
    "messages": "small messages with pauses",
    "idle": "idle",
    "loss": "loss",
    "path-mtu": "probably full segments too large for the path",
    "reordering": "reordering on the path",
    "cwnd-limited": "congestion window",
    "rwnd-limited": "receive window full",
    "zero-window": "receive window closed",
    "sndbuf-limited": "send buffer full",
    "idle-restart": "congestion window lost by idling",
    "nagle": "Nagle's algorithm",
    "delayed-ack": "delayed ACK",
    "pacing": "pacing",
    "burst-limited": "bursts cut short",
    "bandwidth-limited": "rate set by the path",
    "rate-window": "rate set by the congestion window",
    "rate-pacing": "rate set by pacing",
    "rate-application": "rate set by the application",
    "rate-sender": "rate set by the sender",
    "round-trips": "one request after another",
    "one-sided": "one direction captured",
    "unexplained": "unexplained",
}

_IN_TLS = "in TLS's handshake"


def headline(finding: Finding) -> str:
    """The kind, in a few words."""
    if finding.kind == "sent-in-pieces":
        return f"{finding.side} slow to send"
    if finding.kind == "server-slow" and finding.is_of_tls:
        return f"server slow {_IN_TLS}"
    if finding.is_quick:
        return "quick answers"
    if finding.kind == "reset":
        return f"reset {_amid(finding)}"
    if finding.kind == "loss" and finding.detail == Detail.SPURIOUS:
        return "needless retransmission"
    return _HEADLINES.get(finding.kind, finding.kind.replace("-", " "))


def where(finding: Finding) -> str:
    """The service, the host, or their number: `192.0.2.1:80`."""
    if finding.address is None:
        over = "over " if finding.further_services else ""
        return f"{over}{number(finding.services)} services" if finding.services > 1 else "many services"
    if finding.port is not None:
        return str(Endpoint(finding.address, finding.port))
    return f"{finding.address}, {counted(finding.services, 'port')}" if finding.services > 1 else finding.address


def spread(finding: Finding) -> list[str]:
    """The distribution, its most important part first: `worst 1.00 s`, `median 720.0 ms`, `p95 950.0 ms`."""
    # Of a queue the evidence matters more, and is long.
    if finding.counted < 2 or not finding.worst_ns or finding.is_rate or finding.behind:
        return []
    parts = [f"worst {duration(finding.worst_ns)}", f"median {duration(finding.median_ns)}"]
    return parts if finding.services > 1 else [*parts, f"p95 {duration(finding.p95_ns)}"]


def flows_of(finding: Finding, noun: str = "flow") -> str:
    """`6 flows`; where the service has other clients, `6 flows of 192.0.2.7`."""
    whose = f" of {finding.client}" if finding.of_several_clients else ""
    return f"{counted(finding.flows, noun)}{whose}"


def _amid(finding: Finding) -> str:
    """The part of the connection that each reset of the finding broke off."""
    if finding.reset_in_tls == finding.flows:
        return _IN_TLS
    owed = finding.reset_in_tls + finding.reset_unanswered == finding.flows
    return "before the answer came" if owed else "in mid-transfer"


def _mostly(finding: Finding) -> str:
    """The number of flows or answers that took nearly all of the time: `, nearly all in 2`."""
    few = finding.nearly_all_in
    return f", nearly all in {'one' if few == 1 else number(few)}" if few else ""


def sentence(finding: Finding) -> str:
    """The finding as one complete sentence."""
    by = finding.awaited_by
    others = f" and {counted(len(by) - 1, 'other')}" if len(by) > 1 else ""
    return f"{_said(finding)}{f'; {by[0]}{others} waited for it' if by else ''}"


def _said(finding: Finding) -> str:
    place, flows, span = where(finding), flows_of(finding), duration(finding.time_ns)
    _sender, receiver = names(finding)
    match finding.kind:
        case "unreachable":
            verb = "is" if finding.address else "are"
            return f"{place} {verb} unreachable: {unanswered(finding)}, {flows} since {clock(finding.first_ns)[:8]}"
        case "refused":
            return f"{place} refused {flows_of(finding, 'connection')} with a RST"
        case "half-open":
            return f"{flows_of(finding, 'connection')} to {place} never got past the handshake"
        case "aborted":
            begun = counted(finding.flows, "connection")
            return f"the client broke off {begun} to {place} in the handshake: {evidence(finding)}"
        case "peer-gone":
            gone = f"the {receiver} of {place}" if receiver == "client" else place
            verb = "are" if receiver == "server" and not finding.address else "is"
            again = f"data was sent again {counted(finding.attempts, 'time')} and never acknowledged"
            return f"{gone} {verb} gone: {again}, {span} in {flows}"
        case "reset":
            return f"the {finding.side} reset {flows_of(finding, 'connection')} to {place} {_amid(finding)}"
        case "cut-answer":
            return f"{place} closed amid {flows_of(finding, 'answer')}: {evidence(finding)}"
        case "stale-connection":
            lost = flows_of(finding, "request")
            return f"{place} reset {lost} on idle connections: it had closed them, or they were forgotten on the way"
        case "server-slow":
            verb = f"{'is' if finding.address else 'are'}{' probably' if finding.is_doubtful else ''}"
            queued = f", behind a queue that {finding.behind.service} filled" if finding.behind else ""
            if finding.is_of_tls:
                return f"{place} {verb} slow {_IN_TLS}: {span} in {flows}"
            part = finding.tls_handshake_ns if 2 * finding.tls_handshake_ns > finding.time_ns else 0
            before = f", {duration(part)} of it {_IN_TLS}" if part else ""
            many = f"{counted(finding.counted, 'answer')} of {flows}"
            if finding.is_quick:
                each = f", {duration(finding.mean_ns)} each" if finding.counted > 1 else ""
                doubt = "probably " if finding.is_doubtful else ""
                return f"{place} {doubt}took {span} for {many}{each}{before}{queued}{meanwhile(finding)}"
            answers = f"{span} in {many}{_mostly(finding)}{before}{queued}"
            return f"{place} {verb} slow to answer: {answers}{meanwhile(finding)}"
        case "accept-queue":
            verb = "is" if finding.address else "are"
            return f"{place} {verb} probably slow to accept: {span} in {flows_of(finding, 'connection')}"
        case "no-answer":
            left = flows_of(finding, "request")
            gave_up = f"the client gave up after {patience(finding)}"
            if not finding.waits:
                return f"{place} left {left} without an answer: {gave_up}"
            in_time = (
                f"answered {left} too late" if finding.waits >= finding.flows else f"left {left} without an answer"
            )
            return f"{place} {in_time}: {gave_up}, {too_late(finding)}"
        case "server-timer":
            return f"nobody may have waited: {place} answers by a timer, {timed(finding)}: a long poll, or a timeout"
        case "server-silent":
            verb = "was" if finding.address else "were"
            before = "a message" if finding.waits == 1 else f"{number(finding.waits)} messages"
            what = "an answer that came late, or an event" if finding.waits == 1 else "late answers, or events"
            return f"{place} {verb} silent for {span} before {before}, {flows}: {what} that nobody waited for"
        case kind if kind in RATES:
            return f"{headline(finding)}: {rate_of(finding)} at {place}, for {span} of {duration(finding.lasted_ns)}"
        case "messages":
            return f"nothing to repair unless a user waited: small messages with pauses, {span} in {flows}"
        case "idle" if finding.is_of_tls:
            why = "a person was asked, or it checked certificates"
            return f"the client paused {_IN_TLS} at {place}, {span} in {flows}: {why}"
        case "idle":
            return f"nothing to repair: the time is the applications' own pauses, {span} in {flows}"
        case "unexplained" if jump := finding.jumped_ns:
            jumped = f"the capture's clock jumped by up to {duration(jump)}"
            return f"{jumped} at {place}, {flows}: the wait there is not known"
        case "unexplained":
            return f"the capture does not show why {span} passed at {place}, {flows}"
        case "one-sided":
            return f"the capture holds only one direction of {flows}"
        case "handshake-distance" if finding.flows > 1:
            took = f"{number(finding.flows)} handshakes at {place} took {span}, median {duration(finding.median_ns)}"
            return f"no wait longer than a round trip: {took}"
        case "handshake-distance":
            return f"nothing to repair: no wait longer than a round trip, {flows}"
    many = f" in {flows}{_mostly(finding)}" if finding.flows > 1 or finding.of_several_clients else ""
    told = evidence(finding)
    took = f" took {span}" if finding.time_ns else ", which nobody waited for"
    doubt = "probably " if finding.is_doubtful else ""
    return f"{doubt}{headline(finding)} at {place}{took}{many}{f': {told}' if told else ''}"
