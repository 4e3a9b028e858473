"""The middle: takes frames from one veth, holds each for its delay, and hands it to the other."""

import contextlib
import heapq
import json
import select
import signal
import socket
import struct
import time
from pathlib import Path as FilePath
from typing import Any

from tests.tools.lab.network.frames import VNET_LEN, Segment, cut, parse, parts
from tests.tools.lab.network.impairment import Outcome, Path
from tests.tools.lab.network.pcap import write_pcap
from tests.tools.lab.scenario import Scenario

_SOL_PACKET, _PACKET_VNET_HDR, _PACKET_IGNORE_OUTGOING = 263, 15, 23
_SO_TIMESTAMPNS, _SO_RCVBUFFORCE, _SO_SNDBUFFORCE = 35, 33, 32
_ETH_P_ALL = 3
_TIMESPEC = struct.Struct("qq")
_SPIN = 60_000
"""Nanoseconds before a deadline at which sleeping ends and polling begins."""


def _packet_socket(interface: str) -> socket.socket:
    opened = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
    for option, size in ((_SO_RCVBUFFORCE, 64 << 20), (_SO_SNDBUFFORCE, 64 << 20)):
        opened.setsockopt(socket.SOL_SOCKET, option, size)
    opened.setsockopt(_SOL_PACKET, _PACKET_VNET_HDR, 1)
    opened.setsockopt(_SOL_PACKET, _PACKET_IGNORE_OUTGOING, 1)
    opened.setsockopt(socket.SOL_SOCKET, _SO_TIMESTAMPNS, 1)
    opened.bind((interface, _ETH_P_ALL))
    opened.setblocking(False)
    return opened


class Forwarder:
    """Runs inside the middle namespace until it is told to stop by SIGTERM."""

    def __init__(self, scenario: Scenario, folder: FilePath) -> None:
        self._scenario = scenario
        self._folder = folder
        self._sockets = {"a": _packet_socket("s"), "b": _packet_socket("r")}
        self._out = {"a": self._sockets["b"], "b": self._sockets["a"]}
        self._paths = {way: Path(scenario, way) for way in "ab"}
        self._due: list[tuple[int, int, str, bytes]] = []
        self._count = 0
        self._start: int | None = None
        self._events: list[dict[str, Any]] = []
        self._taps: list[list[tuple[int, bytes]]] = [[] for _ in scenario.taps]
        self._late: list[int] = []
        self._stats = {"frames_in": [0, 0], "packets_out": [0, 0], "dropped": [0, 0], "send_errors": 0}
        self._running = True

    def run(self) -> None:
        """Forwards until SIGTERM, then writes what the taps saw and what was done to packets."""
        signal.signal(signal.SIGTERM, lambda *_: setattr(self, "_running", False))
        ways = {self._sockets[way]: way for way in "ab"}
        (self._folder / "forwarder.ready").touch()
        while self._running:
            now = time.time_ns()
            while self._due and self._due[0][0] <= now:
                self._send(now)
                now = time.time_ns()
            wait = 0.05 if not self._due else max(0, self._due[0][0] - now - _SPIN) / 1e9
            for ready in select.select(list(ways), [], [], wait)[0]:
                self._drain(ready, ways[ready])
        self._report()

    def _send(self, now: int) -> None:
        due, _, way, frame = heapq.heappop(self._due)
        self._late.append(now - due)
        self._stats["packets_out"]["ab".index(way)] += 1  # type: ignore[index]
        try:
            self._out[way].send(frame)
        except OSError:
            self._stats["send_errors"] += 1  # type: ignore[operator]

    def _drain(self, ready: socket.socket, way: str) -> None:
        for _ in range(16):
            try:
                frame, control, _, _ = ready.recvmsg(70_000, 64)
            except BlockingIOError:
                return
            seconds, nanos = _TIMESPEC.unpack(control[0][2][:16])
            self._stats["frames_in"]["ab".index(way)] += 1  # type: ignore[index]
            self._take(frame, way, seconds * 1_000_000_000 + nanos)

    def _take(self, frame: bytes, way: str, arrived: int) -> None:
        parsed = parse(frame)
        if parsed is None:
            self._push(arrived, way, frame)
            return
        if self._start is None:
            self._start = arrived
        self._carry(parsed, way, arrived, arrived - self._start)

    def _carry(self, parsed: tuple[Segment, int, int], way: str, arrived: int, elapsed: int) -> None:
        """A frame to whose parts nothing happens stays whole: the kernel cuts it on its way out."""
        path, whole = self._paths[way], parsed[0]
        if not path.per_packet:
            self._follow(whole, way, arrived, path.carry(whole, arrived, elapsed, 0)[0])
            return
        fates = [path.carry(part, arrived, elapsed, parsed[2] - VNET_LEN + 32 + part.payload) for part in parts(parsed)]
        if not path.rated and all(len(fate) == 1 and not fate[0].why for fate in fates):
            self._follow(whole, way, arrived, fates[0][0])
            return
        for segment, fate in zip(cut(whole.frame, parsed), fates, strict=True):
            for outcome in fate:
                self._follow(segment, way, arrived, outcome)

    def _follow(self, segment: Segment, way: str, arrived: int, outcome: Outcome) -> None:
        for share, tap in zip(self._scenario.taps, self._taps, strict=True):
            seen = share if way == "a" else 1 - share
            if outcome.due is not None:
                waited = outcome.due - arrived - outcome.queued
                tap.append((arrived + outcome.queued + round(seen * waited), segment.frame))
            elif seen < 0.5:
                tap.append((arrived + round(seen * self._scenario.one_way_us * 1000), segment.frame))
        if outcome.why:
            self._note(segment, way, arrived, outcome)
        if outcome.due is not None:
            self._push(outcome.due, way, segment.frame)

    def _note(self, segment: Segment, way: str, arrived: int, outcome: Outcome) -> None:
        if outcome.due is None:
            self._stats["dropped"]["ab".index(way)] += 1  # type: ignore[index]
        self._events.append(
            {
                "t": arrived / 1e9,
                "ev": "drop" if outcome.due is None else outcome.why,
                "why": outcome.why,
                "dir": way,
                "sport": segment.source,
                "dport": segment.target,
                "off": self._paths[way].offset(segment),
                "len": segment.payload,
                "flags": segment.flags,
            }
        )

    def _push(self, due: int, way: str, frame: bytes) -> None:
        self._count += 1
        heapq.heappush(self._due, (due, self._count, way, frame))

    def _report(self) -> None:
        for share, tap in zip(self._scenario.taps, self._taps, strict=True):
            name = "middle.pcap" if share == self._scenario.taps[0] else f"middle-{round(share * 100)}.pcap"
            wire = [(t, piece.frame) for t, frame in tap for piece in cut(frame, parse(frame) or _impossible())]
            wire.sort(key=lambda record: record[0])
            write_pcap(self._folder / name, ((t, frame[VNET_LEN:]) for t, frame in wire), self._scenario.snaplen)
        late = sorted(self._late) or [0]
        stats = {
            "ev": "stats",
            **self._stats,
            "late_mean_us": round(sum(late) / len(late) / 1000, 1),
            "late_p99_us": late[len(late) * 99 // 100] / 1000,
            "late_max_us": late[-1] / 1000,
        }
        with contextlib.closing((self._folder / "forwarder.json").open("w")) as out:
            json.dump({"events": self._events, "stats": stats}, out)


def _impossible() -> tuple[Segment, int, int]:
    raise AssertionError("only TCP is tapped")
