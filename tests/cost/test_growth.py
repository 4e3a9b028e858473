"""No capture makes a command's cost grow faster than the capture does."""

from itertools import product
from pathlib import Path

import pytest

from tests.archive.conftest import EXHAUSTIVE
from tests.cost.captures import KINDS, capture
from tests.cost.growth import COMMANDS, MOST, growth
from tests.cost.instructions import Counter, processor_counts

QUICK = [
    *product(["json"], ["hole-split-from-its-top", "syn-flood", "flows-that-go-on", "slow-answers", "anything"]),
    ("whatif", "stalls"),
]
"""Pairs that valgrind counts each time, most once quadratic; TCPSTALL_EXHAUSTIVE=1 counts all, in two hours."""

PACKETS = 8_000 if processor_counts() else 4_000 if EXHAUSTIVE else 1_500
"""Of the smallest capture."""


@pytest.mark.parametrize(("command", "kind"), product(COMMANDS, KINDS) if EXHAUSTIVE or processor_counts() else QUICK)
def test_a_doubling_of_packets_hardly_more_than_doubles_the_cost(
    count: Counter, command: str, kind: str, tmp_path: Path
) -> None:
    assert max(growth(count, command, kind, PACKETS, tmp_path)) <= MOST


@pytest.mark.parametrize("kind", KINDS)
def test_a_longer_capture_begins_with_the_shorter_one(kind: str) -> None:
    short, long = capture(kind, 50), capture(kind, 100)
    assert long.startswith(short)
    assert len(long) > len(short) > 24
