"""Captures for pictures of many flows: those of the laboratory in `fixtures/`, as if they had run beside each other."""

from collections.abc import Iterator
from pathlib import Path

import dpkt

FIXTURES = Path(__file__).parents[3] / "fixtures"
APART_S = 0.23
"""From one flow's start to the next one's."""


def beside(output: Path, names: tuple[str, ...]) -> None:
    """Writes the senders' captures of those scenarios as one, each flow a little after the one before."""
    packets = sorted(
        (
            (number * APART_S + time, data)
            for number, name in enumerate(names)
            for time, data in packets_of(FIXTURES / "lab" / name / "sender.pcap")
        ),
        key=lambda packet: packet[0],
    )
    with output.open("wb") as file:
        writer = dpkt.pcap.Writer(file, snaplen=65_535)
        for time, data in packets:
            writer.writepkt(data, ts=1_790_000_000 + time)


def packets_of(path: Path) -> Iterator[tuple[float, bytes]]:
    """Each packet with its time since the first."""
    with path.open("rb") as file:
        first: float | None = None
        for time, data in dpkt.pcap.Reader(file):
            first = time if first is None else first
            yield float(time - first), data
