"""Findings over an archive: what the core found of each flow, added up, in the order of `analyze`."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from tcpstall.archive.asking.examples import SHOWN_FLOWS, Wanted, examples
from tcpstall.archive.asking.quantiles import of_classes
from tcpstall.archive.asking.session import Session
from tcpstall.archive.asking.where import Chosen
from tcpstall.archive.storing.literals import listed, literal
from tcpstall.archive.storing.rollups import EXACT, ROLLUPS
from tcpstall.causes import Cause
from tcpstall.findings import Example, Finding, ranked
from tcpstall.lost_time import Shown
from tcpstall.model import Endpoint
from tcpstall.model.losses import Losses

__all__ = ["findings", "flows_without"]

_MOST = 4_096
"""Services of a kind that are told apart, as many as in one analysis."""

_TENTHS = [tenth / 10 for tenth in range(1, 11)]

_KEY = ("kind", "side", "address", "port")

_SERVICE = "kind, side, server_address AS address, server_port AS port"

_PLACE = "sum(recoverable_ns) DESC NULLS LAST, sum(time_ns) DESC, sum(flows) DESC, address, port"

_SUMS = (
    "waits", "time_ns", "attempts", "exchanges", "bytes", "segments", "retransmitted_bytes",
    "needless_retransmissions", "reordered_segments", "lasted_ns",
)  # fmt: skip

_LOSSES = ("losses", "losses_queued", "losses_unqueued")

_QUANTILES = f"quantile_disc(time_ns, {_TENTHS}) AS tenths, quantile_disc(time_ns, 0.95) AS p95"

_SHOWN_BY = (
    "bytes", "segments", "retransmitted_bytes", "initial_window_bytes", "max_in_flight_bytes",
    "bottleneck_bytes_per_s", "queue_delay_ns", "mss_bytes",
)  # fmt: skip
"""Columns of flows that each end has."""

_AT_LOSSES = {
    "queue_ns": "loss_queue_ns",
    "limit_bytes": "loss_limit_bytes",
    "rate_bytes_per_s": "loss_rate_bytes_per_s",
}
"""Sizes of losses, and the columns of flows that each end has of them."""

_FACTS = (
    "base_rtt_ns",
    "trust_level",
    *(f"{end}_{name}" for end in ("client", "server") for name in (*_SHOWN_BY, *_AT_LOSSES.values(), "window_scale")),
)

_Key = tuple[Any, ...]


def findings(asked: Session, chosen: Chosen, most: int) -> list[Shown]:
    """The first ones, in the order in which a person should read them."""
    found, best = _found(asked, chosen)
    flows = _flows(asked, chosen)

    def leading(found: Sequence[Finding]) -> list[Finding]:
        # An archive is read for what could change: pauses of applications and the like stand in `query`.
        return [one for one in ranked(found, flows) if one.is_lead][:most]

    first = leading(_spread(asked, chosen, found, leading(found)))
    first = _with_answers(asked, chosen, first)
    wanted = [best[_key(one, found)] for one in first]
    shown = examples(asked, [_wanted(row) for row in wanted], _FACTS)
    told = zip(first, wanted, _rows(asked, wanted), shown, strict=True)
    return [Shown(_shown_by(finding, row, flow), example) for finding, row, flow, example in told]


def _flows(asked: Session, chosen: Chosen) -> int:
    """The number of flows that are meant."""
    if chosen.is_all:
        [row] = asked.rows(f"SELECT coalesce(sum(flows), 0)::BIGINT AS flows FROM {asked.rolled('flow_sums')}")
    else:
        [row] = asked.rows(f"SELECT count(*) AS flows FROM flows {chosen.flows_where()}")
    return int(row["flows"])


def flows_without(asked: Session, chosen: Chosen) -> int:
    """Flows that waited and have no finding: a version scanned them that kept none."""
    if chosen.is_all:
        waited = asked.rows(f"SELECT scan, sum(flows) AS flows FROM {asked.rolled('flows_without')} GROUP BY scan")
        if not waited:
            return 0
        scans = listed([row["scan"] for row in waited])
        found = {row["scan"] for row in asked.rows(f"SELECT DISTINCT scan FROM findings WHERE scan IN ({scans})")}
        return sum(int(row["flows"]) for row in waited if row["scan"] not in found)
    waiting = f"lost_ns > time_{Cause.HANDSHAKE.value}_ns"
    without = "scan NOT IN (SELECT DISTINCT scan FROM findings)"
    [row] = asked.rows(f"SELECT count(*) AS flows FROM flows {chosen.flows_where(waiting, without)}")
    return int(row["flows"])


def _found(asked: Session, chosen: Chosen) -> tuple[list[Finding], dict[_Key, Mapping[str, Any]]]:
    """The findings of single services, without their distributions, and the flow that shows each best."""
    sums = ", ".join(f"sum({name}) AS {name}" for name in ("flows", "recoverable_ns", *_SUMS, *_LOSSES))
    most = ", ".join(f"max({name}) AS {name}" for name in ("most_ns", "most_attempts", "longest_ns", "last_ns"))
    rows = asked.rows(
        f"SELECT {_SERVICE}, {sums}, {most}, min(first_ns) AS first_ns, any_value(client) AS client, "
        "bool_and(one_client) AND min(client) = max(client) AS one_client, "
        "sum(weighted) / nullif(sum(weight)::DOUBLE, 0) AS confidence, arg_max(best, rank) AS best, "
        "count(*) OVER (PARTITION BY kind, side) AS services "
        f"FROM {_source(asked, chosen, 'finding_sums')} GROUP BY {', '.join(_KEY)} "
        f"QUALIFY row_number() OVER (PARTITION BY kind, side ORDER BY {_PLACE}) <= {_MOST}"
    )
    return [_finding(row) for row in rows], {tuple(row[name] for name in _KEY): row["best"] for row in rows}


def _source(asked: Session, chosen: Chosen, rollup: str, *more: str) -> str:
    """The rows of a table of sums that are meant: those that lie there, or those of the findings that are meant."""
    if chosen.by_finding:
        return f"(FROM {asked.rolled(rollup)} {chosen.where(*more)})"
    source = {"findings": f"(FROM findings {chosen.where(*more)})"}
    return f"({ROLLUPS[rollup].rows(source, EXACT)})"


def _spread(asked: Session, chosen: Chosen, found: Sequence[Finding], shown: Sequence[Finding]) -> list[Finding]:
    """The findings; those that are shown, alone or merged with others, with distribution and details."""
    kinds = f"kind IN ({listed(sorted({one.kind for one in shown}))})" if shown else "false"
    addresses = {one.address for one in shown}
    if None not in addresses:
        kinds += f" AND server_address IN ({listed(sorted(map(str, addresses)))})" if shown else ""
    keys = ", ".join(_KEY)
    if chosen.by_finding:
        source = f"SELECT {_SERVICE}, class, n, time_ns, most_ns FROM {_source(asked, chosen, 'spread_sums', kinds)}"
        rows = of_classes(asked, source, _KEY)
    else:
        rows = asked.rows(f"SELECT {_SERVICE}, {_QUANTILES} FROM findings {chosen.where(kinds)} GROUP BY {keys}")
    spread = {tuple(row[name] for name in _KEY): row for row in rows}
    details: dict[_Key, list[tuple[str, int]]] = {}
    for row in asked.rows(
        f"SELECT {_SERVICE}, detail, sum(time_ns) AS time_ns FROM {_source(asked, chosen, 'detail_sums', kinds)} "
        "GROUP BY ALL ORDER BY time_ns DESC, detail"
    ):
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
    sums = {name: int(row[name] or 0) for name in _SUMS}
    flows = int(row["flows"])
    answers = row["kind"] == "server-slow"
    return Finding(
        kind=row["kind"],
        side=row["side"],
        address=row["address"],
        port=row["port"],
        client=row["client"] if row["one_client"] else None,
        flows=flows,
        recoverable_ns=None if row["recoverable_ns"] is None else int(row["recoverable_ns"]),
        counted=sums["waits"] if answers else flows,
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
        waited_for=None,
        behind=None,
        losses=_losses(row),
        awaited_by=(),
        makes_most=0,
        of_several_clients=False,
        **sums,
    )


def _losses(row: Mapping[str, Any]) -> Losses | None:
    """The counts of all flows. Sizes are of the flow that shows the finding best."""
    counted, queued, unqueued = (int(row[name] or 0) for name in _LOSSES)
    return Losses(counted, queued, unqueued, queue_ns=None, limit_bytes=None) if counted else None


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
    service = f"(server_address, server_port) IN ({services})"
    if chosen.by_finding:
        rolled = f"(FROM {asked.rolled('answer_sums')} WHERE {service})"
        # Answers of one scan and flow count if it has a finding, which may be among the rows of another day.
        counts = f"scan IS NULL OR (scan, flow) IN (SELECT (scan, flow) FROM {rolled} WHERE class IS NULL)"
        source = f"SELECT server_address, server_port, class, n, time_ns, most_ns FROM {rolled} WHERE {counts}"
        rows = of_classes(asked, f"SELECT * FROM ({source}) WHERE class NOT NULL", ("server_address", "server_port"))
    else:
        these = chosen.where(service, "kind = 'server-slow'")
        answers = chosen.where("think_ns > 0", "requester = 'client'")
        rows = asked.rows(
            f"SELECT server_address, server_port, {_QUANTILES.replace('time_ns', 'think_ns')} "
            f"FROM exchanges SEMI JOIN (SELECT scan, flow FROM findings {these}) USING (scan, flow) "
            f"{answers} GROUP BY server_address, server_port"
        )
    by = {(row["server_address"], row["server_port"]): row for row in rows}
    shown = [
        _distributed(one, row) if one.kind == "server-slow" and (row := by.get((one.address, one.port))) else one
        for one in found
    ]
    return [replace(one, worst_ns=max((one.worst_ns, *one.tenths_ns))) for one in shown]


def _wanted(row: Mapping[str, Any]) -> Wanted:
    at = row["start_ns"] if row["stall"] is not None else None
    return Wanted(row["scan"], row["flow"], int(row["time_ns"]), row["stall"], at)


def _rows(asked: Session, wanted: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any] | None]:
    """Rows of the flows that show findings best, in the same order; None for a missing flow."""
    if not wanted:
        return []
    flows = {(row["scan"], row["flow"]): row for row in asked.rows(f"FROM {SHOWN_FLOWS}")}
    return [flows.get((best["scan"], best["flow"])) for best in wanted]


def _shown_by(finding: Finding, best: Mapping[str, Any], flow: Mapping[str, Any] | None) -> Finding:
    """The finding with what is known of the flow that shows it best."""
    if flow is None:
        return finding
    # Of several services the flow shows no more than the delay.
    sizes: dict[str, Any] = {
        name: flow[f"{best['side']}_{column}"] if finding.port is not None or name == "queue_ns" else None
        for name, column in _AT_LOSSES.items()
    }
    losses = finding.losses and replace(finding.losses, **sizes)
    return replace(finding, example=_example(best, flow), losses=losses)


def _example(best: Mapping[str, Any], flow: Mapping[str, Any]) -> Example:
    side, level = best["side"], best["level_bytes"]
    figures = {"peer_window_bytes": level, "plateau_bytes": level, "retransmissions": best["sent_again"]}
    peer = "server" if side == "client" else "client"
    client, server = (Endpoint(flow[f"{end}_address"], flow[f"{end}_port"]) for end in ("client", "server"))
    return Example(
        flow=flow["flow"],
        client=client,
        server=server,
        start_ns=flow["start_ns"],
        end_ns=flow["end_ns"],
        time_ns=best["time_ns"],
        base_rtt_ns=flow["base_rtt_ns"],
        peer_window_scale=flow[f"{peer}_window_scale"],
        trust=flow["trust_level"],
        stall=None if best["stall"] is None else {"number": best["stall"], "evidence": figures},
        **{name: flow[f"{side}_{name}"] for name in _SHOWN_BY},
    )
