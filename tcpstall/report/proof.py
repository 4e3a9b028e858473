"""The proof of one stall for a sceptic: the rule, what it read, what else it could have been, and the packets."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rich.console import RenderableType
from rich.padding import Padding
from rich.text import Text

from tcpstall import _core
from tcpstall.facts import facts, length, packets
from tcpstall.model import Flow, Stall
from tcpstall.report.html.wireshark import stall_filter
from tcpstall.report.phrases import phrase_of_one
from tcpstall.report.style import cause_text, figures, table, words
from tcpstall.rules import sections
from tcpstall.units import clock, confidence, number, offset

__all__ = ["around", "grounds", "longest", "proof"]

_BEFORE_AND_AFTER = 3
"""Packets that are shown before the wait and after it."""

MOST = 24
"""Packets that are shown in all; the middle ones are left out."""

_COLUMNS = ("packet", "sender", "kind", "seq", "bytes", "ack", "edge", "in_flight_bytes")


def proof(flow: Flow, stall: Stall, samples: _core.Table, *, width: int) -> Iterator[RenderableType]:
    """The decision and its evidence; `samples` are the flow's segments from `_core.samples`."""
    yield Text(f"flow {flow.id}, stall {stall.number}: {flow.client} ↔ {flow.server}", "bold")
    yield Text.assemble(
        f"the {stall.sender} waited {length(stall)} from {clock(stall.start_ns)} on: ",
        cause_text(stall.cause),
        f"{f' ({stall.detail})' if stall.detail else ''}, confidence {confidence(stall.confidence)}",
    )
    for name, told in grounds(flow, stall):
        yield Text()
        yield Text(name, "bold")
        yield Padding(Text(told), (0, 0, 0, 2))
    yield Text()
    yield from _packets(flow, stall, samples, width)


def grounds(flow: Flow, stall: Stall) -> list[tuple[str, str]]:
    """Grounds of a label, a name and a line each: symptom, rule, evidence, other causes, what to change."""
    told_by = sections(stall.cause)
    lines = [
        ("seen", phrase_of_one(flow, stall)),
        ("the rule", told_by.get("Rule", "")),
        ("it read", "; ".join(f"{name} {value}" for name, value in facts(stall))),
        ("also possible", ", ".join(cause.value for cause in stall.also) or "no other rule fits the evidence"),
        ("missing", "; ".join(stall.missing)),
        ("it would not hold if", told_by.get("Abstains", "")),
        ("easily confused with", told_by.get("Looks like", "")),
        ("source", told_by.get("Source", "")),
        ("what to change", stall.advice),
        ("in Wireshark", stall_filter(flow, stall)),
    ]
    return [(name, told) for name, told in lines if told]


def _packets(flow: Flow, stall: Stall, samples: _core.Table, width: int) -> Iterator[RenderableType]:
    rows = around(samples, stall)
    if not rows:
        yield Text("no packets of data or ACKs around it: see its filter", "dim")
        return
    marked = set(packets(stall))
    columns = [*figures("packet", "after start"), words("sender"), words("kind"), *figures("seq", "bytes", "ack")]
    columns += figures("in flight", "window left")
    shown = rows if len(rows) <= MOST else [*rows[: MOST // 2], None, *rows[-MOST // 2 :]]
    cells = [_cells(row, flow, marked) if row else ["…", *[""] * (len(columns) - 1)] for row in shown]
    yield table("packets around it (> begins, frees or ends the wait)", columns, cells, width, spare=("ack", "seq"))


def around(samples: _core.Table, stall: Stall) -> list[Mapping[str, Any]]:
    """The segments of the wait and some before and after it: columns of `_core.samples` by name."""
    times = samples.column("time_ns")
    inside = [place for place, time in enumerate(times) if stall.start_ns <= time <= stall.end_ns]
    if not inside:
        return []
    first, last = max(0, inside[0] - _BEFORE_AND_AFTER), min(len(times), inside[-1] + 1 + _BEFORE_AND_AFTER)
    held = {name: samples.column(name)[first:last] for name in _COLUMNS}
    return [
        {name: values[place] for name, values in held.items()} | {"time_ns": times[first + place]}
        for place in range(last - first)
    ]


def _cells(row: Mapping[str, Any], flow: Flow, marked: set[int]) -> list[str | Text]:
    # An ACK's figures are those of the data that it acknowledges.
    acks = row["kind"] == "ack"
    edge, ack, flight = row["edge"], row["ack"], row["in_flight_bytes"]
    left = None
    if edge is not None and acks and ack is not None:
        left = edge - ack - (flight or 0)
    elif edge is not None and row["kind"] == "data":
        left = edge - row["seq"] - row["bytes"]
    return [
        f"{'> ' if row['packet'] in marked else ''}{row['packet']}",
        offset(row["time_ns"] - flow.start_ns),
        str(row["sender"]),
        str(row["kind"]),
        "" if acks else number(row["seq"]),
        "" if acks else number(row["bytes"]),
        "" if ack is None else number(ack),
        "" if flight is None else number(flight),
        "" if left is None else number(left),
    ]


def longest(stalls: Sequence[Stall]) -> Stall | None:
    """The stall that is explained where none is named."""
    return max(stalls, key=lambda stall: stall.duration_ns, default=None)
