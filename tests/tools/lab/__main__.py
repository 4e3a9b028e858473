"""`python -m tests.tools.lab`: runs the experiments of a set and leaves captures and truth in a folder."""

import argparse
import fnmatch
import shutil
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.tools.lab.changes import hard_pairs, services
from tests.tools.lab.changes.pairing import produce
from tests.tools.lab.changes.pairs import plans
from tests.tools.lab.network.namespaces import obstacle
from tests.tools.lab.run import Recording, run
from tests.tools.lab.scenario import Scenario
from tests.tools.lab.sets import corners, drawn, founding, unseen
from tests.tools.lab.sets.vary import varied, varied_plan
from tests.tools.lab.truths import damage
from tests.tools.lab.truths.trim import trim
from tests.tools.lab.truths.truth import write_truth

REPOSITORY = Path(__file__).parents[3]
SETS = {"fixtures": founding.scenarios, "unseen": unseen.scenarios, "corners": corners.scenarios}
_ATTEMPTS = 5


def undisturbed(scenario: Scenario, folder: Path) -> Recording:
    """Runs until the machine left the forwarder alone, or as often as is worth it."""
    for _ in range(_ATTEMPTS):
        recording = run(scenario, folder)
        if not recording.disturbed:
            break
    return recording


def main() -> int:
    """Exit code 2 where the lab cannot run."""
    parser = argparse.ArgumentParser(prog="python -m tests.tools.lab", description=__doc__)
    parser.add_argument(
        "--set", choices=sorted([*SETS, "drawn"]), default="fixtures", dest="chosen", help="which experiments"
    )
    parser.add_argument("--pairs", action="store_true", help="situations before and after a change, instead of a set")
    parser.add_argument("--hard", action="store_true", help="with --pairs: those that a model of windows finds hard")
    parser.add_argument("--services", type=int, metavar="SEED", help="with --pairs: 20 services of 5 to 50 connections")
    parser.add_argument("--only", default="*", metavar="NAME", help="a name or a pattern")
    parser.add_argument("--out", type=Path, help="folder for the results (default: fixtures/lab, fixtures/pairs)")
    parser.add_argument("--vary", type=int, metavar="SEED", help="draw every figure anew")
    parser.add_argument("--list", action="store_true", help="name the experiments and stop")
    options = parser.parse_args()
    if options.pairs:
        anew = options.hard or options.vary is not None or options.services is not None
        if anew and not (options.out or options.list):
            parser.error("--out is needed for hard pairs, services and pairs drawn anew")
        return _pairs(options)
    whole = options.chosen == "drawn"
    if whole and options.vary is None:
        parser.error("--vary is needed for a set that is drawn")
    known = drawn.scenarios(options.vary) if whole else SETS[options.chosen]()
    chosen = [one for one in known if fnmatch.fnmatch(one.name, options.only)]
    if options.vary is not None and not whole:
        chosen = [varied(one, options.vary) for one in chosen]
    if options.list:
        for one in chosen:
            print(f"{one.name:28} {one.why}")
        return 0
    if reason := obstacle():
        print(f"tests.tools.lab: {reason}", file=sys.stderr)
        return 2
    small = options.chosen == "fixtures"
    out = options.out or (REPOSITORY / "fixtures" / "lab" if small else None)
    if out is None:
        parser.error("--out is needed for this set")
    for one in chosen:
        _produce(one, out / one.name, small)
    return 0


def _pairs(options: argparse.Namespace) -> int:
    known = hard_pairs.plans() if options.hard else plans()
    if options.services is not None:
        known = services.plans(options.services)
    chosen = [plan for plan in known if fnmatch.fnmatch(plan.situation.name, options.only)]
    out: Path = options.out or REPOSITORY / "fixtures" / "pairs"
    if options.vary is not None:
        chosen = [varied_plan(plan, options.vary) for plan in chosen]
    if options.list:
        for plan in chosen:
            print(f"{plan.situation.name:24} {plan.situation.why}: {', '.join(plan.changes)}")
        return 0
    if reason := obstacle():
        print(f"tests.tools.lab: {reason}", file=sys.stderr)
        return 2
    for plan in chosen:
        with TemporaryDirectory() as workshop:
            remarks = produce(plan, out / plan.situation.name, Path(workshop))
        print("\n  ".join([plan.situation.name, *remarks]), flush=True)
    return 0


def _produce(scenario: Scenario, folder: Path, small: bool) -> None:
    with TemporaryDirectory() as workshop:
        recording = undisturbed(scenario, Path(workshop) / "run")
        truth = write_truth(scenario, recording)
        if small:
            trim(recording.folder)
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(
            recording.folder, folder, ignore=shutil.ignore_patterns("*.listening", "*.ready", "*.samples.json")
        )
    if not small:
        damage.copies(scenario, folder)
    late = truth["forwarder"][0]["late_max_us"]
    totals = [half["halves"][0]["label_totals_ms"] for half in truth["connections"] if "halves" in half]
    print(
        f"{scenario.name:28} late {late:8.0f} µs{' DISTURBED' if recording.disturbed else ''}  {totals}",
        flush=True,
    )


if __name__ == "__main__":
    sys.exit(main())
