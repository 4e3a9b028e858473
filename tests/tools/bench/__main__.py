"""`python -m tests.tools.bench`: tcpstall beside its peers and the limits on large captures, as a table of ratios.

Nothing here fails on a time; figures are for people. A peer that is not installed is left out.
"""

import argparse
import datetime
import os
import platform
import shlex
import sys
import tempfile
from pathlib import Path

from tests.documents import DOCS, README, put
from tests.tools.bench import sections
from tests.tools.bench.cost import all_cores, compile_as_installed, cost
from tests.tools.bench.sections import Bench
from tests.tools.bench.table import MARK, beside

PAGE = DOCS / "speed.md"
SECTIONS = {
    "peers": ("long", "short", "full"),
    "compressed": ("long", "short", "full"),
    "growth": ("long", "short"),
    "hostile": ("half-open", "terabyte", "stalls", "mixed"),
    "prompt": (),
}
QUICK = 0.01


def main() -> None:
    """Measures, prints, and puts it where it is asked for."""
    options = arguments()
    bench = Bench(
        folder=options.cache,
        tcpstall=shlex.split(options.tcpstall) if options.tcpstall else sections.found_tcpstall(),
        peers=tuple(name for name in options.peers.split(",") if name),
        core=options.core if options.core is not None else min(all_cores()),
        runs=options.runs,
        peer_runs=options.peer_runs,
        patience_s=options.patience,
        share=QUICK if options.quick else 1,
    )
    compile_as_installed()
    text = "\n".join(measured(bench, options.sections or list(SECTIONS), options.kinds))
    print(text)
    if options.output:
        options.output.write_text(text + "\n")
    if options.write:
        put(text, PAGE, MARK)
        put("\n".join(beside(text)), README, MARK)


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.tools.bench", description=__doc__)
    parser.add_argument("sections", nargs="*", choices=[*SECTIONS, []], help="which questions; all unless told")
    parser.add_argument(
        "--quick", action="store_true", help="captures of a hundredth, for a change's first look; no targets"
    )
    parser.add_argument("--kinds", default="", help="comma-separated captures; all of a section unless told")
    parser.add_argument("--runs", type=int, default=3, help="the fastest of so many runs counts")
    parser.add_argument("--peer-runs", type=int, default=1, help="and of so many runs of a peer")
    parser.add_argument("--patience", type=float, default=600, metavar="S", help="a run is stopped after this time")
    parser.add_argument("--core", type=int, help="the processor core to measure on")
    parser.add_argument(
        "--peers", default="tcptrace -lr,tshark -q,cat", help="comma-separated beginnings of names, or none"
    )
    parser.add_argument(
        "--tcpstall", metavar="COMMAND", help="how to start tcpstall; as installed beside Python unless told"
    )
    parser.add_argument("--cache", type=Path, default=Path(tempfile.gettempdir()) / "tcpstall-bench")
    parser.add_argument("--output", type=Path, help="also write the tables there")
    parser.add_argument("--write", action="store_true", help="put the tables into the page on speed and the README")
    return parser.parse_args()


def measured(bench: Bench, wanted: list[str], kinds: str) -> list[str]:
    """The machine, then each section's table under what it shows."""
    asked = [kind for kind in kinds.split(",") if kind]
    lines = [machine(bench)]
    for name in wanted:
        captures = [kind for kind in SECTIONS[name] if not asked or kind in asked]
        if name == "prompt":
            lines += ["", *sections.at_the_prompt(bench)]
            continue
        measure = {
            "peers": sections.beside_peers,
            "compressed": sections.from_compressed,
            "growth": sections.growth,
            "hostile": sections.hostile,
        }[name]
        if captures:
            lines += ["", str(measure.__doc__), "", *measure(bench, captures)]
    return lines


def machine(bench: Bench) -> str:
    """Date, machine, number of runs, and the lowest figure for memory that can be told."""
    info = Path("/proc/cpuinfo").read_text().splitlines() if Path("/proc/cpuinfo").exists() else []
    model = next((line.split(":", 1)[1].strip() for line in info if line.startswith("model name")), platform.machine())
    today = datetime.datetime.now(tz=datetime.UTC).date()
    system = f"{platform.system()} {platform.release()}, Python {platform.python_version()}"
    floor = cost([sys.executable, "-c", ""], bench.one, bench.patience_s)
    quick = " A hundredth of the sizes, so that start-up counts: no targets." if bench.share < 1 else ""
    return (
        f"Measured {today} on {model}, {os.cpu_count()} cores, {system}; the fastest of {bench.runs} runs of "
        f"tcpstall and {bench.peer_runs} of a peer, start-up and printing included, page cache warm. A peak below "
        f"{floor.peak_mb:.0f} MB cannot be told.{quick}"
    )


if __name__ == "__main__":
    main()
