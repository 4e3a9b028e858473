"""Rows of the native core as objects, and its columns as integers."""

from array import array
from collections.abc import Mapping, Sequence
from typing import Any

from tcpstall import _core
from tcpstall.causes import Cause
from tcpstall.model.endpoint import Endpoint
from tcpstall.model.flow import (
    Attempt,
    Burst,
    Connection,
    Direction,
    Exchange,
    Flow,
    Handshake,
    IdleClose,
    Part,
    RttSpike,
    Service,
    Stall,
    Vantage,
)
from tcpstall.model.losses import Losses
from tcpstall.model.pick import pick
from tcpstall.trust import Trust

__all__ = ["as_flow", "as_service", "column", "combined"]

_UNKNOWN = -(2**63)


def as_flow(row: Mapping[str, Any]) -> Flow:
    """A flow from its row in the JSON report."""
    return pick(
        Flow,
        row,
        client=pick(Endpoint, row["client"]),
        server=pick(Endpoint, row["server"]),
        vantage=pick(Vantage, row["vantage"]),
        handshake=pick(Handshake, row["handshake"]),
        directions={side: as_direction(direction) for side, direction in row["directions"].items()},
        bursts=tuple(pick(Burst, burst) for burst in row.get("bursts") or ()),
        stalls=tuple(as_stall(stall) for stall in row["stalls"]),
        exchanges=tuple(as_exchange(exchange) for exchange in row.get("exchanges") or ()),
        connection=pick(Connection, row["connection"]),
        notes=tuple(row.get("notes") or ()),
        rtt_spikes=tuple(pick(RttSpike, spike) for spike in row.get("rtt_spikes") or ()),
        trust=pick(Trust, row["trust"], reasons=tuple(row["trust"]["reasons"])),
    )


def as_direction(row: Mapping[str, Any]) -> Direction:
    losses = row.get("losses")
    return pick(Direction, row, losses=losses and pick(Losses, losses))


def as_stall(row: Mapping[str, Any]) -> Stall:
    return pick(
        Stall,
        row,
        cause=Cause(row["cause"]),
        also=tuple(Cause(name) for name in row["also"]),
        missing=tuple(row["missing"]),
        attempts=tuple(pick(Attempt, attempt) for attempt in row.get("attempts") or ()),
    )


def as_exchange(row: Mapping[str, Any]) -> Exchange:
    parts = (pick(Part, part, cause=Cause(part["cause"]) if "cause" in part else None) for part in row["parts"])
    return pick(Exchange, row, parts=tuple(parts))


def as_service(row: Mapping[str, Any]) -> Service:
    """A service from its row in the JSON report."""
    return pick(Service, row, idle_close=row["idle_close"] and pick(IdleClose, row["idle_close"]))


def column(table: _core.Table, name: str) -> Sequence[int]:
    """An integer column; unknown counts as nothing."""
    values = array("q", table.int64(name))
    return array("q", (0 if value == _UNKNOWN else value for value in values)) if _UNKNOWN in values else values


def combined(table: _core.Table, first: str, second: str, sign: int) -> Sequence[int]:
    """The first integer column plus the second one, or minus it where `sign` is -1."""
    pairs = zip(column(table, first), column(table, second), strict=True)
    return array("q", (one + sign * other for one, other in pairs))
