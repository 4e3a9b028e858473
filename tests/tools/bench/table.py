"""Measurements as Markdown: rates, ratios, and whether the targets are met."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from tests.tools.bench.cost import Cost

PEERS = ("capture", "command", "time", "packets/s", "bytes/s", "peak memory", "time ÷ tcpstall's", "target")
"""Columns of the table beside peers."""

MARK = ("<!-- speed: python -m tests.tools.bench --write -->", "<!-- end of speed -->")


@dataclass(frozen=True, slots=True)
class Target:
    """Target of a figure."""

    limit: float
    unit: str
    sense: Literal["≥", "≤"] = "≥"

    def judge(self, value: float, *, at_least: bool = False) -> str:
        """`at_least`: the value is a lower limit, because what it comes from was stopped."""
        met = value >= self.limit if self.sense == "≥" else value <= self.limit and not at_least
        if self.sense == "≥" and at_least and not met:
            return f"{self.sense} {self.limit:g}{self.unit}: not known"
        return f"{self.sense} {self.limit:g}{self.unit}: {'met' if met else '**missed**'}"


def table(columns: Sequence[str], rows: Sequence[Sequence[str]], words: int = 1) -> list[str]:
    """The first columns hold words, the others figures."""
    rule = ["---"] * words + ["---:"] * (len(columns) - words)
    return ["| " + " | ".join(cells) + " |" for cells in (columns, rule, *rows)]


def beside(tables: str) -> list[str]:
    """The README's table, from the tables of all sections: a row a capture, a column a command, time and memory."""
    rows: dict[str, dict[str, str]] = {}
    capture = ""
    for line in tables.splitlines():
        cells = [cell.strip() for cell in line.split("|")[1:-1]]
        if len(cells) != len(PEERS) or cells == list(PEERS) or cells[0] == "---":
            continue
        capture = cells[0] or capture
        rows.setdefault(capture, {})[cells[1]] = f"{cells[2]}, {cells[5]}"
    commands = [
        name for name in dict.fromkeys(name for row in rows.values() for name in row) if "two cores" not in name
    ]
    shown = [[capture, *(row.get(name, "–") for name in commands)] for capture, row in rows.items()]
    return table(["capture", *commands], shown)


def seconds(run: Cost) -> str:
    if run.stopped:
        return f"over {run.wall_s:.0f} s"
    if run.exit_code:
        return f"failed ({run.exit_code})"
    return f"{run.took_s:.2f} s" if run.took_s < 100 else f"{run.took_s:.0f} s"


def rate(packets: int, run: Cost) -> str:
    """Millions of packets a second."""
    if run.exit_code and not run.stopped:
        return "–"
    return f"{'< ' if run.stopped else ''}{packets / run.took_s / 1e6:.3g} M"


def throughput(size: int, run: Cost) -> str:
    if run.exit_code and not run.stopped:
        return "–"
    return f"{'< ' if run.stopped else ''}{size / run.took_s / 1e9:.2g} GB/s"


def ratio(own: Cost, run: Cost) -> str:
    if not usable(own) or not (usable(run) or run.stopped):
        return "–"
    return f"{'> ' if run.stopped else ''}{times(run.took_s / own.took_s)}"


def times(value: float) -> str:
    return f"{value:.0f} ×" if value >= 20 else f"{value:.2g} ×" if value >= 10 else f"{value:.2f} ×"


def usable(run: Cost) -> bool:
    return run.exit_code == 0 and not run.stopped


def memory(run: Cost) -> str:
    return f"{run.peak_mb:,.0f} MB"
