"""Record of one connection by one host's own capture: when it sent what, and when an ACK came in."""

from dataclasses import dataclass, field
from pathlib import Path

from tests.tools.lab.network.frames import VNET_LEN, Segment, parse
from tests.tools.lab.network.pcap import read_records

_FIN, _RST, _ACK = 0x01, 0x04, 0x10
_BLANK = bytes(VNET_LEN)


@dataclass(frozen=True, slots=True)
class Transmission:
    """Data that the host sent; `new` is how much of it had never been sent."""

    t: float
    offset: int
    length: int
    new: int


@dataclass(slots=True)
class Wire:
    """The host's own view; times in seconds."""

    t_syn: float | None = None
    t_established: float | None = None
    t_close: float | None = None
    syns: int = 0
    sent: list[Transmission] = field(default_factory=list)
    progress: list[float] = field(default_factory=list)
    last: float = 0.0
    _isn: int | None = None
    _sent_to: int = 0
    _acked_to: int = 0

    @property
    def fresh(self) -> list[Transmission]:
        """Transmissions of new data."""
        return [one for one in self.sent if one.new]

    @property
    def repeated(self) -> list[Transmission]:
        """Retransmissions."""
        return [one for one in self.sent if not one.new]

    def out(self, t: float, segment: Segment) -> None:
        """The host sent a segment."""
        self.last = t
        if segment.syn:
            self.t_syn = t if self.t_syn is None else self.t_syn
            self.syns += 1
            self._isn = segment.seq
            return
        if self._isn is None:
            return
        offset = (segment.seq - self._isn - 1) & 0xFFFFFFFF
        if segment.payload and offset < 1 << 31:
            new = max(0, offset + segment.payload - self._sent_to)
            self._sent_to = max(self._sent_to, offset + segment.payload)
            self.sent.append(Transmission(t, offset, segment.payload, new))
        if segment.flags & (_FIN | _RST) and self.t_close is None:
            self.t_close = t

    def back(self, t: float, segment: Segment) -> None:
        """A segment of the peer came in."""
        self.last = t
        if segment.syn and self.t_syn is None:
            self.t_syn = t
        if self._isn is None or not segment.flags & _ACK:
            return
        if self.t_established is None and not segment.flags & _RST:
            self.t_established = t
        acked = (segment.ack - self._isn - 1) & 0xFFFFFFFF
        if self._acked_to < acked < 1 << 31:
            self._acked_to = acked
            self.progress.append(t)


def read_wire(capture: Path, local: int, peer: int) -> Wire:
    """The connection between these ports as the capture's own host saw it."""
    wire = Wire()
    for us, data, _ in read_records(capture):
        parsed = parse(_BLANK + data)
        if parsed is None:
            continue
        segment = parsed[0]
        if (segment.source, segment.target) == (local, peer):
            wire.out(us / 1e6, segment)
        elif (segment.source, segment.target) == (peer, local):
            wire.back(us / 1e6, segment)
    return wire
