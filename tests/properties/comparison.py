"""Changes of a diagnosis by a rewrite: points of time that changed their cause, and stalls that are wrong and sure."""

from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.scene.verdict import flows_of

SURE = 0.9
"""From this confidence on a reader acts on a label."""
ABSTAINING = frozenset({"capture-gap", "unexplained"})
"""Causes that name no reason of the connection."""

Flow = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Wrong:
    """A stall with another cause than before the rewrite, and sure of it."""

    sender: str
    after_ms: float
    lasted_ms: float
    was: str
    became: str
    confidence: float


def flow_of(path: Path, *, port: int | None = None) -> Flow:
    """The flow of that client port, or the only one."""
    flows = [flow for flow in flows_of(path) if port in (None, flow["client"]["port"], flow["server"]["port"])]
    assert len(flows) == 1, [(flow["client"], flow["segments"]) for flow in flows]
    return flows[0]


def length_of(flow: Flow) -> int:
    return max(1, int(flow["end_ns"] - flow["start_ns"]))


def shares(flow: Flow, *, of_ns: int) -> Counter[tuple[str, str]]:
    """Points (per cent of `of_ns`) that each sender's stalls lost to each cause."""
    points: Counter[tuple[str, str]] = Counter()
    for stall in flow["stalls"]:
        points[stall["sender"], stall["cause"]] += 100 * stall["duration_ns"] / of_ns
    return points


def moves(before: Flow, after: Flow) -> dict[tuple[str, str], float]:
    """By how many points of the flow's time each sender's share of each cause moved."""
    one, two = (shares(flow, of_ns=length_of(before)) for flow in (before, after))
    return {key: two[key] - one[key] for key in one.keys() | two.keys()}


def moved_points(before: Flow, after: Flow) -> float:
    """The largest of the moves."""
    return max((abs(points) for points in moves(before, after).values()), default=0.0)


def ledger_points(before: Flow, after: Flow) -> float:
    """The largest move among the owners of the flow's time."""
    one, two = before["time_ns"], after["time_ns"]
    moved = [abs(two.get(owner, 0) - one.get(owner, 0)) for owner in one.keys() | two.keys()]
    return 100.0 * float(max(moved)) / length_of(before)


def causes_of(flow: Flow, *, over_ms: float = 0.0) -> list[tuple[str, str]]:
    """(sender, cause) of the stalls in order of time, the handshake aside."""
    stalls = [stall for stall in flow["stalls"] if stall["duration_ns"] > over_ms * 1e6]
    return [(stall["sender"], stall["cause"]) for stall in stalls if stall["cause"] != "handshake"]


def wrong_and_sure(before: Flow, after: Flow, *, later_ns: dict[str, int] | None = None) -> list[Wrong]:
    """The wrongly labelled stalls on which a reader would act."""
    return [wrong for wrong in wrongly_labelled(before, after, later_ns=later_ns) if wrong.confidence >= SURE]


def wrongly_labelled(before: Flow, after: Flow, *, later_ns: dict[str, int] | None = None) -> list[Wrong]:
    """Stalls of `after` that lie for the most part in stalls of the same sender with another cause before.

    `later_ns` says by how much the rewrite stamped each sender's packets later.
    """
    wrong = []
    for stall in after["stalls"]:
        if stall["cause"] in ABSTAINING:
            continue
        shift = (later_ns or {}).get(stall["sender"], 0)
        start, end = stall["start_ns"] - shift, stall["end_ns"] - shift
        was: Counter[str] = Counter()
        for other in before["stalls"]:
            if stall["sender"] == other["sender"]:
                was[other["cause"]] += max(0, min(end, other["end_ns"]) - max(start, other["start_ns"]))
        if not was or 2 * was[stall["cause"]] >= end - start:
            continue
        ((cause, span),) = was.most_common(1)
        if cause not in ABSTAINING and 2 * span > end - start:
            since = (start - before["start_ns"]) / 1e6
            wrong.append(Wrong(stall["sender"], since, (end - start) / 1e6, cause, stall["cause"], stall["confidence"]))
    return wrong


def mean_confidence(flow: Flow) -> float:
    """Of the stalls, the handshake aside, each weighed with its length."""
    stalls = [stall for stall in flow["stalls"] if stall["cause"] != "handshake"]
    total = sum(stall["duration_ns"] for stall in stalls)
    return sum(stall["duration_ns"] * stall["confidence"] for stall in stalls) / total if total else 0.0
