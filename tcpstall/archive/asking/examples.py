"""Flows that show something best, with the captures to open for them."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from tcpstall.archive.asking.session import Session
from tcpstall.archive.storing.literals import literal, of_flows
from tcpstall.lost_time import Example
from tcpstall.model import Endpoint

__all__ = ["SHOWN_FLOWS", "Wanted", "examples"]

SHOWN_FLOWS = "shown_flows"
"""Rows of the flows that examples() has looked up last."""

_COLUMNS = (
    "scan", "flow", "capture", "client_address", "client_port", "server_address", "server_port", "start_ns", "end_ns",
)  # fmt: skip

_FILES = 16
"""Of a flow that goes on over more files of a ring, those around where it is looked at."""

Key = tuple[str, int]


@dataclass(frozen=True, slots=True)
class Wanted:
    """A flow and what it lost; the wait that is meant and when it began, where one is."""

    scan: str
    flow: int
    lost_ns: int
    stall: int | None = None
    at_ns: int | None = None


def examples(asked: Session, wanted: Sequence[Wanted | None], more: Sequence[str] = ()) -> list[Example | None]:
    """In the same order; None where none is wanted, or the store does not know the flow.

    Their rows, with `more` columns of flows, are the table SHOWN_FLOWS after that: to find them costs most of it.
    """
    some = [one for one in wanted if one is not None]
    if not some:
        return [None] * len(wanted)
    scans = ", ".join(sorted({literal(one.scan) for one in some}))
    columns = ", ".join(dict.fromkeys((*_COLUMNS, *more)))
    store = "store" if asked.several else "'' AS store"
    these = of_flows((one.scan, one.flow) for one in some)
    asked.keep(SHOWN_FLOWS, f"SELECT {columns}, {store} FROM flows WHERE {these}")
    rows = asked.rows(f"SELECT {', '.join(_COLUMNS)}, store FROM {SHOWN_FLOWS}")
    known = {(row["scan"], row["flow"]): row for row in rows}
    files = _files(asked, scans, rows)
    return [None if one is None else _example(one, known.get((one.scan, one.flow)), files) for one in wanted]


def _example(one: Wanted, row: dict[str, Any] | None, files: dict[str, list[dict[str, Any]]]) -> Example | None:
    if row is None:
        return None
    moment = row["start_ns"] if one.at_ns is None else one.at_ns
    client, server = (Endpoint(row[f"{end}_address"], row[f"{end}_port"]) for end in ("client", "server"))
    captures = _holding(files.get(one.scan, []), row, moment)
    return Example(one.scan, one.flow, client, server, captures, row["start_ns"], one.lost_ns, one.stall, row["store"])


def _files(asked: Session, scans: str, flows: Sequence[dict[str, Any]]) -> dict[str, list[dict[str, Any]]]:
    """The files of each scan's set that were written while these flows lasted, in order of time.

    A connection may have begun in files of an earlier scan, which its scan has read on from.
    """
    if not flows:
        return {}
    first, last = min(flow["start_ns"] for flow in flows), max(flow["end_ns"] for flow in flows)
    rows = asked.rows(
        "SELECT DISTINCT these.scan AS of, files.name, files.first_ns, files.last_ns FROM captures AS files JOIN "
        f"(SELECT DISTINCT scan, chain FROM captures WHERE scan IN ({scans})) AS these USING (chain) "
        f"WHERE files.first_ns <= {last} AND files.last_ns >= {first} ORDER BY files.first_ns, files.name"
    )
    files: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for row in rows:
        files[row["of"]].append(row)
    return files


def _holding(files: Sequence[dict[str, Any]], flow: dict[str, Any], moment: int) -> tuple[str, ...]:
    """The files that hold the flow; of many those nearest to the moment, its first among them."""
    held = [file for file in files if file["first_ns"] <= flow["end_ns"] and file["last_ns"] >= flow["start_ns"]]
    if len(held) > _FILES:
        near = sorted(held[1:], key=lambda file: max(file["first_ns"] - moment, moment - file["last_ns"], 0))
        kept = {id(file) for file in (held[0], *near[: _FILES - 1])}
        held = [file for file in held if id(file) in kept]
    return tuple(file["name"] for file in held) or (flow["capture"],)
