"""Seeds of the fuzzers: the beginnings of the fixtures, each in the shape that its target reads."""

import struct
from collections.abc import Iterator
from pathlib import Path

from tests.formats.containers import COMPRESSIONS, CONTAINERS, pcap
from tests.formats.encapsulation import FOUR, LINKS, TUNNELS
from tests.formats.fixture import CHOSEN, datagrams, wrapped

FIXTURES = Path(__file__).parents[2] / "fixtures"

LONGEST = 4096
"""Bytes of a seed: mutations of long inputs rarely meet what matters, and each round takes longer."""

FRAMES = 12
"""Frames of a capture; those after the handshake look alike."""

FLAGS = [0x10, 0x18, 0x02, 0x12, 0x11, 0x04, 0x14]
MSS = 1448
"""Both as in `frames.rs` of the fuzzers, whose records are written here."""


def pcap_frames(capture: bytes) -> Iterator[tuple[int, bytes]]:
    """The times (ns) and frames of a classic little-endian capture."""
    at, unit = 24, 1 if capture[:4] == b"\x4d\x3c\xb2\xa1" else 1000
    while at + 16 <= len(capture):
        seconds, fraction, length, _ = struct.unpack_from("<IIII", capture, at)
        yield seconds * 10**9 + fraction * unit, capture[at + 16 : at + 16 + length]
        at += 16 + length


def segment_records(capture: bytes) -> bytes:
    """A capture of one IPv4 connection as the records of the `segments` target, as near as those can say it."""
    records, last_ns, client = bytearray(8), 0, b""
    place, acked = [0, 0], [0, 0]
    ethernet = 14 * (capture[20] == 1)
    for time_ns, frame in ((time_ns, frame[ethernet:]) for time_ns, frame in pcap_frames(capture)):
        header = (frame[0] & 15) * 4 if frame and frame[0] >> 4 == 4 else 0
        if not header or len(frame) < header + 20:
            continue
        source, seq, ack, words, flags, window = struct.unpack_from(">2x2x2x6x4s4x", frame, 0) + struct.unpack_from(
            ">4xIIBBH", frame, header
        )
        client = client or source
        side = int(source != client)
        length = int.from_bytes(frame[2:4]) - header - (words >> 4) * 4
        if not records[8:] or flags & 2:
            place[side], last_ns = seq, last_ns or time_ns
        if flags & 0x10 and not place[1 - side]:
            place[1 - side] = acked[1 - side] = ack
        behind = (place[side] - seq) % 2**32
        spacing, magnitude = max(time_ns - last_ns, 0), 0
        while spacing >> (2 * magnitude + 6) > 15 and magnitude < 14:
            magnitude += 1
        who = side | (FLAGS.index(flags) if flags in FLAGS else 0) << 2
        when = magnitude << 4 | min(spacing >> (2 * magnitude + 6), 15)
        where = 0x50 | min(behind // MSS, 15) if 0 < behind < 2**31 else 0
        steps = ((ack - acked[1 - side]) % 2**32 + MSS // 2) // MSS
        told = 0 if ack == place[1 - side] else 0xC0 | min(steps, 15)
        options = 7 if flags & 2 else int(words >> 4 >= 8)
        records += struct.pack(">BBBHBHBBBB", who, when, where, max(length, 0), told, window, options, MSS >> 8, 168, 0)
        place[side] = max(place[side], (seq + max(length, 0) + bool(flags & 3)) % 2**32)
        acked[1 - side], last_ns = max(acked[1 - side], ack), time_ns
    return bytes(records)


def every_kind_of_file() -> Iterator[bytes]:
    """A few packets in every file format and compression."""
    frames = wrapped(datagrams(CHOSEN[0]), LINKS["Ethernet"])[:FRAMES]
    files = [write(frames) for write in CONTAINERS.values()]
    yield from files
    yield from (compress(files[0]) for compress in COMPRESSIONS.values())


def every_kind_of_frame() -> Iterator[bytes]:
    """A packet in every link layer and tunnel."""
    for wrapping in (LINKS | TUNNELS).values():
        yield wrapped(datagrams(CHOSEN[0], version=wrapping.version or FOUR)[:1], wrapping)[0].data


def seeds(target: str) -> Iterator[bytes]:
    """All of one target."""
    captures = [path.read_bytes() for path in sorted(FIXTURES.rglob("*.pcap"))]
    texts = [path.read_bytes() for path in sorted(FIXTURES.rglob("*.txt"))]
    match target:
        case "capture" | "pipeline":
            yield from (whole[:LONGEST] for whole in [*captures, *texts, *every_kind_of_file()])
        case "copy":
            yield from (whole[:LONGEST] for whole in [*captures, *every_kind_of_file()])
            for wrapping in (LINKS | TUNNELS).values():
                yield pcap(wrapped(datagrams(CHOSEN[0], version=wrapping.version or FOUR)[:FRAMES], wrapping))
        case "text":
            yield from (whole[:LONGEST] for whole in texts)
        case "wire":
            for capture in captures:
                yield from [frame for _, frame in pcap_frames(capture)][:FRAMES]
            yield from every_kind_of_frame()
        case "segments":
            yield from (segment_records(whole)[:LONGEST] for whole in captures)


def write(target: str, folder: Path) -> None:
    """Puts the seeds of a target beside what its fuzzer found."""
    folder.mkdir(parents=True, exist_ok=True)
    for number, seed in enumerate(seeds(target)):
        (folder / f"seed-{number}").write_bytes(seed)
