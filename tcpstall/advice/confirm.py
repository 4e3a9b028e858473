"""Checks on the host that confirm a finding before anything is changed there.

What `ss` prints: ss(8), `struct tcp_info` of linux/tcp.h, `struct sock`'s meminfo. What it cannot say is said here too.
"""

from collections.abc import Callable, Iterator

from tcpstall.advice.case import Case
from tcpstall.advice.remedy import Check, Platform
from tcpstall.advice.shell import which_socket
from tcpstall.causes import Cause, Detail
from tcpstall.units import number, size_range

__all__ = ["checks"]

_SS = "ss(8); linux/tcp.h tcp_info"

_NOT_SEEN = (Cause.CAPTURE_GAP, Cause.UNEXPLAINED)
"""Labels that state a lack of evidence: no host can confirm them."""


def checks(case: Case) -> tuple[Check, ...]:
    """Checks of a case, the most telling first."""
    found = list(_ON_LINUX.get(case.cause, _any_wait)(case))
    found += _elsewhere(case)
    return tuple(found)


def _linux(case: Case, command: str, shows: str, source: str, *, receiver: bool = False) -> Check:
    return Check(case.receiver if receiver else case.sender, Platform.LINUX, command, shows, source)


def _ss(case: Case, shows: str, *, receiver: bool = False) -> Check:
    at = case.receiver if receiver else case.sender
    return Check(at, Platform.LINUX, f"ss -tinmo {which_socket(case, at)}", shows, _SS)


def _any_wait(case: Case) -> Iterator[Check]:
    if case.cause not in _NOT_SEEN:
        yield _ss(case, "cwnd, unacked, snd_wnd, notsent and timer while the sender waits")


def _send_buffer(case: Case) -> Iterator[Check]:
    low, high = case.value("buffer_low_bytes"), case.value("buffer_high_bytes")
    twice = f", here {size_range(2 * (low or 0), 2 * high)}," if high is not None else ""
    yield _ss(
        case,
        f"skmem tb stays at twice what SO_SNDBUF asked for{twice} while cwnd grows; w stands near tb and notsent "
        "above 0; "
        "sndbuf_limited may read 0: the kernel counts such waits only below cwnd and after all was sent "
        "(tcp_cwnd_validate)",
    )
    yield _linux(
        case,
        "grep -l sk_stream_wait_memory /proc/[0-9]*/task/*/stack",
        "the threads that are blocked in a write now (root needed); /proc/PID/wchan says sk_stream_wait_memory too, "
        "or wait_woken on newer kernels",
        "proc(5) stack, wchan; Linux sk_stream_wait_memory",
    )
    yield _linux(
        case,
        "bpftrace -e 'kprobe:sk_stream_wait_memory { @start[tid] = nsecs; } "
        "kretprobe:sk_stream_wait_memory /@start[tid]/ { @blocked_us[comm, pid] = hist((nsecs - @start[tid]) / 1000); "
        "delete(@start[tid]); }'",
        "how long each program was blocked in its writes, as a histogram",
        "bpftrace(8); Linux sk_stream_wait_memory",
    )
    yield _linux(
        case,
        "sysctl net.ipv4.tcp_wmem net.ipv4.tcp_notsent_lowat",
        "a tb that ends at the third value of tcp_wmem was not set by a program; a low tcp_notsent_lowat blocks "
        "writers too",
        "ip-sysctl tcp_wmem, tcp_notsent_lowat",
    )
    yield _memory(case)


def _memory(case: Case, *, receiver: bool = False) -> Check:
    return _linux(
        case,
        "sysctl net.ipv4.tcp_mem; grep ^TCP: /proc/net/sockstat; perf trace -e sock:sock_exceed_buf_limit",
        "mem near the second value of tcp_mem (pages), and events of that trace point: TCP as a whole is short of "
        "memory, "
        "which holds buffers down and is not visible in packets",
        "ip-sysctl tcp_mem; Linux __sk_mem_raise_allocated, trace/events/sock.h",
        receiver=receiver,
    )


def _window(case: Case) -> Iterator[Check]:
    if case.kind == Detail.SLOW_READER:
        yield _ss(case, "Recv-Q above 0 again and again: the application has not read it", receiver=True)
    elif case.window_grew:
        yield _ss(
            case,
            "skmem rb, rcv_ssthresh and rcv_space grow while the transfer runs, with Recv-Q near 0: autotuning "
            "follows late",
            receiver=True,
        )
    else:
        low, high = case.value("buffer_low_bytes"), case.value("buffer_high_bytes")
        twice = f", here {size_range(2 * (low or 0), 2 * high)}," if high is not None else ""
        yield _ss(
            case,
            f"Recv-Q near 0, so the reader is fast enough, and skmem rb stays at twice what SO_RCVBUF asked for{twice} "
            "instead of growing; rcv_ssthresh and rcv_space are the window that autotuning allows",
            receiver=True,
        )
    yield _ss(case, "rwnd_limited is a large share of busy; snd_wnd is the window that cwnd does not reach")
    yield _linux(
        case,
        "sysctl net.ipv4.tcp_rmem net.ipv4.tcp_moderate_rcvbuf net.ipv4.tcp_window_scaling",
        "an rb that ends at the third value of tcp_rmem was not set by a program",
        "ip-sysctl",
        receiver=True,
    )
    yield _memory(case, receiver=True)


