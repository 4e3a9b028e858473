"""One dialogue captured at both ends, and what clocks and middleboxes do to the two captures."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from tests.scene import Scene
from tests.scene.files import WHOLE, Format, write
from tests.scene.network import Tap
from tests.scene.packet import Endpoint, Packet

Packets = list[tuple[int, Packet]]
Change = Callable[[Packets], Packets]

ENDS = (Endpoint("10.0.0.1", 40_000), Endpoint("10.0.0.2", 80))


def captured(
    scene: Scene, tap: Tap, *changes: Change, beside: Sequence[Scene] = (), kind: Format = "pcap", snap: int = WHOLE
) -> Path:
    packets = sorted((pair for one in (scene, *beside) for pair in one.packets(tap)), key=lambda pair: pair[0])
    for change in changes:
        packets = change(packets)
    path = scene.folder / f"{tap}.{kind}"
    write(path, packets, kind=kind, snap=snap)
    return path


def clock(*, ahead_ns: int = 0, ppm: float = 0.0) -> Change:
    """As a clock shows it that leads by so much at first and gains so much."""

    def change(packets: Packets) -> Packets:
        begin = packets[0][0]
        return [(time + ahead_ns + round((time - begin) * ppm * 1e-6), packet) for time, packet in packets]

    return change


def translated(old: Endpoint, new: Endpoint) -> Change:
    """Behind a NAT."""

    def named(end: Endpoint) -> Endpoint:
        return new if end == old else end

    def change(packets: Packets) -> Packets:
        return [
            (time, replace(packet, source=named(packet.source), destination=named(packet.destination)))
            for time, packet in packets
        ]

    return change


def each(rewrite: Callable[[Packet], Packet]) -> Change:
    return lambda packets: [(time, rewrite(packet)) for time, packet in packets]


def from_packet(number: int) -> Change:
    """The capture began later."""
    return lambda packets: packets[number - 1 :]


def without(*numbers: int) -> Change:
    """The capture lost these packets, which count from 1."""
    return lambda packets: [pair for number, pair in enumerate(packets, 1) if number not in numbers]
