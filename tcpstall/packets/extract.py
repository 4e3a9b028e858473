"""The packets of one flow, or those that prove one of its stalls, as a capture of their own."""

from pathlib import Path

from tcpstall import _core
from tcpstall.model import Endpoint, Flow, Stall
from tcpstall.packets.files import Progress, Wish, rewrite

__all__ = ["extract", "stretches"]

Stretch = tuple[Endpoint, Endpoint, int, int]


def extract(
    source: str,
    output: Path,
    flow: Flow,
    stall: Stall | None = None,
    *,
    payload: bool = True,
    anonymise: bytes | None = None,
    progress: Progress | None = None,
) -> _core.Copied:
    """Writes the flow's packets, or with `stall` its handshake and what stands around that stall, byte by byte.

    `flow` comes from an analysis of `source` alone, with bursts and with the same `anonymise`. Without `payload`
    packets end behind their TCP header; their lengths stay. Raises as `rewrite` does.
    """
    wish = Wish(stretches=stretches(flow, stall), payload=payload, anonymise=anonymise)
    return rewrite(source, output, wish, progress=progress)


def stretches(flow: Flow, stall: Stall | None = None) -> list[Stretch]:
    """The parts of the flow's time that belong to it, or to the stall: from the burst before to the burst after it."""
    if stall is None:
        return [(flow.client, flow.server, flow.start_ns, flow.end_ns)]
    own = [burst for burst in flow.bursts if burst.sender == stall.sender]
    before = max((burst.start_ns for burst in own if burst.end_ns <= stall.start_ns), default=flow.start_ns)
    after = min((burst.end_ns for burst in own if burst.start_ns >= stall.end_ns), default=flow.end_ns)
    around = (flow.client, flow.server, before, after)
    if flow.handshake.duration_ns is None:
        return [around]
    return [(flow.client, flow.server, flow.start_ns, flow.start_ns + flow.handshake.duration_ns), around]
