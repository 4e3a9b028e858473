"""Distance of the unchanged replay from the capture, over labelled scenarios."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tcpstall import _core
from tcpstall.units import duration

SHARE = 0.10
"""A replay fits within this share of the transfer time, or within one round trip."""

_RANDOM = "loss-random"


@dataclass(frozen=True, slots=True)
class Replay:
    """One scenario; of several connections the worst counts. Nanoseconds; None where nothing came of it."""

    scenario: str
    connections: int
    fitting: int
    rtt_ns: int
    captured_ns: int
    replayed_ns: int | None
    refused: str
    by_itself: bool
    """All connections fit without a pace that was fitted to the captured time."""

    @property
    def fits(self) -> bool:
        """All connections do."""
        return self.fitting == self.connections

    @property
    def counts(self) -> bool:
        """Losses of it are none that a random draw made."""
        return not self.scenario.startswith(_RANDOM)


def replays(folder: Path) -> Iterator[Replay]:
    """One for each scenario, by the sender's capture."""
    for truth in sorted(folder.glob("*/truth.json")):
        capture = str(next(truth.parent.glob("sender.pcap*")))
        flows = len(_core.analyze([capture], bursts=False, exchanges=False))
        rows = [json.loads(text) for text in _core.whatif([capture], list(range(flows)), [[("think", 10**15)]]) if text]
        yield _worst(truth.parent.name, rows)


def _worst(scenario: str, rows: Sequence[dict[str, Any]]) -> Replay:
    worst = max(rows, key=off)
    replayed = worst["replayed"]
    captured = (worst["captured"] or {}).get("transfer_ns", 0)
    return Replay(
        scenario=scenario,
        connections=len(rows),
        fitting=sum(off(row) <= 1 for row in rows),
        rtt_ns=worst["rtt_ns"] or 0,
        captured_ns=captured,
        replayed_ns=None if replayed is None else replayed["transfer_ns"],
        refused=worst["refused"] or "",
        by_itself=all(off(row, "without_pace" if row["without_pace"] else "replayed") <= 1 for row in rows),
    )


def off(row: dict[str, Any], which: str = "replayed") -> float:
    """The error in what is allowed."""
    if row[which] is None:
        return float("inf")
    captured = row["captured"]["transfer_ns"]
    return float(abs(row[which]["transfer_ns"] - captured) / max(row["rtt_ns"], SHARE * captured, 1))


def render(found: Sequence[Replay]) -> str:
    """The table, and how many fit."""
    lines = ["| scenario | round trip | captured | replayed | off by | |", "| --- | --- | --- | --- | --- | --- |"]
    for one in found:
        replayed = "–" if one.replayed_ns is None else duration(one.replayed_ns)
        off = "–" if one.replayed_ns is None else duration(one.replayed_ns - one.captured_ns)
        several = "" if one.connections == 1 else f"{one.fitting} of {one.connections} connections "
        verdict = several + (
            ("" if one.by_itself else "at a fitted pace")
            if one.fits
            else "misses"
            if one.counts
            else "misses (random loss: not counted)"
        )
        lines.append(
            f"| {one.scenario} | {duration(one.rtt_ns)} | {duration(one.captured_ns)} | {replayed} | {off} "
            f"| {verdict.strip()} |"
        )
    counted = [one for one in found if one.counts]
    fitting = sum(one.fits for one in counted)
    alone = sum(one.fits and one.by_itself for one in counted)
    lines += [
        "",
        f"{fitting} of {len(counted)} scenarios without random loss fit: {fitting / len(counted):.1%}; "
        f"{alone} ({alone / len(counted):.1%}) by the model itself, {fitting - alone} at a fitted pace",
    ]
    return "\n".join(lines)
