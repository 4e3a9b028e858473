"""Remedies for buffers: the sender's, the receiver's, and readers that let theirs fill up."""

from tcpstall.advice import sizing
from tcpstall.advice.case import Case
from tcpstall.advice.needs import needed_flight
from tcpstall.advice.remedy import Platform, Remedy, bsd, linux, unknown, windows
from tcpstall.advice.shell import KEPT, changed_route, raised, sysctl
from tcpstall.units import number, size, size_range

__all__ = [
    "autotuned_receiving",
    "autotuned_sending",
    "give_up_on_dead_reader",
    "larger_first_window",
    "larger_sndbuf",
    "window_scaling",
]

_UNSCALED = 65_535


def autotuned_sending(case: Case) -> Remedy:
    """No SO_SNDBUF at all."""
    flight, reason = needed_flight(case)
    most = sizing.tcp_wmem_max_for(flight, case.mss_bytes)
    return Remedy(
        f"do not set SO_SNDBUF: autotuning makes room for {size(flight)} in flight ({reason})",
        case.sender,
        linux(
            raised("net.ipv4.tcp_wmem", max(most, sizing.TCP_WMEM_DEFAULT), place=3, of=3),
            program=("delete the call setsockopt(fd, SOL_SOCKET, SO_SNDBUF, …)",),
            note=f"the third value of tcp_wmem is where autotuning ends: {number(most)} reach that flight, the "
            f"kernel's own default is {number(sizing.TCP_WMEM_DEFAULT)}, and a larger one stays; {KEPT}",
            source="tcp(7) tcp_wmem; socket(7) SO_SNDBUF; Linux tcp_sndbuf_expand, SOCK_SNDBUF_LOCK in sk_setsockopt",
        )
        | windows(
            "netsh winsock show autotuning",
            "netsh winsock set autotuning on",
            program=(
                "delete the call setsockopt(s, SOL_SOCKET, SO_SNDBUF, …)",
                "or keep more overlapped sends outstanding",
            ),
            note="dynamic send buffering is on unless a program sets SO_SNDBUF; a change needs a restart",
            source="Microsoft, SIO_IDEAL_SEND_BACKLOG_QUERY: dynamic send buffering",
        )
        | bsd(
            "sysctl net.inet.tcp.sendbuf_auto=1",
            raised("net.inet.tcp.sendbuf_max", flight, tool="sysctl"),
            program=("delete the call setsockopt(fd, SOL_SOCKET, SO_SNDBUF, …)",),
            note="FreeBSD, with kern.ipc.maxsockbuf above it; macOS: net.inet.tcp.autosndbufmax",
            source="FreeBSD and XNU, sysctls of tcp_output.c",
        ),
        f"the program or a library sets it, which ends autotuning for that socket{_looks(case, 'SO_SNDBUF')}",
        "a larger buffer is memory, and data that waits in it is old when it leaves: TCP_NOTSENT_LOWAT bounds that",
        "Linux sk_stream_wait_memory, sk_stream_write_space",
        "sndbuf=auto",
    )


def larger_sndbuf(case: Case) -> Remedy:
    """A larger SO_SNDBUF, where there must be one."""
    flight, reason = needed_flight(case)
    asked = sizing.so_sndbuf_for(flight, case.mss_bytes)
    return Remedy(
        f"or set SO_SNDBUF to {number(asked)}: enough for {size(flight)} in flight ({reason})",
        case.sender,
        linux(
            raised("net.core.wmem_max", asked),
            program=(f"int n = {asked}; setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &n, sizeof n);",),
            note="wmem_max caps what may be asked for, so it must be no lower; in a container (a network namespace of "
            "its own) it cannot be written: set it on the host; Linux doubles the value, counts "
            f"{number(sizing.SEGMENT_OVERHEAD)} bytes beyond the payload of each buffer and wakes the writer when a "
            "third is free",
            source="socket(7) SO_SNDBUF, wmem_max; Linux sk_setsockopt, sk_stream_write_space",
        )
        | windows(
            program=(f"int n = {flight}; setsockopt(s, SOL_SOCKET, SO_SNDBUF, (char *)&n, sizeof n);",),
            note="it ends dynamic send buffering for that socket",
            source="Microsoft, SOL_SOCKET socket options; SIO_IDEAL_SEND_BACKLOG_QUERY",
        )
        | bsd(
            raised("kern.ipc.maxsockbuf", 2 * flight, tool="sysctl"),
            program=(f"int n = {flight}; setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &n, sizeof n);",),
            source="FreeBSD setsockopt(2)",
        ),
        "the program must fix the size, and round trip and rate do not change",
        "it is right for this path only: a longer or faster one needs more, and autotuning stays off",
        "Linux sk_setsockopt",
        f"sndbuf={asked}",
    )


