"""`python -m tests.tools.accuracy`: how often the cause is right, by the kernel's own word."""

import argparse
import sys
from pathlib import Path

from tests.documents import DOCS, README, REPOSITORY, put
from tests.tools.accuracy.count import SIDES, count
from tests.tools.accuracy.table import MARK, render, summary

PAGE = DOCS / "accuracy.md"
FIXTURES = REPOSITORY / "fixtures" / "lab"


def main() -> int:
    """Exit code 2 where a folder holds no truth."""
    parser = argparse.ArgumentParser(prog="python -m tests.tools.accuracy", description=__doc__)
    parser.add_argument(
        "sets",
        nargs="*",
        metavar="[NAME=]FOLDER",
        default=[f"the experiments in fixtures/lab={FIXTURES}"],
        help="folders that hold a folder a scenario, with sender.pcap, receiver.pcap, truth.json (see tests.tools.lab)",
    )
    parser.add_argument("--write", action="store_true", help="put the tables into the page on accuracy and the README")
    options = parser.parse_args()
    counts = {}
    for argument in options.sets:
        name, _, folder = argument.rpartition("=")
        path = Path(folder)
        if not any(path.glob("*/truth.json")):
            print(f"tests.tools.accuracy: no scenario with a truth.json in {path}", file=sys.stderr)
            return 2
        counts[name or path.name] = {side: count([path], side) for side in SIDES}
    tables = render(counts)
    if not options.write:
        print(tables)
        return 0
    put(tables, PAGE, MARK)
    put(summary(counts), README, MARK)
    return 0


if __name__ == "__main__":
    sys.exit(main())
