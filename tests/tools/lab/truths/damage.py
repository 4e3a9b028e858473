"""Copies of a scenario whose captures lack packets that were on the wire, as an overloaded monitor leaves them."""

import json
import random
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.tools.lab.network.pcap import read_records, write_records
from tests.tools.lab.scenario import Scenario

_DAMAGED = {"slowstart-38ms-900k-up", "sndbuf-24k-9ms", "rcvbuf-16k-13ms", "loss-17ms-random"}
_HOLE_US = 40_000


def copies(scenario: Scenario, folder: Path) -> None:
    """Three copies beside the folder: 0.5 % lost, 2 % lost, and a hole in the middle."""
    if scenario.name.partition("~")[0] not in _DAMAGED:
        return
    records = list(read_records(folder / "sender.pcap"))
    begin = records[len(records) // 2][0]
    hole = (begin, begin + _HOLE_US)
    for suffix, keeps in (
        ("drop0.5", _sparse(0.005)),
        ("drop2", _sparse(0.02)),
        ("hole", lambda us: not hole[0] <= us < hole[1]),
    ):
        copy = folder.with_name(f"{folder.name}-{suffix}")
        shutil.rmtree(copy, ignore_errors=True)
        shutil.copytree(folder, copy)
        for capture in copy.glob("*.pcap"):
            write_records(capture, [one for one in read_records(capture) if keeps(one[0])], scenario.snaplen)
        truth = json.loads((copy / "truth.json").read_text(encoding="ascii"))
        truth["scenario"] = copy.name
        truth["params"]["capture_loss"] = suffix
        if suffix == "hole":
            _forget(truth, hole, 2 * scenario.one_way_us)
        (copy / "truth.json").write_text(json.dumps(truth), encoding="ascii")


def _forget(truth: dict[str, Any], hole: tuple[int, int], margin_us: int) -> None:
    """Marks spans in the hole, or within a round trip of it, as ambiguous: a capture cannot show them."""
    for connection in truth["connections"]:
        for half in connection.get("halves", ()):
            for span in half["spans"]:
                if span["t_start"] * 1e6 < hole[1] + margin_us and span["t_end"] * 1e6 > hole[0] - margin_us:
                    span |= {"label": "ambiguous", "sub": "not captured", "alt": []}


def _sparse(share: float) -> Callable[[int], bool]:
    lots = random.Random(2)
    return lambda us: lots.random() >= share
