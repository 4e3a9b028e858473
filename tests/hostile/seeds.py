"""What the fuzzers begin with: the beginnings of the fixtures, each in the shape that its target reads."""

import struct
from collections.abc import Iterator
from pathlib import Path

FIXTURES = Path(__file__).parents[2] / "fixtures"

LONGEST = 4096
"""Bytes of a seed: mutations of long inputs rarely meet what matters, and each round takes longer."""

FRAMES = 12
"""Frames of a capture; those after the handshake look alike."""


def pcap_frames(capture: bytes) -> Iterator[bytes]:
    """The frames of a classic little-endian capture."""
    at = 24
    while at + 16 <= len(capture):
        length = int(struct.unpack_from("<I", capture, at + 8)[0])
        yield capture[at + 16 : at + 16 + length]
        at += 16 + length


def seeds(target: str) -> Iterator[bytes]:
    """All of one target. `segments` has a shape of its own and begins with nothing."""
    captures = [path.read_bytes() for path in sorted(FIXTURES.rglob("*.pcap"))]
    texts = [path.read_bytes() for path in sorted(FIXTURES.rglob("*.txt"))]
    match target:
        case "capture" | "pipeline":
            yield from (whole[:LONGEST] for whole in [*captures, *texts])
        case "text":
            yield from (whole[:LONGEST] for whole in texts)
        case "wire":
            for capture in captures:
                yield from list(pcap_frames(capture))[:FRAMES]


def write(target: str, folder: Path) -> None:
    """Puts the seeds of a target beside what its fuzzer found."""
    folder.mkdir(parents=True, exist_ok=True)
    for number, seed in enumerate(seeds(target)):
        (folder / f"seed-{number}").write_bytes(seed)
