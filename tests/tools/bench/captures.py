"""`python -m tests.tools.bench.captures KIND`: a large capture on standard output, the same each time."""

import argparse
import fcntl
import struct
import sys
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import BinaryIO

from tests.scene import Scene
from tests.scene.packet import Endpoint, as_ipv6, frame
from tests.tools.bench import patterns
from tests.tools.bench.kinds import KINDS
from tests.tools.bench.laps import START_US, Lap, Timed, head, record

HEADERS = 96
WHOLE = 262_144
PIPE_BYTES = 1 << 20
"""Linux's default limit for a pipe; 64 KiB unless asked for."""


@dataclass(frozen=True, slots=True)
class Capture:
    """Frames that come once, and the lap that follows them without end."""

    snap: int
    before: list[Timed]
    lap: Lap

    def write(self, out: BinaryIO, packets: int) -> None:
        first = self.before[:packets]
        out.write(head(self.snap) + b"".join(record(timed.time_us, timed.frame, self.snap) for timed in first))
        self.lap.write(out, packets - len(first))


def long(flows: int = 16, snap: int = HEADERS) -> Capture:
    before, steady, start_us = patterns.bulk(flows, snap)
    return Capture(snap, before, Lap(steady, patterns.BULK_LAP_US, snap, start_us))


def full(flows: int = 4) -> Capture:
    return long(flows, WHOLE)


def short(flows: int = 2_000) -> Capture:
    """`flows` connections in a lap."""
    return Capture(128, [], Lap(patterns.short(flows, 20, 128), flows * 20, 128))


def half_open(flows: int = 10_000) -> Capture:
    """`flows` half-open connections in a lap."""
    return Capture(HEADERS, [], Lap(patterns.half_open(flows, 10), flows * 10, HEADERS))


def terabyte() -> Capture:
    before, frames = patterns.offloaded(2_000, 5, HEADERS)
    return once_and_then(before, frames, 10_000)


def stalls() -> Capture:
    before, frames = patterns.exchanges(2_000, 1_000)
    return once_and_then(before, frames, 2_000_000)


def once_and_then(before: list[Timed], frames: list[Timed], lasts_us: int) -> Capture:
    shifted = [replace(timed, time_us=START_US + timed.time_us) for timed in before]
    return Capture(HEADERS, shifted, Lap(frames, lasts_us, HEADERS, shifted[-1].time_us + 1_000))


def mixed(flows: int = 8) -> Capture:
    """Bulk in whole frames, short connections, a flood, chatter, repairs, IPv6, VLANs, and what is not TCP."""
    lap_us = patterns.BULK_LAP_US
    before, frames, start_us = patterns.bulk(flows, WHOLE)
    frames += patterns.short(600, lap_us // 600, WHOLE)
    frames += patterns.half_open(240, lap_us // 240)
    for number in range(20):
        opening, chat = patterns.exchanges(24, lap_us // 24, port=45_000 + number)
        before += [replace(timed, time_us=start_us - 5_000 + timed.time_us) for timed in opening]
        frames += [replace(timed, time_us=timed.time_us + 61 * number) for timed in chat]
    for number, layer in enumerate(("ethernet", "vlan", "ipv6")):
        frames += repairs(number, layer)
    frames += [Timed(at, datagram(53, 60)) for at in range(0, lap_us, 1_000)]
    frames += [Timed(at, datagram(443, 1_350)) for at in range(0, lap_us, 500)]
    frames += [Timed(at, b"\xff" * 6 + b"\x02" * 6 + b"\x08\x06" + bytes(46)) for at in range(0, lap_us, 10_000)]
    before.sort(key=lambda timed: timed.time_us)
    return Capture(WHOLE, before, Lap([replace(timed, kind="") for timed in frames], lap_us, WHOLE, start_us))


def repairs(number: int, layer: str) -> list[Timed]:
    """A download that loses segments, in each lap from another port."""
    scene = Scene(Path(), client_port=20_000, start_ns=0)
    scene.client.endpoint = Endpoint(f"10.2.0.{number}", 20_000)
    scene.handshake(rtt_ms=12)
    scene.download(300_000, lose=(30_000, 140_000))
    scene.closes()
    clocks = {"tsval": patterns.BULK_LAP_US // 1_000, "tsecr": patterns.BULK_LAP_US // 1_000}
    frames = []
    for time_ns, packet in scene.packets():
        ours = packet.source.port == 20_000
        packet = patterns.filled(packet, WHOLE)
        whole = frame(as_ipv6(packet) if layer == "ipv6" else packet, "vlan" if layer == "vlan" else "ethernet")
        steps = {"source_port" if ours else "destination_port": 1}
        frames.append(Timed(time_ns // 1_000, whole, steps if packet.mss else steps | clocks))
    return frames


def datagram(port: int, size: int) -> bytes:
    """A UDP datagram."""
    ip = struct.pack("!BBHHHBBH4s4s", 0x45, 0, 28 + size, 0, 0, 64, 17, 0, bytes([10, 0, 0, 3]), bytes([10, 0, 0, 4]))
    return (
        b"\x02" * 12 + b"\x08\x00" + ip + struct.pack("!HHHH", 40_000, port, 8 + size, 0) + patterns.digits(size, port)
    )


MAKERS = {
    "long": long,
    "short": short,
    "full": full,
    "half-open": half_open,
    "terabyte": terabyte,
    "stalls": stalls,
    "mixed": mixed,
}


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.tools.bench.captures", description=__doc__)
    parser.add_argument("kind", choices=MAKERS)
    parser.add_argument("--packets", type=int, help="how many; what the name says unless told")
    options = parser.parse_args()
    packets = options.packets or KINDS[options.kind].packets
    with suppress(OSError):  # a file has no size to set, and some systems allow no more
        fcntl.fcntl(sys.stdout, fcntl.F_SETPIPE_SZ, PIPE_BYTES)
    with suppress(BrokenPipeError), open(sys.stdout.fileno(), "wb", closefd=False) as out:
        MAKERS[options.kind]().write(out, packets)


if __name__ == "__main__":
    main()
