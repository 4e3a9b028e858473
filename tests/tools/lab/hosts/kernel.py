"""The kernel's state of a socket: TCP_INFO, its memory, and how much of its queue is unsent."""

import fcntl
import socket
import struct
import termios
from typing import Any

SIOCOUTQNSD = 0x894B
_SO_MEMINFO = 55
_MEMINFO = struct.Struct("9I")
_NAMES = (
    "state", "ca_state", "retransmits", "probes", "backoff", "options", "wscale", "flags", "rto", "ato", "snd_mss",
    "rcv_mss", "unacked", "sacked", "lost", "retrans", "fackets", "last_data_sent", "last_ack_sent",
    "last_data_recv", "last_ack_recv", "pmtu", "rcv_ssthresh", "rtt", "rttvar", "ssthresh", "cwnd", "advmss",
    "reordering", "rcv_rtt", "rcv_space", "total_retrans", "pacing_rate", "max_pacing_rate", "bytes_acked",
    "bytes_received", "segs_out", "segs_in", "notsent", "min_rtt", "data_segs_in", "data_segs_out", "delivery_rate",
    "busy_time", "rwnd_limited", "sndbuf_limited", "delivered", "delivered_ce", "bytes_sent", "bytes_retrans",
    "dsack_dups", "reord_seen", "rcv_ooopack", "snd_wnd", "rcv_wnd", "rehash",
)  # fmt: skip
_LAYOUT = struct.Struct("<8B24I4Q6I4Q2I2Q6I")


def read(of: socket.socket) -> dict[str, Any]:
    """The state of a TCP socket now; sizes in bytes, times in µs, windows in packets as the kernel keeps them."""
    raw = of.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 512).ljust(_LAYOUT.size, b"\0")
    info: dict[str, Any] = dict(zip(_NAMES, _LAYOUT.unpack_from(raw), strict=True))
    memory = _MEMINFO.unpack(of.getsockopt(socket.SOL_SOCKET, _SO_MEMINFO, _MEMINFO.size))
    info["sndbuf"], info["wmem_queued"], info["rcvbuf"] = memory[3], memory[5], memory[1]
    info["outq"] = _queue(of, termios.TIOCOUTQ)
    info["outqnsd"] = _queue(of, SIOCOUTQNSD)
    info["pif"] = info["unacked"] - info["sacked"] - info["lost"] + info["retrans"]
    info["unacked_bytes"] = max(0, info["outq"] - info["outqnsd"])
    return info


def _queue(of: socket.socket, request: int) -> int:
    answer = bytearray(4)
    try:
        fcntl.ioctl(of, request, answer)
    except OSError:
        return 0
    return struct.unpack("i", answer)[0]  # type: ignore[no-any-return]
