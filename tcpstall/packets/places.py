"""Places of stalls among a capture's packets: where Wireshark's users look for each."""

from collections.abc import Iterator
from dataclasses import dataclass

from tcpstall.model import Analysis, Flow, Stall
from tcpstall.units import exact

__all__ = ["Place", "places"]


@dataclass(frozen=True, slots=True)
class Place:
    """The packet of a stall: the one that ended it, or the last one before it where none did.

    Wireshark shows the time since the packet before, so a wait stands out at the packet that ends it. `packet` is its
    number; None where the stall names none, then it is the first of its connection at the stall's end. `begins_after`
    is the number of the packet before the wait, None where that is unknown or `packet` itself.
    """

    flow: Flow
    stall: Stall
    packet: int | None
    begins_after: int | None
    told: str

    @property
    def title(self) -> str:
        """`flow 0, stall 3`."""
        return f"flow {self.flow.id}, stall {self.stall.number}"

    @property
    def waited(self) -> str:
        """`the server waited 5.912 s`."""
        span = exact(self.stall.duration_ns)
        long = span if self.stall.ended else f"for {span} and longer"
        return f"the {self.stall.sender} waited {long}"

    @property
    def heading(self) -> str:
        """`flow 0, stall 3: the server waited 5.912 s before this packet`."""
        return f"{self.title}: {self.waited} {self.told} this packet"


def places(analysis: Analysis) -> Iterator[Place]:
    """The place of each stall of `analysis`, in the order of flows and of their stalls."""
    for row, stalls in enumerate(analysis.flows.column("stalls")):
        if stalls:
            flow = analysis[row]
            yield from (_place(flow, stall) for stall in flow.stalls)


def _place(flow: Flow, stall: Stall) -> Place:
    before, after = stall.evidence.get("last_packet"), stall.evidence.get("next_packet")
    if after is not None:
        return Place(flow, stall, after, before, "before")
    return Place(flow, stall, before, None, "until" if before is None else "after")
