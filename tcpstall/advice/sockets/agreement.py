"""Compares the kernel's own account of a connection with the capture's: agreement, contradiction, additions.

The kernel counts from the connection's start to the moment of `ss`, the capture from its first packet to its last:
figures are compared with room for that. What `ss` says of a cause is a remark, never a new label.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from tcpstall.advice.sockets.paste import Socket
from tcpstall.causes import Cause
from tcpstall.model import Flow, Side, Stall
from tcpstall.units import duration, number, percent, size_range
from tcpstall.units import per_second as rate_text

__all__ = ["Held", "Remark", "Word", "held_against", "word_on"]

Word: TypeAlias = Literal["agrees", "disagrees", "adds", "says nothing"]
"""`adds`: the capture does not know it."""

_POINTS = 0.15
"""Shares of busy time that differ by no more are one."""

_NOTABLE = 0.05
"""A share of busy time below this is no reason for a wait that an answer rests on."""

_ALIKE = 0.25
"""Round trips and windows change while a connection lives: so much apart they are still alike."""

_DOUBLED = 2
"""`tb` and `rb` are twice what SO_SNDBUF and SO_RCVBUF asked for; Linux `sk_setsockopt`."""

_TRIP_NS = 1_000_000
"""Round trips this close are alike: a tap sees them shorter than the host does."""


@dataclass(frozen=True, slots=True)
class Held:
    """One figure of both: what the kernel says, what the capture says, and whether that is one."""

    name: str
    kernel: str
    capture: str
    word: Word


@dataclass(frozen=True, slots=True)
class Remark:
    """A socket's evidence for or against a finding."""

    word: Word
    text: str


def held_against(flow: Flow, side: Side, socket: Socket) -> list[Held]:
    """The figures that both have, and those that only the kernel has."""
    return [held for hold in _HOLDS for held in hold(flow, side, socket)]


def _peer(side: Side) -> Side:
    return "server" if side == "client" else "client"


def _held(name: str, kernel: str, capture: str | None, alike: bool) -> Held:
    return Held(name, kernel, capture or "unknown", "adds" if capture is None else "agrees" if alike else "disagrees")


def _close(one: int, other: int, room: int = 0) -> bool:
    return abs(one - other) <= max(room, _ALIKE * max(one, other))


def _mss(flow: Flow, side: Side, socket: Socket) -> Iterator[Held]:
    if socket.mss_bytes is not None:
        seen = flow.directions[side].mss_bytes
        text = None if seen is None else number(seen)
        # With nothing sent or on a path that has not grown yet the kernel's is smaller than what was agreed on.
        yield _held("mss", number(socket.mss_bytes), text, seen is not None and _close(socket.mss_bytes, seen, 12))


def _round_trip(flow: Flow, side: Side, socket: Socket) -> Iterator[Held]:
    if socket.min_rtt_ns is not None:
        seen = flow.base_rtt_ns
        alike = seen is not None and _close(socket.min_rtt_ns, seen, _TRIP_NS)
        yield _held("minrtt", duration(socket.min_rtt_ns), None if seen is None else duration(seen), alike)


def _scales(flow: Flow, side: Side, socket: Socket) -> Iterator[Held]:
    for name, value, end in (
        ("wscale of its own window", socket.rcv_wscale, side),
        ("wscale of its peer's window", socket.snd_wscale, _peer(side)),
    ):
        if value is not None:
            seen = flow.directions[end].window_scale
            yield _held(name, str(value), None if seen is None else str(seen), seen == value)


def _shares(flow: Flow, side: Side, socket: Socket) -> Iterator[Held]:
    if not socket.busy_ns:
        return
    seen = flow.directions[side]
    for name, limited, own in (
        ("rwnd_limited of busy", socket.rwnd_limited_ns or 0, seen.rwnd_limited_ns),
        ("sndbuf_limited of busy", socket.sndbuf_limited_ns or 0, _waited(flow, side, Cause.SNDBUF_LIMITED)),
    ):
        share = limited / socket.busy_ns
        if own is None or not seen.busy_ns:
            yield _held(name, percent(limited, socket.busy_ns), None, alike=False)
            continue
        alike = abs(share - own / seen.busy_ns) <= _POINTS
        if name.startswith("sndbuf") and not alike and share < own / seen.busy_ns:
            text = f"{percent(own, seen.busy_ns)}; the kernel's counter misses most of such waits"
            yield Held(name, percent(limited, socket.busy_ns), text, "says nothing")
        else:
            yield _held(name, percent(limited, socket.busy_ns), percent(own, seen.busy_ns), alike)


