"""Copies of a scenario whose captures lack packets that were on the wire, as an overloaded monitor leaves them."""

import json
import random
import shutil
from collections.abc import Callable
from pathlib import Path

from tests.lab.pcap import read_records, write_records
from tests.lab.scenario import Scenario

_DAMAGED = {"slowstart-38ms-900k-up", "sndbuf-24k-9ms", "rcvbuf-16k-13ms", "loss-17ms-random"}
_HOLE_US = 40_000


def copies(scenario: Scenario, folder: Path) -> None:
    """Three copies beside the folder: 0.5 % lost, 2 % lost, and a hole in the middle."""
    if scenario.name not in _DAMAGED:
        return
    for suffix, keeps in (("drop0.5", _sparse(0.005)), ("drop2", _sparse(0.02)), ("hole", None)):
        copy = folder.with_name(f"{folder.name}-{suffix}")
        shutil.rmtree(copy, ignore_errors=True)
        shutil.copytree(folder, copy)
        for capture in copy.glob("*.pcap"):
            records = list(read_records(capture))
            middle = records[len(records) // 2][0]
            keep = keeps or (lambda us, middle=middle: not middle <= us < middle + _HOLE_US)
            write_records(capture, [one for one in records if keep(one[0])], scenario.snaplen)
        truth = json.loads((copy / "truth.json").read_text(encoding="ascii"))
        truth["scenario"] = copy.name
        truth["params"]["capture_loss"] = suffix
        (copy / "truth.json").write_text(json.dumps(truth), encoding="ascii")


def _sparse(share: float) -> Callable[[int], bool]:
    lots = random.Random(2)  # noqa: S311
    return lambda us: lots.random() >= share
