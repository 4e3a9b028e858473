"""Remedies for connections that are slow to start: their handshakes, initial windows and restarts after idle."""

from tcpstall.advice import sizing
from tcpstall.advice.case import Case
from tcpstall.advice.needs import first_window, initial_window, largest_message
from tcpstall.advice.remedy import Platform, Remedy, bsd, linux, unknown, windows
from tcpstall.advice.shell import KEPT, changed_route, raised, sysctl
from tcpstall.facts import filled_window
from tcpstall.model import IdleClose
from tcpstall.units import counted, duration, number, size

__all__ = [
    "accept_queue",
    "first_segments",
    "keep_open",
    "keep_window_after_idle",
    "reuse",
    "unresetting_control",
]

_SET_TCP = (
    "Microsoft, Set-NetTCPSetting: InitialCongestionWindowMss takes even numbers from 2 to 64, read-only on Windows 10"
)


def reuse(case: Case) -> Remedy:
    """No second handshake, no second slow start."""
    saved, service = "", case.service
    if service is not None and service.avoidable_handshakes:
        count = f"{counted(service.avoidable_handshakes, 'handshake')}, {duration(service.avoidable_ns)}"
        saved = f"; of {counted(service.connections, 'connection')} here it would have saved {count}"
    same = "keep connections open in the client: a pool, HTTP keep-alive, HTTP/2"
    note = "an application's matter: no setting of the system reuses connections"
    return Remedy(
        "reuse connections that are already fast",
        "client",
        linux(program=(same,), note=note) | windows(program=(same,), note=note) | bsd(program=(same,), note=note),
        f"the client talks to this server more than once{saved}",
        "the server holds idle connections; a window also shrinks again when they idle",
        "RFC 9112 §9.3 (HTTP), RFC 5681 §4.1 (idle windows)",
        "reuse-connection=1",
    )


def keep_open(case: Case, close: IdleClose) -> Remedy:
    """Idle connections that the other end would have used again."""
    after = duration(close.after_ns)
    other = "server" if close.side == "client" else "client"
    longer = f"raise the {close.side}'s keep-alive time-out above {after}, and above the {other}'s"
    return Remedy(
        f"keep idle connections open for longer than {after} at the {close.side}",
        close.side,
        linux(
            program=(f"{longer} (nginx keepalive_timeout, Apache KeepAliveTimeout, a pool's idle limit)",),
            note="where no program closes them but a firewall or NAT forgets them: SO_KEEPALIVE, with TCP_KEEPIDLE or "
            "net.ipv4.tcp_keepalive_time (7200 s by default) below its time-out",
            source="tcp(7) TCP_KEEPIDLE, tcp_keepalive_time",
        )
        | windows(
            program=(longer,),
            note="against firewalls: SO_KEEPALIVE with TCP_KEEPIDLE",
            source="Microsoft, IPPROTO_TCP socket options",
        )
        | bsd(
            program=(longer,),
            note="against firewalls: SO_KEEPALIVE with TCP_KEEPIDLE, or net.inet.tcp.keepidle (ms)",
            source="FreeBSD tcp(4) TCP_KEEPIDLE, keepidle",
        ),
        f"the {other} comes back after longer pauses: {counted(close.connections, 'connection')} ended so in this "
        "capture",
        "each idle connection holds memory and a descriptor at both ends",
        "RFC 9112 §9.6; RFC 9293 §3.8.4 (keep-alives)",
        "reuse-connection=1",
    )


def first_segments(case: Case) -> Remedy:
    """A larger initial congestion window at the sender."""
    fit = initial_window(case)
    shown = fit.segments
    even = sizing.windows_initcwnd(shown)
    address = case.flow.end(case.receiver).address
    prefix = f"{address}/{128 if ':' in address else 32}"
    return Remedy(
        f"start with {counted(shown, 'segment')}: {_why(case, fit)}",
        case.sender,
        linux(
            *changed_route(case, case.receiver, f"initcwnd {shown}"),
            note="for new connections on that route; the boot scripts of the network keep it",
            source="ip-route(8) initcwnd; Linux tcp_init_cwnd",
        )
        | windows(
            f"Set-NetTCPSetting -SettingName InternetCustom -InitialCongestionWindowMss {even}",
            f"New-NetTransportFilter -SettingName InternetCustom -DestinationPrefix {prefix}",
            note="Windows Server; a Windows client cannot change it",
            source=f"{_SET_TCP}; New-NetTransportFilter",
        )
        | bsd(
            sysctl("net.inet.tcp.initcwnd_segments", shown).replace("sysctl -w", "sysctl"),
            note="FreeBSD, for all connections without cached metrics; of macOS unknown: nothing documents a setting",
            source="FreeBSD tcp(4) initcwnd_segments",
        ),
        _helps(case, fit),
        f"{size(shown * case.mss_bytes)} leave in one burst: a shallow queue drops some of it, and a loss costs "
        "more than it saved",
        "RFC 6928 §2 (10 segments), §5 (its risk)",
        f"initcwnd={shown}",
    )


