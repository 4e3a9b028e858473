"""The figures that decided a finding, in one clause."""

from collections.abc import Callable

from tcpstall.causes import Detail
from tcpstall.findings.finding import Behind, Finding
from tcpstall.units import counted, duration, number, per_second, percent, rate, ratio, size, times

__all__ = ["essence", "evidence", "meanwhile", "names", "patience", "rate_of", "timed", "too_late", "unanswered"]

_FIXED = {
    "stale-connection": "the request came after a second or more without any, and a RST answered it",
    "half-open": "the server's SYN-ACK was followed by nothing",
    "aborted": "a scan, or another attempt was faster",
    "handshake-slow": "no SYN was sent again, the answer came late",
    "accept-queue": "it ignored SYNs or first data, and answered copies of them",
    "server-silent": "what the client had said may have asked for nothing",
    "no-permission": "it had sent the head of its request, and the server did not say that it may go on",
    "one-sided": "packets answer an end of which the capture holds nothing",
}
"""Kinds that no figure decided."""


def names(finding: Finding) -> tuple[str, str]:
    """The end whose data waits, and its peer."""
    return ("client", "server") if finding.side == "client" else ("server", "client")


def evidence(finding: Finding) -> str:
    """The figures that decided, in one clause; empty where the kind is enough."""
    if finding.behind:
        return _through_queue(finding, finding.behind)
    return _FIXED.get(finding.kind) or _EVIDENCE.get(finding.kind, _plain)(finding)


def essence(finding: Finding) -> str:
    """The evidence, of a loss without its kinds and places: they are many words."""
    return _again(finding) if finding.kind == "loss" and not finding.behind else evidence(finding)


def _through_queue(finding: Finding, behind: Behind) -> str:
    """Round trips that another transfer's queue made long: `25 waits, round trips of 236.4 ms; 20.5 ms without …`."""
    if finding.kind in ("server-slow", "handshake-slow"):
        late = f"{counted(finding.counted, 'late answer')}, median {duration(finding.median_ns)}"
        return f"{late}; the queue that {behind.service} filled took {duration(behind.queue_ns)}"
    asked = finding.kind == "round-trips"
    many = counted(finding.exchanges, "request") if asked else counted(finding.waits, "wait")
    base = finding.example.base_rtt_ns if finding.example else None
    each = f", round trips of {duration(base)}" if base else ""
    return f"{many}{each}; {duration(behind.base_rtt_ns)} without the queue that {behind.service} filled"


def unanswered(finding: Finding) -> str:
    """SYNs without an answer."""
    return f"{counted(finding.attempts, 'SYN')}, no answer" if finding.attempts != 1 else "a SYN, no answer"


def rate_of(finding: Finding) -> str:
    """Payload over the time that the flows lasted."""
    return rate(finding.bytes, finding.lasted_ns)


def _reset(finding: Finding) -> str:
    if finding.reset_in_tls == finding.flows:
        return "no request had come yet"
    owed = finding.reset_in_tls + finding.reset_unanswered == finding.flows
    return "nothing of the answer had come" if owed else "before all requests were answered whole"


def _unreachable(finding: Finding) -> str:
    most = f", up to {finding.most_attempts} a flow" if finding.flows > 1 else ""
    return f"{counted(finding.attempts, 'SYN')} unanswered{most}"


def _refused(finding: Finding) -> str:
    if finding.is_given_up:
        each = "each SYN, and no SYN" if finding.flows > 1 else "the SYN, and the SYN"
        return f"a RST came {duration(finding.median_ns)} after {each} was sent again: the client had given up"
    return "a RST answered each SYN" if finding.flows > 1 else "a RST answered the SYN"


def _gone(finding: Finding) -> str:
    sender, _ = names(finding)
    most = f"up to {number(finding.most_attempts)} times" if finding.flows > 1 else times(finding.attempts)
    return f"the {sender} sent again {most}, nothing came back"


def _handshake_loss(finding: Finding) -> str:
    again = finding.example.figure("retransmissions") if finding.example else None
    # The example's flow sent most SYNs again.
    most = f" {'up to ' if finding.flows > 1 and again > 1 else ''}{times(again)}" if again else ""
    return f"SYN or SYN-ACK sent again{most}{' in each flow' if finding.flows > 1 and again == 1 else ''}"


def _server_slow(finding: Finding) -> str:
    if finding.is_of_tls:
        return f"it had the client's hello, and its first flight came late{meanwhile(finding)}"
    # A request in several messages may wait for several answers.
    asked = counted(max(finding.exchanges, finding.counted), "request")
    if few := finding.nearly_all_in:
        return f"{number(few)} of {asked} took nearly all of that time{meanwhile(finding)}"
    # Flows in which nobody waited had requests, too.
    some = finding.exchanges > finding.counted or finding.flows == 1
    what = f"{number(finding.counted)} of {asked}" if some else counted(finding.counted, "request")
    return f"{what} waited for the first byte{meanwhile(finding)}"


