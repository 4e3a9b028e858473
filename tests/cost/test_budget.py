"""The cost of a packet does not rise: clocks differ from run to run, instructions hardly do."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cost.instructions import Counter
from tests.tools.bench import captures
from tests.tools.bench.captures import Capture

PACKETS = 6_000
"""Of the shorter capture; the longer one has three times as many, so that the start does not count."""

SPARE = 1.1
"""Later work may cost a tenth more before it is noticed. Lower the figures below where it costs less."""


@pytest.mark.parametrize(
    ("make", "instructions"), [(captures.long, 1_257), (captures.short, 5_041)], ids=["long", "short"]
)
def test_a_packet_costs_no_more_than_it_did(
    count: Counter, make: Callable[[], Capture], instructions: int, tmp_path: Path
) -> None:
    costs = []
    for packets in (PACKETS, 3 * PACKETS):
        path = tmp_path / f"{packets}.pcap"
        with path.open("wb") as out:
            make().write(out, packets)
        costs.append(count(["analyze", "--format", "json", "--no-bursts", str(path)]))
    assert (costs[1] - costs[0]) / (2 * PACKETS) <= SPARE * instructions
