"""A capture with a comment at each stall, for Wireshark."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from tcpstall import _core
from tcpstall.model import Analysis, Endpoint, Flow, Stall
from tcpstall.packets.files import Progress, Wish, rewrite
from tcpstall.units import confidence, exact, number

__all__ = ["Clause", "Comments", "annotate", "comments"]

Clause = Callable[[Flow, Stall], str]
"""What happened in a stall, in plain words with its figures."""

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
    """What there is to say at each stall of `analysis`: all of it where the wait ended, a hint where it began.

    Wireshark shows the time since the packet before, so a wait stands out at the packet that ends it. One that never
    ended has its comment at the last packet before it.
    """
    said = Comments()
    for row in _with_stalls(analysis):
        flow = analysis[row]
        for stall in flow.stalls:
            said.stalls += 1
            _add(said, flow, stall, clause(flow, stall))
    return said


def _with_stalls(analysis: Analysis) -> Iterator[int]:
    return (row for row, stalls in enumerate(analysis.flows.column("stalls")) if stalls)


def _add(said: Comments, flow: Flow, stall: Stall, what: str) -> None:
    before, after = stall.evidence.get("last_packet"), stall.evidence.get("next_packet")
    name = f"tcpstall: flow {flow.id}, stall {stall.number}"
    if after is not None:
        said.at.append((after, f"{name}: {_waited(stall)} before this packet: {_told(stall, what)}"))
        if before is not None:
            hint = f"{name} begins after this packet: {_waited(stall)} until packet {after}: {stall.cause}"
            said.at.append((before, hint))
    elif before is not None:
        said.at.append((before, f"{name}: {_waited(stall)} after this packet: {_told(stall, what)}"))
    else:
        told = f"{name}: {_waited(stall)} until this packet: {_told(stall, what)}"
        said.when.append((stall.end_ns, flow.client, flow.server, told))


def _waited(stall: Stall) -> str:
    span = exact(stall.duration_ns)
    return f"the {stall.sender} waited {span}" if stall.ended else f"the {stall.sender} waited for {span} and longer"


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
