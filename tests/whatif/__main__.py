"""`python -m tests.whatif --fidelity DIR`: how near unchanged replays come to what was captured."""

import argparse
import sys
from pathlib import Path

from tests.whatif.fidelity import render, replays


def main() -> int:
    """Exit code 2 where the folder holds no scenario."""
    parser = argparse.ArgumentParser(prog="python -m tests.whatif", description=__doc__)
    parser.add_argument(
        "--fidelity",
        type=Path,
        metavar="DIR",
        required=True,
        help="a folder that holds a folder a scenario, with sender.pcap and truth.json (see tests.tools.lab)",
    )
    options = parser.parse_args()
    found = list(replays(options.fidelity))
    if not found:
        print(f"tests.whatif: no scenario with a truth.json in {options.fidelity}", file=sys.stderr)
        return 2
    print(render(found))
    return 0


if __name__ == "__main__":
    sys.exit(main())
