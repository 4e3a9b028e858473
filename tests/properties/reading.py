"""Results that must not change when only the form of a capture does."""

import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.scene.verdict import flows_of

TEXT_NS = 2_000
"""A capture in microseconds moves either end of a wait by up to one."""


@dataclass(frozen=True, slots=True)
class Label:
    """A stall's name; how long it lasted stands beside it, to be compared with a tolerance."""

    sender: str
    cause: str
    detail: str | None
    ended: bool


@dataclass(frozen=True, slots=True)
class Reading:
    """All that a report says of one flow, free of names, absolute times and numbers."""

    labels: tuple[Label, ...]
    durations_ns: tuple[int, ...]
    ledger_ns: dict[str, int]

    def agrees(self, other: "Reading", tolerance_ns: int = 0) -> bool:
        """The same labels, and the same times but for the clock's resolution."""
        if self.labels != other.labels:
            return False
        pairs = list(zip(self.durations_ns, other.durations_ns, strict=True))
        owners = self.ledger_ns.keys() | other.ledger_ns.keys()
        pairs_of_owners = [(self.ledger_ns.get(owner, 0), other.ledger_ns.get(owner, 0)) for owner in owners]
        rows = len(self.labels) + 2
        return all(abs(a - b) <= tolerance_ns for a, b in pairs) and all(
            abs(a - b) <= tolerance_ns * rows for a, b in pairs_of_owners
        )


def reading(flow: dict[str, Any]) -> Reading:
    stalls = flow["stalls"]
    return Reading(
        labels=tuple(Label(row["sender"], row["cause"], row["detail"], row["ended"]) for row in stalls),
        durations_ns=tuple(row["duration_ns"] for row in stalls),
        ledger_ns={owner: span for owner, span in flow["time_ns"].items() if span},
    )


def read(path: Path, *, client_port: int = 40_000) -> Reading:
    """The one flow of that client port."""
    (flow,) = [flow for flow in flows_of(path) if flow["client"]["port"] == client_port]
    return reading(flow)


def read_from_pipe(path: Path, *, chunk: int) -> Reading:
    """The same through standard input of the command, handed over in chunks of so many bytes."""
    command = [sys.executable, "-m", "tcpstall", "analyze", "--format", "json", "-"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin
        assert process.stdout
        data = path.read_bytes()
        for start in range(0, len(data), chunk):
            process.stdin.write(data[start : start + chunk])
            process.stdin.flush()
        process.stdin.close()
        report = json.loads(process.stdout.read())
    assert process.returncode == 0
    (flow,) = report["flows"]
    return reading(flow)
