"""The largest losses, for reading in a terminal and as rows for further programs."""

from collections.abc import Iterator, Mapping
from typing import Any

from rich.console import RenderableType
from rich.padding import Padding
from rich.table import Column
from rich.text import Text

from tcpstall.causes import Cause
from tcpstall.lost_time import By, Example, Loss, Losses
from tcpstall.report.archive.open import captures_of, command_line
from tcpstall.report.style import cause_text, figures, table, words
from tcpstall.units import counted, duration, number, percent
from tcpstall.untrusted import in_terminal

__all__ = ["MEANING", "loss_columns", "loss_rows", "render_losses"]

MEANING: Mapping[By, str] = {
    "service": "flows to the service",
    "cause": "flows that lost time to the cause",
    "host": "flows to and from the host; lost is what was its own doing",
    "hour": "flows that began in the hour, lost in waits that did",
    "sensor": "flows in captures of the sensor",
}
"""Rows that `flows` and `lost` count."""

_CAUSES = 3
"""Causes shown in a row."""

_TYPES = {int: "BIGINT", str: "VARCHAR"}


def render_losses(losses: Losses, *, store: str, width: int) -> Iterator[RenderableType]:
    """A row each, what could give back most first, then the command that opens the first row's worst flow."""
    if not losses.rows:
        yield Text("nothing was lost: no waits are in the store, or none that are meant", "bold")
        return
    columns: list[Column] = [
        words(losses.by),
        *figures("to give back", "lost", "of all", "flows", "waits"),
        words("to"),
        words("worst flow"),
    ]
    if losses.by == "cause":
        del columns[6]
    rows = [_row(loss, losses) for loss in losses.rows]
    yield table(f"lost time by {losses.by}", columns, rows, width, ("of all", "waits", "flows", "worst flow", "to"))
    left = losses.keys - len(losses.rows)
    rest = duration(losses.all_ns - sum(loss.lost_ns for loss in losses.rows))
    more = f"and {counted(left, f'more {losses.by}')}, {rest}; " if left > 0 else ""
    yield Padding(Text(f"{more}{MEANING[losses.by]}", "dim"), (0, 0, 0, 1))
    if (worst := losses.rows[0].worst) is not None:
        yield Text(f" the worst flow of the first {losses.by}:", "dim")
        yield command_line(worst, store)


def _row(loss: Loss, losses: Losses) -> list[str | Text]:
    cells: list[str | Text] = [
        cause_text(Cause(loss.key)) if losses.by == "cause" else in_terminal(loss.key or "(none)"),
        duration(loss.recoverable_ns) if loss.recoverable_ns else "–",
        duration(loss.lost_ns),
        percent(loss.lost_ns, losses.all_ns),
        number(loss.flows),
        number(loss.waits),
    ]
    if losses.by != "cause":
        cells.append(_mostly(loss))
    return [*cells, "–" if loss.worst is None else _worst(loss.worst)]


def _mostly(loss: Loss) -> Text:
    """`61 % app-limited, 20 % rwnd-limited`."""
    parts = [
        Text.assemble(percent(lost, loss.lost_ns), " ", cause_text(cause))
        for cause, lost in [*loss.causes.items()][:_CAUSES]
    ]
    return Text(", ").join(parts)


def _worst(example: Example) -> str:
    return in_terminal(f"{duration(example.lost_ns)}  {example.client} → {example.server}  {captures_of(example)}")


def loss_columns(losses: Losses) -> dict[str, str]:
    """Names and DuckDB types of loss_rows()."""
    causes = {f"{cause.replace('-', '_')}_ns": "BIGINT" for cause in Cause}
    worst = {
        "worst_scan": "VARCHAR", "worst_flow": "BIGINT", "worst_client": "VARCHAR", "worst_server": "VARCHAR",
        "worst_start_ns": "BIGINT", "worst_lost_ns": "BIGINT", "worst_capture": "VARCHAR",
    }  # fmt: skip
    counts = dict.fromkeys(("lost_ns", "flows", "waits"), "BIGINT")
    return {losses.by: "VARCHAR"} | counts | causes | worst | {"recoverable_ns": "BIGINT"}


def loss_rows(losses: Losses) -> Iterator[list[Any]]:
    """As plain values."""
    for loss in losses.rows:
        example = loss.worst
        worst: list[Any] = [None] * 7
        if example is not None:
            worst = [
                example.scan, example.flow, str(example.client), str(example.server), example.start_ns, example.lost_ns,
                example.captures[0],
            ]  # fmt: skip
        causes = [loss.causes.get(cause, 0) for cause in Cause]
        yield [loss.key, loss.lost_ns, loss.flows, loss.waits, *causes, *worst, loss.recoverable_ns]
