"""Findings over an archive, for reading in a terminal and as rows for further programs."""

from collections.abc import Iterator, Sequence
from typing import Any

from rich.console import RenderableType
from rich.text import Text

from tcpstall.findings import finding_row
from tcpstall.lost_time import Shown
from tcpstall.report.archive.open import captures_of, command_line, page_command_for
from tcpstall.report.findings import finding_lines
from tcpstall.untrusted import in_terminal

__all__ = ["found_columns", "found_rows", "render_found"]

_WORDS = ("kind", "side", "what", "where")

_FIELDS = {
    "address": "VARCHAR", "port": "BIGINT", "client": "VARCHAR", "flows": "BIGINT", "waits": "BIGINT",
    "time_ns": "BIGINT", "recoverable_ns": "BIGINT", "counted": "BIGINT", "median_ns": "BIGINT", "p95_ns": "BIGINT",
    "worst_ns": "BIGINT", "confidence": "DOUBLE", "first_ns": "BIGINT", "last_ns": "BIGINT",
}  # fmt: skip
"""Columns that are fields of a finding, with their DuckDB types."""

_TOLD = ("sentence", "decided_by", "advice", "buys")

_SHOWN = ("scan", "flow", "stall", "capture", "command")


def render_found(found: Sequence[Shown], *, store: str, width: int) -> Iterator[RenderableType]:
    """Two lines per finding as in `analyze`, the example flow, and the command that opens it in `store`."""
    if not found:
        yield Text("no finding is in the store, or none that is meant", "bold")
        return
    for rank, shown in enumerate(found, 1):
        yield from finding_lines(rank, shown.finding, width, numbered=False)
        if shown.example is not None:
            example = shown.example
            ends = f"{example.client} → {example.server}"
            yield Text(in_terminal(f"   see {ends} in {captures_of(example)}"), "dim")
            yield command_line(example, store)


def found_columns() -> dict[str, str]:
    """Names and DuckDB types of found_rows()."""
    words = dict.fromkeys(_WORDS, "VARCHAR")
    told = dict.fromkeys(_TOLD, "VARCHAR")
    shown = {name: "BIGINT" if name in ("flow", "stall") else "VARCHAR" for name in _SHOWN}
    return {"rank": "BIGINT"} | words | _FIELDS | told | {f"example_{name}": kind for name, kind in shown.items()}


def found_rows(found: Sequence[Shown], store: str) -> Iterator[list[Any]]:
    """As plain values."""
    for rank, shown in enumerate(found, 1):
        example = shown.example
        flow: list[Any] = [None] * len(_SHOWN)
        if example is not None:
            flow = [example.scan, example.flow, example.stall, example.captures[0], page_command_for(example, store)]
        row = finding_row(rank, shown.finding)
        yield [row[name] for name in ("rank", *_WORDS, *_FIELDS, *_TOLD)] + flow