def _closed(case: Case) -> Iterator[Check]:
    yield _ss(case, "Recv-Q stands near rb: the application does not read", receiver=True)
    yield _linux(
        case,
        "cat /proc/PID/task/*/wchan; cat /proc/PID/stack",
        "what the reading program waits for instead",
        "proc(5)",
        receiver=True,
    )
    yield _ss(case, "timer:(persist,…): it probes a closed window; rwnd_limited grows; notsent above 0")


def _congestion_window(case: Case) -> Iterator[Check]:
    yield _ss(
        case,
        "right after the start: cwnd is the initial window, unacked reaches it, and neither rwnd_limited nor "
        "sndbuf_limited shows; with losses: ssthresh is there and retrans counts",
    )
    address = case.flow.end(case.receiver).address
    yield _linux(
        case,
        f"ip {'-6 ' if ':' in address else ''}route get {address} fibmatch; ip tcp_metrics show {address}",
        "an initcwnd that somebody set, and a cached ssthresh, which ends slow start early",
        "ip-route(8), ip-tcp_metrics(8)",
    )


def _idle(case: Case) -> Iterator[Check]:
    yield _linux(
        case,
        "sysctl net.ipv4.tcp_slow_start_after_idle",
        "1 is the default: the window is lowered after an idle of one rto",
        "ip-sysctl tcp_slow_start_after_idle",
    )
    yield _ss(case, "cwnd before and after a pause longer than rto (lastsnd): it falls to 10 or half for each rto")


def _losses(case: Case) -> Iterator[Check]:
    yield _ss(case, "retrans:now/in all, lost, bytes_retrans, dsack_dups (needless ones), reordering, rto and backoff")
    yield _linux(
        case,
        "nstat -az TcpRetransSegs TcpExtTCPTimeouts TcpExtTCPLossProbes TcpExtTCPFastRetrans TcpExtTCPDSACKRecv",
        "of the whole host: which way of repair is counted while the transfer runs",
        "nstat(8); RFC 4898",
    )


def _application(case: Case) -> Iterator[Check]:
    yield _ss(case, "notsent 0 and Send-Q 0 in the pauses, app_limited, busy far below the connection's age")


def _small(case: Case) -> Iterator[Check]:
    yield _ss(case, "notsent above 0 and below mss with unacked above 0: a small segment is held; ato at the receiver")
    yield _linux(
        case,
        "strace -f -tt -e trace=write,writev,send,sendto,sendmsg,setsockopt -p PID",
        "a message in two writes, and no TCP_NODELAY",
        "strace(1)",
    )


def _paced(case: Case) -> Iterator[Check]:
    yield _ss(
        case, "pacing_rate below what the path carries, after the stroke its upper bound; delivery_rate beside it"
    )
    yield _linux(case, "tc -s qdisc show", "maxrate of fq, or a shaper", "tc-fq(8)")


def _path(case: Case) -> Iterator[Check]:
    rate = case.own.bottleneck_bytes_per_s
    told = f", {number(rate * 8)} bit/s here" if rate else ""
    yield _ss(case, f"delivery_rate stands at the path's rate{told}, rtt above minrtt, cwnd above what is needed")
    yield _linux(
        case,
        "ip -s -s link show; tc -s qdisc show",
        "whether the full link is this host's own: its queue has a backlog, and overlimits count",
        "ip-link(8), tc(8)",
    )


def _handshake(case: Case) -> Iterator[Check]:
    yield Check(
        "server",
        Platform.LINUX,
        f"ss -tln 'sport = :{case.flow.server.port}'; nstat -az TcpExtListenOverflows TcpExtListenDrops",
        "nothing listens; or Recv-Q above Send-Q: the accept queue is full and SYNs are dropped",
        "ss(8); Linux tcp_conn_request",
    )


def _elsewhere(case: Case) -> Iterator[Check]:
    """Checks on other systems than Linux, where these show something of this cause."""
    if case.cause in _NOT_SEEN:
        return
    at = case.receiver if case.cause in (Cause.RWND_LIMITED, Cause.ZERO_WINDOW) else case.sender
    own = case.flow.end(at)
    yield Check(
        at,
        Platform.WINDOWS,
        f"Get-NetTCPConnection -LocalPort {own.port} | Format-List RemoteAddress, State, AppliedSetting; "
        "Get-NetTCPSetting",
        "which template the connection has and what that template says; buffers and windows of a connection are "
        "not shown",
        "Microsoft, Get-NetTCPConnection, Get-NetTCPSetting",
    )
    yield Check(
        at,
        Platform.BSD,
        "netstat -xn -p tcp",
        "R-HIWA and S-HIWA are the buffers' limits, Recv-Q and Send-Q what lies in them (FreeBSD; on macOS netstat "
        "-vn)",
        "FreeBSD netstat(1)",
    )


_ON_LINUX: dict[Cause, Callable[[Case], Iterator[Check]]] = {
    Cause.HANDSHAKE: _handshake,
    Cause.CWND_LIMITED: _congestion_window,
    Cause.RWND_LIMITED: _window,
    Cause.ZERO_WINDOW: _closed,
    Cause.SNDBUF_LIMITED: _send_buffer,
    Cause.IDLE_RESTART: _idle,
    Cause.APP_LIMITED: _application,
    Cause.RETRANSMISSION: _losses,
    Cause.NAGLE: _small,
    Cause.DELAYED_ACK: _small,
    Cause.PACING: _paced,
    Cause.BURST_LIMITED: _congestion_window,
    Cause.BANDWIDTH_LIMITED: _path,
}
