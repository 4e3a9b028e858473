"""Readings of real captures, made with other tools: what the first finding must say; skipped where these are not."""

import csv
import os
from pathlib import Path

import pytest

from tcpstall import analyze
from tcpstall.findings import Finding, findings, where
from tcpstall.findings.finding import IDLE

SHARED = Path(os.environ.get("TCPSTALL_SHARED", Path(__file__).parents[3] / "shared"))
FOLDERS = (SHARED / "captures" / "real", SHARED / "field" / "captures")

_TABLE = Path(__file__).with_name("readings.tsv").read_text("utf-8").splitlines()

READINGS = {row["file"]: row for row in csv.DictReader(_TABLE, delimiter="\t")}
"""By capture: kinds that are right, the service (`*`: any), the seconds (`-`: not counted)."""

AGREEING = 0.95
"""The share of readings that the first finding must agree with."""

pytestmark = pytest.mark.skipif(not FOLDERS[0].is_dir(), reason="the captures that were read are not here")


def captures() -> list[Path]:
    return sorted({path.name: path for folder in FOLDERS for path in folder.glob("*")}.values())


def agrees(first: Finding | None, reading: dict[str, str]) -> bool:
    kind = "none" if first is None or first.kind in IDLE else first.kind
    if kind not in reading["kinds"].split(",") or reading["service"] not in ("*", where(first) if first else "*"):
        return False
    seconds = (first.weight_ns or first.time_ns) / 1e9 if first else 0.0
    return reading["seconds"] == "-" or abs(seconds / float(reading["seconds"]) - 1) <= 0.1


def test_the_first_finding_agrees_with_what_was_read() -> None:
    wrong = []
    for path in captures():
        if path.name not in READINGS:
            continue
        first, *_ = [*findings(analyze(path, bursts=False, strict=False)), None]
        if not agrees(first, READINGS[path.name]):
            wrong.append((path.name, first and (first.kind, where(first), first.weight_ns / 1e9)))
    assert len(wrong) <= (1 - AGREEING) * len(READINGS), wrong


def test_no_capture_leads_with_time_that_nobody_can_give_back_where_there_is_other() -> None:
    for path in captures():
        analysis = analyze(path, bursts=False, strict=False)
        rows = findings(analysis)
        assert not rows or rows[0].kind not in IDLE or not any(row.weight_ns for row in rows), path.name
        assert sum(row.recoverable_ns or 0 for row in rows) <= sum(analysis.time_ns().values()), path.name
