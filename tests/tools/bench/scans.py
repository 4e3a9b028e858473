"""`python -m tests.tools.bench.scans`: what a scan costs beside known captures, of small files, of short connections.

Processor time of whole commands with start-up, the least of several runs. Nothing here fails on a time.
"""

import argparse
import itertools
import multiprocessing
import os
import struct
import sys
import tempfile
import uuid
from collections.abc import Iterable, Iterator
from pathlib import Path

import duckdb

from tcpstall import _core
from tcpstall.archive.columns import TABLES, layout
from tcpstall.archive.storing.names import part_name
from tcpstall.archive.storing.store import Part, Store
from tests.scene import Scene
from tests.tools.bench.captures import short
from tests.tools.bench.cost import Cost, all_cores, compile_as_installed, cost

KNOWN = (1_000, 10_000, 100_000)
A_FOLDER = 200
"""Files of a folder: one new file makes a scan look at those beside it."""
SIZE = 3_000
CHANGED_NS = 1_790_035_200 * 10**9
SMALL_FILES = 10_000
SHORT_FLOWS = 240_000
PACKETS_A_FLOW = 13
PATIENCE_S = 600
RUNS = 3


def small(number: int, begun: bytes) -> bytes:
    """A capture of one connection as the one given, at another time."""
    content = bytearray(begun)
    at_byte = 24
    while at_byte < len(content):
        seconds, _, kept, _ = struct.unpack_from("<IIII", content, at_byte)
        struct.pack_into("<I", content, at_byte, seconds + number)
        at_byte += 16 + kept
    return bytes(content)


def connection(folder: Path) -> bytes:
    """A request and its answer, about 3 kB."""
    scene = Scene(folder, client_port=20_000)
    scene.handshake(rtt_ms=10)
    scene.client_sends(200)
    scene.download(1_400)
    scene.closes()
    return scene.capture().read_bytes()


def remembered(folder: Path, files: int) -> None:
    """A tree of so many files, and a store that says it scanned them. The files have sizes and no content."""
    captures, store = folder / "captures", folder / "store"
    for number in range(files):
        path = captures / name(number)
        if number % A_FOLDER == 0:
            path.parent.mkdir(parents=True)
        path.touch()
        os.truncate(path, SIZE)
        os.utime(path, ns=(CHANGED_NS, CHANGED_NS))
    with Store.writing(str(store)) as opened:
        opened.checkpoint(rows(opened, captures, files))


def name(number: int) -> str:
    return f"host{number // A_FOLDER:05}/{number:07}-x.pcap"


def rows(store: Store, captures: Path, files: int) -> Part:
    """The rows of captures that a scan of these files makes."""
    folder = f"format('host{{:05d}}/{{:07d}}-x.pcap', i // {A_FOLDER}, i)"
    given = {
        "scan": "format('{:016x}', hash(i))",
        "chain": "format('{:016x}', hash(i))",
        "capture_set": f"'{captures}/' || {folder}",
        "name": f"'{captures}/' || {folder}",
        "size_bytes": f"{SIZE}",
        "changed_ns": f"{CHANGED_NS}",
        "fingerprint": "md5(i::VARCHAR)",
        "format": "'pcap'",
        "link_types": "'ethernet'",
        "packets": "11",
        "tcp_segments": "11",
        "first_ns": f"{CHANGED_NS} + i",
        "last_ns": f"{CHANGED_NS} + i",
        "exit_code": "0",
        "warnings": "'[]'",
        "flows": "1",
        "tcpstall": f"'{_core.version()}'",
        "scanned_ns": f"{CHANGED_NS} + 1",
    }
    columns = ", ".join(
        f'({given.get(column.name, "NULL")})::{column.type} AS "{column.name}"' for column in TABLES["captures"].columns
    )
    with tempfile.TemporaryDirectory(dir=store.place.scratch) as scratch:
        file = Path(scratch) / f"{uuid.uuid4().hex}.parquet"
        query = f"SELECT {columns} FROM range({files}) r(i) ORDER BY name"
        duckdb.sql(f"COPY ({query}) TO '{file}' (FORMAT parquet, COMPRESSION zstd)")
        size, path = file.stat().st_size, part_name("captures", file)
        store.place.take(path, file)
    return Part("captures", path, files, size, layout=layout("captures"))


