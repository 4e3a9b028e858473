"""Properties that the diagnosis does not hold yet: strict xfails, so that a repair has to strike them off here."""

from collections.abc import Iterable, Mapping
from itertools import product
from typing import Any

import pytest

Known = Mapping[str, Mapping[str, Iterable[str]]]
"""Reason → "scene tap" → what was done to the capture."""

OPTIONS_CUT = "without the options of the SYNs neither the window's scale nor SACK is known"
PROBE_MERGED = "a tail-loss probe with new data is told from an application's by being one frame, which GRO hides"
LOST_AND_LATE = "packets that are lost and packets that are late look alike for a moment: the model keeps the wrong one"
LATE_SEGMENTS = "a millisecond of disorder blurs paces and full windows"

LATE = "a twentieth up to 1 ms late"

DISTURBED: Known = {
    PROBE_MERGED: {f"timeout {tap}": ["large frames", "frames of 17 segments"] for tap in ("server", "client")},
    LOST_AND_LATE: {"timeout client": ["a fifth stamped before its neighbour", LATE]},
    LATE_SEGMENTS: {"paced server": [LATE], "long_window_limited client": [LATE]},
    OPTIONS_CUT: {"closed_window client": ["cut to 68 bytes"]},
}

DAMAGED: Known = {}

MOVED: Known = {}


def marked(known: Known, *, where: str, what: str) -> list[pytest.MarkDecorator]:
    """The mark of one case."""
    reasons = [reason for reason, places in known.items() if what in places.get(where, ())]
    assert len(reasons) <= 1, (where, what)
    return [pytest.mark.xfail(strict=True, reason=reason) for reason in reasons]


def cases(known: Known, names: Iterable[str], taps: Iterable[str], done: Iterable[Any]) -> list[Any]:
    """(scene, tap, what was done) of every combination, with its mark."""
    return [
        pytest.param(name, tap, what, marks=marked(known, where=f"{name} {tap}", what=str(what)))
        for name, tap, what in product(names, taps, done)
    ]


def trace_cases(known: Known, done: Iterable[Any]) -> list[Any]:
    """Cases of the 7 ms trace, each with its mark."""
    return [pytest.param(what, marks=marked(known, where="trace", what=str(what))) for what in done]
