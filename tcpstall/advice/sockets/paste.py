"""`ss -tinmo` as it is pasted into tickets: each socket with the fields that matter, in nanoseconds and bytes.

Source: iproute2's misc/ss.c, `tcp_stats_print`, `print_skmeminfo`, `tcp_timer_print`; linux/tcp.h, `struct tcp_info`.
What is not understood is left out: a field that is None was not there, or not readable.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from tcpstall.advice.sockets.words import CONGESTION_CONTROLS, groups, words
from tcpstall.model import Endpoint

__all__ = ["MOST_BYTES", "Paste", "Socket", "read_paste"]

MOST_BYTES, MOST_SOCKETS = 16 << 20, 50_000
"""Of a paste: what a host with 25,000 connections prints."""

_MS = 1_000_000
_LARGEST = 2**63 - 1
_BITS = 8

_NUMBER = re.compile(r"[0-9]{1,18}(?:\.[0-9]{1,9})?")
_RATE = re.compile(r"([0-9]{1,18}(?:\.[0-9]{1,9})?)([KMGT]?)bps")
_FACTORS = {"": 1, "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}
_MEMORY = re.compile(r"(rb|tb|bl|[rtfwod])([0-9]{1,18})(?=[,)])")
_TIMER = re.compile(r"timer:\(([a-z]{1,12})")
_CONGESTION = re.compile(r"[a-z][a-z0-9_]{1,15}")
_RATES = ("send", "pacing_rate", "delivery_rate")


@dataclass(frozen=True, slots=True)
class Socket:
    """One socket as the kernel had it when `ss` ran.

    `busy_ns`, `rwnd_limited_ns` and `sndbuf_limited_ns` count from the connection's start (tcp_info, Linux 4.10). Of a
    busy socket without the other two fields `ss` means zero. `send_buffer_bytes` and `receive_buffer_bytes` are `tb`
    and `rb`: memory, twice what SO_SNDBUF or SO_RCVBUF asked for. `snd_wscale` is its peer's, `rcv_wscale` its own.
    """

    state: str
    local: Endpoint
    peer: Endpoint
    recv_q: int
    send_q: int
    cwnd_segments: int | None = None
    ssthresh_segments: int | None = None
    mss_bytes: int | None = None
    rtt_ns: int | None = None
    min_rtt_ns: int | None = None
    rto_ns: int | None = None
    snd_wscale: int | None = None
    rcv_wscale: int | None = None
    busy_ns: int | None = None
    rwnd_limited_ns: int | None = None
    sndbuf_limited_ns: int | None = None
    notsent_bytes: int | None = None
    unacked_segments: int | None = None
    retransmitted_segments: int | None = None
    retransmitted_bytes: int | None = None
    bytes_sent: int | None = None
    bytes_acked: int | None = None
    bytes_received: int | None = None
    delivery_bytes_per_s: int | None = None
    pacing_bytes_per_s: int | None = None
    app_limited: bool = False
    receive_buffer_bytes: int | None = None
    send_buffer_bytes: int | None = None
    receive_memory_bytes: int | None = None
    send_memory_bytes: int | None = None
    send_window_bytes: int | None = None
    timer: str | None = None
    congestion_control: str | None = None

    @property
    def progress(self) -> int:
        """Grows while the connection lives: of two snapshots the later one has more."""
        return (self.busy_ns or 0) + (self.bytes_acked or 0) + (self.bytes_received or 0)


@dataclass(frozen=True, slots=True)
class Paste:
    """The sockets in the order of the paste; `unnamed` had names for ports or hosts, so nobody can match them."""

    sockets: tuple[Socket, ...]
    unnamed: int = 0
    cut: bool = False
    """It was longer than what is read."""


def read_paste(data: bytes) -> Paste:
    """Reads output of `ss -t` with any of `-i`, `-m`, `-o`, `-e`, `-p`, `-O`, `-H`; never raises."""
    found = words(data[:MOST_BYTES].decode("utf-8", "replace"))
    sockets: list[Socket] = []
    unnamed = heads = 0
    for heads, (state, received, sent, local, peer, about) in enumerate(groups(found, MOST_SOCKETS), 1):  # noqa: B007
        if state in ("LISTEN", "UNCONN"):
            continue
        if local is None or peer is None:
            unnamed += 1
        else:
            sockets.append(_socket(state, received, sent, local, peer, about))
    return Paste(tuple(sockets), unnamed, len(data) > MOST_BYTES or heads == MOST_SOCKETS)


def _socket(state: str, received: int, sent: int, local: Endpoint, peer: Endpoint, about: Sequence[str]) -> Socket:
    fields = {name: value for name, colon, value in (word.partition(":") for word in about) if colon}
    memory = dict(_MEMORY.findall(fields.get("skmem", "")))
    snd_wscale, rcv_wscale = _pair(fields, "wscale")
    rates = _rates(about)
    busy = _ms(fields, "busy")
    timer = next((match[1] for word in about if (match := _TIMER.match(word))), None)
    return Socket(
        state,
        local,
        peer,
        received,
        sent,
        cwnd_segments=_count(fields, "cwnd"),
        ssthresh_segments=_count(fields, "ssthresh"),
        mss_bytes=_count(fields, "mss"),
        rtt_ns=_ms(fields, "rtt"),
        min_rtt_ns=_ms(fields, "minrtt"),
        rto_ns=_ms(fields, "rto"),
        snd_wscale=snd_wscale,
        rcv_wscale=rcv_wscale,
        busy_ns=busy,
        rwnd_limited_ns=_ms(fields, "rwnd_limited", None if busy is None else 0),
        sndbuf_limited_ns=_ms(fields, "sndbuf_limited", None if busy is None else 0),
        notsent_bytes=_count(fields, "notsent", None if busy is None else 0),
        unacked_segments=_count(fields, "unacked", None if busy is None else 0),
        retransmitted_segments=_after_slash(fields, "retrans", None if busy is None else 0),
        retransmitted_bytes=_count(fields, "bytes_retrans"),
        bytes_sent=_count(fields, "bytes_sent"),
        bytes_acked=_count(fields, "bytes_acked"),
        bytes_received=_count(fields, "bytes_received"),
        delivery_bytes_per_s=rates.get("delivery_rate"),
        pacing_bytes_per_s=rates.get("pacing_rate"),
        app_limited="app_limited" in about,
        receive_buffer_bytes=_whole(memory.get("rb")),
        send_buffer_bytes=_whole(memory.get("tb")),
        receive_memory_bytes=_whole(memory.get("r")),
        send_memory_bytes=_whole(memory.get("w")),
        send_window_bytes=_count(fields, "snd_wnd"),
        timer=timer,
        congestion_control=_congestion(about),
    )


def _whole(text: str | None) -> int | None:
    return None if text is None else min(int(text), _LARGEST)


def _count(fields: dict[str, str], name: str, missing: int | None = None) -> int | None:
    match = _NUMBER.match(fields.get(name, ""))
    return int(float(match[0])) if match and "." in match[0] else int(match[0]) if match else missing


def _ms(fields: dict[str, str], name: str, missing: int | None = None) -> int | None:
    """Milliseconds, the first figure of `9.103/15.972`, `332ms(78.3%)`."""
    match = _NUMBER.match(fields.get(name, ""))
    return min(round(float(match[0]) * _MS), _LARGEST) if match else missing


def _pair(fields: dict[str, str], name: str) -> tuple[int | None, int | None]:
    match = re.fullmatch(r"([0-9]{1,2}),([0-9]{1,2})", fields.get(name, ""))
    return (int(match[1]), int(match[2])) if match else (None, None)


def _after_slash(fields: dict[str, str], name: str, missing: int | None) -> int | None:
    """The sum in `0/12`: what is out again now, and all there ever were."""
    match = re.match(r"[0-9]{1,18}/([0-9]{1,18})", fields.get(name, ""))
    return int(match[1]) if match else missing


def _rates(about: Sequence[str]) -> dict[str, int]:
    """Bytes a second by name: `delivery_rate 13.6Mbps`."""
    found: dict[str, int] = {}
    for name, value in pairwise(about):
        if name in _RATES and (match := _RATE.match(value)):
            found[name] = min(int(float(match[1]) * _FACTORS[match[2]]) // _BITS, _LARGEST)
    return found


def _congestion(about: Sequence[str]) -> str | None:
    """A known name; else the word before `wscale` or `rto`, where its name stands."""
    for word in about:
        if word in CONGESTION_CONTROLS:
            return word
    for word, after in pairwise(about):
        if after.startswith(("wscale:", "rto:")) and _CONGESTION.fullmatch(word) and word not in ("ts", "sack"):
            return word
    return None
