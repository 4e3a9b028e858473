"""Endless captures: a pattern of packets that begins anew each lap, its fields a step further.

A lap's records lie in one buffer. From lap to lap only times, sequence numbers and the like are overwritten, a column
at a time, so that the writer keeps ahead of the fastest reader.
"""

import struct
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

START_US = 1_700_000_000_000_000
RECORD = 16
"""Bytes of a pcap record's header, which begins with seconds and microseconds of 4 bytes each."""
FIELDS = {
    "ip_id": (-16, ">u2"),
    "source": (-8, ">u4"),
    "destination": (-4, ">u4"),
    "source_port": (0, ">u2"),
    "destination_port": (2, ">u2"),
    "seq": (4, ">u4"),
    "ack": (8, ">u4"),
    "tsval": (24, ">u4"),
    "tsecr": (28, ">u4"),
    "syn_tsval": (28, ">u4"),
    "syn_tsecr": (32, ">u4"),
}
"""Position of a field, from the TCP header on; those before it are IPv4's. A SYN's timestamps follow two options."""


@dataclass(frozen=True, slots=True)
class Timed:
    """A frame that a lap repeats. One that comes later than the lap lasts first shows up in a later lap."""

    time_us: int
    frame: bytes
    steps: Mapping[str, int] = field(default_factory=dict)
    """Amount that each lap adds to a field."""
    kind: str = ""
    """Frames of a kind that lie at even distances are overwritten fastest."""


def head(snap: int) -> bytes:
    """A pcap's header: microseconds, Ethernet."""
    return struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, snap, 1)


def record(time_us: int, frame: bytes, snap: int) -> bytes:
    kept = frame[:snap]
    return struct.pack("<IIII", *divmod(time_us, 1_000_000), len(kept), len(frame)) + kept


class Column:
    """One field of some records, and what each lap adds to it."""

    def __init__(
        self, buffer: bytearray, layout: str, at: Sequence[int], values: Sequence[int], steps: Sequence[int]
    ) -> None:
        number = np.dtype(layout).newbyteorder("=")
        limit = 1 << 8 * number.itemsize
        self.field = anywhere(buffer, layout)
        self.where = even(np.array(at))
        self.values = np.array([value % limit for value in values], dtype=number)
        self.steps = np.array([step % limit for step in steps], dtype=number)
        self.field[self.where] = self.values

    def step(self) -> None:
        self.values += self.steps
        self.field[self.where] = self.values


class Lap:
    """The frames in the order of their times within a lap."""

    def __init__(self, frames: Iterable[Timed], lasts_us: int, snap: int, start_us: int = START_US) -> None:
        ordered = sorted(frames, key=lambda timed: timed.time_us % lasts_us)
        records = [record(0, timed.frame, snap) for timed in ordered]
        self.lasts_us = lasts_us
        self.buffer = bytearray().join(records)
        self.ends = np.cumsum([len(record) for record in records])
        self.first_lap = np.array([timed.time_us // lasts_us for timed in ordered])
        self.times_us = start_us + np.array([timed.time_us % lasts_us for timed in ordered], dtype=np.int64)
        self.columns: list[Column] = []
        self.clocks: list[tuple[Any, Any]] = []
        starts = self.ends - [len(record) for record in records]
        for kind in dict.fromkeys(timed.kind for timed in ordered):
            numbers = np.array([number for number, timed in enumerate(ordered) if timed.kind == kind])
            self.clocks.append((even(starts[numbers]), even(numbers)))
            self._add_columns([ordered[number] for number in numbers], starts[numbers])
        self.seconds, self.microseconds = anywhere(self.buffer, "<u4"), anywhere(self.buffer, "<u4", 4)
        self._stamp()

    def _add_columns(self, frames: Sequence[Timed], starts: NDArray[np.int64]) -> None:
        for name, (offset, layout) in FIELDS.items():
            having = [(timed, int(start)) for timed, start in zip(frames, starts, strict=True) if name in timed.steps]
            if not having:
                continue
            size = int(layout[-1])
            at, values, steps = [], [], [timed.steps[name] for timed, _ in having]
            for (timed, start), step in zip(having, steps, strict=True):
                place = tcp_at(timed.frame) + offset
                # In lap 0 a frame of a flow that began some laps before has the values of that many laps before.
                began = timed.time_us // self.lasts_us
                values.append(int.from_bytes(timed.frame[place : place + size], "big") - step * began)
                at.append(start + RECORD + place)
            self.columns.append(Column(self.buffer, layout, at, values, steps))

    def _stamp(self) -> None:
        seconds = self.times_us // 1_000_000
        microseconds = self.times_us - seconds * 1_000_000
        for starts, numbers in self.clocks:
            self.seconds[starts] = seconds[numbers]
            self.microseconds[starts] = microseconds[numbers]

    def write(self, out: BinaryIO, packets: int) -> None:
        """Writes that number of packets; the last lap is cut short."""
        complete = self.first_lap.max(initial=0)
        number = 0
        while packets > 0:
            if number < complete:
                present = np.flatnonzero(self.first_lap <= number)[:packets]
                out.write(b"".join(self._record(int(at)) for at in present))
            else:
                present = self.ends[:packets]
                out.write(memoryview(self.buffer)[: present[-1]])
            packets -= len(present)
            number += 1
            self.times_us += self.lasts_us
            self._stamp()
            for column in self.columns:
                column.step()

    def _record(self, number: int) -> bytes:
        return bytes(self.buffer[self.ends[number - 1] if number else 0 : self.ends[number]])


def tcp_at(frame: bytes) -> int:
    """Start of the TCP header: behind Ethernet, perhaps one VLAN tag, and IP without options."""
    ip_at = 18 if frame[12:14] == b"\x81\x00" else 14
    return ip_at + (40 if frame[ip_at] >> 4 == 6 else 20)


def anywhere(buffer: bytearray, layout: str, offset: int = 0) -> NDArray[Any]:
    """The numbers that begin at each byte from `offset` on."""
    count = len(buffer) - offset - np.dtype(layout).itemsize + 1
    return np.ndarray((count,), dtype=layout, buffer=buffer, offset=offset, strides=(1,))


def even(indices: NDArray[np.int64]) -> Any:
    """As a slice where the distances are even: numpy is five times as fast with it."""
    distances = np.unique(np.diff(indices))
    if len(distances) != 1:
        return indices
    return slice(int(indices[0]), int(indices[-1]) + 1, int(distances[0]))
