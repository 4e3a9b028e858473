"""`python -m tests.tools.bench.readers`: questions asked without pause beside a scan that commits every second.

Each reader is a process that runs `query`, `top` and `trend` in turn, each as the command line does, and opens the
store anew for each. A scan commits one capture a second; after so many it ends, merges what is small, and the next
begins, which makes up for the seconds that this took. Says how many questions failed, and how.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterable
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path

from tcpstall.archive.planning.plan import Task
from tcpstall.archive.scanning.scan import scan
from tcpstall.archive.scanning.task import Done, Options, scan_task
from tcpstall.cli import main as tcpstall
from tests.tools.bench.cost import REPOSITORY
from tests.tools.bench.scans import connection, small

COMMIT_S = 1.0
COMMITS_A_SCAN = 20
READERS_NICE = 10
"""Else so many of them leave the scan no second of two cores."""
QUESTIONS = (
    ("query", "SELECT count(*) AS flows, count(DISTINCT scan) AS scans FROM flows JOIN stalls USING (scan, flow)"),
    ("top",),
    ("query", "SELECT cause, sum(lost_ns) AS lost FROM hours GROUP BY cause"),
    ("trend",),
    ("query", "SELECT count(*) AS captures FROM captures"),
)


def ask(store: str, until: float) -> int:
    """Asks until that time by the system's clock; prints how often, and what went wrong."""
    asked, failed = 0, Counter[str]()
    while time.time() < until:
        said = StringIO()
        with redirect_stdout(StringIO()), redirect_stderr(said):
            code = tcpstall([*QUESTIONS[asked % len(QUESTIONS)], "--store", store])
        asked += 1
        if code:
            failed[f"{code}: {said.getvalue().strip()}"] += 1
    print(asked, sum(failed.values()))
    for what, times in failed.items():
        print(f"{times} times {what}")
    return 0


def commit_each_second(captures: Path, store: Path, begun: bytes, until: float) -> tuple[int, int]:
    """Scans new captures, one a second; how many commits and how many scans there were."""
    commits = scans = 0
    began = time.monotonic()

    def slowly(
        tasks: Iterable[Task], url: str, options: Options, done: Callable[[Done], None], told: Callable[[int], None]
    ) -> None:
        nonlocal commits
        for each in (Task((one,)) for task in tasks for one in task.sets):
            done(scan_task(each, url, options, told))
            commits += 1
            time.sleep(max(0.0, began + commits * COMMIT_S - time.monotonic()))

    while time.time() < until:
        for _ in range(COMMITS_A_SCAN):
            number = len(list(captures.iterdir()))
            (captures / f"{number}-x.pcap").write_bytes(small(number * 600, begun))
        scan([str(captures)], str(store), executor=slowly)
        scans += 1
    return commits, scans


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.tools.bench.readers", description=__doc__)
    parser.add_argument("--readers", type=int, default=32)
    parser.add_argument("--seconds", type=float, default=120)
    parser.add_argument("--ask", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.ask:
        os.nice(READERS_NICE)
        sys.exit(ask(options.ask[0], float(options.ask[1])))
    folder = Path(tempfile.mkdtemp(prefix="tcpstall-readers-"))
    captures, store = folder / "captures", folder / "store"
    captures.mkdir()
    begun = connection(folder)
    (captures / "0-x.pcap").write_bytes(begun)
    scan([str(captures)], str(store), jobs=1)
    until = time.time() + options.seconds
    command = [sys.executable, "-m", "tests.tools.bench.readers", "--ask", str(store), str(until)]
    readers = [
        subprocess.Popen(command, cwd=REPOSITORY, stdout=subprocess.PIPE, text=True) for _ in range(options.readers)
    ]
    commits, scans = commit_each_second(captures, store, begun, until)
    answers = [reader.communicate()[0].splitlines() for reader in readers]
    asked, failed = (sum(int(answer[0].split()[at]) for answer in answers) for at in (0, 1))
    print(f"{options.readers} readers, {options.seconds:.0f} s, {os.cpu_count()} cores")
    print(f"{commits} commits in {scans} scans")
    print(f"{failed} of {asked:,} questions failed")
    print(*(line for answer in answers for line in answer[1:]), sep="\n")
    shutil.rmtree(folder)


if __name__ == "__main__":
    main()
