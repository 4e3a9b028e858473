"""Flows of a store, opened from their captures and handed over to be replayed, by service or host."""

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

from tcpstall.archive.asking.session import Session
from tcpstall.archive.asking.stored_flow import StoredFlow, holding, read_with, refuse_changed
from tcpstall.archive.asking.where import Chosen
from tcpstall.errors import CannotOpen, NothingToShow
from tcpstall.model import Endpoint
from tcpstall.service_times import Archived, Part
from tcpstall.whatif import MOST_FLOWS, Forecast

__all__ = ["Replay", "predicted"]

Replay = Callable[[Sequence[str], Sequence[StoredFlow]], Sequence[Forecast | None]]
"""Forecasts of flows that the same captures hold, in their order; None for a flow that is no longer there."""

_CHANGED = "capture-changed"
_NOT_FOUND = "not-found"


def predicted(asked: Session, chosen: Chosen, replay: Replay, *, by: Literal["service", "host"]) -> Archived:
    """The flows that lost most time, at most MOST_FLOWS; each capture is opened once for all of its flows.

    A flow whose capture is gone or was changed since is counted, and the others are replayed.
    """
    where = chosen.flows_where()
    [every] = asked.rows(f"SELECT count(*) AS flows FROM flows {where}")
    rows = asked.rows(f"SELECT * FROM flows {where} ORDER BY lost_ns DESC, scan, flow LIMIT {MOST_FLOWS}")
    forecasts: defaultdict[str, list[Forecast]] = defaultdict(list)
    unopened: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for captures, held in _by_captures(asked, rows, lambda row: unopened[_part(_server(row), by)]).items():
        for flow, forecast in zip(held, replay(captures, held), strict=True):
            name = _part(flow.server, by)
            if forecast is None:
                unopened[name][_NOT_FOUND] += 1
            else:
                forecasts[name].append(forecast)
    names = {_part(_server(row), by) for row in rows}
    parts = [Part(name, tuple(forecasts[name]), dict(unopened[name])) for name in names]
    parts.sort(key=lambda part: (-part.saved_ns, -part.flows, part.name))
    return Archived(tuple(parts), every["flows"] - len(rows))


def _by_captures(
    asked: Session, rows: Sequence[Mapping[str, Any]], lost: Callable[[Mapping[str, Any]], Counter[str]]
) -> dict[tuple[str, ...], list[StoredFlow]]:
    """Flows by the captures that hold them; `lost` counts those whose captures cannot be opened."""
    files: dict[str, list[dict[str, Any]]] = {}
    refused: dict[str, CannotOpen | None] = {}

    def refuse(capture: Mapping[str, Any]) -> None:
        name = capture["name"]
        if name not in refused:
            try:
                refuse_changed(capture)
                refused[name] = None
            except CannotOpen as error:
                refused[name] = error
        known = refused[name]
        if known is not None:
            raise known

    found: defaultdict[tuple[str, ...], list[StoredFlow]] = defaultdict(list)
    for row in rows:
        scan = row["scan"]
        if scan not in files:
            files[scan] = read_with(asked, scan)
        try:
            flow = holding(row, files[scan], refuse)
        except (CannotOpen, NothingToShow):
            lost(row)[_CHANGED] += 1
        else:
            found[flow.captures].append(flow)
    return found


def _server(row: Mapping[str, Any]) -> Endpoint:
    return Endpoint(row["server_address"], row["server_port"])


def _part(server: Endpoint, by: Literal["service", "host"]) -> str:
    return str(server) if by == "service" else server.address
