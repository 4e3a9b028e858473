"""Number of flows of each key of losses, and the flow that waited longest, from sums alone."""

from collections.abc import Mapping, Sequence
from typing import Any

from tcpstall.archive.asking.examples import Wanted
from tcpstall.archive.asking.session import Session
from tcpstall.archive.storing.literals import literal
from tcpstall.archive.storing.rollups import HOUR_NS, LEADERS
from tcpstall.lost_time import By

__all__ = ["leaders"]

_Key = tuple[Any, ...]
"""The values that losses are added up by."""


def leaders(asked: Session, by: By, keys: Sequence[_Key]) -> tuple[dict[_Key, int], dict[_Key, Wanted]]:
    """Of all that is in the store."""
    columns = [name for name in LEADERS[by] if name != "NULL"]
    named = ", ".join(f"{name} AS k{number}" for number, name in enumerate(columns))
    # A flow that waited on several days is put together of its rows; each other one is in one sum.
    far = _by_key(
        asked,
        f"SELECT {named}, count(*) AS flows, arg_max({{scan: scan, flow: flow, lost: lost}}, lost) AS worst FROM "
        f"(SELECT {', '.join(columns)}, scan, flow, sum(lost)::BIGINT AS lost "
        f"FROM {asked.rolled('far')} WHERE {_is_one(columns, keys)} GROUP BY ALL) GROUP BY ALL",
        columns,
    )
    held = ["text" if name == LEADERS[by][0] else "number" for name in columns]
    near = _by_key(
        asked,
        f"SELECT {', '.join(f'{name} AS k{number}' for number, name in enumerate(held))}, sum(flows) AS flows, "
        f"arg_max(worst, worst.lost) AS worst FROM {asked.rolled('leaders')} "
        f"WHERE key = '{by}' AND {_is_one(held, keys)} GROUP BY ALL",
        columns,
    )
    counted = {key: sum(int(rows[key]["flows"]) for rows in (near, far) if key in rows) for key in keys}
    flows = counted if by == "cause" else _flows(asked, by, keys)
    wanted = {}
    for key in keys:
        worst = [rows[key]["worst"] for rows in (near, far) if key in rows]
        if worst:
            best = max(worst, key=lambda one: int(one["lost"]))
            wanted[key] = Wanted(best["scan"], best["flow"], int(best["lost"]))
    return flows, wanted


def _by_key(asked: Session, sql: str, columns: Sequence[str]) -> dict[_Key, Mapping[str, Any]]:
    names = [f"k{number}" for number in range(len(columns))]
    return {tuple(row[name] for name in names): row for row in asked.rows(sql)}


def _is_one(columns: Sequence[str], keys: Sequence[_Key]) -> str:
    values = ", ".join(f"({', '.join(literal(value) for value in key)})" for key in keys)
    return f"({', '.join(columns)}) IN ({values})" if len(columns) > 1 else f"{columns[0]} IN ({values})"


def _flows(asked: Session, by: By, keys: Sequence[_Key]) -> dict[_Key, int]:
    """All flows of a service or of an address, and those that began in an hour, whether they waited or not."""
    if by == "host":
        source = f"(SELECT text AS k0, flows FROM {asked.rolled('leaders')} WHERE key = 'end')"
        names = ["k0"]
    else:
        columns = ["server_address", "server_port"] if by == "service" else [f"start_ns // {HOUR_NS}"]
        names = [f"k{number}" for number in range(len(columns))]
        given = ", ".join(f"{column} AS {name}" for column, name in zip(columns, names, strict=True))
        source = f"(SELECT {given}, flows FROM {asked.rolled('flow_sums')})"
    rows = asked.rows(
        f"SELECT {', '.join(names)}, sum(flows) AS flows FROM {source} WHERE {_is_one(names, keys)} GROUP BY ALL"
    )
    return {tuple(row[name] for name in names): int(row["flows"]) for row in rows}
