"""Ranks the time lost in a store by service, cause, host, hour or sensor."""

from collections.abc import Mapping, Sequence
from typing import Any

from tcpstall.archive.asking.examples import Wanted, examples
from tcpstall.archive.asking.leaders import leaders
from tcpstall.archive.asking.session import Session
from tcpstall.archive.asking.where import Chosen
from tcpstall.archive.storing.hours import HOUR_NS, SUMS
from tcpstall.archive.storing.literals import listed, literal, of_flows
from tcpstall.archive.storing.rollups import LEADERS
from tcpstall.causes import Cause
from tcpstall.lost_time import By, Loss, Losses
from tcpstall.model import Endpoint
from tcpstall.units import clock, date

__all__ = ["top"]

_KEYS: Mapping[By, tuple[str, ...]] = {
    "service": ("server_address", "server_port"),
    "cause": ("cause",),
    "host": ("host",),
    "hour": (f"start_ns // {HOUR_NS}",),
    "sensor": ("coalesce(sensor, '')",),
}
"""Columns as they stand in files where that will do: to put texts together ten million times takes a second."""


_SHORTLIST = 5
"""Flows by what causes own of them, among which the one that waited longest is told."""

_Key = tuple[Any, ...]
"""The values of the columns that losses are added up by."""


def top(asked: Session, by: By, chosen: Chosen, most: int) -> Losses:
    """Losses by the time that could be given back, then by the time lost, most first."""
    keys = [f"k{number}" for number in range(len(_KEYS[by]))]
    named = ", ".join(f"{sql} AS {key}" for sql, key in zip(_KEYS[by], keys, strict=True))
    listed = ", ".join(keys)
    sums = chosen.sums(SUMS if by == "host" else asked.rolled("service_sums"))
    found = asked.rows(
        f"WITH each AS (SELECT {named}, cause, sum(waits) AS waits, sum(lost_ns) AS lost, sum(recoverable_ns) AS back "
        f"FROM {sums} GROUP BY ALL) "
        f"SELECT {listed}, sum(lost) AS lost_ns, sum(waits) AS waits, sum(back) AS recoverable_ns, "
        "list({cause: cause, lost: lost}) FILTER (waits > 0) AS causes, sum(sum(lost)) OVER () AS all_ns, "
        f"count(*) OVER () AS keys FROM each GROUP BY {listed} HAVING sum(waits) > 0 "
        f"ORDER BY recoverable_ns DESC, lost_ns DESC, {listed} LIMIT {most}"
    )
    if not found:
        return Losses(by, (), 0, 0)
    causes = {tuple(row[key] for key in keys): _by_cause(row["causes"]) for row in found}
    if chosen.is_all and by in LEADERS:
        flows, wanted = leaders(asked, by, list(causes))
    else:
        flows, wanted = _searched(asked, by, chosen, {key: next(iter(lost)) for key, lost in causes.items()})
    shown = examples(asked, [wanted.get(key) for key in causes])
    rows = []
    for row, (key, lost), example in zip(found, causes.items(), shown, strict=True):
        spans = int(row["recoverable_ns"]), int(row["lost_ns"])
        rows.append(Loss(_told(by, key), *spans, int(row["waits"]), flows.get(key, 0), lost, example))
    return Losses(by, tuple(rows), found[0]["keys"], int(found[0]["all_ns"]))


def _searched(
    asked: Session, by: By, chosen: Chosen, worst: Mapping[_Key, Cause]
) -> tuple[dict[_Key, int], dict[_Key, Wanted]]:
    """Number of flows of each key, and the flow that waited longest, from the rows of those that are meant."""
    flows = _worst_flows(asked, by, chosen, worst)
    waited = _waited(asked, by, chosen, [one for row in flows.values() for one in row["worst"] or ()])
    wanted = {key: one for key in worst if (one := _wanted(key, flows, waited))}
    return {key: row["flows"] for key, row in flows.items()}, wanted


def _wanted(key: _Key, flows: Mapping[_Key, Mapping[str, Any]], waited: Mapping[_Key, int]) -> Wanted | None:
    worst = (flows[key]["worst"] if key in flows else None) or ()
    found = [Wanted(one["scan"], one["flow"], waited.get((*key, one["scan"], one["flow"]), 0)) for one in worst]
    best = max(found, key=lambda one: one.lost_ns, default=None)
    return best if best and best.lost_ns else None


