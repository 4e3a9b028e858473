"""Limit that held at one moment, from the kernel's state and from what the program was doing."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

OPEN, DISORDER, CWR, RECOVERY, LOSS = range(5)
_TSO_WIN_DIVISOR = 3
"""tcp_tso_win_divisor: sending is deferred while less than this share of the window is free."""


_LONGER = 1.25
"""Round trip over the bare one from which packets stand in a queue."""


@dataclass(frozen=True, slots=True)
class Socket:
    """The settings that decide which limits exist."""

    nodelay: bool
    paced: bool
    restarts: bool
    congestion_control: str
    bare_rtt_us: float = 0
    """Round trip without a queue, where a narrow link is on the way."""


@dataclass(frozen=True, slots=True)
class Moment:
    """A label, what narrows it, and the labels that the state allows as well."""

    label: str
    sub: str = ""
    alt: tuple[str, ...] = ()


def judge(state: Mapping[str, Any], doing: str, of: Socket, repairing: bool) -> Moment:
    """`doing` is the program's verb; `repairing` says that a fast retransmission follows a state of disorder."""
    held = _waiting(state, doing, of)
    if state["ca_state"] == LOSS:
        return Moment("rto", "loss-state", _other(held, "rto"))
    if state["ca_state"] == RECOVERY or (state["ca_state"] == DISORDER and repairing):
        return Moment("fast", "recovery" if state["ca_state"] == RECOVERY else "disorder", _other(held, "fast"))
    return held


def _other(held: Moment, own: str) -> tuple[str, ...]:
    """While losses are repaired the ordinary limit holds as well, if it is clear."""
    return () if held.label in {own, "ambiguous"} else (held.label, *held.alt)


def _waiting(state: Mapping[str, Any], doing: str, of: Socket) -> Moment:
    segment = min(state["snd_mss"] or 1, max(1, state["notsent"]))
    room = state["snd_wnd"] - state["unacked_bytes"]
    if not state["notsent"]:
        return _nothing_unsent(state, doing, room)
    if not state["unacked"] and state["snd_wnd"] < segment:
        return Moment("zero-window", "", ("rwnd",))
    full = state["pif"] >= state["cwnd"]
    if room < segment:
        return Moment("rwnd", "", ("cwnd",) if full else ())
    if full:
        return Moment("cwnd", "", ("bandwidth",) if _queued(state, of) else ())
    if state["notsent"] < state["snd_mss"]:
        if doing == "write":
            return (
                Moment("sndbuf", "partial-segment", ("nagle",))
                if _buffer_full(state)
                else Moment("ambiguous", "in write, buffer not full")
            )
        if state["unacked"] and not of.nodelay:
            return Moment("nagle", "", ("delayed-ack",))
    if of.paced:
        return Moment("pacing")
    return _deferred(state, room, of)


def _nothing_unsent(state: Mapping[str, Any], doing: str, room: int) -> Moment:
    if doing != "write":
        subs = {"read": "wait-read", "readslow": "wait-read", "readeof": "wait-read", "sleep": "sleep"}
        return Moment("app", "tail-ack" if state["unacked"] else subs.get(doing, "run"))
    if not _buffer_full(state):
        return Moment("ambiguous", "in write, buffer not full")
    full = state["pif"] >= state["cwnd"]
    return Moment("sndbuf", "", ("cwnd",) * full + ("rwnd",) * (room < state["snd_mss"]))


def _buffer_full(state: Mapping[str, Any]) -> bool:
    """A blocked writer stays blocked until a third of what is queued has become free (sk_stream_write_space)."""
    return bool(state["wmem_queued"] * 3 >= state["sndbuf"] * 2)


def _queued(state: Mapping[str, Any], of: Socket) -> bool:
    """A queue made the round trip much longer: a larger window would only lengthen the queue."""
    return bool(of.bare_rtt_us and state["rtt"] >= _LONGER * of.bare_rtt_us)


def _deferred(state: Mapping[str, Any], room: int, of: Socket) -> Moment:
    """Less than a third of the window is free: a TSO frame waits for more (tcp_tso_should_defer)."""
    by_cwnd = (state["cwnd"] - state["pif"]) * state["snd_mss"]
    chunk = min(state["snd_wnd"], state["cwnd"] * state["snd_mss"]) // _TSO_WIN_DIVISOR
    if min(by_cwnd, room) >= chunk or not state["unacked"]:
        return Moment("ambiguous", "unsent data, both windows open")
    if by_cwnd <= room:
        alt = ("rwnd",) * (room < chunk) + ("bandwidth",) * _queued(state, of)
        return Moment("cwnd", "tso-defer", alt)
    return Moment("rwnd", "tso-defer", ("cwnd",) if by_cwnd < chunk else ())
