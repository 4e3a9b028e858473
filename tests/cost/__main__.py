"""`python -m tests.cost`: how the cost of each command grows with each kind of capture."""

import argparse
import tempfile
from itertools import product
from pathlib import Path

from tests.cost.captures import KINDS
from tests.cost.growth import COMMANDS, KNOWN, MOST, growth
from tests.cost.instructions import by_processor, by_valgrind


def main() -> int:
    """Prints what two doublings multiply each cost by; 1 where that is too much and not known."""
    parser = argparse.ArgumentParser(prog="python -m tests.cost", description=__doc__)
    parser.add_argument("commands", nargs="*", default=list(COMMANDS), help=f"of {', '.join(COMMANDS)}")
    parser.add_argument("--kinds", nargs="*", default=list(KINDS))
    parser.add_argument("--packets", type=int, default=4_000, help="of the smallest capture")
    options = parser.parse_args()
    count = by_processor() or by_valgrind()
    if count is None:
        print(
            "tests.cost: neither the processor's counter nor valgrind is there. Install valgrind, then run this again."
        )
        return 1
    worst = 0.0
    with tempfile.TemporaryDirectory() as folder:
        for command, kind in product(options.commands, options.kinds):
            factors = growth(count, command, kind, options.packets, Path(folder))
            known = (command, kind) in KNOWN
            print(f"{command:8} {kind:28} {factors[0]:5.2f} {factors[1]:5.2f} {'known' * known}", flush=True)
            worst = max(worst, 0 if known else max(factors))
    return int(worst > MOST)


if __name__ == "__main__":
    raise SystemExit(main())