def _waited(flow: Flow, side: Side, cause: Cause) -> int:
    return sum(stall.duration_ns for stall in flow.stalls if stall.cause is cause and stall.sender == side)


def _buffers(flow: Flow, side: Side, socket: Socket) -> Iterator[Held]:
    for name, value, cause, sender in (
        ("skmem tb", socket.send_buffer_bytes, Cause.SNDBUF_LIMITED, side),
        ("skmem rb", socket.receive_buffer_bytes, Cause.RWND_LIMITED, _peer(side)),
    ):
        if value is None:
            continue
        asked = f"{number(value)}, as if set to {number(value // _DOUBLED)}"
        span = _inferred(flow.stalls, cause, sender)
        if span is not None:
            yield _held(name, asked, f"set to {size_range(*span)}", _fits(value // _DOUBLED, span))
        else:
            yield Held(name, asked, "no limit seen", "adds")


def _inferred(stalls: Sequence[Stall], cause: Cause, sender: Side) -> tuple[int, int] | None:
    """The range of what the socket option seems to be set to, from all plateaus."""
    spans = [
        (low, high)
        for stall in stalls
        if stall.cause is cause and stall.sender == sender
        if (low := stall.evidence.get("buffer_low_bytes")) is not None
        and (high := stall.evidence.get("buffer_high_bytes")) is not None
    ]
    return (min(low for low, _ in spans), max(high for _, high in spans)) if spans else None


def _fits(value: int, span: tuple[int, int]) -> bool:
    return (1 - _ALIKE) * span[0] <= value <= (1 + _ALIKE) * span[1]


def _window(flow: Flow, side: Side, socket: Socket) -> Iterator[Held]:
    if socket.cwnd_segments is None:
        return
    estimates = [
        value
        for stall in flow.stalls
        if stall.sender == side and (value := stall.evidence.get("cwnd_estimate_segments")) is not None
    ]
    if not estimates:
        yield Held("cwnd", f"{number(socket.cwnd_segments)} segments", "unknown", "adds")
        return
    low, high = min(estimates), max(estimates)
    told = f"{number(low)} to {number(high)} segments" if low < high else f"{number(high)} segments"
    # It may have doubled once more since the last wait.
    within = low * (1 - _ALIKE) <= socket.cwnd_segments <= 2 * high * (1 + _ALIKE)
    yield _held("cwnd", f"{number(socket.cwnd_segments)} segments", told, within)


def _repairs(flow: Flow, side: Side, socket: Socket) -> Iterator[Held]:
    seen = flow.directions[side]
    if socket.retransmitted_bytes is not None:
        alike = _close(socket.retransmitted_bytes, seen.retransmitted_bytes, seen.mss_bytes or 0)
        yield _held(
            "bytes_retrans", number(socket.retransmitted_bytes), f"{number(seen.retransmitted_bytes)} sent again", alike
        )
    elif socket.retransmitted_segments is not None and socket.busy_ns is not None:
        alike = bool(socket.retransmitted_segments) == bool(seen.retransmitted_bytes)
        text = f"{number(seen.retransmitted_bytes)} bytes sent again"
        yield _held("retrans", f"{number(socket.retransmitted_segments)} segments", text, alike)


def _backlog(flow: Flow, side: Side, socket: Socket) -> Iterator[Held]:
    if socket.notsent_bytes:
        yield Held("notsent", f"{number(socket.notsent_bytes)} bytes", "not on the wire", "adds")
    if socket.recv_q:
        yield Held("Recv-Q", f"{number(socket.recv_q)} bytes unread", "not on the wire", "adds")


_HOLDS: tuple[Callable[[Flow, Side, Socket], Iterator[Held]], ...] = (
    _mss,
    _round_trip,
    _scales,
    _window,
    _shares,
    _buffers,
    _repairs,
    _backlog,
)


def word_on(
    flow: Flow, cause: Cause, sender: Side, stalls: Sequence[Stall], own: Socket | None, peers: Socket | None
) -> list[Remark]:
    """Remarks of the sender's socket and its peer's on a finding."""
    speak = _WORDS.get(cause)
    remarks = list(speak(stalls, own, peers)) if speak else []
    if cause in (Cause.UNEXPLAINED, Cause.CAPTURE_GAP):
        remarks += _instead(flow, sender, own)
    return remarks


def _share(socket: Socket, limited_ns: int | None) -> float:
    return (limited_ns or 0) / socket.busy_ns if socket.busy_ns else 0.0


def _percent(socket: Socket, limited_ns: int | None) -> str:
    return percent(limited_ns or 0, socket.busy_ns or 0)


def _on_send_buffer(stalls: Sequence[Stall], own: Socket | None, peers: Socket | None) -> Iterator[Remark]:
    if own is None:
        return
    if own.send_buffer_bytes is not None:
        asked = own.send_buffer_bytes // _DOUBLED
        span = _inferred(stalls, Cause.SNDBUF_LIMITED, stalls[0].sender)
        told = f"tb {number(own.send_buffer_bytes)}: SO_SNDBUF of {number(asked)}"
        if span is not None:
            yield Remark("agrees" if _fits(asked, span) else "disagrees", f"{told}; inferred {size_range(*span)}")
        else:
            yield Remark("adds", f"{told}, or autotuned")
        held = own.send_memory_bytes
        if held is not None and held * 3 >= own.send_buffer_bytes * 2:
            yield Remark(
                "agrees", f"the buffer was full when ss ran: w {number(held)} of tb, the writer sleeps above 2/3"
            )
    if not own.busy_ns:
        return
    share = _share(own, own.sndbuf_limited_ns)
    told = f"sndbuf_limited {_percent(own, own.sndbuf_limited_ns)} of busy"
    if share >= _NOTABLE:
        yield Remark("agrees", told)
    elif _share(own, own.rwnd_limited_ns) >= _NOTABLE:
        yield Remark("disagrees", f"{told}, but rwnd_limited {_percent(own, own.rwnd_limited_ns)}")
    else:
        yield Remark("says nothing", f"{told}: the kernel's counter misses most of such waits")


def _on_window(stalls: Sequence[Stall], own: Socket | None, peers: Socket | None) -> Iterator[Remark]:
    if own is not None and own.busy_ns:
        share = _share(own, own.rwnd_limited_ns)
        told = f"rwnd_limited {_percent(own, own.rwnd_limited_ns)} of busy"
        yield Remark("agrees" if share >= _NOTABLE else "disagrees", told)
    if peers is not None and peers.receive_buffer_bytes is not None:
        asked = peers.receive_buffer_bytes // _DOUBLED
        span = _inferred(stalls, Cause.RWND_LIMITED, stalls[0].sender)
        told = f"the receiver's rb {number(peers.receive_buffer_bytes)}: SO_RCVBUF of {number(asked)}"
        if span is None:
            yield Remark("adds", f"{told}, or autotuned")
        else:
            # Autotuning grows it while the window is full: a larger one later is no contradiction.
            word: Word = "agrees" if _fits(asked, span) else "adds" if asked > span[1] else "disagrees"
            yield Remark(word, f"{told}; inferred {size_range(*span)}")
    yield from _unread(peers)


def _on_closed_window(stalls: Sequence[Stall], own: Socket | None, peers: Socket | None) -> Iterator[Remark]:
    if own is not None and own.timer == "persist":
        yield Remark("agrees", "timer persist: the sender was probing a closed window when ss ran")
    if own is not None and own.busy_ns:
        share = _share(own, own.rwnd_limited_ns)
        told = f"rwnd_limited {_percent(own, own.rwnd_limited_ns)} of busy"
        yield Remark("agrees" if share >= _NOTABLE else "disagrees", told)
    yield from _unread(peers)


def _unread(peers: Socket | None) -> Iterator[Remark]:
    if peers is not None and peers.recv_q:
        yield Remark("agrees", f"Recv-Q {number(peers.recv_q)}: the receiving application had not read that")


def _on_congestion_window(stalls: Sequence[Stall], own: Socket | None, peers: Socket | None) -> Iterator[Remark]:
    if own is None:
        return
    if own.cwnd_segments is not None:
        with_ssthresh = f", ssthresh {number(own.ssthresh_segments)}" if own.ssthresh_segments is not None else ""
        control = f", {own.congestion_control}" if own.congestion_control else ""
        yield Remark("adds", f"cwnd {number(own.cwnd_segments)}{with_ssthresh}{control} when ss ran")
    if own.busy_ns:
        window, buffer = _share(own, own.rwnd_limited_ns), _share(own, own.sndbuf_limited_ns)
        if window + buffer < _NOTABLE:
            yield Remark("agrees", "neither rwnd_limited nor sndbuf_limited: what was busy was limited by cwnd or path")


def _on_repairs(stalls: Sequence[Stall], own: Socket | None, peers: Socket | None) -> Iterator[Remark]:
    if own is not None and own.retransmitted_segments is not None:
        told = f"retrans {number(own.retransmitted_segments)} in all"
        yield Remark("agrees" if own.retransmitted_segments else "disagrees", told)


def _on_application(stalls: Sequence[Stall], own: Socket | None, peers: Socket | None) -> Iterator[Remark]:
    if own is None:
        return
    if own.app_limited:
        yield Remark("agrees", "app_limited: the last rate was measured while the application sent too little")
    if own.notsent_bytes:
        told = f"notsent {number(own.notsent_bytes)}: data of the application lay in the buffer when ss ran"
        yield Remark("disagrees", told)


def _on_path(stalls: Sequence[Stall], own: Socket | None, peers: Socket | None) -> Iterator[Remark]:
    if own is not None and own.delivery_bytes_per_s:
        yield Remark("adds", f"delivery_rate {rate_text(own.delivery_bytes_per_s)}")


def _on_pacing(stalls: Sequence[Stall], own: Socket | None, peers: Socket | None) -> Iterator[Remark]:
    if own is not None and own.pacing_bytes_per_s:
        yield Remark("adds", f"pacing_rate {rate_text(own.pacing_bytes_per_s)}")


def _instead(flow: Flow, sender: Side, own: Socket | None) -> Iterator[Remark]:
    """Facts that the capture lacks and the kernel knows."""
    if own is None:
        return
    if flow.directions[_peer(sender)].window_scale is None and own.snd_wscale is not None:
        told = (
            f"the peer's window scale is {own.snd_wscale}: its window field counts {number(1 << own.snd_wscale)} bytes"
        )
        yield Remark("adds", told)
    for name, limited in (("rwnd_limited", own.rwnd_limited_ns), ("sndbuf_limited", own.sndbuf_limited_ns)):
        if own.busy_ns and _share(own, limited) >= _NOTABLE:
            yield Remark("adds", f"{name} {_percent(own, limited)} of busy")
    if own.cwnd_segments is not None:
        yield Remark("adds", f"cwnd {number(own.cwnd_segments)} when ss ran")


_WORDS: dict[Cause, Callable[[Sequence[Stall], Socket | None, Socket | None], Iterator[Remark]]] = {
    Cause.SNDBUF_LIMITED: _on_send_buffer,
    Cause.RWND_LIMITED: _on_window,
    Cause.ZERO_WINDOW: _on_closed_window,
    Cause.CWND_LIMITED: _on_congestion_window,
    Cause.IDLE_RESTART: _on_congestion_window,
    Cause.RETRANSMISSION: _on_repairs,
    Cause.APP_LIMITED: _on_application,
    Cause.BANDWIDTH_LIMITED: _on_path,
    Cause.PACING: _on_pacing,
}
"""Nagle, delayed ACKs and cut bursts leave no trace in tcp_info, nor do handshakes."""
