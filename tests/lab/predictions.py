"""`python -m tests.lab.predictions`: what `tcpstall whatif` says of each pair, against what really came of it."""

import argparse
import json
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tests.lab.judgement import Forecast, judged, rankings
from tests.lab.prediction_tables import MARK, render

REPOSITORY = Path(__file__).parents[2]
FIXTURES = REPOSITORY / "fixtures" / "pairs"
PAGE = REPOSITORY / ".github" / "WHATIF.md"


def asked(capture: Path, service: str, changes: Sequence[str]) -> Forecast:
    """What the command line answers."""
    sets = [word for change in changes for word in ("--set", change)]
    command = [sys.executable, "-m", "tcpstall", "whatif", str(capture), "--service", service, *sets]
    done = subprocess.run([*command, "--format", "json"], cwd=REPOSITORY, capture_output=True, text=True, check=False)
    if done.returncode:
        return Forecast(
            refused=done.stderr.strip().splitlines()[-1] if done.stderr.strip() else f"exit {done.returncode}"
        )
    return told(json.loads(done.stdout))


def told(report: dict[str, Any]) -> Forecast:
    """The connections of the report taken together."""
    raise NotImplementedError


def main() -> int:
    """Exit code 2 where a folder holds no pair."""
    parser = argparse.ArgumentParser(prog="python -m tests.lab.predictions", description=__doc__)
    parser.add_argument("folder", nargs="?", type=Path, default=FIXTURES, help="default: fixtures/pairs")
    parser.add_argument("--write", action="store_true", help="put the tables into .github/WHATIF.md")
    options = parser.parse_args()
    paths = sorted(options.folder.glob("*/*.json"))
    if not paths:
        print(f"tests.lab.predictions: no pair in {options.folder}", file=sys.stderr)
        return 2
    pairs = [judged(path, asked) for path in paths]
    tables = render(pairs, rankings(pairs))
    if not options.write:
        print(tables)
        return 0
    pattern = re.compile(f"{re.escape(MARK[0])}.*?{re.escape(MARK[1])}", re.DOTALL)
    PAGE.write_text(pattern.sub(lambda _: tables, PAGE.read_text(encoding="utf-8")), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
