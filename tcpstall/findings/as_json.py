"""Findings as the JSON report holds them."""

import dataclasses
import json
from collections.abc import Iterable
from typing import Any

from tcpstall.findings.changes import advice, gain
from tcpstall.findings.finding import Finding
from tcpstall.findings.proof import evidence
from tcpstall.findings.words import headline, sentence, where

__all__ = ["finding_row", "findings_json"]


def findings_json(found: Iterable[Finding]) -> str:
    """A JSON list, the finding to read first at its head; see `Finding` for the fields."""
    return json.dumps([finding_row(rank, finding) for rank, finding in enumerate(found, 1)], ensure_ascii=True)


def finding_row(rank: int, finding: Finding) -> dict[str, Any]:
    """A finding as plain values, its words among them."""
    row: dict[str, Any] = {"rank": rank, "what": headline(finding), "where": where(finding)}
    names = [field.name for field in dataclasses.fields(finding) if field.name != "example"]
    row |= {name: getattr(finding, name) for name in names}
    row["details"] = dict(finding.details)
    row["waited_for"] = finding.waited_for and dataclasses.asdict(finding.waited_for)
    row["behind"] = finding.behind and dataclasses.asdict(finding.behind)
    row["losses"] = finding.losses and dataclasses.asdict(finding.losses)
    example = finding.example
    row["example"] = example and {
        "flow": example.flow,
        "client": dataclasses.asdict(example.client),
        "server": dataclasses.asdict(example.server),
        "time_ns": example.time_ns,
        "stall": (example.stall or {}).get("number"),
    }
    row |= {"sentence": sentence(finding), "decided_by": evidence(finding), "advice": advice(finding)}
    row["buys"] = gain(finding) or None
    return row
