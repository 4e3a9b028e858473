"""Remedies for what lies beyond windows and buffers: losses, repairs, the link, pacing, and applications that think."""

from tcpstall.advice.case import Case
from tcpstall.advice.needs import link
from tcpstall.advice.remedy import Platform, Remedy, Step, bsd, linux, unknown, windows
from tcpstall.advice.shell import KEPT, changed_route, sysctl
from tcpstall.units import duration

__all__ = [
    "another_control",
    "answer_sooner",
    "faster_link",
    "find_losses",
    "larger_application_window",
    "new_stack",
    "paced_bursts",
    "patient_timer",
    "raised_pacing",
    "sooner_repair",
    "sooner_timer",
]

_MS = 1_000_000

_SHORT_RTO_NS = 50 * _MS
"""Above a delayed ACK of 40 ms (Linux TCP_DELACK_MIN), which a shorter timer would take for a loss."""

_LONG_RTO_NS = 400 * _MS
"""Above the delayed ACKs of all stacks, 200 ms, with as much again for the path."""


def find_losses(case: Case) -> Remedy:
    """The cure for losses is where they happen."""
    return Remedy(
        "find where packets are lost",
        case.sender,
        linux(
            "ethtool -S $(ip -o route get "
            + case.flow.end(case.receiver).address
            + " | sed -n 's/.* dev \\([^ ]*\\).*/\\1/p') | grep -iE 'drop|err|discard' | grep -v ': 0$'",
            "tc -s qdisc show | grep -B1 -A1 dropped",
            "nstat -az TcpRetransSegs TcpExtTCPTimeouts TcpExtTCPLossProbes TcpExtTCPSpuriousRtxHostQueues",
            note="interface, queue and protocol, each with what it counts; then switches and policers on the way; "
            "`tcpstall pair` of captures from both ends names each lost packet",
            source="ethtool(8), tc(8), nstat(8)",
        )
        | windows(
            "Get-NetAdapterStatistics | Format-List *Discarded*, *Errors*", "netstat -s -p tcp", source="Microsoft"
        )
        | bsd("netstat -i", "netstat -s -p tcp", source="netstat(1)"),
        _what_drops(case),
        "none",
        "RFC 5681 §3: a loss halves the window, whatever its reason",
        "loss=0",
    )


def _what_drops(case: Case) -> str:
    """Conditions of the change, by the path at the losses."""
    losses = case.flow.directions[case.sender].losses
    if losses and losses.met_none:
        return "somebody can mend a bad link or a policer: no queue stood when data was lost"
    if losses and losses.met_a_queue:
        return "somebody can keep the queue short that was full when data was lost (fq_codel, CAKE)"
    return "losses come from a bad link, a full queue or a policer that somebody can mend"


def sooner_repair(case: Case) -> Remedy:
    """Settings that detect losses without a timer."""
    return Remedy(
        "let the stack repair sooner: SACK, RACK and tail-loss probes on",
        case.sender,
        linux(
            sysctl("net.ipv4.tcp_sack", 1),
            sysctl("net.ipv4.tcp_recovery", 1),
            sysctl("net.ipv4.tcp_early_retrans", 3),
            note=f"as on a fresh host; SACK must be on at both ends; {KEPT}",
            source="ip-sysctl tcp_sack, tcp_recovery, tcp_early_retrans",
        )
        | unknown(Platform.WINDOWS, "Set-NetTCPSetting has no parameter for it")
        | bsd(
            "sysctl net.inet.tcp.sack.enable=1",
            note="probes and RACK: the rack stack, net.inet.tcp.functions_default=rack, where the kernel has it "
            "(FreeBSD)",
            source="FreeBSD tcp(4) sack.enable, functions_default",
        ),
        "one of them was switched off, or the peer does not offer SACK",
        "none that is known",
        "RFC 8985 (RACK, TLP), RFC 6675",
    )


def sooner_timer(case: Case) -> Remedy:
    """A lower bound of the timer, on short paths."""
    shown = duration(_SHORT_RTO_NS)
    return Remedy(
        f"lower the retransmission timer's bound to {shown} on this path",
        case.sender,
        linux(
            *changed_route(case, case.receiver, f"rto_min {_SHORT_RTO_NS // _MS}ms"),
            note="for new connections on that route, after other metrics: ip prints `rto_min lock`, which it "
            "cannot read again; "
            "newer kernels have net.ipv4.tcp_rto_min_us for all",
            source="ip-route(8) rto_min; Linux tcp_rto_min, TCP_RTO_MIN 200 ms",
        )
        | windows(
            f"Set-NetTCPSetting -SettingName InternetCustom -MinRtoMs {_SHORT_RTO_NS // _MS}",
            note="from 20 to 300 in steps of 10; read-only on Windows 10",
            source="Microsoft, Set-NetTCPSetting MinRtoMs",
        )
        | bsd(
            f"sysctl net.inet.tcp.rexmit_slop={_SHORT_RTO_NS // _MS}",
            note="FreeBSD adds it to the measured time; of the whole host; of macOS unknown",
            source="FreeBSD tcp(4) rexmit_min, rexmit_slop",
        ),
        "the round trip is far below the bound and losses cannot be avoided, as inside a data centre",
        "below a delayed ACK, 40 ms on Linux and up to 200 ms elsewhere, it sends again what was not lost",
        "RFC 6298 §2.4; Linux __tcp_set_rto",
    )


