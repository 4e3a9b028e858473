"""Remedies for small segments that wait for ACKs, and for ACKs that wait for data."""

from tcpstall.advice.case import Case
from tcpstall.advice.remedy import Remedy, bsd, linux, windows
from tcpstall.advice.shell import changed_route, sysctl

__all__ = ["nodelay", "one_write", "prompt_acks"]

_NODELAY = "int on = 1; setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);"


def one_write(case: Case) -> Remedy:
    """A message in one call, so that no small piece of it waits."""
    same = "writev() or sendmsg() with header and body, or one buffer for both"
    return Remedy(
        "write each message in one call",
        case.sender,
        linux(
            program=(
                same,
                "send(fd, header, n, MSG_MORE) before the rest; or TCP_CORK on before the message and off after it",
            ),
            source="send(2) MSG_MORE; tcp(7) TCP_CORK",
        )
        | windows(program=("WSASend() with several WSABUFs",), source="Microsoft, WSASend")
        | bsd(
            program=(same, "TCP_NOPUSH on before the message and off after it"),
            source="FreeBSD tcp(4) TCP_NOPUSH; writev(2)",
        ),
        "the program writes a message in pieces: a small segment of the first is under way when the next is written",
        "none; it saves packets and system calls as well",
        "RFC 9293 §3.7.4",
        "nodelay=1",
    )


def nodelay(case: Case) -> Remedy:
    """Nagle off."""
    return Remedy(
        "set TCP_NODELAY: small segments leave at once",
        case.sender,
        linux(program=(_NODELAY,), note="no sysctl does it for all", source="tcp(7) TCP_NODELAY; Linux tcp_nagle_check")
        | windows(
            program=("BOOL on = TRUE; setsockopt(s, IPPROTO_TCP, TCP_NODELAY, (char *)&on, sizeof on);",),
            source="Microsoft, IPPROTO_TCP socket options",
        )
        | bsd(program=(_NODELAY,), source="FreeBSD tcp(4) TCP_NODELAY"),
        "messages cannot be written in one call, as with a library that somebody else wrote",
        "a program that writes a few bytes at a time sends a packet for each",
        "RFC 896, RFC 9293 §3.7.4",
        "nodelay=1",
    )


def prompt_acks(case: Case) -> Remedy:
    """ACKs without delay at the receiver."""
    return Remedy(
        "acknowledge at once at the receiver, where the sender cannot be changed",
        case.receiver,
        linux(
            *changed_route(case, case.sender, "quickack 1"),
            program=("int on = 1; setsockopt(fd, IPPROTO_TCP, TCP_QUICKACK, &on, sizeof on); again after each read",),
            note="the option is not permanent: the kernel leaves that mode by itself; the route's metric stays",
            source="tcp(7) TCP_QUICKACK; ip-route(8) quickack; Linux tcp_in_quickack_mode",
        )
        | windows(
            "Set-NetTCPSetting -SettingName InternetCustom -DelayedAckFrequency 1 -DelayedAckTimeoutMs 10",
            "New-ItemProperty HKLM:\\SYSTEM\\CurrentControlSet\\Services\\Tcpip\\Parameters\\Interfaces\\{GUID} "
            "-Name TcpAckFrequency -PropertyType DWORD -Value 1",
            note="the first on Windows Server, the second on clients, by interface",
            source="Microsoft, Set-NetTCPSetting; KB 328890 TcpAckFrequency",
        )
        | bsd(
            sysctl("net.inet.tcp.delayed_ack", 0).replace("sysctl -w", "sysctl"),
            note="of the whole host, FreeBSD and macOS; net.inet.tcp.delacktime shortens it instead (ms, FreeBSD)",
            source="FreeBSD tcp(4) delayed_ack, delacktime; XNU tcp_input.c",
        ),
        "a program writes, writes and reads, and its small second write waits for the ACK of the first",
        "up to twice as many packets: ACKs no longer ride on answers",
        "RFC 9293 §3.8.6.3, RFC 5681 §4.2; Linux TCP_DELACK_MIN 40 ms",
        "delayed-ack=0",
    )
