"""`python -m tests.tools.bench.archive DIR`: an archive of thousands of captures, scanned on one core and on all.

Points of capture rotate as tcpdump and dumpcap do, some files are compressed, some are broken, each in a known way.
Says rates, memory and whether what the store has is the sum of the sets analysed by themselves.
"""

import argparse
import gzip
import json
import shutil
import struct
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from tests.tools.bench.captures import MAKERS
from tests.tools.bench.cost import REPOSITORY, all_cores, note, pinned
from tests.tools.bench.laps import RECORD

FILES_A_POINT = 20
KINDS = ("mixed", "full", "short", "mixed", "long")
NAMES: tuple[Callable[[int, datetime], str], ...] = (
    lambda number, _: f"eth0.pcap{number:02}",
    lambda number, _: f"dump.pcap{number or ''}",
    lambda number, when: f"ring_{number + 1:05}_{when:%Y%m%d%H%M%S}.pcap",
    lambda number, when: f"trace-{when:%Y%m%d-%H%M%S}.pcap{number or ''}",
)
"""tcpdump -C -W, tcpdump -C, dumpcap -b, tcpdump -G -C."""
BROKEN: dict[str, Callable[[bytes], bytes]] = {
    "cut": lambda whole: whole[: len(whole) // 2 + 7],
    "empty": lambda _: b"",
    "noise": lambda whole: bytes((byte * 167 + 13) % 251 for byte in whole[:4_096]),
    "zeros": lambda whole: bytes(len(whole) // 4),
    "holed": lambda whole: whole[: len(whole) // 3] + b"\xff" * 5_000 + whole[len(whole) // 3 + 5_000 :],
    "torn.gz": lambda whole: gzip.compress(whole, 1)[: len(whole) // 8],
}
DAY_S = 86_400
SAMPLE_S = 0.05


@dataclass
class Archive:
    """Files that were made."""

    folder: Path
    files: int = 0
    bytes: int = 0
    broken: dict[str, str] = field(default_factory=dict)
    """Kind of damage, by path."""


class Rotating:
    """Takes a pcap as it is written and cuts it into files at records, its times moved."""

    def __init__(self, limit: int, seconds: int) -> None:
        self.limit = limit
        self.seconds = seconds
        self.files: list[tuple[datetime, bytes]] = []
        self._head = b""
        self._rest = bytearray()
        self._file = bytearray()
        self._began = 0

    def write(self, content: bytes | bytearray | memoryview) -> int:
        self._rest += content
        if not self._head:
            self._head = bytes(self._rest[:24])
            del self._rest[:24]
        at = 0
        while at + RECORD <= len(self._rest):
            seconds, _, kept, _ = struct.unpack_from("<IIII", self._rest, at)
            if at + RECORD + kept > len(self._rest):
                break
            struct.pack_into("<I", self._rest, at, seconds + self.seconds)
            if not self._file:
                self._began = seconds + self.seconds
                self._file += self._head
            self._file += self._rest[at : at + RECORD + kept]
            at += RECORD + kept
            if len(self._file) >= self.limit:
                self.close()
        del self._rest[:at]
        return len(content)

    def close(self) -> None:
        if self._file:
            self.files.append((datetime.fromtimestamp(self._began, UTC), bytes(self._file)))
            self._file.clear()


def make(folder: Path, size: int, file_bytes: int) -> Archive:
    """Writes points of capture until there are so many bytes."""
    archive = Archive(folder)
    for point in range(1 << 20):
        if archive.bytes >= size:
            break
        kind = KINDS[point % len(KINDS)]
        here = folder / f"host{point % 40:02}" / f"point{point:03}"
        here.mkdir(parents=True)
        for number, (when, content) in enumerate(rotated(kind, file_bytes, point)):
            name = NAMES[point % len(NAMES)](number, when)
            written = store(here / name, content, point)
            archive.files += 1
            archive.bytes += written
        if point % 4 == 0:
            break_one(archive, here, point)
        note(f"{archive.bytes / 1e9:.1f} GB in {archive.files} files")
    return archive


def rotated(kind: str, file_bytes: int, point: int) -> Iterator[tuple[datetime, bytes]]:
    """The files of one point; each begins minutes after the one of the point before."""
    rotating = Rotating(file_bytes, seconds=3 * DAY_S * point // 100 // 60 * 60)
    packets = {"mixed": 820, "full": 1_060, "short": 118, "long": 112}
    wanted = FILES_A_POINT * file_bytes // packets[kind]
    MAKERS[kind]().write(rotating, wanted)  # type: ignore[arg-type]
    rotating.close()
    yield from rotating.files[:FILES_A_POINT]


def store(path: Path, content: bytes, point: int) -> int:
    """Of ten points two are compressed."""
    match point % 10:
        case 3:
            path, content = path.with_name(path.name + ".gz"), gzip.compress(content, 1)
        case 7 if shutil.which("zstd"):
            done = subprocess.run(["zstd", "-q", "-1", "-c"], input=content, stdout=subprocess.PIPE, check=True)
            path, content = path.with_name(path.name + ".zst"), done.stdout
    path.write_bytes(content)
    return len(content)


def break_one(archive: Archive, here: Path, point: int) -> None:
    how = list(BROKEN)[point // 4 % len(BROKEN)]
    out = Rotating(1 << 30, seconds=point)
    MAKERS["short"](100).write(out, 5_000)  # type: ignore[call-arg,arg-type]
    out.close()
    ending = ".pcap.gz" if how.endswith(".gz") else ".pcap"
    path = here / f"broken-{how.removesuffix('.gz')}{ending}"
    path.write_bytes(BROKEN[how](out.files[0][1]))
    archive.broken[str(path)] = how
    archive.files += 1


@dataclass(frozen=True, slots=True)
class Run:
    """One scan."""

    seconds: float
    peak_mb: float
    exit_code: int


def scanned(folder: Path, store: Path, cores: frozenset[int], *options: str) -> Run:
    """Scans into an empty store; memory is the proportional share (PSS) of all its processes together."""
    shutil.rmtree(store, ignore_errors=True)
    command = [sys.executable, "-m", "tcpstall", "scan", str(folder), "--store", str(store), *options]
    with pinned(cores):
        began = time.perf_counter()
        process = subprocess.Popen(command, cwd=REPOSITORY)
    peaks = [0.0]
    over = threading.Event()
    watcher = threading.Thread(target=watch, args=(process.pid, peaks, over))
    watcher.start()
    code = process.wait()
    seconds = time.perf_counter() - began
    over.set()
    watcher.join()
    return Run(seconds, max(peaks), code)


def watch(root: int, peaks: list[float], over: threading.Event) -> None:
    while not over.wait(SAMPLE_S):
        peaks.append(sum(proportional_mb(process) for process in family(root)))


def family(root: int) -> list[int]:
    parents = {}
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                parents[int(folder.name)] = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
            except OSError:
                continue
    members = [root]
    for member in members:
        members.extend(child for child, parent in parents.items() if parent == member)
    return members


def proportional_mb(process: int) -> float:
    try:
        lines = Path(f"/proc/{process}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0.0
    return sum(int(line.split()[1]) for line in lines if line.startswith("Pss:")) / 1024


def in_store(store: Path) -> Counter[str]:
    """Sums over the rows that count."""
    from tcpstall.archive.asking.session import session
    from tcpstall.archive.storing.store import Store

    with session(Store.open(str(store))) as asked:
        rows = asked.rows(
            "SELECT count(*) AS flows, sum(segments) AS segments, sum(lost_ns) AS lost_ns, sum(stalls) AS stalls, "
            "sum(exchanges) AS exchanges, sum(client_bytes + server_bytes) AS bytes FROM flows"
        )
        rows += asked.rows("SELECT count(*) AS stall_rows, sum(duration_ns) AS stalled_ns FROM stalls")
        rows += asked.rows("SELECT count(*) AS exchange_rows, sum(latency_ns) AS latency_ns FROM exchanges")
        rows += asked.rows("SELECT count(*) AS captures, sum(packets) AS packets FROM captures")
        rows += asked.rows("SELECT count(*) AS errors FROM errors")
    return Counter({name: int(value or 0) for row in rows for name, value in row.items()})


def by_themselves(folder: Path) -> Counter[str]:
    """The same sums from `tcpstall analyze`, a run a set."""
    sums: Counter[str] = Counter()
    for here in sorted(path for path in folder.rglob("*") if path.is_dir()):
        captures = sorted(str(path) for path in here.iterdir() if path.is_file())
        whole = [path for path in captures if "/broken-" not in path]
        for paths in filter(None, [whole, *([path] for path in captures if path not in whole)]):
            sums.update(alone(paths))
    return sums


def alone(paths: list[str]) -> Counter[str]:
    command = [sys.executable, "-m", "tcpstall", "analyze", *paths, "--format", "ndjson", "--no-bursts"]
    done = subprocess.run(command, cwd=REPOSITORY, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False)
    sums: Counter[str] = Counter()
    for line in done.stdout.splitlines():
        row = json.loads(line)
        about = row.get("capture")
        if isinstance(about, dict):  # of a flow it is a number
            sums.update(captures=1, packets=about["packets"], errors=about["error"] is not None)
        if "stalls" not in row:
            continue
        stalls, exchanges = row["stalls"], row["exchanges"]
        both = row["directions"].values()
        travel = ("sending", "in-transit", "closing")
        sums.update(
            flows=1,
            segments=row["segments"],
            lost_ns=sum(value for owner, value in row["time_ns"].items() if owner not in travel),
            stalls=len(stalls),
            exchanges=row["connection"]["exchanges"],
            bytes=sum(end["bytes"] for end in both),
            stall_rows=len(stalls),
            stalled_ns=sum(stall["duration_ns"] for stall in stalls),
            exchange_rows=len(exchanges),
            latency_ns=sum(exchange["latency_ns"] for exchange in exchanges),
        )
    return sums


def main() -> None:
    options = arguments()
    captures, store = options.folder / "captures", options.folder / "store"
    if not captures.exists():
        make(captures, round(options.gigabytes * 1e9), options.file_bytes)
    files = [path for path in captures.rglob("*") if path.is_file()]
    size = sum(path.stat().st_size for path in files)
    print(f"{len(files):,} files, {size / 1e9:.1f} GB")
    one = frozenset([min(all_cores())])
    runs = {"one core": (one, "--jobs=1")} if not options.all_cores_only else {}
    runs["all cores"] = (all_cores(), "--jobs", str(len(all_cores())))  # type: ignore[assignment]
    for name, (cores, *how) in runs.items():
        run = scanned(captures, store, cores, *how)
        rate = size / run.seconds / 1e9
        print(f"{name}: {run.seconds:.1f} s, {rate:.2f} GB/s, {run.peak_mb:,.0f} MB at most, exit code {run.exit_code}")
    told = in_store(store)
    print(dict(told))
    if options.check:
        summed = by_themselves(captures)
        differences = {name: (told[name], summed[name]) for name in told.keys() | summed if told[name] != summed[name]}
        print("the sum of the sets by themselves:", differences or "the same")


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.tools.bench.archive", description=__doc__)
    parser.add_argument("folder", type=Path, help="where captures and store are, or will be")
    parser.add_argument("--gigabytes", type=float, default=20, help="of captures (20)")
    parser.add_argument("--file-bytes", type=int, default=9_000_000, help="what a file is rotated at")
    parser.add_argument("--check", action="store_true", help="analyse each set by itself too")
    parser.add_argument("--all-cores-only", action="store_true", help="leave out the scan on one core")
    return parser.parse_args()


if __name__ == "__main__":
    main()
