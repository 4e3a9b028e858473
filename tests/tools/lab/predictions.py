"""`python -m tests.tools.lab.predictions`: what `tcpstall whatif` says of each pair, against what really came of it."""

import argparse
import json
import shlex
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tests.documents import REPOSITORY, put
from tests.tools.lab.changes.judgement import Forecast, judged, rankings
from tests.tools.lab.changes.prediction_tables import MARK, Results, render

FIXTURES = REPOSITORY / "fixtures" / "pairs"
PAGE = FIXTURES / "README.md"


class Tool:
    """`tcpstall` as a command."""

    def __init__(self, command: str) -> None:
        self._command = shlex.split(command)

    def forecast(self, capture: Path, service: str, changes: Sequence[str]) -> Forecast:
        """Prediction for changes that are made together."""
        report = self._run(capture, service, [word for change in changes for word in ("--set", change)])
        return Forecast(refused=report) if isinstance(report, str) else told(report)

    def suggested(self, capture: Path, service: str) -> tuple[str, ...]:
        """The remedies that it thinks of by itself, the best first."""
        report = self._run(capture, service, [])
        return () if isinstance(report, str) else tuple(" ".join(one["set"]) for one in report["totals"]["outcomes"])

    def _run(self, capture: Path, service: str, sets: Sequence[str]) -> dict[str, Any] | str:
        command = [*self._command, "whatif", str(capture), "--service", service, *sets, "--format", "json"]
        done = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, check=False)
        if done.returncode:
            return (done.stderr.strip().splitlines() or [f"exit code {done.returncode}"])[-1]
        report: dict[str, Any] = json.loads(done.stdout)
        return report


def told(report: dict[str, Any]) -> Forecast:
    """All connections of the report together; where one is refused, so is the whole."""
    reasons = [flow["reason"] or flow["refused"] for flow in report["flows"] if flow["refused"]]
    reasons += [one["reason"] for flow in report["flows"] for one in flow.get("unpredicted", ())]
    totals = report["totals"]
    if reasons or not totals["outcomes"]:
        return Forecast(refused=reasons[0] if reasons else "no outcome")
    outcome = totals["outcomes"][0]
    exchanges, by_chance = outcome["exchanges"], outcome.get("by_chance", False)
    expected = () if by_chance else tuple(each["expected_ns"] for each in exchanges)
    return Forecast(
        captured_ns=totals["captured_exchanges_ns"],
        replayed_ns=totals["replayed_exchanges_ns"],
        expected_ns=None if by_chance else sum(expected),
        low_ns=sum(each["low_ns"] for each in exchanges),
        high_ns=sum(each["high_ns"] for each in exchanges),
        exchanges_ns=expected,
        by_chance=by_chance,
    )


def main() -> int:
    """Exit code 2 where a folder holds no pair."""
    parser = argparse.ArgumentParser(prog="python -m tests.tools.lab.predictions", description=__doc__)
    parser.add_argument(
        "sets",
        nargs="*",
        metavar="[NAME=]FOLDER",
        default=[f"fixtures/pairs={FIXTURES}"],
        help="folders that `python -m tests.tools.lab --pairs` made (default: fixtures/pairs)",
    )
    parser.add_argument("--tcpstall", default=f"{sys.executable} -m tcpstall", metavar="COMMAND", help="another build")
    parser.add_argument("--write", action="store_true", help="put the tables into fixtures/pairs/README.md")
    options = parser.parse_args()
    tool = Tool(options.tcpstall)
    results = {}
    for argument in options.sets:
        name, _, folder = argument.rpartition("=")
        paths = sorted(Path(folder).resolve().glob("*/*.json"))
        if not paths:
            print(f"tests.tools.lab.predictions: no pair in {folder}", file=sys.stderr)
            return 2
        pairs = [judged(path, tool.forecast) for path in paths]
        results[name or Path(folder).name] = Results(pairs, rankings(pairs, tool.suggested))
    tables = render(results)
    if not options.write:
        print(tables)
        return 0
    put(tables, PAGE, MARK)
    return 0


if __name__ == "__main__":
    sys.exit(main())
