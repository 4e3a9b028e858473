"""Large captures for the benches, made column by column: 10 million packets take seconds.

A capture with an ever-repeating order of packet sizes is a table with fixed-size rows, so numpy can write it. Long
flows repeat "an ACK releases two segments"; short flows, started at an even rate, repeat one packet of each kind in the
order of their moments within a slot.
"""

import argparse
import struct
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from tests.scene import Reader, Scene
from tests.scene.packet import ACK, FIN, PSH, SYN, Endpoint, Packet, frame

START_US = 1_700_000_000_000_000
MSS = 1_448
ROWS_AT_ONCE = 100_000
RECORD = 16
SEQ, ACKED = RECORD + 38, RECORD + 42
DATA_CLOCK, SYN_CLOCK = RECORD + 58, RECORD + 62


@dataclass(frozen=True, slots=True)
class Kind:
    """One packet of a row: its template, and where it lies in the row."""

    record: bytes
    offset: int
    clock: int

    def fields(self, name: str) -> Iterator[tuple[str, str, int]]:
        places = [("s", "<u4", 0), ("us", "<u4", 4), ("id", ">u2", RECORD + 18), ("from", ">u4", RECORD + 26)]
        places += [("to", ">u4", RECORD + 30), ("sport", ">u2", RECORD + 34), ("dport", ">u2", RECORD + 36)]
        places += [
            ("seq", ">u4", SEQ),
            ("ack", ">u4", ACKED),
            ("tsval", ">u4", self.clock),
            ("tsecr", ">u4", self.clock + 4),
        ]
        yield from ((f"{name}.{place}", kind, self.offset + offset) for place, kind, offset in places)


class Rows:
    """A table whose rows are a fixed sequence of packets."""

    def __init__(self, packets: Sequence[Packet], snap: int) -> None:
        self.kinds: list[Kind] = []
        offset = 0
        for packet in packets:
            whole = frame(packet)
            kept = whole[:snap]
            record = struct.pack("<IIII", 0, 0, len(kept), len(whole)) + kept
            self.kinds.append(Kind(record, offset, SYN_CLOCK if packet.flags & SYN else DATA_CLOCK))
            offset += len(record)
        fields = [field for i, kind in enumerate(self.kinds) for field in kind.fields(str(i))]
        names, formats, offsets = zip(*fields, strict=True)
        self.type = np.dtype({"names": names, "formats": formats, "offsets": offsets, "itemsize": offset})
        self.template = np.frombuffer(b"".join(kind.record for kind in self.kinds), dtype=np.uint8)

    def blank(self, count: int) -> NDArray[Any]:
        rows = np.empty(count, dtype=self.type)
        rows.view(np.uint8).reshape(count, -1)[:] = self.template
        return rows


def stamp(rows: NDArray[Any], name: str, time_us: NDArray[np.int64]) -> None:
    rows[f"{name}.s"] = time_us // 1_000_000
    rows[f"{name}.us"] = time_us % 1_000_000


def head(snap: int) -> bytes:
    return struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, snap, 1)


def put(out: BinaryIO, snap: int, time_us: int, packet: Packet) -> None:
    whole = frame(packet)
    kept = whole[:snap]
    out.write(struct.pack("<IIII", *divmod(time_us, 1_000_000), len(kept), len(whole)) + kept)


WINDOW_SEGMENTS = 128
"""The receiver's window: 128 × 1448 = 1448 << 7 bytes, so every round ends rwnd-limited."""
RAMP_BYTES = 400_000