def meanwhile(finding: Finding) -> str:
    """The service that a slow one waited for: `, while it waited for 192.0.2.1:80`."""
    return f", while it waited for {finding.waited_for.service}" if finding.waited_for else ""


def patience(finding: Finding) -> str:
    """The time that clients waited; one timer of theirs ends all waits alike."""
    if finding.counted < 2:
        return duration(finding.worst_ns)
    alike = finding.worst_ns - finding.median_ns <= finding.worst_ns // 10
    return f"{duration(finding.median_ns)} each" if alike else f"up to {duration(finding.worst_ns)}"


def too_late(finding: Finding) -> str:
    """Answers that came after their client had closed: `10 answers came after that, one after 3.00 s`."""
    stall = (finding.example.stall if finding.example else None) or {}
    after = stall.get("duration_ns")
    if finding.waits == 1:
        return f"the answer came{f' after {duration(after)}' if after else ' after that'}"
    return f"{number(finding.waits)} answers came later{f', one after {duration(after)}' if after else ''}"


def _no_answer(finding: Finding) -> str:
    if finding.waits:
        return f"{too_late(finding)}: the client had closed"
    return f"the server had acknowledged {'each' if finding.flows > 1 else 'the'} request, then nothing came"


def timed(finding: Finding) -> str:
    """Number of answers, and how long each took."""
    stall = (finding.example.stall if finding.example else None) or {}
    each = min(filter(None, (stall.get("duration_ns"), stall.get("evidence", {}).get("freed_to_data_ns"))), default=0)
    return f"{counted(finding.waits, 'answer')}{f' after {duration(each)} each' if each else ''}"


def _cut(finding: Finding) -> str:
    example = finding.example
    if not example or example.cut_at_bytes is None or not example.cut_of_bytes:
        return "the server closed before the end that its head announces"
    which = f"that of flow {example.flow}" if finding.flows > 1 else "it"
    return f"{which} was cut at {size(example.cut_at_bytes)} of {size(example.cut_of_bytes)}"


def _in_pieces(finding: Finding) -> str:
    sender, _ = names(finding)
    live = ", as of live media or a slow application" if finding.may_be_live else ""
    return f"{counted(finding.waits, 'pause')} of the {sender}, window open{live}{meanwhile(finding)}"


def _flow_control(finding: Finding) -> str:
    sender, receiver = names(finding)
    figure = finding.example.figure("in_flight_bytes") if finding.example else None
    held = f" with {size(figure)} in flight" if figure else ""
    return f"TCP was open, and the {sender} waited{held} for the {receiver}'s messages {times(finding.waits)}"


def _loss(finding: Finding) -> str:
    kinds = ", ".join(f"{name} {duration(span)}" for name, span in finding.details[:2])
    late = f", {counted(finding.reordered_segments, 'segment')} reordered" if finding.reordered_segments else ""
    return f"{_again(finding)}{late}{f': {kinds}' if kinds else ''}{_at_losses(finding)}"


def _again(finding: Finding) -> str:
    sender, _ = names(finding)
    copies, data = finding.retransmitted_bytes, finding.bytes
    share = f"{ratio(copies, data)} times the data" if 0 < data < copies else percent(copies, data)
    several = "s" if finding.address is None else ""
    return f"the {sender}{several} sent {size(copies)} again ({share})" if copies else f"no copy of the {sender}'s data"


def _at_losses(finding: Finding) -> str:
    """The path at the losses: `; no queue at 11 of 12 losses, 39.1 kB in flight`; empty where they do not agree."""
    losses = finding.told_losses
    if losses is None:
        return ""
    many = losses.queued if losses.met_a_queue else losses.unqueued
    of = "each of" if many == losses.counted else f"{number(many)} of"
    at = f"at {of} {number(losses.counted)} losses"
    if losses.met_a_queue:
        return f"; a queue{f' of {duration(losses.queue_ns)}' if losses.queue_ns else ''} {at}"
    flight = f", {size(losses.limit_bytes)} in flight" if losses.limit_bytes else ""
    rate = f", {per_second(losses.rate_bytes_per_s)} between them" if losses.rate_bytes_per_s else ""
    return f"; no queue {at}{flight}{rate}"


def _path_mtu(finding: Finding) -> str:
    full = f" of {number(finding.example.mss_bytes)} bytes" if finding.example and finding.example.mss_bytes else ""
    return f"no full segment{full} was ever acknowledged, shorter ones were"


