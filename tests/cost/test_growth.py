"""Instructions grow no faster than a capture does, and a packet costs no more than it did.

In one file, for valgrind takes half a minute to start.
"""

from collections.abc import Callable
from itertools import product
from pathlib import Path

import pytest

from tests.archive.conftest import EXHAUSTIVE
from tests.cost.captures import KINDS, capture
from tests.cost.growth import COMMANDS, MOST, growth
from tests.cost.instructions import Counter, processor_counts
from tests.tools.bench import captures
from tests.tools.bench.captures import Capture

QUICK = [
    *product(["json"], ["hole-split-from-its-top", "syn-flood", "flows-that-go-on", "slow-answers", "anything"]),
    ("whatif", "stalls"),
]
"""Pairs that valgrind counts each time, most once quadratic; TCPSTALL_EXHAUSTIVE=1 counts all, in two hours."""

PACKETS = 8_000 if processor_counts() else 4_000 if EXHAUSTIVE else 1_500
"""Of the smallest capture."""

BUDGET_PACKETS = 6_000
"""Of the shorter capture; the longer one has three times as many, so that the start does not count."""

SPARE = 1.1
"""Later work may cost a tenth more before it is noticed. Lower the figures below where it costs less."""


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


@pytest.mark.parametrize(
    ("make", "instructions"), [(captures.long, 933), (captures.short, 4_330)], ids=["long", "short"]
)
def test_a_packet_costs_no_more_than_it_did(
    count: Counter, make: Callable[[], Capture], instructions: int, tmp_path: Path
) -> None:
    costs = []
    for packets in (BUDGET_PACKETS, 3 * BUDGET_PACKETS):
        path = tmp_path / f"{packets}.pcap"
        with path.open("wb") as out:
            make().write(out, packets)
        costs.append(count(["analyze", "--format", "json", "--no-bursts", str(path)]))
    assert (costs[1] - costs[0]) / (2 * BUDGET_PACKETS) <= SPARE * instructions
