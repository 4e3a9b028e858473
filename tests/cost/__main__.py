"""`python -m tests.cost`: how the cost of each command grows with each kind of capture."""

import argparse
import tempfile
from itertools import product
from pathlib import Path

from tests.cost.captures import KINDS
from tests.cost.growth import COMMANDS, MOST, growth
from tests.cost.instructions import counter


def main() -> int:
    """Prints what two doublings multiply each cost by; 1 where that is too much."""
    parser = argparse.ArgumentParser(prog="python -m tests.cost", description=__doc__)
    parser.add_argument("commands", nargs="*", default=list(COMMANDS), help=f"of {', '.join(COMMANDS)}")
    parser.add_argument("--kinds", nargs="*", default=list(KINDS))
    parser.add_argument("--packets", type=int, default=4_000, help="of the smallest capture")
    options = parser.parse_args()
    worst = 0.0
    with counter(warm=True) as count, tempfile.TemporaryDirectory() as folder:
        if count is None:
            print("tests.cost: neither the processor's counter nor valgrind is there. Install valgrind.")
            return 1
        for command, kind in product(options.commands, options.kinds):
            factors = growth(count, command, kind, options.packets, Path(folder))
            print(f"{command:8} {kind:28} {factors[0]:5.2f} {factors[1]:5.2f}", flush=True)
            worst = max(worst, *factors)
    return int(worst > MOST)


if __name__ == "__main__":
    raise SystemExit(main())