def _reordering(finding: Finding) -> str:
    sender, _ = names(finding)
    share = percent(finding.reordered_segments, finding.segments)
    return f"{counted(finding.reordered_segments, 'segment')} of the {sender} came late ({share}), overtaken by others"


def _cwnd(finding: Finding) -> str:
    sender, _ = names(finding)
    example = finding.example
    start = ""
    # A first flight that did not fill the window, as a server's first words over TLS, does not show its size.
    filled = any(name == Detail.INITIAL_WINDOW for name, _ in finding.details)
    starts = finding.detail in (Detail.INITIAL_WINDOW, Detail.SLOW_START)
    if starts and filled and example and example.initial_window_bytes:
        segments = -(-example.initial_window_bytes // (example.mss_bytes or 1460))
        start = f" from {counted(segments, 'segment')}"
    detail = (finding.detail or "window full").replace("-", " ")
    lost = finding.detail == Detail.CONGESTION_AVOIDANCE and finding.retransmitted_bytes
    again = f", {percent(finding.retransmitted_bytes, finding.bytes)} sent again" if lost else ""
    return f"{detail}{start}{again}, {counted(finding.waits, 'wait')} of the {sender} for ACKs{_at_losses(finding)}"


def _window(finding: Finding) -> str:
    _, receiver = names(finding)
    figure = finding.example.figure("peer_window_bytes") if finding.example else None
    if finding.kind == "zero-window":
        return f"the {receiver} closed its window {times(finding.waits)}"
    held = f" of {size(figure)}" if figure else ""
    if not finding.waits:
        return f"the {receiver}'s window{held} was full, each ACK let a segment go"
    return f"the {receiver}'s window{held} was full {times(finding.waits)}"


def _buffer(finding: Finding) -> str:
    sender, _ = names(finding)
    figure = finding.example.figure("plateau_bytes") if finding.example else None
    held = f" at {size(figure)} in flight" if figure else ""
    return f"the {sender}'s send buffer was full{held} {times(finding.waits)}"


def _path(finding: Finding) -> str:
    queue = finding.example.queue_delay_ns if finding.example else None
    queue = queue or (finding.losses.queue_ns if finding.losses else None)
    return f"{rate_of(finding)} with a queue{f' of {duration(queue)}' if queue else ''} on the path"


def _rate_window(finding: Finding) -> str:
    sender, _ = names(finding)
    again = f"the {sender} sent {size(finding.retransmitted_bytes)} again" if finding.retransmitted_bytes else ""
    return f"{rate_of(finding)}, released by ACKs; {again or 'the window grew until all was sent'}{_at_losses(finding)}"


def _rate_sender(finding: Finding) -> str:
    return f"{rate_of(finding)}, no queue grew, nothing was lost"


def _rate_pacing(finding: Finding) -> str:
    return f"{rate_of(finding)}, gaps as long as what was sent"


def _rate_application(finding: Finding) -> str:
    return f"{rate_of(finding)}, it wrote no faster, window open"


def _round_trips(finding: Finding) -> str:
    base = finding.example.base_rtt_ns if finding.example else None
    each = f", a round trip of {duration(base)} each" if base else ""
    return f"{counted(finding.exchanges, 'request')}, each after the answer to the last{each}"


def _unexplained(finding: Finding) -> str:
    late = f"{counted(finding.reordered_segments, 'segment')} reordered, " if finding.reordered_segments else ""
    return f"{late}{counted(finding.waits, 'wait')} that no rule decides"


def _pacing(finding: Finding) -> str:
    waits = _plain(finding)
    return f"{waits} at {rate_of(finding)}" if 2 * finding.time_ns >= finding.lasted_ns else waits


def _plain(finding: Finding) -> str:
    return counted(finding.waits, "wait") if finding.waits else ""


_EVIDENCE: dict[str, Callable[[Finding], str]] = {
    "unreachable": _unreachable,
    "refused": _refused,
    "peer-gone": _gone,
    "reset": _reset,
    "handshake-loss": _handshake_loss,
    "server-slow": _server_slow,
    "no-answer": _no_answer,
    "cut-answer": _cut,
    "server-timer": timed,
    "sent-in-pieces": _in_pieces,
    "flow-control": _flow_control,
    "loss": _loss,
    "path-mtu": _path_mtu,
    "reordering": _reordering,
    "cwnd-limited": _cwnd,
    "rwnd-limited": _window,
    "zero-window": _window,
    "sndbuf-limited": _buffer,
    "bandwidth-limited": _path,
    "pacing": _pacing,
    "rate-window": _rate_window,
    "rate-pacing": _rate_pacing,
    "rate-application": _rate_application,
    "rate-sender": _rate_sender,
    "round-trips": _round_trips,
    "unexplained": _unexplained,
}
