"""The page on metrics says of each what the table says."""

import re
from pathlib import Path

from tcpstall.metrics.families import FAMILIES
from tcpstall.metrics.printed import PRINTED

PAGE = (Path(__file__).parents[2] / "tcpstall" / "docs" / "metrics.md").read_text()


def test_it_lists_every_family_with_kind_and_labels() -> None:
    rows = [line.split(" | ") for line in PAGE.splitlines() if line.startswith("| `tcpstall_")]
    listed = [(row[0].strip("| `"), row[1], tuple(re.findall(r"`(\w+)`", row[2]))) for row in rows]
    assert listed == [(family.sample, family.kind, family.labels) for family in FAMILIES]


def test_it_says_how_many_series_a_service_has() -> None:
    by_cause = others = 0
    for family in FAMILIES:
        if family.kind == "histogram":
            others += len(family.bounds_ns) + len(("+Inf", "sum", "count"))
        elif family.labels:
            by_cause += "cause" in family.labels
            others += "cause" not in family.labels
    assert f"A service has {by_cause} series for each cause and {others} more" in PAGE


def test_it_names_all_that_is_printed() -> None:
    assert "`--print " + r"\|".join(PRINTED) + "`" in PAGE
    assert all(f"--print {name} " in PAGE or f"--print {name}\n" in PAGE for name in PRINTED)
