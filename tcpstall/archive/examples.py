"""Flows that show something best, with the captures to open for them."""

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

from tcpstall.archive.session import Session
from tcpstall.losses import Example
from tcpstall.model import Endpoint

__all__ = ["examples"]

_FILES = 16
"""Of a flow that goes on over more files of a ring, those around where it is looked at."""

Key = tuple[str, int]


def examples(
    asked: Session, wanted: Sequence[tuple[str, int, int]], waits: dict[Key, tuple[int, int]] | None = None
) -> dict[Key, Example]:
    """By scan and flow, for (scan, flow, lost_ns); `waits` are (stall, start_ns) of the wait that is meant."""
    lost = {(scan, flow): lost_ns for scan, flow, lost_ns in wanted}
    if not lost:
        return {}
    at = waits or {}
    scans = ", ".join(sorted({f"'{scan}'" for scan, _ in lost}))
    flows = ", ".join(sorted({str(flow) for _, flow in lost}))
    rows = asked.rows(
        "SELECT scan, flow, capture, client_address, client_port, server_address, server_port, start_ns, end_ns "
        f"FROM flows WHERE flow IN ({flows}) AND scan IN ({scans})"
    )
    files = _files(asked, scans)
    found: dict[Key, Example] = {}
    for row in rows:
        key = (row["scan"], row["flow"])
        if key not in lost:
            continue
        stall, moment = at.get(key, (None, row["start_ns"]))
        found[key] = Example(
            *key,
            Endpoint(row["client_address"], row["client_port"]),
            Endpoint(row["server_address"], row["server_port"]),
            _holding(files[row["scan"]], row, moment),
            row["start_ns"],
            lost[key],
            stall,
        )
    return found


def _files(asked: Session, scans: str) -> dict[str, list[dict[str, Any]]]:
    """The files of each scan in order of time."""
    rows = asked.rows(
        f"SELECT scan, name, first_ns, last_ns FROM captures WHERE scan IN ({scans}) AND first_ns IS NOT NULL "
        "ORDER BY first_ns, name"
    )
    files: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for row in rows:
        files[row["scan"]].append(row)
    return files


def _holding(files: Sequence[dict[str, Any]], flow: dict[str, Any], moment: int) -> tuple[str, ...]:
    """The files that hold the flow; of many those nearest to the moment, its first among them."""
    held = [file for file in files if file["first_ns"] <= flow["end_ns"] and file["last_ns"] >= flow["start_ns"]]
    if len(held) > _FILES:
        near = sorted(held[1:], key=lambda file: max(file["first_ns"] - moment, moment - file["last_ns"], 0))
        kept = {id(file) for file in (held[0], *near[: _FILES - 1])}
        held = [file for file in held if id(file) in kept]
    return tuple(file["name"] for file in held) or (flow["capture"],)
