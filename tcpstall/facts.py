"""Evidence for a stall's label, as words and figures with their units."""

from collections import Counter
from collections.abc import Sequence

from tcpstall.causes import Detail
from tcpstall.model import Flow, Side, Stall
from tcpstall.units import confidence, duration, exact, number, per_second

__all__ = ["facts", "filled_window", "length", "mostly", "own_pauses", "packets"]

_PACKETS = ("last_packet", "freed_by_packet", "next_packet")
"""Last data before the wait, what freed it, first data after it."""

_NAMES = {
    "buffer_needed_bytes": "buffer at the next limit",
    "needed_bytes_per_s": "rate at the next limit",
}
"""Evidence that answers another question than the advice, which quotes tcpstall/advice/needs.py."""

_SUFFIXES = {
    "_bytes_per_s": per_second,
    "_bytes": lambda value: f"{number(value)} bytes",
    "_segments": lambda value: f"{number(value)} segments",
    "_ns": duration,
}


def facts(stall: Stall) -> list[tuple[str, str]]:
    """(`in flight`, `28,960 bytes`) for everything that is known, packet numbers last."""
    told = [
        _fact(name, value)
        for name, value in stall.evidence.items()
        if value is not None and name not in _PACKETS and not name.endswith("_packet")
    ]
    told += [("confidence", confidence(stall.confidence))]
    told += [
        (name.removesuffix("_packet").replace("_", " ") + " packet", str(value))
        for name, value in stall.evidence.items()
        if value is not None and name.endswith("_packet")
    ]
    return told


def packets(stall: Stall) -> list[int]:
    """The packets that begin and end the wait, as far as they are known, in order."""
    return sorted({value for name in _PACKETS if (value := stall.evidence.get(name)) is not None})


def mostly(stalls: Sequence[Stall], name: str) -> int | None:
    """The value of that evidence that holds for most of the time; None where none is known."""
    spans: Counter[int] = Counter()
    for stall in stalls:
        if (value := stall.evidence.get(name)) is not None:
            spans[value] += stall.duration_ns
    return spans.most_common(1)[0][0] if spans else None


def own_pauses(stalls: Sequence[Stall]) -> Sequence[Stall]:
    """Without the waits for the peer's turn, where there are others: the peer paused, seen from here."""
    return [stall for stall in stalls if stall.detail != Detail.AWAITING_PEER] or stalls


def filled_window(flow: Flow, end: Side) -> int | None:
    """The end's initial window in bytes, where its first flight filled it: first words over TLS are fewer."""
    filled = any(stall.detail == Detail.INITIAL_WINDOW and stall.sender == end for stall in flow.stalls)
    return flow.directions[end].initial_window_bytes if filled else None


def length(stall: Stall) -> str:
    """Length of a stall: `7.124 ms`, `≥ 1.2 s` where it never ended."""
    return exact(stall.duration_ns) if stall.ended else f"≥ {exact(stall.duration_ns)}"


def _fact(name: str, value: int) -> tuple[str, str]:
    for suffix, told in _SUFFIXES.items():
        if name.endswith(suffix):
            return _NAMES.get(name) or name.removesuffix(suffix).replace("_", " "), told(value)
    return name.replace("_", " "), number(value)