def long_flows(path: Path, packets: int, *, flows: int = 16, snap: int = 96) -> None:
    """Bulk data with delayed ACKs seen at the sender: slow start, then a full window a round trip of 20 ms and more."""
    ramps = [_ramp(path.parent, number) for number in range(flows)]
    groups = max(packets // flows // 3 // (WINDOW_SEGMENTS // 2), 1) * (WINDOW_SEGMENTS // 2)
    with path.open("wb") as out:
        out.write(head(snap))
        first = sorted((pair for ramp in ramps for pair in ramp.scene.packets()), key=lambda pair: pair[0])
        for moment, packet in first:
            put(out, snap, moment // 1_000, packet)
        start = first[-1][0] // 1_000 + 10_000
        flow = np.repeat(np.arange(flows), groups)
        number = np.tile(np.arange(groups), flows)
        round_us = 20_000 + 37 * flow
        half = WINDOW_SEGMENTS // 2
        time = start + 900 * flow + round_us * (number // half) + 7 * (number % half)
        order = np.argsort(time, kind="stable")
        flow, number, time = flow[order], number[order], time[order]
        slot = 3 * np.arange(len(time))
        time = np.maximum.accumulate(time - slot) + slot  # three packets a group, a microsecond each, never backwards
        _write_groups(out, snap, ramps, flow, number, time)


@dataclass(frozen=True, slots=True)
class Ramp:
    """A flow's handshake, slow start and first full window, and the packets that its steady part repeats."""

    scene: Scene
    ack: Packet
    data: Packet


def _ramp(folder: Path, number: int) -> Ramp:
    start_us = START_US + number * 1_300
    scene = Scene(folder, client_port=40_000 + number, start_ns=start_us * 1_000)
    window = WINDOW_SEGMENTS * MSS
    scene.handshake(rtt_ms=20, client_scale=7, client_window=65_535)
    scene.download(RAMP_BYTES, tso=1, reader=Reader(buffer=window))
    scene.server_sends(window, tso=1, push=False)
    client, server = scene.client, scene.server
    ack = client.packet(server.endpoint, 0, ACK, seq=client.nxt)
    data = server.packet(client.endpoint, 0, ACK, seq=server.nxt, payload=MSS)
    return Ramp(scene, replace(ack, ack=server.nxt - window), data)


def _write_groups(
    out: BinaryIO,
    snap: int,
    ramps: list[Ramp],
    flow: NDArray[np.int64],
    number: NDArray[np.int64],
    time: NDArray[np.int64],
) -> None:
    rows_of = Rows([ramps[0].ack, ramps[0].data, ramps[0].data], snap)
    facts = np.array(
        [
            (
                ramp.ack.source.port,
                ramp.ack.seq,
                ramp.ack.ack,
                ramp.data.seq,
                ramp.scene.client.packets_sent,
                ramp.scene.server.packets_sent,
                ramp.scene.start_ns // 1_000,
            )
            for ramp in ramps
        ],
        dtype=np.int64,
    ).T
    for left in range(0, len(time), ROWS_AT_ONCE):
        f, n, t = (column[left : left + ROWS_AT_ONCE] for column in (flow, number, time))
        port, client_seq, first_ack, first_seq, client_id, server_id, start_us = facts[:, f]
        rows = rows_of.blank(len(t))
        now_ms = (t - start_us) // 1_000
        acked_ms = ramps[0].scene.client.clock_ms + now_ms - 10
        clocks = ramps[0].scene.server.clock_ms + now_ms
        for i in range(3):
            stamp(rows, str(i), t + i)
            rows[f"{i}.dport" if i else f"{i}.sport"] = port
        rows["0.id"] = (client_id + 1 + n) % 65_536
        rows["0.seq"] = client_seq % 2**32
        rows["0.ack"] = (first_ack + 2 * MSS * (n + 1)) % 2**32
        rows["0.tsval"], rows["0.tsecr"] = acked_ms, clocks - 20
        for i in (1, 2):
            rows[f"{i}.id"] = (server_id + 2 * n + i) % 65_536
            rows[f"{i}.seq"] = (first_seq + MSS * (2 * n + i - 1)) % 2**32
            rows[f"{i}.ack"] = client_seq % 2**32
            rows[f"{i}.tsval"], rows[f"{i}.tsecr"] = clocks, acked_ms
        out.write(rows.tobytes())


SLOT_US = 20
ROUND_SLOTS = 1_000
"""20 ms of round trip, so that about 3,000 connections are open at a time."""


def short_flows(path: Path, packets: int, *, snap: int = 128) -> None:
    """Thirteen packets a connection, seen at the server: handshake, request, three segments, FINs."""
    client, server = Endpoint("10.0.0.0", 0), Endpoint("192.168.0.1", 80)
    c, s, request, response = 1_000, 5_000, 147, 4_000
    end_c, end_s = c + 1 + request, s + 1 + response
    # (slots after the SYN, µs within the slot, client's?, flags, seq, ack, payload)
    script: list[tuple[int, int, bool, int, int, int, int]] = [
        (0, 0, True, SYN, c, 0, 0),
        (0, 1, False, SYN | ACK, s, c + 1, 0),
        (ROUND_SLOTS, 2, True, ACK, c + 1, s + 1, 0),
        (ROUND_SLOTS, 3, True, PSH | ACK, c + 1, s + 1, request),
        (ROUND_SLOTS, 4, False, ACK, s + 1, end_c, 0),
        (ROUND_SLOTS + 20, 5, False, ACK, s + 1, end_c, MSS),
        (ROUND_SLOTS + 20, 6, False, ACK, s + 1 + MSS, end_c, MSS),
        (ROUND_SLOTS + 20, 7, False, PSH | ACK, s + 1 + 2 * MSS, end_c, response - 2 * MSS),
        (2 * ROUND_SLOTS + 20, 8, True, ACK, end_c, s + 1 + 2 * MSS, 0),
        (2 * ROUND_SLOTS + 20, 9, True, ACK, end_c, end_s, 0),
        (2 * ROUND_SLOTS + 20, 10, False, FIN | ACK, end_s, end_c, 0),
        (3 * ROUND_SLOTS + 20, 11, True, FIN | ACK, end_c, end_s + 1, 0),
        (3 * ROUND_SLOTS + 20, 12, False, ACK, end_s + 1, end_c + 1, 0),
    ]
    templates = [
        Packet(
            source=client if ours else server,
            destination=server if ours else client,
            seq=seq,
            ack=ack,
            flags=flags,
            window=64_240 if flags & SYN else 502,
            payload=payload,
            timestamps=(0, 0),
            mss=1_460 if flags & SYN else None,
            window_scale=7 if flags & SYN else None,
            sack_permitted=bool(flags & SYN),
        )
        for _, _, ours, flags, seq, ack, payload in script
    ]
    rows_of = Rows(templates, snap)
    flows = packets // len(script)
    latest = script[-1][0]
    with path.open("wb") as out:
        out.write(head(snap))
        for left in range(0, flows + latest, ROWS_AT_ONCE):
            slots = np.arange(left, min(left + ROWS_AT_ONCE, flows + latest), dtype=np.int64)
            rows = rows_of.blank(len(slots))
            for i, (after, us, ours, _, seq, ack, _) in enumerate(script):
                _fill_short(rows, str(i), slots, slots - after, us, ours, seq, ack)
            _write_whole_rows(out, rows_of, rows, slots, [step[0] for step in script], flows)


def _fill_short(
    rows: NDArray[Any],
    name: str,
    slots: NDArray[np.int64],
    flow: NDArray[np.int64],
    us: int,
    ours: bool,
    seq: int,
    ack: int,
) -> None:
    time = START_US + slots * SLOT_US + us
    stamp(rows, name, time)
    rows[f"{name}.id"] = (13 * slots + int(name)) % 65_536
    isn = flow * 7_919
    rows[f"{name}.seq"] = (isn + seq) % 2**32
    rows[f"{name}.ack"] = (isn + ack) % 2**32 if ack else 0
    rows[f"{name}.tsval"] = time // 1_000 % 2**32
    rows[f"{name}.tsecr"] = (time // 1_000 - 20) % 2**32 if ack else 0
    rows[f"{name}.from" if ours else f"{name}.to"] = (10 << 24) + flow // 25_000 % 65_536
    rows[f"{name}.sport" if ours else f"{name}.dport"] = 30_000 + flow % 25_000


def _write_whole_rows(
    out: BinaryIO, rows_of: Rows, rows: NDArray[Any], slots: NDArray[np.int64], after: list[int], flows: int
) -> None:
    """Rows at either end hold packets of connections that do not exist; those are left out one by one."""
    whole = (slots >= max(after)) & (slots < flows)
    runs = np.flatnonzero(whole)
    first, last = (int(runs[0]), int(runs[-1]) + 1) if len(runs) else (len(slots), len(slots))
    _write_part_rows(out, rows_of, rows[:first], slots[:first], after, flows)
    out.write(rows[first:last].tobytes())
    _write_part_rows(out, rows_of, rows[last:], slots[last:], after, flows)


def _write_part_rows(
    out: BinaryIO, rows_of: Rows, rows: NDArray[Any], slots: NDArray[np.int64], after: list[int], flows: int
) -> None:
    for row, slot in zip(rows, slots, strict=True):
        data = row.tobytes()
        for kind, later in zip(rows_of.kinds, after, strict=True):
            if 0 <= slot - later < flows:
                out.write(data[kind.offset : kind.offset + len(kind.record)])


def full_frames(path: Path, packets: int) -> None:
    """Long flows with every frame whole: a capture bound by memory."""
    long_flows(path, packets, flows=4, snap=65_535)


MAKERS: dict[str, tuple[int, Callable[[Path, int], None]]] = {
    "long": (10_000_000, long_flows),
    "short": (6_500_000, short_flows),
    "full": (1_500_000, full_frames),
}
"""Name: packets unless told otherwise, and how it is made."""


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.bench.captures", description=__doc__)
    parser.add_argument("kind", choices=sorted(MAKERS))
    parser.add_argument("path", type=Path)
    parser.add_argument("--packets", type=int, help="about how many")
    options = parser.parse_args()
    packets, make = MAKERS[options.kind]
    partial = options.path.with_suffix(".partial")
    make(partial, options.packets or packets)
    partial.rename(options.path)


if __name__ == "__main__":
    main()