def patient_timer(case: Case) -> Remedy:
    """A higher bound, where ACKs come late but come."""
    return Remedy(
        "nothing was lost: make the sender wait longer before it sends again",
        case.sender,
        linux(
            *changed_route(case, case.receiver, f"rto_min {_LONG_RTO_NS // _MS}ms"),
            sysctl("net.ipv4.tcp_recovery", 1),
            note="after other metrics of that route: ip prints `rto_min lock`, which it cannot read again; RACK "
            "waits for "
            "reordered packets by time, not by count",
            source="ip-route(8) rto_min; ip-sysctl tcp_recovery; Linux tcp_rto_min",
        )
        | windows(
            "Set-NetTCPSetting -SettingName InternetCustom -MinRtoMs 300",
            note="300 is the most it takes",
            source="Microsoft, Set-NetTCPSetting MinRtoMs",
        )
        | bsd(
            f"sysctl net.inet.tcp.rexmit_min={_LONG_RTO_NS // _MS}",
            note="FreeBSD, of the whole host; of macOS unknown",
            source="FreeBSD tcp(4) rexmit_min",
        ),
        "delays of the path or of the peer's ACKs exceed the timer; if packets are reordered, find what reorders them",
        "true losses of a tail are repaired later",
        "RFC 6298 §2, RFC 2883, RFC 8985 §3",
    )


def another_control(case: Case) -> Remedy:
    """A congestion control that a random loss does not stop."""
    return Remedy(
        "choose a congestion control that recovers faster: BBR, or CUBIC where it was Reno",
        case.sender,
        linux(
            "modprobe tcp_bbr",
            *changed_route(case, case.receiver, "congctl bbr"),
            program=('setsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, "bbr", 3);',),
            note="net.ipv4.tcp_congestion_control sets it for all; `sysctl "
            "net.ipv4.tcp_available_congestion_control` lists them",
            source="tcp(7) TCP_CONGESTION; ip-route(8) congctl; ip-sysctl",
        )
        | windows(
            "Get-NetTCPSetting | Format-Table SettingName, CongestionProvider",
            note="CUBIC is what newer ones use; BBR unknown: no documentation names a supported way",
            source="Microsoft, Set-NetTCPSetting CongestionProvider",
        )
        | bsd(
            "kldload cc_cubic",
            "sysctl net.inet.tcp.cc.algorithm=cubic",
            note="FreeBSD; of macOS unknown",
            source="FreeBSD mod_cc(4), cc_cubic(4)",
        ),
        "losses are random or the path is long and fast, so that the window never gets back up",
        "BBR takes more than its share beside CUBIC in shallow queues, and sends on through losses",
        "RFC 9438; draft-ietf-ccwg-bbr",
    )


def paced_bursts(case: Case) -> Remedy:
    """Segments spread over the round trip, so that a shallow queue holds them."""
    address = case.flow.end(case.receiver).address
    device = f"$(ip -o route get {address} | sed -n 's/.* dev \\([^ ]*\\).*/\\1/p')"
    return Remedy(
        "pace: spread bursts over the round trip, so that a shallow queue holds them",
        case.sender,
        linux(
            f"tc qdisc replace dev {device} root fq",
            note="fq sends each TCP socket at the rate that the kernel computes for it; "
            "net.core.default_qdisc=fq for interfaces to come",
            source="tc-fq(8); Linux tcp_update_pacing_rate",
        )
        | unknown(Platform.WINDOWS, "no documentation names a switch")
        | bsd(
            note="the rack and bbr stacks pace (FreeBSD, net.inet.tcp.functions_default); of macOS unknown",
            source="FreeBSD tcp(4) functions_default",
        ),
        "losses come at the end of bursts: a queue on the way is shorter than a burst",
        "it replaces the interface's queueing discipline and what was shaped there",
        "tc-fq(8)",
    )


