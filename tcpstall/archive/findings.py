"""Findings over an archive: what the core found of each flow, added up, in the order of `analyze`."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from tcpstall.archive.examples import Wanted, examples
from tcpstall.archive.literals import listed, literal, of_flows
from tcpstall.archive.session import Session
from tcpstall.archive.where import Chosen
from tcpstall.causes import Cause
from tcpstall.findings import Example, Finding, ranked
from tcpstall.lost_time import Shown
from tcpstall.model import Endpoint

__all__ = ["findings", "flows_without"]

_MOST = 4_096
"""Services of a kind that are told apart, as many as in one analysis."""

_TENTHS = "[0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0]"

_KEY = ("kind", "side", "address", "port")

_SERVICE = "kind, side, server_address AS address, server_port AS port"

_PLACE = "sum(recoverable_ns) DESC NULLS LAST, sum(time_ns) DESC, count(*) DESC, address, port"

_SUMS = (
    "waits", "time_ns", "recoverable_ns", "attempts", "exchanges", "bytes", "segments", "retransmitted_bytes",
    "needless_retransmissions", "reordered_segments", "lasted_ns",
)  # fmt: skip

_BEST = ("scan", "flow", "side", "stall", "time_ns", "start_ns", "level_bytes", "sent_again")
"""Columns kept of the flow that shows a finding best."""

_DETAILS = (
    f"SELECT {_SERVICE}, split_part(one, ':', 1) AS detail, sum(split_part(one, ':', 2)::BIGINT) AS time_ns "
    "FROM (SELECT kind, side, server_address, server_port, unnest(string_split(details, ' ')) AS one "
    "FROM findings {where}) GROUP BY ALL ORDER BY time_ns DESC, detail"
)

_SHOWN_BY = (
    "bytes", "segments", "retransmitted_bytes", "initial_window_bytes", "max_in_flight_bytes",
    "bottleneck_bytes_per_s", "queue_delay_ns", "mss_bytes",
)  # fmt: skip
"""Columns of flows that each end has."""

_ENDS = ", ".join(f"{end}_address, {end}_port" for end in ("client", "server"))
_OF_ENDS = ", ".join(f"{end}_{name}" for end in ("client", "server") for name in _SHOWN_BY)
_FACTS = f"scan, flow, {_ENDS}, start_ns, end_ns, base_rtt_ns, trust_level, {_OF_ENDS}"

_Key = tuple[Any, ...]


def findings(asked: Session, chosen: Chosen, most: int) -> list[Shown]:
    """The first ones, in the order in which a person should read them."""
    found, best = _found(asked, chosen)
    [flows] = asked.rows(f"SELECT count(*) AS flows FROM flows {chosen.flows_where()}")

    def leading(found: Sequence[Finding]) -> list[Finding]:
        # An archive is read for what could change: pauses of applications and the like stand in `query`.
        return [one for one in ranked(found, flows["flows"]) if one.is_lead][:most]

    first = leading(_spread(asked, chosen, found, leading(found)))
    first = _with_answers(asked, chosen, first)
    wanted = [best[_key(one, found)] for one in first]
    shown = examples(asked, [_wanted(row) for row in wanted])
    told = zip(first, _facts(asked, wanted), shown, strict=True)
    return [Shown(replace(finding, example=facts), example) for finding, facts, example in told]


def flows_without(asked: Session, chosen: Chosen) -> int:
    """Flows that waited and have no finding: a version scanned them that kept none."""
    waited = f"lost_ns > time_{Cause.HANDSHAKE.value}_ns"
    without = "scan NOT IN (SELECT DISTINCT scan FROM findings)"
    [row] = asked.rows(f"SELECT count(*) AS flows FROM flows {chosen.flows_where(waited, without)}")
    return int(row["flows"])


def _found(asked: Session, chosen: Chosen) -> tuple[list[Finding], dict[_Key, Mapping[str, Any]]]:
    """The findings of single services, without their distributions, and the flow that shows each best."""
    sums = ", ".join(f"sum({name}) AS {name}" for name in _SUMS)
    labelled = "FILTER (confidence IS NOT NULL)"
    best = ", ".join(f"{name}: {name}" for name in _BEST)
    rows = asked.rows(
        f"SELECT {_SERVICE}, count(*) AS flows, {sums}, max(time_ns) AS most_ns, "
        # To compare the addresses themselves takes longer than all sums together.
        "any_value(client_address) AS client, min(hash(client_address)) = max(hash(client_address)) AS one_client, "
        "min(start_ns) AS first_ns, max(end_ns) AS last_ns, max(attempts) AS most_attempts, "
        "max(longest_ns) AS longest_ns, "
        f"sum(confidence * time_ns) / nullif(sum(time_ns) {labelled}, 0) AS confidence, "
        f"arg_max({{{best}}}, if(kind = 'server-slow', longest_ns, time_ns)) AS best, "
        "count(*) OVER (PARTITION BY kind, side) AS services "
        f"FROM findings {chosen.where()} GROUP BY {', '.join(_KEY)} "
        f"QUALIFY row_number() OVER (PARTITION BY kind, side ORDER BY {_PLACE}) <= {_MOST}"
    )
    return [_finding(row) for row in rows], {tuple(row[name] for name in _KEY): row["best"] for row in rows}


def _spread(asked: Session, chosen: Chosen, found: Sequence[Finding], shown: Sequence[Finding]) -> list[Finding]:
    """The findings; those that are shown, alone or merged with others, with distribution and details."""
    kinds = chosen.where(f"kind IN ({listed(sorted({one.kind for one in shown}))})") if shown else "WHERE false"
    keys = ", ".join(_KEY)
    rows = asked.rows(f"SELECT {_SERVICE}, {_quantiles('time_ns')} FROM findings {kinds} GROUP BY {keys}")
    spread = {tuple(row[name] for name in _KEY): row for row in rows}
    details: dict[_Key, list[tuple[str, int]]] = {}
    for row in asked.rows(_DETAILS.format(where=f"{kinds} AND details IS NOT NULL")):
        details.setdefault(tuple(row[name] for name in _KEY), []).append((row["detail"], int(row["time_ns"])))
    return [
        replace(_distributed(one, spread[key]), details=tuple(details.get(key, ()))) if key in spread else one
        for one in found
        for key in [(one.kind, one.side, one.address, one.port)]
    ]


def _distributed(finding: Finding, row: Mapping[str, Any]) -> Finding:
    """With the quantiles of the row."""
    return replace(finding, median_ns=row["tenths"][4], p95_ns=row["p95"], tenths_ns=tuple(row["tenths"]))


def _finding(row: Mapping[str, Any]) -> Finding:
    sums = {name: int(row[name] or 0) for name in _SUMS if name != "recoverable_ns"}
    answers = row["kind"] == "server-slow"
    return Finding(
        kind=row["kind"],
        side=row["side"],
        address=row["address"],
        port=row["port"],
        client=row["client"] if row["one_client"] else None,
        flows=row["flows"],
        recoverable_ns=None if row["recoverable_ns"] is None else int(row["recoverable_ns"]),
        counted=sums["waits"] if answers else row["flows"],
        median_ns=0,
        p95_ns=0,
        worst_ns=row["longest_ns"] if answers else row["most_ns"],
        tenths_ns=(),
        confidence=row["confidence"],
        details=(),
        first_ns=row["first_ns"],
        last_ns=row["last_ns"],
        most_attempts=row["most_attempts"] or 0,
        example=None,
        further_services=row["services"] > _MOST,
        **sums,
    )


def _key(finding: Finding, found: Sequence[Finding]) -> _Key:
    """Of the service that shows a finding best: of several services the one with most time."""
    if finding.port is not None:
        return finding.kind, finding.side, finding.address, finding.port
    of = [
        one
        for one in found
        if (one.kind, one.side) == (finding.kind, finding.side) and finding.address in (None, one.address)
    ]
    most = max(of, key=lambda one: (one.time_ns, one.flows))
    return most.kind, most.side, most.address, most.port


def _with_answers(asked: Session, chosen: Chosen, found: Sequence[Finding]) -> list[Finding]:
    """With a slow server's distribution as that of its answers."""
    slow = [one for one in found if one.kind == "server-slow"]
    if not slow:
        return list(found)
    services = ", ".join(f"({literal(one.address or '')}, {one.port})" for one in slow)
    these = chosen.where(f"(server_address, server_port) IN ({services})", "kind = 'server-slow'")
    answers = chosen.where("think_ns > 0", "requester = 'client'")
    rows = asked.rows(
        f"SELECT server_address, server_port, {_quantiles('think_ns')} "
        f"FROM exchanges SEMI JOIN (SELECT scan, flow FROM findings {these}) USING (scan, flow) "
        f"{answers} GROUP BY server_address, server_port"
    )
    by = {(row["server_address"], row["server_port"]): row for row in rows}
    shown = [
        _distributed(one, row) if one.kind == "server-slow" and (row := by.get((one.address, one.port))) else one
        for one in found
    ]
    return [replace(one, worst_ns=max((one.worst_ns, *one.tenths_ns))) for one in shown]


