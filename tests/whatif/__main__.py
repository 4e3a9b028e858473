"""`python -m tests.whatif`: how near replays come to what was captured, and to what really came of changes."""

import argparse
import sys
from pathlib import Path

from tests.whatif import lines, real_flows
from tests.whatif.fidelity import render, replays


def main() -> int:
    """Exit code 2 where there is nothing to replay."""
    parser = argparse.ArgumentParser(prog="python -m tests.whatif", description=__doc__)
    which = parser.add_mutually_exclusive_group(required=True)
    which.add_argument(
        "--fidelity",
        type=Path,
        metavar="DIR",
        help="a folder that holds a folder a scenario, with sender.pcap and truth.json (see tests.tools.lab)",
    )
    which.add_argument(
        "--flows", type=Path, metavar="DIR", help="a folder of captures without a truth: every flow with a handshake"
    )
    which.add_argument(
        "--lines", type=Path, metavar="DIR", help="a folder of flows that share a line (see tests.tools.lab.crowds)"
    )
    options = parser.parse_args()
    if options.lines is not None:
        print(lines.render(list(lines.predictions(options.lines))))
        return 0
    if options.flows is not None:
        return _flows(options.flows)
    found = list(replays(options.fidelity))
    if not found:
        print(f"tests.whatif: no scenario with a truth.json in {options.fidelity}", file=sys.stderr)
        return 2
    print(render(found))
    return 0


def _flows(folder: Path) -> int:
    flows = list(real_flows.replayed(sorted(path for path in folder.iterdir() if path.is_file())))
    if not flows:
        print(f"tests.whatif: no flow to replay in {folder}", file=sys.stderr)
        return 2
    print(real_flows.render(flows))
    return 0


if __name__ == "__main__":
    sys.exit(main())
