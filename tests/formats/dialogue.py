"""Packets said one by one, for what no well-behaved host says."""

from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

from tests.scene.files import write
from tests.scene.packet import ACK, PSH, SYN, Endpoint, Packet
from tests.scene.verdict import flows_of

URG = 0x20
START_NS = 1_700_000_000_000_000_000
FIRST_BYTE = {"client": 1_000, "server": 5_000}
"""Sequence numbers of each end's first byte of data."""

Side = Literal["client", "server"]


class Dialogue:
    """Each packet is seen at `ms` after the start; positions count bytes of data from 0."""

    def __init__(self, folder: Path, *, port: int = 40_000) -> None:
        self.folder = folder
        self.ends = {"client": Endpoint("10.0.0.1", port), "server": Endpoint("10.0.0.2", 80)}
        self.packets: list[tuple[int, Packet]] = []

    def say(
        self, side: Side, ms: float, *, at: int, acks: int = 0, payload: int = 0, flags: int = ACK, window: int = 500
    ) -> None:
        """A segment at a position of the side's data, acknowledging the peer's up to another."""
        peer: Side = "server" if side == "client" else "client"
        ack = FIRST_BYTE[peer] + acks if flags & ACK else 0
        packet = Packet(
            source=self.ends[side],
            destination=self.ends[peer],
            seq=FIRST_BYTE[side] + at,
            ack=ack,
            flags=flags,
            window=window,
            payload=payload,
            ip_id=len(self.packets) + 1,
        )
        if flags & SYN:
            packet = replace(packet, mss=1_448, window_scale=7, sack_permitted=True)
        self.packets.append((START_NS + round(ms * 1e6), packet))

    def handshake(self, ms: float = 0, *, rtt_ms: float = 20, window: int = 500) -> None:
        """Seen at the server, which answers at once; windows are in units of 128 bytes once it is over."""
        self.say("client", ms, at=-1, flags=SYN, window=64_000)
        self.say("server", ms + 0.05, at=-1, flags=SYN | ACK, window=64_000)
        self.say("client", ms + rtt_ms, at=0, window=window)

    def request(self, ms: float, size: int = 100) -> None:
        self.say("client", ms, at=0, payload=size, flags=ACK | PSH)

    def flows(self) -> list[dict[str, Any]]:
        """Reports of these packets, in order of time."""
        path = self.folder / f"dialogue-{len(self.packets)}.pcap"
        write(path, sorted(self.packets, key=lambda pair: pair[0]), kind="pcap-ns")
        return flows_of(path)

    def flow(self) -> dict[str, Any]:
        (flow,) = self.flows()
        return flow