def scan(captures: Path, store: Path, *, cores: frozenset[int], jobs: int = 1) -> Cost:
    command = [sys.executable, "-m", "tcpstall", "scan", str(captures), "--store", str(store), f"--jobs={jobs}"]
    done = cost(command, cores, PATIENCE_S)
    assert done.exit_code == 0, done
    return done


def beside_known(folder: Path, files: int, begun: bytes) -> Iterator[str]:
    """A round in which nothing is new, one with one new file, and one in which that file has grown."""
    # The system counts the memory of who starts a command as the command's own.
    making = multiprocessing.get_context("spawn").Process(target=remembered, args=(folder, files))
    making.start()
    making.join()
    assert making.exitcode == 0
    captures, store = folder / "captures", folder / "store"
    one = frozenset([min(all_cores())])
    quiet = least(scan(captures, store, cores=one) for _ in range(RUNS))
    yield row(f"nothing new beside {files:,} known captures", quiet)
    costs = []
    for number in range(RUNS):
        (captures / f"host00000/new{number}-x.pcap").write_bytes(small(number, begun))
        costs.append(scan(captures, store, cores=one))
    yield row(f"one new file beside {files:,} known captures", least(costs))
    costs = []
    for number in range(RUNS):
        path = captures / f"host00000/new{number}-x.pcap"
        path.write_bytes(path.read_bytes() + small(number + RUNS, begun)[24:])
        costs.append(scan(captures, store, cores=one))
    yield row(f"a file that grew beside {files:,} known captures", least(costs))


def of_small_files(folder: Path, begun: bytes) -> Iterator[str]:
    """Captures of one connection each, on one core and on all."""
    captures = folder / "captures"
    for number in range(SMALL_FILES):
        path = captures / name(number)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(small(number, begun))
    cores = all_cores()
    for count in dict.fromkeys((1, len(cores))):
        store = folder / f"store{count}"
        yield row(
            f"{SMALL_FILES:,} files of {len(begun):,} bytes, {count} core(s)",
            scan(captures, store, cores=frozenset(sorted(cores)[:count]), jobs=count),
        )


def of_short_flows(folder: Path) -> Iterator[str]:
    """The scan beside `analyze` of the same file, which is the core's own work and one line of text a service."""
    captures = folder / "captures"
    captures.mkdir(parents=True)
    capture = captures / "short-x.pcap"
    with capture.open("wb") as out:
        short().write(out, SHORT_FLOWS * PACKETS_A_FLOW)
    one = frozenset([min(all_cores())])
    alone = [sys.executable, "-m", "tcpstall", "analyze", str(capture), "--no-bursts", "--format", "json"]
    yield row(f"{SHORT_FLOWS:,} short connections: analyze", least(cost(alone, one, PATIENCE_S) for _ in range(RUNS)))
    stores = (folder / f"store{number}" for number in range(RUNS))
    yield row(f"{SHORT_FLOWS:,} short connections: scan", least(scan(captures, store, cores=one) for store in stores))


def least(costs: Iterable[Cost]) -> Cost:
    return min(costs, key=lambda run: run.cpu_s)


def row(what: str, run: Cost) -> str:
    return f"| {what} | {run.cpu_s:.2f} s | {run.wall_s:.2f} s | {run.peak_mb:,.0f} MB |"


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.tools.bench.scans", description=__doc__)
    parser.add_argument("--known", type=int, nargs="*", default=KNOWN, help="known captures")
    parser.add_argument("--only-known", action="store_true", help="leave out small files and short connections")
    options = parser.parse_args()
    compile_as_installed()
    print("| scan | of processors | time | peak memory |\n| --- | ---: | ---: | ---: |", flush=True)
    with tempfile.TemporaryDirectory(prefix="tcpstall-scans-") as scratch:
        folder = Path(scratch)
        begun = connection(folder)
        measured = [beside_known(folder / f"known{files}", files, begun) for files in options.known]
        if not options.only_known:
            measured += [of_small_files(folder / "small", begun), of_short_flows(folder / "short")]
        for line in itertools.chain.from_iterable(measured):
            print(line, flush=True)


if __name__ == "__main__":
    main()
