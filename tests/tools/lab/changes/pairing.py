"""Runs a situation and its changes by turns until each is known well enough, and leaves captures with their times."""

import gzip
import json
import shutil
import socket
import statistics
import time
import zlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from tests.tools.lab.changes.pairs import Plan
from tests.tools.lab.changes.situation import Situation, applied, changed
from tests.tools.lab.changes.timing import Timing, by_capture, by_client
from tests.tools.lab.run import Recording, run
from tests.tools.lab.scenario import SENDER

_ATTEMPTS, _PATIENCE_S = 12, 60
"""A run is repeated until it is clean, so often or so long."""
_RTT_OFF = 0.05
"""Largest distance of the handshake's round trip from what was asked for."""
_CLOCKS_OFF_NS = 1_000_000
"""Largest distance of the client's clock from the capture: more, and a program was kept waiting for a processor."""
_LATE_P99_US, _LATE_MAX_US = 300, 600
_LATE_P99, _LATE_MAX = 0.05, 0.15
"""The forwarder's lateness that a run may have, in µs or as a share of the round trip, whichever is more."""


@dataclass(frozen=True, slots=True)
class Run:
    """Times of one run in nanoseconds; `exchanges_ns` by the client's clock."""

    timing: Timing
    client_transfer_ns: int
    exchanges_ns: list[int]
    late_p99_us: float
    late_max_us: float
    drops: int
    capture: Path

    def disturbed(self, situation: Situation) -> str:
        """Disturbance of the run by the machine; empty where there was none."""
        rtt_ms = situation.rtt_ms
        off = statistics.median(self.timing.handshakes_ns) / (rtt_ms * 1e6) - 1
        if self.drops and not situation.loses:
            return f"{self.drops} packets lost"
        if abs(off) > _RTT_OFF:
            return f"handshake {off:+.1%} off"
        if abs(self.client_transfer_ns - self.timing.transfer_ns) > _CLOCKS_OFF_NS:
            return f"client {(self.client_transfer_ns - self.timing.transfer_ns) / 1e6:.1f} ms later than the capture"
        late = max(
            self.late_p99_us / max(_LATE_P99_US, _LATE_P99 * rtt_ms * 1000),
            self.late_max_us / max(_LATE_MAX_US, _LATE_MAX * rtt_ms * 1000),
        )
        return (
            f"forwarder late: 99 % within {self.late_p99_us:.0f} µs, all in {self.late_max_us:.0f}" if late > 1 else ""
        )


def dice(name: str, number: int) -> int:
    """A seed of the situation's own: with seeds in common, all situations would share their luck."""
    return zlib.crc32(f"{name} {number}".encode())


def slug(change: str) -> str:
    """A change as a file name."""
    return change.replace("=", "-").replace(" ", "+")


def produce(plan: Plan, folder: Path, workshop: Path) -> list[str]:
    """Leaves `before.pcap.gz`, and for each change a capture and a JSON; returns what was not clean."""
    variants = {"before": plan.situation, **{slug(one): changed(plan.situation, one) for one in plan.changes}}
    runs: dict[str, list[Run]] = {name: [] for name in variants}
    remarks = []
    for number in range(plan.runs):
        for name, situation in variants.items():
            thrown = replace(situation, dice=dice(plan.situation.name, number))
            one, remark = _undisturbed(thrown, workshop / f"{name}-{number}")
            runs[name].append(one)
            if remark:
                remarks.append(f"{plan.situation.name} {name}: {remark}")
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    described = {name: _described(name, situation, runs[name], folder) for name, situation in variants.items()}
    for change in plan.changes:
        pair = {
            "situation": plan.situation.name,
            "why": plan.situation.why,
            "figures": plan.situation.figures(),
            "set": change.split(),
            "applied": applied(plan.situation, change),
            "ranked": plan.ranked,
            "service": "{}:{}".format(*plan.situation.server),
            "kernel": Path("/proc/sys/kernel/osrelease").read_text(encoding="ascii").strip(),
            "before": described["before"],
            "after": described[slug(change)],
        }
        (folder / f"{slug(change)}.json").write_text(_json(pair), encoding="ascii")
    return remarks


def _undisturbed(situation: Situation, folder: Path) -> tuple[Run, str]:
    """The first clean run, else the one with the smallest lateness and what was wrong with it."""
    tried = []
    began = time.monotonic()
    for attempt in range(_ATTEMPTS):
        one = _timed(situation, run(situation.scenario(), folder.with_name(f"{folder.name}.{attempt}")))
        if not (remark := one.disturbed(situation)):
            return one, ""
        tried.append((one.drops, one.late_p99_us, attempt, one, remark))
        if time.monotonic() - began > _PATIENCE_S:
            break
    *_, best, remark = min(tried)
    return best, remark


def _timed(situation: Situation, recording: Recording) -> Run:
    capture = recording.folder / "sender.pcap"
    family = socket.AF_INET if situation.family == 4 else socket.AF_INET6
    timing = by_capture(capture, socket.inet_pton(family, SENDER[situation.family]))
    whole, exchanges = by_client(recording.folder / ("0.snd.app.json" if situation.upload else "0.rcv.app.json"))
    stats = recording.forwarder["stats"]
    drops = sum(stats["dropped"]) + stats["send_errors"]
    return Run(timing, whole, exchanges, stats["late_p99_us"], stats["late_max_us"], drops, capture)


def _described(name: str, situation: Situation, runs: Sequence[Run], folder: Path) -> dict[str, Any]:
    """The kept capture is of the run in the middle."""
    kept = sorted(runs, key=lambda one: one.timing.transfer_ns)[len(runs) // 2]
    exchanges = zip(*(one.exchanges_ns for one in runs), strict=True)
    with gzip.GzipFile(folder / f"{name}.pcap.gz", "wb", mtime=0) as out:
        out.write(kept.capture.read_bytes())
    return {
        "capture": f"{name}.pcap.gz",
        "rtt_asked_ns": round(situation.rtt_ms * 1e6),
        "handshakes_ns": list(kept.timing.handshakes_ns),
        "repeated_bytes": kept.timing.repeated_bytes,
        "forwarder": {"late_p99_us": kept.late_p99_us, "late_max_us": kept.late_max_us},
        "transfer_ns": kept.timing.transfer_ns,
        "client_transfer_ns": kept.client_transfer_ns,
        "client_waited_ns": sum(kept.exchanges_ns),
        "client_exchanges_ns": kept.exchanges_ns,
        "runs": {
            "count": len(runs),
            "transfer_ns": _spread([one.timing.transfer_ns for one in runs]),
            "client_transfer_ns": _spread([one.client_transfer_ns for one in runs]),
            "client_waited_ns": _spread([sum(one.exchanges_ns) for one in runs]),
            "each_client_waited_ns": [sum(one.exchanges_ns) for one in runs],
            "client_exchanges_ns": [_spread(list(each)) for each in exchanges],
        },
    }  # fmt: skip


def _spread(values: list[int]) -> dict[str, int]:
    return {"median": round(statistics.median(values)), "min": min(values), "max": max(values)}


def _json(pair: dict[str, Any]) -> str:
    """A line a field of `before` and `after`, so that a difference can be read."""
    text = json.dumps({key: value for key, value in pair.items() if key not in {"before", "after"}}, indent=1)
    sides = []
    for side in ("before", "after"):
        lines = ",\n".join(f"  {json.dumps(key)}: {json.dumps(value)}" for key, value in pair[side].items())
        sides.append(f' "{side}": {{\n{lines}\n }}')
    return text.removesuffix("\n}") + ",\n" + ",\n".join(sides) + "\n}\n"
