"""Captures and archives of them, as small as they can be."""

import io
import struct
import tarfile
from collections.abc import Iterable, Mapping
from pathlib import Path

FIRST_NS = 1_763_719_200_000_000_000


def pcap(at_s: int = FIRST_NS // 1_000_000_000, *, packets: int = 1, filler: bytes = b"\0" * 60) -> bytes:
    """A pcap of Ethernet frames with nothing in them, a second apart."""
    header = struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65_535, 1)
    length = len(filler)
    return header + b"".join(struct.pack("<IIII", at_s + n, 0, length, length) + filler for n in range(packets))


def tar(members: Mapping[str, bytes] | Iterable[tuple[str, bytes]], form: int = tarfile.PAX_FORMAT) -> bytes:
    held = io.BytesIO()
    with tarfile.open(fileobj=held, mode="w", format=form) as archive:
        for name, content in members.items() if isinstance(members, Mapping) else members:
            about = tarfile.TarInfo(name)
            about.size = len(content)
            archive.addfile(about, io.BytesIO(content))
    return held.getvalue()


def written(folder: Path, files: Mapping[str, bytes]) -> Path:
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    return folder
