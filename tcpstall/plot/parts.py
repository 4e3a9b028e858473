"""The parts of an exchange's latency, and their styles."""

from collections.abc import Iterator
from itertools import groupby
from typing import NamedTuple

from tcpstall.model import Exchange, Part
from tcpstall.plot import style

__all__ = ["Look", "stacked"]


class Look(NamedTuple):
    """Parts that look alike are one entry of the legend."""

    name: str
    colour: str
    hatch: str = ""


_PLAIN = {
    "handshake": Look("handshake", "#999999"),
    "travel": Look("base round trip", style.TRAVEL),
    "think": Look("responder's own time", style.THINK),
    "overlap": Look("both at once", style.SACK),
    "turnaround": Look("travel and responder", style.THINK),
    "request": Look("sending the request", style.DATA, "////"),
    "response": Look("sending the response", style.DATA),
}


def stacked(exchange: Exchange) -> Iterator[tuple[Look, int, int]]:
    """Look, start and length; neighbours that look alike are one."""
    at_ns = 0
    for look, parts in groupby(exchange.parts, _look):
        length_ns = sum(part.duration_ns for part in parts)
        yield look, at_ns, length_ns
        at_ns += length_ns


def _look(part: Part) -> Look:
    if part.cause is None:
        return _PLAIN.get(part.part, Look(part.part, style.FAINT))
    if part.part not in ("request", "response"):
        return Look(f"{part.part}: {part.cause}", part.cause.colour)
    return Look(f"{part.part}: {part.cause}", part.cause.colour, "////" if part.part == "request" else "")