def _quantiles(column: str) -> str:
    return f"quantile_disc({column}, {_TENTHS}) AS tenths, quantile_disc({column}, 0.95) AS p95"


def _wanted(row: Mapping[str, Any]) -> Wanted:
    at = row["start_ns"] if row["stall"] is not None else None
    return Wanted(row["scan"], row["flow"], int(row["time_ns"]), row["stall"], at)


def _facts(asked: Session, wanted: Sequence[Mapping[str, Any]]) -> list[Example | None]:
    """Facts about the flows that show findings best, in the same order; None for a missing flow."""
    if not wanted:
        return []
    these = of_flows((row["scan"], row["flow"]) for row in wanted)
    rows = asked.rows(f"SELECT {_FACTS} FROM flows WHERE {these}")
    flows = {(row["scan"], row["flow"]): row for row in rows}
    found = [(best, flows.get((best["scan"], best["flow"]))) for best in wanted]
    return [None if flow is None else _example(best, flow) for best, flow in found]


def _example(best: Mapping[str, Any], flow: Mapping[str, Any]) -> Example:
    side, level = best["side"], best["level_bytes"]
    figures = {"peer_window_bytes": level, "plateau_bytes": level, "retransmissions": best["sent_again"]}
    client, server = (Endpoint(flow[f"{end}_address"], flow[f"{end}_port"]) for end in ("client", "server"))
    return Example(
        flow=flow["flow"],
        client=client,
        server=server,
        start_ns=flow["start_ns"],
        end_ns=flow["end_ns"],
        time_ns=best["time_ns"],
        base_rtt_ns=flow["base_rtt_ns"],
        trust=flow["trust_level"],
        stall=None if best["stall"] is None else {"number": best["stall"], "evidence": figures},
        **{name: flow[f"{side}_{name}"] for name in _SHOWN_BY},
    )
