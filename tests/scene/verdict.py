"""Verdicts of tcpstall on a scene, as values that compare with a tolerance."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True, slots=True)
class Between:
    least: float
    most: float

    def __contains__(self, value: float) -> bool:
        return self.least <= value <= self.most


def between(least: float, most: float) -> Between:
    """A range, both ends included."""
    return Between(least, most)


@dataclass(frozen=True, slots=True, eq=False)
class Stall:
    """A stall, expected or reported; an expected one leaves out (None) what the test does not care about."""

    cause: str
    lasted_ms: Between | float | None = None
    detail: str | None = None
    sender: str | None = None
    ended: bool | None = None

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Stall):
            return NotImplemented
        pairs = [(self.detail, other.detail), (self.sender, other.sender), (self.ended, other.ended)]
        same = all(a is None or b is None or a == b for a, b in pairs)
        return same and self.cause == other.cause and _agree(self.lasted_ms, other.lasted_ms)

    __hash__ = None  # type: ignore[assignment]


def _agree(a: Between | float | None, b: Between | float | None) -> bool:
    if a is None or b is None:
        return True
    if isinstance(a, Between):
        return not isinstance(b, Between) and b in a
    return a in b if isinstance(b, Between) else a == b


def stall_of(row: dict[str, Any]) -> Stall:
    return Stall(row["cause"], row["duration_ns"] / 1e6, row["detail"], row["sender"], row["ended"])


def flows_of(
    path: Path | str, *, exit_codes: tuple[int, ...] = (0,), link_bytes_per_s: int | None = None
) -> list[dict[str, Any]]:
    """Every flow of a capture as the JSON report holds it. 5 among the codes allows a damaged one."""
    from tcpstall import _core

    report = _core.analyze([str(path)], link_bytes_per_s=link_bytes_per_s)
    assert report.captures[0].exit_code in exit_codes, report.captures[0].error
    return [json.loads(report.flow_json(index)) for index in range(len(report))]
