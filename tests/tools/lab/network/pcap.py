"""Classic pcap files with microsecond times: written by the middle's taps, read back for the truth."""

import struct
from collections.abc import Iterable, Iterator
from pathlib import Path

_FILE = struct.Struct("<IHHiIII")
_RECORD = struct.Struct("<IIII")
_MAGIC = 0xA1B2C3D4
_ETHERNET = 1


def write_pcap(path: Path, frames: Iterable[tuple[int, bytes]], snaplen: int) -> None:
    """Writes (nanoseconds, frame) records cut to `snaplen`."""
    write_records(path, ((t // 1000, frame[:snaplen], len(frame)) for t, frame in frames), snaplen)


def write_records(path: Path, records: Iterable[tuple[int, bytes, int]], snaplen: int) -> None:
    """Writes (microseconds, captured bytes, original length) records."""
    with path.open("wb") as out:
        out.write(_FILE.pack(_MAGIC, 2, 4, 0, 0, snaplen, _ETHERNET))
        for us, data, length in records:
            out.write(_RECORD.pack(us // 1_000_000, us % 1_000_000, len(data), length) + data)


def read_records(path: Path) -> Iterator[tuple[int, bytes, int]]:
    """The (microseconds, captured bytes, original length) records of a file that this machine wrote."""
    data = path.read_bytes()
    if _FILE.unpack_from(data)[0] != _MAGIC:
        raise ValueError(f"{path} is not a little-endian pcap with microseconds")
    at = _FILE.size
    while at + _RECORD.size <= len(data):
        seconds, micros, captured, length = _RECORD.unpack_from(data, at)
        at += _RECORD.size
        if at + captured > len(data):
            return
        yield seconds * 1_000_000 + micros, data[at : at + captured], length
        at += captured
