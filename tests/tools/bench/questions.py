"""`python -m tests.tools.bench.questions`: cost of named questions, `top`, `trend` and the page on ten million waits.

Times are those of the whole command, start-up and printing included. Nothing here fails on a time.
"""

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from tcpstall.archive.asking.saved import ours
from tests.documents import DOCS, REPOSITORY, put
from tests.questions.rows import values
from tests.tools.bench import many

STALLS = 10_000_000
MARK = ("<!-- questions: python -m tests.tools.bench.questions --write -->", "<!-- end of questions -->")
QUESTION_S, TOP_S = 1.0, 0.3
"""Targets: of a question as a whole, and of `top` and `trend` beyond what any question takes."""


@dataclass(frozen=True, slots=True)
class Taken:
    """By the clock, and in processor time: where others work too, half of that is what two cores alone would take."""

    seconds: float
    processor_s: float


NOTHING = ["query", "SELECT 1"]


def commands(page: Path, least_s: float) -> Iterator[tuple[str, Sequence[str], float | None]]:
    """Questions, their commands, and the seconds that each may take. The least question takes `least_s`."""
    for by in ("finding", "service", "cause", "host", "hour"):
        yield f"`top --by {by}`", ["top", "--by", by], least_s + TOP_S
    yield "`trend`", ["trend"], least_s + TOP_S
    yield "`report --store`", ["report", "-o", str(page)], None
    for name, question in ours().items():
        yield f"`@{name}`: {question.text}", ["query", f"@{name}", *values(question)], QUESTION_S


def taken(arguments: Sequence[str], store: Path) -> Taken:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    start = time.monotonic()
    environment = os.environ | {"TCPSTALL_STORE": str(store)}
    command = [sys.executable, "-m", "tcpstall", *arguments]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, env=environment, cwd=REPOSITORY)
    seconds = time.monotonic() - start
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return Taken(seconds, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)


def table(store: Path, page: Path, runs: int, stalls: int) -> str:
    def fastest(arguments: Sequence[str]) -> Taken:
        return min((taken(arguments, store) for _ in range(runs)), key=lambda one: one.seconds)

    least = fastest(NOTHING)
    lines = ["| question | time | of processors | target |", "| --- | ---: | ---: | --- |"]
    lines.append(f"| `SELECT 1` | {least.seconds:.2f} s | {least.processor_s:.2f} s | |")
    for told, arguments, target in commands(page, least.seconds):
        best = fastest(arguments)
        print(f"{best.seconds:.2f} s, {best.processor_s:.2f} s of processors: {told}", file=sys.stderr, flush=True)
        verdict = ""
        if target is not None and stalls >= STALLS:
            verdict = f"< {target:.2f} s: {'met' if best.seconds < target else '**missed**'}"
        lines.append(f"| {told} | {best.seconds:.2f} s | {best.processor_s:.2f} s | {verdict} |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.tools.bench.questions", description=__doc__)
    parser.add_argument("--stalls", type=int, default=STALLS)
    parser.add_argument("--runs", type=int, default=3, help="the fastest of so many runs counts")
    parser.add_argument("--store", type=Path, help="this store; one is made unless told")
    parser.add_argument("--write", action="store_true", help="put the table into the page on archives")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        store = options.store or Path(folder) / "store"
        if options.store is None:
            many.write(store, options.stalls)
        text = table(store.resolve(), Path(folder) / "page.html", options.runs, options.stalls)
    print(text)
    if options.write:
        put(text, DOCS / "archive.md", MARK)


if __name__ == "__main__":
    main()