def _why(case: Case, fit: sizing.InitialWindow) -> str:
    """Reason for that number: all of the response, or as much as something else allows."""
    whole = f"all of the {size(largest_message(case))}"
    match fit.bound:
        case "window":
            window = size(first_window(case) or 0)
            return f"beyond that it buys nothing, because the {case.receiver}'s first window of {window} binds"
        case "path":
            return "as much as the path holds; more would only queue"
        case "burst":
            more = f"all {number(fit.response_segments)} at once would be a gamble"
            return f"{more}, as the path's rate is unknown (--link-rate tells it)"
    return f"{whole} in the first round trip"


def _helps(case: Case, fit: sizing.InitialWindow) -> str:
    first = filled_window(case.flow, case.sender)
    now = sizing.segments_in(first or 10 * case.mss_bytes, case.mss_bytes)
    total = largest_message(case)
    before = sizing.slow_start_rounds(total, case.mss_bytes, now)
    after = sizing.slow_start_rounds(total, case.mss_bytes, fit.segments)
    trip = f" of {duration(case.rtt_ns)}" if case.rtt_ns else ""
    rounds = (
        f"new connections carry such responses: {counted(before, 'doubling')} from {number(now)}, {number(after)} from"
    )
    less = counted(max(0, before - after), "round trip")
    return f"{rounds} {number(fit.segments)}, so {less}{trip} less, as far as the {case.receiver}'s window keeps up"


def accept_queue(case: Case) -> Remedy:
    """SYNs that a full accept queue drops."""
    return Remedy(
        "accept connections sooner: SYNs were lost or ignored",
        "server",
        linux(
            raised("net.core.somaxconn", 4096),
            raised("net.ipv4.tcp_max_syn_backlog", 4096),
            program=("listen(fd, 4096): the smaller of the two counts", "accept() in a loop that nothing else delays"),
            note=KEPT,
            source="listen(2); ip-sysctl somaxconn, tcp_max_syn_backlog; Linux tcp_conn_request",
        )
        | windows(
            program=("listen(s, SOMAXCONN_HINT(n)) with n above the bursts of new connections",),
            source="Microsoft, listen (winsock2.h)",
        )
        | bsd(
            raised("kern.ipc.soacceptqueue", 4096, tool="sysctl"),
            program=("listen(fd, 4096)",),
            note="macOS calls it kern.ipc.somaxconn",
            source="FreeBSD listen(2)",
        ),
        "the listener's queue overflowed: nstat shows ListenOverflows; otherwise a firewall or the path drops SYNs",
        "a longer queue hides a server that is too slow, and connections in it have waited already",
        "RFC 6298 §5.7: a lost SYN costs a second or more",
        "loss=0",
    )


def keep_window_after_idle(case: Case) -> Remedy:
    """No restart of the congestion window."""
    before, after = case.value("cwnd_before_idle_segments"), case.value("cwnd_after_idle_segments")
    fell = (
        f"it fell from {number(before)} to {number(after)} segments"
        if before and after
        else "the idle outlasted the timer"
    )
    return Remedy(
        "keep the congestion window over idle periods",
        case.sender,
        linux(
            sysctl("net.ipv4.tcp_slow_start_after_idle", 0),
            note=f"of the whole network namespace, at once; {KEPT}",
            source="ip-sysctl tcp_slow_start_after_idle; Linux tcp_cwnd_restart",
        )
        | windows(
            "Set-NetTCPSetting -SettingName InternetCustom -CwndRestart False",
            note="False is what Get-NetTCPSetting shows on a fresh system; read-only on Windows 10",
            source="Microsoft, Set-NetTCPSetting",
        )
        | unknown(Platform.BSD, "tcp(4) names no switch for FreeBSD, nor does any documentation for macOS"),
        f"requests come in bursts with pauses beyond the retransmission timer between them: {fell}",
        "after a long idle the old window may be too large for a path that has changed: one burst, perhaps lost",
        "RFC 5681 §4.1, RFC 7661",
        "slow-start-after-idle=0",
    )


def unresetting_control(case: Case) -> Remedy:
    """BBR, which paces after idle instead of restarting."""
    return Remedy(
        "or a congestion control that paces after idle instead: BBR on that route",
        case.sender,
        linux(
            "modprobe tcp_bbr",
            *changed_route(case, case.receiver, "congctl bbr"),
            source="Linux tcp_slow_start_after_idle_check leaves controls with their own cong_control alone; "
            "ip-route(8) congctl",
        )
        | unknown(Platform.WINDOWS, "whether its BBR2 restarts is not documented")
        | unknown(Platform.BSD, "whether its BBR stack restarts is not documented"),
        "the whole host cannot be changed, or losses keep the window small as well",
        "BBR takes more than its share beside CUBIC in shallow queues, and sends on through losses",
        "draft-ietf-ccwg-bbr",
    )