def faster_link(case: Case) -> Remedy:
    """Only the path itself can be widened."""
    asked = link(case)
    same = Step(note="nothing on the hosts: compress, cache or send less, or buy a faster link; "
                "a shaper with fq_codel or cake before the bottleneck keeps its queue short")  # fmt: skip
    return Remedy(
        "more bandwidth, or fewer bytes",
        case.sender,
        dict.fromkeys(Platform, same),
        "the path was full: larger windows and buffers would only lengthen the queue",
        "the next limit shows once this one is gone",
        "RFC 9438 §4.1, RFC 8290 (FQ-CoDel)",
        f"rate={asked * 8 // 1_000_000}Mbit" if asked else None,
    )


def answer_sooner(case: Case) -> Remedy:
    """The responder's own time."""
    return Remedy(
        f"make the {case.sender}'s application answer sooner",
        case.sender,
        linux(
            "strace -f -tt -T -e trace=network,read,write,futex -p PID",
            "perf record -g -p PID -- sleep 10",
            note="what it does between reading the request and writing the answer",
            source="strace(1), perf-record(1)",
        )
        | windows("wpr -start GeneralProfile", "wpr -stop trace.etl", source="Microsoft, Windows Performance Recorder")
        | bsd("truss -D -p PID", note="macOS: sample PID", source="truss(1)"),
        "TCP had nothing to send: no setting of TCP shortens this",
        "none for the network",
        "RFC 7661 §3",
        "think=0",
    )


def larger_application_window(case: Case) -> Remedy:
    """A window, or a number of requests, of the protocol above TCP."""
    peer = case.flow.end(case.receiver)
    return Remedy(
        f"raise the window of the protocol above TCP at the {case.receiver}, to twice the bandwidth-delay product",
        case.receiver,
        linux(
            f"ss -tin dst {peer.address}",
            program=(
                "HTTP/2: SETTINGS_INITIAL_WINDOW_SIZE, and WINDOW_UPDATE of stream 0 for the connection",
                "SSH: the initial window size of the channel",
                "file and database protocols: larger requests, or more of them outstanding",
            ),
            note=f"on the {case.sender}: app_limited, without sndbuf_limited and rwnd_limited, shows that TCP is open",
            source="ss(8), RFC 9113 §6.9.2, RFC 4254 §5.2",
        )
        | windows(program=("the same settings of the application",), source="RFC 9113 §6.9.2, RFC 4254 §5.2")
        | bsd(program=("the same settings of the application",), source="RFC 9113 §6.9.2, RFC 4254 §5.2"),
        "the sender goes on only at its peer's messages, although ACKs came before them and every TCP window had room",
        "memory of the receiving application: that much may be unread in each connection",
        "RFC 9113 §5.2, RFC 4254 §5.2",
    )


def raised_pacing(case: Case) -> Remedy:
    """A pacing rate that somebody set."""
    address = case.flow.end(case.receiver).address
    device = f"$(ip -o route get {address} | sed -n 's/.* dev \\([^ ]*\\).*/\\1/p')"
    return Remedy(
        "raise the pacing rate, where somebody set it",
        case.sender,
        linux(
            f"tc qdisc show dev {device}",
            f"tc qdisc replace dev {device} root fq",
            program=("setsockopt(fd, SOL_SOCKET, SO_MAX_PACING_RATE, …): raise it or delete the call",),
            note="maxrate of fq, and SO_MAX_PACING_RATE, are upper bounds; the second command takes maxrate away; "
            "where neither is set the congestion control (BBR) paces, and measures the path's rate",
            source="tc-fq(8) maxrate; socket(7) SO_MAX_PACING_RATE; Linux tcp_update_pacing_rate",
        )
        | windows(
            "Get-NetQosPolicy | Format-List Name, ThrottleRateAction",
            note="a policy's throttle rate is the only documented one",
            source="Microsoft, Get-NetQosPolicy",
        )
        | bsd(program=("setsockopt(fd, SOL_SOCKET, SO_MAX_PACING_RATE, …)",), source="FreeBSD getsockopt(2)"),
        "the rate is below what the path can carry, and nobody meant it to be",
        "bursts where the pacing protected a shallow queue",
        "Linux sch_fq, tcp_internal_pacing",
    )


def new_stack(case: Case) -> Remedy:
    """A kernel without burst moderation."""
    return Remedy(
        "upgrade the sender's kernel: current ones have no such moderation",
        case.sender,
        linux(
            "uname -r",
            "sysctl -a 2>/dev/null | grep -iE 'burst|moder|bic'",
            note="what the second command lists differs between vendors' old kernels; current ones have no switch, "
            "as there is nothing to switch off",
            source="Linux before 3.x, tcp_moderate_cwnd, bictcp_moderation",
        )
        | unknown(Platform.WINDOWS, "no documentation names such a limit")
        | unknown(Platform.BSD, "no current documentation names such a limit"),
        "the sender, or a device that speaks for it, is old",
        "that of any upgrade",
        "Linux tcp_moderate_cwnd",
    )
