"""Labels against the kernel's truth: which waits are called by their name, and by which other name the rest."""

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import tcpstall
from tcpstall import Cause, Flow, Stall
from tests.tools.lab.network.impairment import Delay
from tests.tools.lab.truths.agreement import CAUSES

SIDES = ("sender", "receiver")
SURE = 0.9
"""From this confidence on a reader acts on a label."""
ENDLESS = frozenset({"zero-window", "rto", "tail", "fast"})
"""Waits that count although no data came after them."""
NEARLY = 1.25
"""Waits up to this many times the threshold may be below it at another tap."""
TRAVEL = 2.5
"""An application's pause of so many round trips may be plain travel to who sees only the wire."""

Half = dict[str, Any]


@dataclass(slots=True)
class Counts:
    """Counts of the waits at one vantage."""

    called: Counter[tuple[str, str]] = field(default_factory=Counter)
    """(kernel's label, what it was called) → waits; right ones under the label itself."""
    reported: int = 0
    false: int = 0
    sure: int = 0
    sure_and_wrong: int = 0

    def right(self, label: str) -> int:
        return self.called[label, label]

    def waits(self, label: str) -> int:
        return sum(count for (name, _), count in self.called.items() if name == label)

    def labels(self) -> list[str]:
        return sorted({label for label, _ in self.called})

    def share(self) -> float:
        """Of all waits, the part that is right."""
        return sum(map(self.right, self.labels())) / max(1, self.called.total())


@dataclass(frozen=True, slots=True)
class View:
    """When a tap sees what a sender sends: at once next to it, later at the end of a `route`."""

    first_syn: float = 0.0
    route: Delay | None = None

    @classmethod
    def of_receiver(cls, truth: dict[str, Any]) -> "View":
        params = truth["params"]
        halves = (half for connection in truth["connections"] for half in connection.get("halves", []))
        first = min((half["t_syn"] for half in halves if half.get("t_syn")), default=0.0)
        return cls(first, Delay(params.get("delay") or [(0, params.get("one_way_us", 0))]))

    def seen(self, time: float) -> float:
        return time if self.route is None else time + self.route.at(round((time - self.first_syn) * 1e9)) / 1e9


def overlap(stall: Stall, begin: float, end: float) -> float:
    return max(0.0, min(end, stall.end_ns / 1e9) - max(begin, stall.start_ns / 1e9))


def count(folders: list[Path], side: str) -> Counts:
    """Counts the waits of every connection in every scenario of the folders."""
    counts = Counts()
    for scenario in sorted(path.parent for folder in folders for path in folder.glob("*/truth.json")):
        truth = json.loads((scenario / "truth.json").read_text())
        if side == "receiver" and {"rate_a", "rate_b"} & truth["params"].keys():
            continue  # a queue shifts what the receiver sees by a time of its own
        view = View.of_receiver(truth) if side == "receiver" else View()
        flows: dict[str, list[Flow]] = {}
        for connection in truth["connections"]:
            half = connection.get("halves", [{}])[0]
            if "error" in connection or half.get("t_first_data") is None:
                continue
            name = half.get(f"capture_{side}_side", f"{side}.pcap")
            if name not in flows:
                flows[name] = list(tcpstall.analyze(scenario / name))
            for flow in flows[name]:
                if (flow.client.port, flow.server.port) == (connection["client"][1], connection["server"][1]):
                    compare(half, flow, view, counts)
    return counts


def compare(half: Half, flow: Flow, view: View, counts: Counts) -> None:
    """One connection's waits, those of its main direction."""
    stalls = [stall for stall in flow.stalls if stall.sender == half["role"] or stall.cause is Cause.HANDSHAKE]
    for span in counted(half):
        begin, end = view.seen(span["t_start"]), view.seen(span["t_end"])
        names = [span["label"]] if span["label"] == "idle-restart" else [span["label"], *span["alt"]]
        accepted = {cause for name in names for cause in CAUSES.get(name, ())}
        shares: Counter[Cause] = Counter()
        for stall in stalls:
            shares[stall.cause] += overlap(stall, begin, end)  # type: ignore[assignment]
            if stall.confidence >= SURE and 2 * overlap(stall, begin, end) >= stall.duration_ns / 1e9 > 0:
                counts.sure += 1
                counts.sure_and_wrong += stall.cause not in accepted
        called = verdict(span, half, shares, accepted, met=view.route is not None)
        if called:
            counts.called[span["label"], called] += 1
    for stall in stalls:
        if stall.cause in {Cause.HANDSHAKE, Cause.APP_LIMITED} or not within(half, stall, view):
            continue
        counts.reported += 1
        spans = ((view.seen(span["t_start"]), view.seen(span["t_end"])) for span in half["spans"])
        covered = sum(overlap(stall, begin, end) for begin, end in spans)
        counts.false += (
            2 * covered < stall.duration_ns / 1e9 and stall.duration_ns > NEARLY * 1e6 * half["threshold_ms"]
        )


def counted(half: Half) -> Iterator[dict[str, Any]]:
    """The waits while there was data to send, the handshake, and repairs and shut windows at the end."""
    for span in half["spans"]:
        inside = span["t_start"] >= half["t_first_data"] - 1e-6 and span["t_end"] <= half["t_last_data"] + 1e-6
        at_end = span["label"] in ENDLESS and span["t_start"] >= half["t_last_data"] - 1e-6
        if span["label"] == "handshake" or (span["label"] != "ambiguous" and (inside or at_end)):
            yield span


def within(half: Half, stall: Stall, view: View) -> bool:
    return view.seen(half["t_first_data"]) <= stall.start_ns / 1e9 <= view.seen(half["t_last_data"])


def verdict(span: dict[str, Any], half: Half, shares: Counter[Cause], accepted: set[Cause], *, met: bool) -> str | None:
    """The label where at least half of the wait has an accepted cause, else what most of it was called.

    None where nobody could tell.
    """
    span_s, label = span["t_end"] - span["t_start"], str(span["label"])
    covered = sum(shares[cause] for cause in accepted)
    others = sum(shares.values()) - covered
    best = max(shares, key=lambda cause: shares[cause], default=None)
    nothing = best is None or shares[best] == 0
    if nothing and span["gap_ms"] < NEARLY * half["threshold_ms"]:
        return None
    travel = label == "app" and span_s <= TRAVEL * half["min_rtt_ms"] / 1e3 and 2 * others < span_s
    # A SYN that was lost before the server's tap makes the handshake shorter there.
    lost_syn = label == "handshake" and met and Cause.HANDSHAKE in shares
    if 2 * covered >= span_s or travel or lost_syn:
        return label
    return "nothing" if nothing or best is None else str(best)
