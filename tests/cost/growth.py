"""Growth of a command's cost with the packets of a capture."""

from collections.abc import Sequence
from pathlib import Path

from tests.cost.captures import capture
from tests.cost.instructions import Counter

COMMANDS: dict[str, list[str]] = {
    "json": ["analyze", "--format", "json"],
    "table": ["analyze"],
    "report": ["report", "-o", "{out}/report.html"],
    "pair": ["pair"],
    "whatif": ["whatif"],
    "scan": ["scan", "--store", "{out}/store-{packets}"],
}
"""The arguments of each; captures follow."""

MOST = 2.2
"""A doubling of the packets costs this much at most."""


def cost(count: Counter, command: str, kind: str, packets: int, folder: Path) -> int:
    """Instructions of a command on so many packets; of a scan the least of two, for waiting adds some."""
    path = folder / f"{kind}-{packets}.pcap"
    if not path.exists():
        path.write_bytes(capture(kind, packets))
    captures = [str(path)] * (2 if command == "pair" else 1)
    counts = []
    for run in range(2 if command == "scan" else 1):
        name = f"{kind}-{packets}-{run}"  # a store that knows the capture already would not read it again
        counts.append(count([*(part.format(out=folder, packets=name) for part in COMMANDS[command]), *captures]))
    return min(counts)


def growth(count: Counter, command: str, kind: str, packets: int, folder: Path) -> list[float]:
    """Factors of the cost at each of two doublings, without the cost of the command on a handful of packets."""
    start = cost(count, command, kind, 8, folder)
    sizes: Sequence[int] = (packets, 2 * packets, 4 * packets)
    small, middle, large = (max(1, cost(count, command, kind, size, folder) - start) for size in sizes)
    return [middle / small, large / middle]
