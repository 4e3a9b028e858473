"""Predictions for flows that share a line, against what really came of the changes (`tests.tools.lab.crowds`)."""

import json
import statistics
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tcpstall import analyze
from tcpstall.whatif import Forecast, change, whatif

SHARE = 0.15
"""A prediction is right within this share of the real time, or within one round trip."""


@dataclass(frozen=True, slots=True)
class Told:
    """One change of one capture; times are the waits of its clients."""

    crowd: str
    tap: str
    change: str
    flows: int
    told: int
    by_chance: int
    right: int
    inside: int
    expected_ns: int
    real_ns: int
    rtt_ns: float
    refused: Counter[str]
    promised: int
    """Flows that really got slower, and were told to get faster."""

    @property
    def whole(self) -> bool:
        """Every flow has a prediction."""
        return self.told == self.flows

    @property
    def sum_right(self) -> bool:
        return abs(self.expected_ns - self.real_ns) <= max(self.rtt_ns, SHARE * self.real_ns)


def predictions(folder: Path, taps: Sequence[str] = ("sender", "receiver")) -> Iterator[Told]:
    """Of each crowd in the folder."""
    for path in sorted(folder.glob("*/real.json")):
        real = json.loads(path.read_text(encoding="ascii"))
        for tap in taps:
            for made in real["changes"][1:]:
                yield told(path.parent / f"{tap}.pcap.gz", real, made)


def told(capture: Path, real: dict[str, Any], made: dict[str, Any]) -> Told:
    """What whatif says of one change."""
    before = _medians(real["changes"][0])
    after = _medians(made)
    # The ports count the flows from the first one on.
    flows = sorted((flow.server.port, flow.id) for flow in analyze(capture, bursts=False))
    ports = [port for port, _ in flows]
    ids = [flows[at][1] for at in made["flows"]]
    counted: Counter[str] = Counter()
    refused: Counter[str] = Counter()
    expected_ns = 0
    for forecast in _asked(capture, ids, made["set"]):
        at = ports.index(forecast.flow.server.port)
        if not forecast.outcomes:
            refused[forecast.refused or forecast.unpredicted[0].refused] += 1
            continue
        (outcome,) = forecast.outcomes
        spans = outcome.exchanges or (outcome.transfer,)
        expected, low, high = (
            sum(getattr(span, key) for span in spans) for key in ("expected_ns", "low_ns", "high_ns")
        )
        expected_ns += expected
        near = abs(expected - after[at]) <= max(made["rtt_ms"] * 1e6, SHARE * after[at])
        slowed = after[at] > 1.05 * before[at] and after[at] - before[at] > made["rtt_ms"] * 5e5
        unchanged = sum(forecast.replayed.exchanges_ns) if forecast.replayed else before[at]
        counted["told"] += 1
        counted["chance"] += outcome.by_chance
        counted["right"] += near and not outcome.by_chance
        counted["inside"] += low <= after[at] <= high
        counted["promised"] += slowed and not outcome.by_chance and expected < 0.95 * min(before[at], unchanged)
    real_ns = round(statistics.median(sum(run[at] for at in made["flows"]) for run in made["waited_ns"]))
    return Told(
        crowd=real["name"], tap=capture.name.partition(".")[0], change=made["set"], flows=len(ids),
        told=counted["told"], by_chance=counted["chance"], right=counted["right"], inside=counted["inside"],
        expected_ns=expected_ns, real_ns=real_ns, rtt_ns=made["rtt_ms"] * 1e6, refused=refused,
        promised=counted["promised"],
    )  # fmt: skip


def _medians(made: dict[str, Any]) -> list[float]:
    return [statistics.median(runs) for runs in zip(*made["waited_ns"], strict=True)]


def _asked(capture: Path, flows: Sequence[int], text: str) -> tuple[Forecast, ...]:
    return whatif(capture, flows=tuple(flows), changes=[[change(text)]]).forecasts


def render(found: Sequence[Told]) -> str:
    """A line for each kind of change and tap, and one for all."""
    kinds = {(one.tap, one.change.partition("=")[0]) for one in found}
    lines = [
        "| tap | change | flows | predicted | by chance | right | in the interval | sums | right |",
        "| --- | --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    groups = [
        (*kind, [one for one in found if (one.tap, one.change.partition("=")[0]) == kind]) for kind in sorted(kinds)
    ]
    for tap, kind, ones in [*groups, ("all", "all", list(found))]:
        sums = [one for one in ones if one.whole]
        figures = [sum(getattr(one, key) for one in ones) for key in ("flows", "told", "by_chance", "right", "inside")]
        figures += [len(sums), sum(one.sum_right for one in sums)]
        lines.append(f"| {tap} | {kind} | {' | '.join(map(str, figures))} |")
    promised = sum(one.promised for one in found)
    return "\n".join([*lines, "", f"{promised} flows that got slower were told to get faster"])
