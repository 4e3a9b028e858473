"""A dialogue between a client and a server on a virtual clock.

Each verb acts as soon as its host has heard all that was said before. What a tap at either end, or between, sees of
the dialogue is decided only when a capture is written, so one scene serves every vantage.
"""

import itertools
import json
from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

from tests.scene.files import WHOLE, Format, write
from tests.scene.host import Host
from tests.scene.network import Network, Passage, Side, Tap
from tests.scene.packet import ACK, CWR, ECE, FIN, PSH, RST, SYN, Endpoint, Link, Packet, as_ipv6
from tests.scene.plan import Plan, Reader
from tests.scene.transfer import transfer
from tests.scene.verdict import Stall, flows_of, stall_of

START_NS = 1_700_000_000_000_000_000
SYN_TIMEOUT_MS = 1_000
SUFFIXES: dict[Format, str] = {"text": "txt", "pcapng": "pcapng"}


class Scene:
    def __init__(
        self, folder: Path, *, tap: Tap = "server", client_port: int = 40_000, start_ns: int = START_NS
    ) -> None:
        self.folder, self.tap, self.start_ns = folder, tap, start_ns
        self.network = Network()
        self.client = Host("client", Endpoint("10.0.0.1", client_port), self.network, isn=1_000_000, clock_ms=70_000)
        self.server = Host("server", Endpoint("10.0.0.2", 80), self.network, isn=9_000_000, clock_ms=8_000_000)
        self.names = itertools.count(1)

    # Setting the stage

    def path(self, *, rtt_ms: float = 20, client_mbit: float | None = None, server_mbit: float | None = None) -> None:
        """The round trip, half of it each way, and bottlenecks for what the client or the server sends."""
        for way, mbit in ((self.network.ways["client"], client_mbit), (self.network.ways["server"], server_mbit)):
            way.delay_ns = round(rtt_ms * 500_000)
            way.rate = mbit * 125_000 if mbit else None

    def handshake(
        self,
        *,
        rtt_ms: float | None = None,
        mss: int = 1_460,
        server_mss: int | None = None,
        client_scale: int | None = 10,
        server_scale: int | None = 10,
        client_window: int = 64_240,
        server_window: int = 65_160,
        timestamps: bool = True,
        client_timestamps: bool | None = None,
        ecn: bool = False,
        lost_syns: int = 0,
        ignored_syns: int = 0,
        lost_syn_acks: int = 0,
        answered: bool = True,
        refused: bool = False,
        answer_ms: float = 0,
    ) -> None:
        """SYN, SYN-ACK after `answer_ms`, ACK; what is lost or ignored is repeated after 1, 2, 4 … s. Or a RST has it
        `refused`."""
        if rtt_ms is not None:
            self.path(rtt_ms=rtt_ms)
        for host, size, scale, window in (
            (self.client, mss, client_scale, client_window),
            (self.server, server_mss or mss, server_scale, server_window),
        ):
            host.mss, host.timestamps, host.ecn, host.window = size, timestamps, ecn, window
            host.window_scale = None if client_scale is None or server_scale is None else scale
            host.srtt_ns = sum(way.delay_ns for way in self.network.ways.values())
        self.client.timestamps = timestamps if client_timestamps is None else client_timestamps
        for attempt in range(lost_syns + ignored_syns):
            self._syn(self.client, lost=attempt < lost_syns)
            self.wait_ms(SYN_TIMEOUT_MS << attempt)
        self._syn(self.client, lost=not answered)
        if refused:
            self._say(self.server, RST | ACK, seq=0)
        if refused or not answered:
            return
        for attempt in range(lost_syn_acks):
            self._syn(self.server, lost=True)
            self.server.now_ns += SYN_TIMEOUT_MS * 1_000_000 << attempt
        self.server.now_ns = self.server.acts_ns() + round(answer_ms * 1e6)
        self._syn(self.server, lost=False)
        self.client.nxt, self.server.nxt = self.client.isn + 1, self.server.isn + 1
        self.server.una = self.server.nxt
        self._say(self.client, ACK)

    def _syn(self, host: Host, *, lost: bool) -> None:
        flags = SYN | (ACK if host is self.server else 0)
        if host.ecn:
            flags |= ECE if host is self.server else ECE | CWR
        packet = host.packet(self._peer(host).endpoint, host.acts_ns(), flags, seq=host.isn)
        mss = host.mss if host.names_mss else None
        packet = replace(packet, mss=mss, window_scale=host.window_scale, sack_permitted=host.sack)
        passage = host.transmit(packet, host.acts_ns(), lost=frozenset({host.isn} if lost else ()))
        self._peer(host).hears(host, passage)

    # Saying things

    def client_sends(self, size: int, **how: Any) -> None:
        """New data at once. See _send for `tso`, `lost`, `late_ms`, `unseen`, `push`, `close` and `content`."""
        self._send(self.client, size, **how)

    def server_sends(self, size: int, **how: Any) -> None:
        self._send(self.server, size, **how)

    def client_acks(
        self,
        *,
        window: int | None = None,
        upto: int | None = None,
        sack: Iterable[tuple[int, int]] = (),
        lost: bool = False,
    ) -> None:
        """Acknowledges all that was heard, or up to a byte position. SACK blocks are byte positions too."""
        self._ack(self.client, window, upto, tuple(sack), lost)

    def server_acks(
        self, *, window: int | None = None, upto: int | None = None, sack: Iterable[tuple[int, int]] = ()
    ) -> None:
        self._ack(self.server, window, upto, tuple(sack))

    def client_repeats(self, position: int, size: int, *, lost: bool = False, push: bool = True) -> None:
        """Sends bytes again, from a byte position of its data; those beyond what it had sent are new."""
        self._repeat(self.client, position, size, lost, push)

    def server_repeats(self, position: int, size: int, *, lost: bool = False, push: bool = True) -> None:
        self._repeat(self.server, position, size, lost, push)

    def server_repeats_syn_ack(self) -> None:
        """The SYN-ACK again, as of a server that has heard nothing since its SYN."""
        self._syn(self.server, lost=False)

    def server_probes(self, *, payload: int = 0, lost: bool = False) -> None:
        """A window probe: an empty segment below SND.UNA as Linux sends, or one byte beyond a shut window."""
        seq = self.server.una - 1 if payload == 0 else self.server.nxt
        self._say(self.server, ACK, seq=seq, payload=payload, lost=frozenset({seq} if lost else ()))

    def client_closes(self) -> None:
        self._say(self.client, FIN | ACK)

    def server_closes(self) -> None:
        self._say(self.server, FIN | ACK)

    def client_resets(self, *, acks: bool = True) -> None:
        """Without ACK the RST answers data for a closed socket."""
        self._say(self.client, RST | ACK if acks else RST)

    def server_resets(self) -> None:
        self._say(self.server, RST | ACK)

    def closes(self) -> None:
        """The server closes first, then the client, and the server acknowledges."""
        self.server_closes()
        self.client_closes()
        self._say(self.server, ACK)

    def wait_ms(self, ms: float) -> None:
        """Lets time go by after the last act of either host."""
        now = max(self.client.now_ns, self.server.now_ns) + round(ms * 1e6)
        self.client.now_ns = self.server.now_ns = now

    # Whole transfers, simulated after Linux (see Plan)

    def server_transfers(self, size: int, **how: Any) -> None:
        """The server's application writes it in one go; `how` is the rest of the Plan."""
        transfer(self.server, self.client, Plan(writes=((0, size),), **how))

    def client_transfers(self, size: int, **how: Any) -> None:
        transfer(self.client, self.server, Plan(writes=((0, size),), **how))

    def server_writes(self, *writes: tuple[float, int], **how: Any) -> None:
        """The server's application writes (after ms, bytes) … of one transfer."""
        transfer(self.server, self.client, Plan(writes=writes, **how))

    def client_writes(self, *writes: tuple[float, int], **how: Any) -> None:
        transfer(self.client, self.server, Plan(writes=writes, **how))

    def request(self, size: int = 147) -> None:
        """The client asks, and the server acknowledges that at once."""
        self.client_sends(size)
        self.server_acks()

    def download(self, size: int, *, request: int = 147, think_ms: float = 0, **how: Any) -> None:
        """A request, the server's ACK and thought, and the response."""
        self.request(request)
        self.wait_ms(think_ms)
        self.server_transfers(size, **how)

    # Looking at it

    def packets(self, tap: Tap | None = None) -> list[tuple[int, Packet]]:
        """(ns since the epoch, packet) as the tap sees them."""
        return [(self.start_ns + time, packet) for time, packet in self.network.seen_at(tap or self.tap)]

    def capture(
        self,
        tap: Tap | None = None,
        *,
        kind: Format = "pcap",
        link: Link = "ethernet",
        snap: int = WHOLE,
        ipv6: bool = False,
        zero_ip_length: bool = False,
        later_ns: int = 0,
        seq_offset: int = 0,
        beside: Iterable["Scene"] = (),
        drop: Iterable[int] = (),
    ) -> Path:
        """Writes a capture file and returns its path.

        `later_ns` shifts all times, `seq_offset` all sequence numbers, `beside` mixes other scenes in, `drop` leaves
        packets out by their number (from 1), as a capture that lost them would.
        """
        absent = set(drop)
        packets = [pair for number, pair in enumerate(self.packets(tap), 1) if number not in absent]
        for other in beside:
            packets = sorted(packets + other.packets(tap or self.tap), key=lambda pair: pair[0])
        packets = [(time + later_ns, _shifted(packet, seq_offset)) for time, packet in packets]
        if ipv6:
            packets = [(time, as_ipv6(packet)) for time, packet in packets]
        path = self.folder / f"scene-{next(self.names)}.{SUFFIXES.get(kind, 'pcap')}"
        write(path, packets, kind=kind, link=link, snap=snap, zero_ip_length=zero_ip_length)
        return path

    def flow(self, tap: Tap | None = None, **how: Any) -> dict[str, Any]:
        """The scene's flow as the JSON report holds it."""
        port = self.client.endpoint.port
        flows = [flow for flow in flows_of(self.capture(tap, **how)) if flow["client"]["port"] == port]
        assert len(flows) == 1, json.dumps(flows, indent=1)
        return flows[0]

    def stalls(
        self, sender: Side | None = None, tap: Tap | None = None, *, over_ms: float = 0, **how: Any
    ) -> list[Stall]:
        """The reported stalls in order of time, of one sender or both, without the handshake."""
        stalls = [stall_of(row) for row in self.flow(tap, **how)["stalls"] if row["duration_ns"] >= over_ms * 1e6]
        return [stall for stall in stalls if stall.cause != "handshake" and sender in (None, stall.sender)]

    def lost_ms(self, sender: Side, tap: Tap | None = None, **how: Any) -> Counter[str]:
        """Time that one sender's stalls lost to each cause, the handshake included."""
        lost: Counter[str] = Counter()
        for row in self.flow(tap, **how)["stalls"]:
            if sender == row["sender"] or row["cause"] == "handshake":
                lost[row["cause"]] += row["duration_ns"] / 1e6
        return lost

    # The machinery behind the verbs

    def _peer(self, host: Host) -> Host:
        return self.server if host is self.client else self.client

    def _say(self, host: Host, flags: int, *, seq: int | None = None, payload: int = 0, **how: Any) -> Passage:
        peer, now = self._peer(host), host.acts_ns()
        sack, content = how.pop("sack", ()), how.pop("content", b"")
        packet = host.packet(peer.endpoint, now, flags, seq=host.nxt if seq is None else seq, payload=payload)
        passage = host.transmit(replace(packet, sack=sack, content=content), now, **how)
        if seq is None:
            host.nxt += payload + bool(flags & FIN)
        peer.hears(host, passage)
        return passage

    def _send(
        self,
        host: Host,
        size: int,
        *,
        tso: int = 2,
        lost: bool = False,
        unseen: bool = False,
        push: bool = True,
        close: bool = False,
        content: bytes = b"",
        late_ms: float = 0,
    ) -> None:
        frame, left = tso * host.segment_bytes(), size
        while left:
            payload = min(frame, left)
            left -= payload
            starts = range(host.nxt, host.nxt + payload, host.segment_bytes()) if lost else ()
            flags = ACK | (PSH if push and not left else 0) | (FIN if close and not left else 0)
            said = content[size - left - payload :]
            late = dict.fromkeys(range(host.nxt, host.nxt + payload, host.segment_bytes()), round(late_ms * 1e6))
            how: dict[str, Any] = {"lost": frozenset(starts), "late_ns": late, "unseen": unseen, "content": said}
            passage = self._say(host, flags, payload=payload, **how)
            host.last_sent_ns = passage.time_ns

    def _repeat(self, host: Host, position: int, size: int, lost: bool, push: bool) -> None:
        start = host.isn + 1 + position
        flags = ACK | PSH if push else ACK
        self._say(host, flags, seq=start, payload=size, lost=frozenset({start} if lost else ()))
        host.nxt = max(host.nxt, start + size)

    def _ack(
        self, host: Host, window: int | None, upto: int | None, sack: tuple[tuple[int, int], ...], lost: bool = False
    ) -> None:
        first = self._peer(host).isn + 1
        if window is not None:
            host.window = window
        heard = host.rcv_nxt
        host.rcv_nxt = heard if upto is None else first + upto
        blocks = tuple((first + left, first + right) for left, right in sack)
        self._say(host, ACK, sack=blocks, lost=frozenset({host.nxt} if lost else ()))
        host.rcv_nxt = heard


def _shifted(packet: Packet, offset: int) -> Packet:
    if not offset:
        return packet
    sack = tuple((left + offset, right + offset) for left, right in packet.sack)
    ack = packet.ack + offset if packet.flags & ACK else packet.ack
    return replace(packet, seq=packet.seq + offset, ack=ack, sack=sack)


__all__ = ["Plan", "Reader", "Scene"]
