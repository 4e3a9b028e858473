"""`python -m tests.tools.bench.kills`: a scan of one large rotated set, killed by SIGKILL again and again.

Says how much was read twice and whether the store has the rows of an undisturbed scan. Nothing here fails on a time.
"""

import argparse
import os
import random
import signal
import struct
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from tcpstall.archive.asking.session import session
from tcpstall.archive.columns import TABLES
from tcpstall.archive.scanning.progress import Nobody
from tcpstall.archive.scanning.scan import scan
from tcpstall.archive.storing.store import Store
from tests.tools.bench.archive import Rotating, family
from tests.tools.bench.captures import mixed
from tests.tools.bench.cost import REPOSITORY

PACKET_BYTES = 700
"""A little less than a packet takes on average, so that enough are written."""
LOOKED_S = 0.002
_STATE = struct.Struct("<qq")
_BY_THE_CLOCK = {"scanned_ns"}


class Writing(Rotating):
    """Writes each file when it is full, as tcpdump -C -W does."""

    def __init__(self, folder: Path, limit: int, size: int) -> None:
        super().__init__(limit, 0)
        self.folder, self.size, self.written = folder, size, 0

    def close(self) -> None:
        super().close()
        for _, content in self.files:
            if self.written < self.size:
                (self.folder / f"eth0.pcap{self.number:04}").write_bytes(content)
                self.number += 1
                self.written += len(content)
        self.files.clear()

    number = 0


@dataclass(frozen=True, slots=True)
class State:
    """Bytes that a scan had to read when it began, -1 before it knows, and those read since."""

    planned: int = -1
    read: int = 0


class Telling(Nobody):
    """Writes its state where the one who kills reads it."""

    def __init__(self, file: Path) -> None:
        self._file = os.open(file, os.O_WRONLY | os.O_CREAT)
        self._planned, self._read = -1, 0

    def planned(self, captures: int, size: int, known: int) -> None:
        self._planned = size
        self._tell()

    def read(self, size: int) -> None:
        self._read += size
        self._tell()

    def _tell(self) -> None:
        os.pwrite(self._file, _STATE.pack(self._planned, self._read), 0)


def told(file: Path) -> State:
    content = file.read_bytes() if file.exists() else b""
    return State(*_STATE.unpack(content)) if len(content) == _STATE.size else State()


def begun(captures: Path, store: Path, state: Path) -> "subprocess.Popen[bytes]":
    state.unlink(missing_ok=True)
    command = [sys.executable, "-m", "tests.tools.bench.kills", "--scan", str(captures), str(store), str(state)]
    return subprocess.Popen(command, cwd=REPOSITORY)


def kill(process: "subprocess.Popen[bytes]") -> None:
    """Ends a scan and its workers without a warning."""
    members = family(process.pid)
    for number in (signal.SIGSTOP, signal.SIGKILL):
        for member in members:
            os.kill(member, number)
    process.wait()


def disturbed(captures: Path, store: Path, state: Path, size: int, kills: int) -> list[int]:
    """Scans until all is read, killed so often on the way; of each kill the bytes that the next scan reads again."""
    moments = random.Random(18)
    again: list[int] = []
    upto = 0
    while True:
        process = begun(captures, store, state)
        while told(state).planned < 0:
            assert process.poll() is None
            time.sleep(LOOKED_S)
        if upto:
            again.append(upto - (size - told(state).planned))
            print(f"kill {len(again)}: {again[-1]:,} bytes read again", flush=True)
        if len(again) == kills:
            assert process.wait() == 0
            return again
        moment = size * (len(again) + moments.random()) / (kills + 1)
        while size - told(state).planned + told(state).read < moment:
            assert process.poll() is None
            time.sleep(LOOKED_S)
        kill(process)
        upto = size - told(state).planned + told(state).read


def differences(one: Path, other: Path) -> dict[str, int]:
    """Rows that are in one of the stores only, by table."""
    stores = [Store.open(str(path)) for path in (one, other)]
    found = {}
    with session(*stores, called=("one", "other"), memory="4GB") as asked:
        for table in TABLES.values():
            columns = ", ".join(f'"{column.name}"' for column in table.columns if column.name not in _BY_THE_CLOCK)
            rows = [f"SELECT {columns} FROM {table.name} WHERE store = '{name}'" for name in ("one", "other")]
            counts = [asked.rows(f"SELECT count(*) AS n FROM ({row})")[0]["n"] for row in rows]
            lacking = [
                asked.rows(f"SELECT count(*) AS n FROM ({a} EXCEPT ALL {b})")[0]["n"] for a, b in (rows, rows[::-1])
            ]
            print(f"{table.name}: {counts[0]:,} and {counts[1]:,} rows", flush=True)
            found[table.name] = sum(lacking)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.tools.bench.kills", description=__doc__)
    parser.add_argument("--gigabytes", type=float, default=2.0)
    parser.add_argument("--file-bytes", type=int, default=8_000_000)
    parser.add_argument("--kills", type=int, default=30)
    parser.add_argument("--scan", nargs=3, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.scan:
        captures, store, state = options.scan
        scan([captures], store, jobs=1, progress=Telling(Path(state)))
        return
    with tempfile.TemporaryDirectory(prefix="tcpstall-kills-") as scratch:
        folder = Path(scratch)
        captures = folder / "captures"
        captures.mkdir()
        wanted = round(options.gigabytes * 1e9)
        writing = Writing(captures, options.file_bytes, wanted)
        mixed().write(writing, wanted // PACKET_BYTES)  # type: ignore[arg-type]
        writing.close()
        size = sum(path.stat().st_size for path in captures.iterdir())
        print(f"one set of {size:,} bytes in {len(list(captures.iterdir())):,} files", flush=True)
        undisturbed = begun(captures, folder / "undisturbed", folder / "state")
        assert undisturbed.wait() == 0
        again = disturbed(captures, folder / "store", folder / "state", size, options.kills)
        print(f"{len(again)} kills: at most {max(again):,} bytes read again, {sum(again) / len(again):,.0f} on average")
        print("rows that differ:", differences(folder / "undisturbed", folder / "store"))


if __name__ == "__main__":
    main()
