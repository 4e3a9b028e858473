"""Advice on a finding: the change, and the time that it would give back."""

from collections.abc import Mapping

from tcpstall import _core
from tcpstall.causes import Detail
from tcpstall.findings.finding import Finding
from tcpstall.model.losses import Losses
from tcpstall.units import counted, duration

__all__ = ["advice", "gain", "remedy"]

_FASTER_START = "raise initcwnd (ip route … initcwnd), or reuse connections"

_RECOVERY = "find the losses, or a congestion control that recovers faster"

_PACING = "look at its pacing rate (SO_MAX_PACING_RATE, fq maxrate, BBR)"

_NARROW = "send less, or get a faster path: the sender cannot do better"

_SCALING = (
    "compare both SYNs: windows end at 64 kB without a scale, or with 0 (window scaling off, SO_RCVBUF, middleboxes)"
)

_WRITES = "write each message at once, or set TCP_NODELAY on the sender"

_ADVICE: Mapping[str, str] = {
    "unreachable": "check the host, the port, firewalls and the route back",
    "refused": "start the service, or find the firewall that rejects it",
    "half-open": "find why the client gave up, or what drops the SYN-ACKs",
    "aborted": "nothing, unless its user saw an error",
    "handshake-loss": "find what drops SYNs: accept queue, firewall or path",
    "accept-queue": "look at its accept queue (ss -lt, ListenOverflows of nstat): raise the backlog, or accept faster",
    "handshake-slow": "look at the path (a queue, a waking radio), then at what answers SYNs: a firewall, a proxy",
    "handshake-distance": "reuse connections, or serve from nearer",
    "cut-answer": "read the server's log, or its proxy's: a crash, a time limit, a limit of size",
    "stale-connection": "have the client close idle connections before the server does, and send such requests again",
    "server-slow": "look at the server's application: it had the request",
    "no-answer": "look at the server's application: it had the request; then at the client's timeout",
    "server-timer": "nothing if these are long polls; if the answers are errors, find what the server waited for",
    "server-silent": "nothing if these are events (a push, a chat, a long poll); else look at the server's application",
    "no-permission": "answer Expect: 100-continue at the server or its proxy, or have the client not send it",
    "flow-control": "raise the window of the protocol above TCP (HTTP/2, SSH), or ask for more at once",
    "messages": "nothing, unless a user waited for one of them",
    "idle": "nothing: an application had nothing to say",
    "loss": "find where packets are lost",
    "path-mtu": 'let ICMP "packet too big" pass, lower the MSS (advmss, TCPMSS), or set tcp_mtu_probing=1',
    "reordering": "find what delays single packets: parallel links, a queue, netem",
    "rwnd-limited": "raise the receiver's buffer (tcp_rmem, SO_RCVBUF)",
    "zero-window": "find why the receiving application stopped reading",
    "sndbuf-limited": "raise the sender's buffer (tcp_wmem, SO_SNDBUF)",
    "idle-restart": "switch tcp_slow_start_after_idle off on the sender",
    "nagle": _WRITES,
    "delayed-ack": _WRITES,
    "pacing": _PACING,
    "burst-limited": "look for what limits bursts: the stack or an offload",
    "bandwidth-limited": _NARROW,
    "rate-window": _RECOVERY,
    "rate-pacing": _PACING,
    "rate-application": "make the sending application write faster",
    "rate-sender": "look at its pacing rate, at how fast it writes, and at windows of the protocol above TCP",
    "round-trips": "send requests together, or serve from nearer",
    "one-sided": "capture both directions",
    "unexplained": "`tcpstall explain` shows what each rule read",
}

_BY_DETAIL: Mapping[tuple[str, str], str] = {
    ("cwnd-limited", Detail.INITIAL_WINDOW): _FASTER_START,
    ("cwnd-limited", Detail.SLOW_START): _FASTER_START,
    ("cwnd-limited", Detail.CONGESTION_AVOIDANCE): _RECOVERY,
    ("rwnd-limited", Detail.SLOW_READER): "make the receiving application read faster",
    ("loss", Detail.TAIL_LOSS): "find where packets are lost; a lost tail costs a timer",
    ("loss", Detail.TIMEOUT): "find where packets are lost; each timeout costs a timer",
    ("loss", Detail.SPURIOUS): "the data had arrived: find what delays or drops ACKs, or reorders packets",
}


def advice(finding: Finding) -> str:
    """The change, in one clause."""
    match finding.kind:
        case "peer-gone":
            peer = "server" if finding.side == "client" else "client"
            return f"see whether the {peer} runs, and what stopped carrying packets"
        case "refused" if finding.is_a_scan:
            return "nothing if the client looks for open ports; else start the services, or find the firewall"
        case "refused" if finding.is_given_up:
            return "nothing if the client used another connection; else find what answers so late: a NAT, a firewall"
        case "unreachable" if finding.is_a_scan:
            return "nothing if these are probes: no SYN was sent again; else check the host and firewalls"
        case "reset" if finding.reset_in_tls == finding.flows:
            return f"read the {finding.side}'s log, and look for a filter on the way: no request had come"
        case "reset":
            return f"read the {finding.side}'s log: it closed by force"
        case "server-slow" | "sent-in-pieces" if finding.waited_for:
            return f"look at {finding.waited_for.service} first: it waited for that"
        case "server-slow" if finding.is_of_tls:
            return "look at what the server does in TLS's handshake (certificates, keys, a lookup): no request had come"
        case "server-slow" if finding.is_quick:
            return "send fewer requests, or several at once: each answer was quick"
        case "idle" if finding.is_of_tls:
            return "nothing if a person was asked; else look at the client's checks of certificates"
        case "sent-in-pieces":
            change = f"make the {finding.side}'s application write without pauses"
            return (
                f"nothing if it sends as things happen (live media, a remote screen); else {change}"
                if finding.may_be_live
                else change
            )
        case _ if finding.behind:
            return "share the path fairly (fq_codel, CAKE), or slow that transfer down"
        case "rate-window" if not finding.retransmitted_bytes:
            return _FASTER_START
        case _ if losses := finding.told_losses:
            return _against(losses)
        case "rwnd-limited" if finding.example and finding.example.fills_unscaled_window:
            return _SCALING
        case "cwnd-limited" if finding.detail == Detail.CONGESTION_AVOIDANCE and not finding.retransmitted_bytes:
            return _core.EARLY_END
        case "cwnd-limited":
            return _BY_DETAIL.get(("cwnd-limited", finding.detail), "find what keeps the congestion window small")
    return _BY_DETAIL.get((finding.kind, finding.detail), _ADVICE.get(finding.kind, ""))


def _against(losses: Losses) -> str:
    """The change, by what lost the data."""
    if losses.met_a_queue:
        return _core.FULL_QUEUE
    return _core.BURSTS if losses.at_a_limit else _core.NO_QUEUE


def gain(finding: Finding) -> str:
    """Most time that the change would give back; empty where only the change would show."""
    if finding.is_failure:
        return f"{counted(finding.flows, 'connection')} would work then"
    if finding.is_rate or not finding.recoverable_ns:
        return ""
    return f"up to {duration(finding.recoverable_ns)}"


def remedy(finding: Finding) -> str:
    """The change, and the time that it would give back where that is known."""
    bought = gain(finding)
    return f"{advice(finding)} ({bought})" if bought else advice(finding)
