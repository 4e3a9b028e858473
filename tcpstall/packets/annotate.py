"""A capture with a comment at each stall, for Wireshark."""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from tcpstall import _core
from tcpstall.model import Analysis, Endpoint, Flow, Stall
from tcpstall.packets.files import Progress, Wish, rewrite
from tcpstall.packets.places import Place, places
from tcpstall.units import confidence, number

__all__ = ["Clause", "Comments", "annotate", "comments"]

Clause = Callable[[Flow, Stall], str]
"""Words for a stall, with its figures."""

_FIGURES = {
    "in_flight_bytes": "{} bytes in flight",
    "peer_window_bytes": "the peer's window {} bytes",
    "cwnd_estimate_segments": "congestion window about {} segments",
    "burst_bytes": "{} bytes in the burst before",
    "freed_by_packet": "freed by packet {}",
}


@dataclass(slots=True)
class Comments:
    """Comments at packets by number, and at moments of flows where a stall names no packet."""

    stalls: int = 0
    at: list[tuple[int, str]] = field(default_factory=list)
    when: list[tuple[int, Endpoint, Endpoint, str]] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self.at) + len(self.when)


def annotate(
    source: str,
    output: Path,
    said: Comments,
    *,
    about: str,
    anonymise: bytes | None = None,
    progress: Progress | None = None,
) -> _core.Copied:
    """Writes `source` as pcapng with these comments; `about` is said of the whole. Raises as `rewrite` does."""
    wish = Wish(remarks=said.at, moments=said.when, about=about, anonymise=anonymise)
    return rewrite(source, output, wish, progress=progress)


def comments(analysis: Analysis, clause: Clause) -> Comments:
    """Comments at each stall of `analysis`: the whole comment where the wait ended, a hint where it began.

    One that never ended has its comment at the last packet before it.
    """
    said = Comments()
    for place in places(analysis):
        said.stalls += 1
        _add(said, place, clause(place.flow, place.stall))
    return said


def _add(said: Comments, place: Place, what: str) -> None:
    flow, stall = place.flow, place.stall
    told = f"tcpstall: {place.heading}: {_told(stall, what)}"
    if place.packet is None:
        said.when.append((stall.end_ns, flow.client, flow.server, told))
        return
    said.at.append((place.packet, told))
    if place.begins_after is not None:
        hint = f"begins after this packet: {place.waited} until packet {place.packet}: {stall.cause}"
        said.at.append((place.begins_after, f"tcpstall: {place.title} {hint}"))


def _told(stall: Stall, what: str) -> str:
    """Cause, words, figures, confidence, and what to change, a line each."""
    narrower = f" ({stall.detail})" if stall.detail else ""
    figures = [shape.format(number(value)) for name, shape in _FIGURES.items() if (value := stall.evidence.get(name))]
    also = f", else {' or '.join(stall.also)}" if stall.also else ""
    lines = [
        f"{stall.cause}{narrower}",
        what,
        ", ".join(figures),
        f"confidence {confidence(stall.confidence)}{also}",
        f"missing: {'; '.join(stall.missing)}" if stall.missing else "",
        f"→ {stall.advice or stall.cause.advice}" if stall.advice or stall.cause.advice else "",
    ]
    return "\n".join(line for line in lines if line)
