"""Captures and their compressed copies on disk, made once."""

import shutil
import subprocess
import sys
import zlib
from pathlib import Path

from tests.tools.bench.cost import REPOSITORY, note

COMPRESSORS = {".gz": ["gzip", "-c"], ".zst": ["zstd", "-q", "-c"]}
"""At the tools' usual levels."""
DECOMPRESSORS = {".gz": ["gzip", "-dc"], ".zst": ["zstd", "-q", "-dc"]}
MAKERS = ("captures.py", "laps.py", "patterns.py")


def generator(kind: str, packets: int) -> list[str]:
    return [sys.executable, "-m", "tests.tools.bench.captures", kind, "--packets", str(packets)]


def capture(folder: Path, kind: str, packets: int) -> Path:
    """The capture, named after the generator's version, so that none outlives a change; now in the page cache."""
    version = 0
    for name in MAKERS:
        version = zlib.crc32(Path(__file__).with_name(name).read_bytes(), version)
    path = folder / f"{kind}-{packets}-{version:08x}.pcap"
    if not path.exists():
        for old in folder.glob(f"{kind}-{packets}-*"):
            old.unlink()
    return warm(made(path, generator(kind, packets)))


def compressed(path: Path, suffix: str) -> Path | None:
    """A compressed copy, if its tool is installed."""
    command = COMPRESSORS[suffix]
    if shutil.which(command[0]) is None:
        return None
    return warm(made(path.with_name(path.name + suffix), [*command, str(path)]))


def made(path: Path, command: list[str]) -> Path:
    """The output of a command. A half-made file is never taken for a whole one."""
    if not path.exists():
        note(f"making {path}")
        path.parent.mkdir(parents=True, exist_ok=True)
        partial = path.with_name(path.name + ".partial")
        with partial.open("wb") as out:
            subprocess.run(command, check=True, stdout=out, cwd=REPOSITORY)
        partial.rename(path)
    return path


def warm(path: Path) -> Path:
    with path.open("rb", buffering=0) as file:
        while file.read(1 << 20):
            pass
    return path