def autotuned_receiving(case: Case) -> Remedy:
    """No SO_RCVBUF at all."""
    window, reason = needed_flight(case)
    most = sizing.tcp_rmem_max_for(window)
    return Remedy(
        f"do not set SO_RCVBUF: autotuning makes a window of {size(window)} ({reason})",
        case.receiver,
        linux(
            sysctl("net.ipv4.tcp_moderate_rcvbuf", 1),
            raised("net.ipv4.tcp_rmem", max(most, sizing.TCP_RMEM_DEFAULT), place=3, of=3),
            program=("delete the call setsockopt(fd, SOL_SOCKET, SO_RCVBUF, …)",),
            note=f"half of the third value of tcp_rmem becomes window at least: {number(most)} hold that window, the "
            f"kernel's own default is {number(sizing.TCP_RMEM_DEFAULT)}, and a larger one stays; {KEPT}",
            source="tcp(7) tcp_rmem, tcp_moderate_rcvbuf; Linux tcp_rcv_space_adjust, tcp_win_from_space",
        )
        | windows(
            "Set-NetTCPSetting -SettingName InternetCustom -AutoTuningLevelLocal Normal",
            program=("delete the call setsockopt(s, SOL_SOCKET, SO_RCVBUF, …)",),
            note="Disabled keeps the window at its first size, Restricted near it; Get-NetTCPSetting shows which "
            "template is used",
            source="Microsoft, Set-NetTCPSetting",
        )
        | bsd(
            "sysctl net.inet.tcp.recvbuf_auto=1",
            raised("net.inet.tcp.recvbuf_max", window, tool="sysctl"),
            program=("delete the call setsockopt(fd, SOL_SOCKET, SO_RCVBUF, …)",),
            note="FreeBSD, with kern.ipc.maxsockbuf above it; macOS: net.inet.tcp.autorcvbufmax",
            source="FreeBSD and XNU, sysctls of tcp_input.c",
        ),
        f"the receiving program sets it, or tcp_rmem ends below what the path needs{_looks(case, 'SO_RCVBUF')}",
        "memory for each connection whose reader falls behind; tcp_mem bounds the sum",
        "RFC 7323 §2; Linux tcp_rcv_space_adjust",
        "rcvbuf=auto",
    )


def larger_first_window(case: Case) -> Remedy:
    """A window that is wide from the first ACK on, where autotuning came behind."""
    window, _ = needed_flight(case)
    segments, first = sizing.segments_in(window, case.mss_bytes), case.first("peer_window_bytes") or 0
    return Remedy(
        f"open the receive window sooner: it grew behind the sender's, from {size(first)}",
        case.receiver,
        linux(
            *changed_route(case, case.sender, f"initrwnd {segments}"),
            raised("net.ipv4.tcp_rmem", sizing.tcp_rmem_max_for(window), place=3, of=3),
            raised("net.ipv4.tcp_rmem", sizing.tcp_rmem_max_for(window), place=2, of=3),
            note="initrwnd counts segments; the buffer's first size, the second value of tcp_rmem, must hold them; "
            f"{KEPT}",
            source="ip-route(8) initrwnd; tcp(7) tcp_rmem",
        )
        | windows(
            "Set-NetTCPSetting -SettingName InternetCustom -AutoTuningLevelLocal Experimental",
            note="it grows faster, but the first window cannot be set",
            source="Microsoft, Set-NetTCPSetting",
        )
        | bsd(
            raised("net.inet.tcp.recvspace", window, tool="sysctl"),
            note="the first size of every connection's receive buffer, FreeBSD and macOS",
            source="FreeBSD tcp(4) recvspace",
        ),
        "transfers are short, or begin with a larger initial congestion window than the window allows",
        "every connection starts with so much memory promised",
        "Linux tcp_select_initial_window, tcp_rcv_space_adjust",
        f"rcvbuf={sizing.so_rcvbuf_for(window)}",
    )


def window_scaling(case: Case) -> Remedy:
    """Windows beyond 64 KB, where the connection has none."""
    return Remedy(
        f"let the window grow beyond {number(_UNSCALED)} bytes: the {case.receiver} offered no larger scale",
        case.receiver,
        linux(
            sysctl("net.ipv4.tcp_window_scaling", 1),
            program=(
                "set SO_RCVBUF, if at all, before connect() or listen(): the scale is chosen at the SYN from its size",
            ),
            note=KEPT,
            source="ip-sysctl tcp_window_scaling; Linux tcp_select_initial_window",
        )
        | windows(
            "Set-NetTCPSetting -SettingName InternetCustom -AutoTuningLevelLocal Normal -ScalingHeuristics Disabled",
            note="with Disabled autotuning the scale stays small",
            source="Microsoft, Set-NetTCPSetting",
        )
        | bsd("sysctl net.inet.tcp.rfc1323=1", source="FreeBSD tcp(4) rfc1323"),
        "the receiver set a small SO_RCVBUF, switched scaling off, or something on the way strips the option: "
        "compare both SYNs",
        "none that is known; middleboxes that stripped it are rare by now",
        "RFC 7323 §2.2",
    )


def give_up_on_dead_reader(case: Case) -> Remedy:
    """A bound on how long a sender waits for a reader that never comes back."""
    return Remedy(
        "bound how long the sender waits for a reader that is gone",
        case.sender,
        linux(
            program=("unsigned ms = 30000; setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &ms, sizeof ms);",),
            source="tcp(7) TCP_USER_TIMEOUT; Linux tcp_probe_timer",
        )
        | windows(
            program=("DWORD s = 30; setsockopt(sock, IPPROTO_TCP, TCP_MAXRT, (char *)&s, sizeof s);",),
            note="documented as the time-out of retransmissions; whether it ends the probing of a closed window is not",
            source="Microsoft, IPPROTO_TCP socket options: TCP_MAXRT",
        )
        | unknown(
            Platform.BSD, "tcp(4) of FreeBSD names no such option; on macOS none is documented for closed windows"
        ),
        "the reader will not come back: it frees the sender's memory and tells the application",
        "a reader that pauses for longer on purpose loses its connection",
        "RFC 5482",
    )


def _looks(case: Case, option: str) -> str:
    high = case.value("buffer_high_bytes")
    if high is None:
        return ""
    return f" ({option} looks like {size_range(case.value('buffer_low_bytes') or 0, high)})"