def _worst_flows(asked: Session, by: By, chosen: Chosen, worst: Mapping[_Key, Cause]) -> dict[_Key, dict[str, Any]]:
    """Number of flows of each key, and some that lost most; `worst` has the keys with the cause that cost each most.

    The table of flows has each flow's loss to each cause: adding up ten million waits instead would take seconds.
    """
    if by == "cause":
        return _of_causes(asked, chosen, [cause for (cause,) in worst])
    names = [f"k{number}" for number in range(len(_KEYS[by]))]
    lost, source = _owned(chosen.causes), "flows"
    if by == "host":
        cases = " ".join(f"WHEN {literal(host)} THEN {_owned([cause])}" for (host,), cause in worst.items())
        lost, source = (
            f"CASE host {cases} END",
            "(SELECT *, unnest([client_address, server_address]) AS host FROM flows)",
        )
    wanted = ", ".join(f"({', '.join(literal(value) for value in key)})" for key in worst)
    keys = _KEYS[by]
    these = f"({', '.join(keys)}) IN ({wanted})" if len(keys) > 1 else f"{keys[0]} IN ({wanted})"
    named = ", ".join(f"{sql} AS {name}" for sql, name in zip(keys, names, strict=True))
    some = [f"{_owned(chosen.causes)} > 0"] if chosen.causes else []
    rows = asked.rows(
        f"SELECT {named}, count(*) AS flows, arg_max({{scan: scan, flow: flow}}, {lost}, {_SHORTLIST}) AS worst "
        f"FROM {source} {chosen.flows_where(these, *some)} GROUP BY {', '.join(names)}"
    )
    return {tuple(row[name] for name in names): row for row in rows}


def _waited(asked: Session, by: By, chosen: Chosen, worst: Sequence[Mapping[str, Any]]) -> dict[_Key, int]:
    """Time that these flows lost to each key in waits, ns, counted like all other figures shown."""
    if not worst:
        return {}
    these = of_flows((one["scan"], one["flow"]) for one in worst)
    names = [f"k{number}" for number in range(len(_KEYS[by]))]
    named = ", ".join(f"{sql} AS {name}" for sql, name in zip(_KEYS[by], names, strict=True))
    rows = asked.rows(
        f"SELECT {named}, scan, flow, sum(lost_ns) AS lost FROM stalls {chosen.where(these)} GROUP BY ALL"
    )
    return {(*(row[name] for name in names), row["scan"], row["flow"]): int(row["lost"]) for row in rows}


def _of_causes(asked: Session, chosen: Chosen, causes: Sequence[str]) -> dict[_Key, dict[str, Any]]:
    columns = [_owned([cause]) for cause in causes]
    # A bit for each cause: flows are gone through once for all of them.
    counts = ", ".join(f"count(*) FILTER (bits & {1 << number} > 0) AS flows_{number}" for number in range(len(causes)))
    bit = f"bit_or(1::BIGINT << (list_position([{listed(causes)}], cause) - 1))"
    (counted,) = asked.rows(
        f"SELECT {counts} FROM (SELECT scan, flow, {bit} AS bits FROM stalls "
        f"{chosen.where('lost_ns > 0', f'cause IN ({listed(causes)})')} GROUP BY scan, flow)"
    )
    # One after the other: DuckDB reads but the one column until it knows the few rows.
    worst = " UNION ALL ".join(
        f"(SELECT {number} AS number, scan, flow FROM flows {chosen.flows_where(f'{column} > 0')} "
        f"ORDER BY {column} DESC LIMIT {_SHORTLIST})"
        for number, column in enumerate(columns)
    )
    found: dict[_Key, dict[str, Any]] = {
        (cause,): {"flows": counted[f"flows_{number}"], "worst": []} for number, cause in enumerate(causes)
    }
    for row in asked.rows(worst):
        found[causes[row["number"]],]["worst"].append(row)
    return found


def _owned(causes: Sequence[str]) -> str:
    """Time of a flow that these causes own, or that all do, as SQL."""
    columns = [f"time_{cause.replace('-', '_')}_ns" for cause in causes]
    return f"({' + '.join(columns)})" if columns else "lost_ns"


def _told(by: By, key: _Key) -> str:
    if by == "service":
        return str(Endpoint(*key))
    if by == "hour":
        return _hour(key[0] * HOUR_NS)
    return str(key[0])


def _hour(start_ns: int) -> str:
    """`2026-03-01T10:00Z`: a time that --since takes."""
    return f"{date(start_ns)}T{clock(start_ns)[:5]}Z"


def _by_cause(rows: Sequence[Mapping[str, Any]]) -> dict[Cause, int]:
    """Most first."""
    return {Cause(row["cause"]): int(row["lost"]) for row in sorted(rows, key=lambda row: (-row["lost"], row["cause"]))}
