"""`python -m tests.tools.bench.coordinator`: memory and time of the process that plans a scan and commits its tasks.

The plan is of captures that nobody reads: names, sizes and fingerprints are made up, as a listing would give them. The
commits are those that workers send, a set a capture, ten flows a capture. Each step runs in a process of its own, at
two sizes: what a further capture takes is their difference, and the last column is that for a hundred million captures.
"""

import argparse
import hashlib
import multiprocessing
import resource
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from multiprocessing.queues import SimpleQueue

from tcpstall import _core
from tcpstall.archive.captures.discovery import Input
from tcpstall.archive.columns import BY_DAY, CAPTURES, layout
from tcpstall.archive.maintenance.upkeep import committed
from tcpstall.archive.planning.plan import planned
from tcpstall.archive.storing.store import Commit, Part, Store

SMALLER, LARGER = 300_000, 600_000
"""Both beyond what the coordinator keeps of recent captures, whose memory does not grow from there on."""
MEANT = 100_000_000
A_FOLDER = 200
A_COMMIT = 1_000
"""Captures of a task, and of its commit: small sets are scanned together up to 64 MB."""
FLOWS_A_CAPTURE = 10
START_NS = 1_790_035_200 * 10**9
MIB = 1 << 20

Taken = tuple[float, float]
"""Processor time, s, and memory, bytes."""


def inputs(count: int) -> Iterator[Input]:
    for number in range(count):
        name = f"/captures/host{number // A_FOLDER:06}/{number:09}-x.pcap"
        yield Input(name, 64_000, START_NS + number, "pcap", None, START_NS + number)


def fingerprint(name: str, size: int) -> str:
    return hashlib.blake2b(f"{name} {size}".encode(), digest_size=16).hexdigest()


def plans(count: int) -> None:
    tasks = planned(list(inputs(count)), [], fingerprint).tasks
    assert sum(len(task.sets) for task in tasks) == count


def commits(count: int) -> None:
    with tempfile.TemporaryDirectory() as folder, Store.writing(f"{folder}/store") as store:
        for first in range(0, count, A_COMMIT):
            parts = [part(table, first) for table in BY_DAY]
            committed(store, Commit(parts=parts, captures=[row(number) for number in range(first, first + A_COMMIT)]))


def part(table: str, first: int) -> Part:
    name = f"{table}/day=2026-09-22/{hashlib.md5(f'{table}{first}'.encode()).hexdigest()}.parquet"
    return Part(table, name, A_COMMIT * FLOWS_A_CAPTURE, 1_000_000, START_NS, START_NS + 10**9, layout(table))


def row(number: int) -> dict[str, object]:
    scan = f"{number:016x}"
    name = f"/captures/host{number // A_FOLDER:06}/{number:09}-x.pcap"
    return dict.fromkeys(CAPTURES) | {
        "scan": scan, "chain": scan, "capture_set": name, "name": name, "size_bytes": 64_000,
        "changed_ns": START_NS + number, "fingerprint": fingerprint(name, 64_000), "format": "pcap",
        "link_types": "ethernet", "packets": 1_000, "tcp_segments": 1_000, "first_ns": START_NS + number,
        "last_ns": START_NS + number, "exit_code": 0, "warnings": "[]", "flows": FLOWS_A_CAPTURE,
        "tcpstall": _core.version(), "scanned_ns": START_NS,
    }  # fmt: skip


def taken(step: Callable[[int], None], count: int) -> Taken:
    """In a process that does nothing else."""
    context = multiprocessing.get_context("spawn")
    answer: SimpleQueue[Taken] = context.SimpleQueue()
    process = context.Process(target=measured, args=(step, count, answer))
    process.start()
    process.join()
    assert process.exitcode == 0
    return answer.get()


def measured(step: Callable[[int], None], count: int, answer: "SimpleQueue[Taken]") -> None:
    before = time.process_time()
    step(count)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    answer.put((time.process_time() - before, float(peak)))


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.tools.bench.coordinator", description=__doc__)
    parser.add_argument("--captures", type=int, nargs=2, default=(SMALLER, LARGER), help="the two sizes")
    smaller, larger = parser.parse_args().captures
    print(f"| step | {larger:,} captures | a further capture | {MEANT:,} captures |\n| --- | ---: | ---: | ---: |")
    for what, step in (("plan", plans), ("commits", commits)):
        (less_s, less), (more_s, more) = taken(step, smaller), taken(step, larger)
        each_s, each = (more_s - less_s) / (larger - smaller), (more - less) / (larger - smaller)
        meant = f"{MEANT * each_s / 3600:.1f} h, {MEANT * each / 1e9:,.0f} GB"
        print(f"| {what} | {more_s:.1f} s, {more / MIB:.0f} MiB | {each_s * 1e6:.0f} µs, {each:,.0f} bytes | {meant} |")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
