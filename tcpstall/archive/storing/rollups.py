"""Tables of sums that questions are answered from: their rows as SQL, of parts and of sums of parts alike.

A row of each is of one day's parts, so several may have one key: who reads them adds them up. Names such as `flows` are
those of sources with all columns of that table.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

__all__ = [
    "AT_HOME",
    "CLASSES",
    "DAY_NS",
    "EXACT",
    "HOUR_NS",
    "LEADERS",
    "OF_DAYS",
    "ONE_WAIT",
    "READ",
    "ROLLUPS",
    "SHARED",
    "SUMMED",
    "Rollup",
    "facts",
    "shared",
    "to_add_up",
]

SHARED = ("home", "waited")
"""Sources that several tables of sums are made of, in an order in which each is made of those before it."""

AT_HOME = "at_home"
"""Key among sources which says that all waits and exchanges are of flows that are `home`: none has to be looked up."""

ONE_WAIT = "one_wait"
"""Key among sources, beside AT_HOME, which says that no flow has several waits: none have to be added up."""

SUMMED = ("flows", "stalls", "exchanges", "findings")
"""The tables whose rows are added up."""

HOUR_NS = 3_600_000_000_000
DAY_NS = 24 * HOUR_NS

_RATIO = 1.02
"""Greatest value of a class of a distribution over its least: a quantile is off by 2 % at most."""

EXACT = "-{0}"
"""A class of its own for each value, as SQL: nothing of a distribution is lost."""

CLASSES = f"if({{0}} > 0, floor(ln({{0}}) / ln({_RATIO!r}))::BIGINT, 0)"

_FINDING = "kind, side, server_address, server_port, cause"

_ADDED = (
    "waits", "time_ns", "recoverable_ns", "attempts", "exchanges", "bytes", "segments", "retransmitted_bytes",
    "needless_retransmissions", "reordered_segments", "losses", "losses_queued", "losses_unqueued", "lasted_ns",
)  # fmt: skip

_BEST = ("scan", "flow", "side", "stall", "time_ns", "start_ns", "level_bytes", "sent_again")
"""Columns kept of the flow that shows a finding best."""

_OF_FINDINGS = ("host", "end_ns", "details", "longest_ns", "confidence")

_OF_FLOW = ("scan", "flow", "sensor", "client_address", "server_address", "server_port", "start_ns")

READ: Mapping[str, frozenset[str]] = {
    "flows": frozenset({*_OF_FLOW, "end_ns", "lost_ns", "time_handshake_ns", "stalls", "exchanges"}),
    "stalls": frozenset({*_OF_FLOW, "host", "cause", "lost_ns"}),
    "exchanges": frozenset({*_OF_FLOW, "requester", "think_ns"}),
    "findings": frozenset({*_OF_FLOW, *_FINDING.split(", "), *_ADDED, *_BEST, *_OF_FINDINGS}),
}
"""Columns that sums are made of."""

_SOME = "scan, flow, server_address, server_port"

_NO_FLOW = "NULL::VARCHAR AS scan, NULL::BIGINT AS flow"
"""Of a known type: files of sums are read together, and the first one's types count."""

_CLASSES_ADDED = "sum(n)::BIGINT AS n, sum(time_ns)::DECIMAL(38, 0) AS time_ns, max(most_ns) AS most_ns"

Sources = Mapping[str, str]
"""A source for each of the tables, as SQL; `hours` may be there too, a statement with the waits added up by hour."""


@dataclass(frozen=True, slots=True)
class Rollup:
    """A table of sums: `rows(sources, classes)` are its rows, as SQL.

    `classes` puts a value into a class of its distribution: CLASSES where it is written to a file, else EXACT.
    `added` are rows of the same columns from such rows of many days; a table without it is read by hours or by flows.
    """

    name: str
    rows: Callable[[Sources, str], str]
    added: Callable[[str], str] | None = None


def to_add_up(stalls: str, findings: str) -> str:
    """Rows that hours add up, as SQL, from tables or subqueries with all columns of stalls and findings."""
    keys = f"start_ns // {HOUR_NS} * {HOUR_NS} AS start_ns, sensor, server_address, server_port, host, cause"
    return (
        f"SELECT {keys}, (lost_ns > 0)::BIGINT AS waits, lost_ns, 0::BIGINT AS recoverable_ns FROM {stalls} UNION ALL "
        f"SELECT {keys}, 0 AS waits, 0 AS lost_ns, recoverable_ns FROM {findings} WHERE recoverable_ns > 0"
    )


_WHOLE = f"start_ns // {DAY_NS} = end_ns // {DAY_NS}"
"""A flow of one day, as SQL."""


def facts(of: Sources) -> str:
    """One row, as SQL: whether AT_HOME and ONE_WAIT are true of these sources.

    Compares waits and exchanges that flows of one day count with those that are there, by sums of hashes of 32 bits.
    """
    key = "(hash(scan, flow) >> 32)::BIGINT"
    tables = ("stalls", "exchanges")
    counted = ", ".join(f"coalesce(sum({key} * {name}), 0) AS all_{name}" for name in tables)
    same = " AND ".join(f"all_{name} = (SELECT coalesce(sum({key}), 0) FROM {of[name]})" for name in tables)
    flows = f"SELECT {counted}, coalesce(max(stalls), 0) AS most FROM {of['flows']} WHERE {_WHOLE}"
    return f"SELECT {same}, most <= 1 FROM ({flows})"


def _services(of: Sources, _classes: str) -> str:
    """Waits as hours add them up, whatever the host: of a service with many clients a small part of these rows."""
    sums = ", ".join(f"sum({name})::BIGINT AS {name}" for name in ("waits", "lost_ns", "recoverable_ns"))
    rows = of["hours"] if "hours" in of else to_add_up(of["stalls"], of["findings"])
    return f"SELECT start_ns, sensor, server_address, server_port, cause, {sums} FROM ({rows}) GROUP BY ALL"


def _flows(of: Sources, _classes: str) -> str:
    """Flows that began in each hour, by sensor and service."""
    hour = f"start_ns // {HOUR_NS} * {HOUR_NS} AS start_ns"
    return f"SELECT {hour}, sensor, server_address, server_port, count(*) AS flows FROM {of['flows']} GROUP BY ALL"


def _without(of: Sources, _classes: str) -> str:
    """Flows that waited, by scan, where these parts have no finding of the scan."""
    found = f"SELECT DISTINCT scan FROM {of['findings']}"
    waited = "lost_ns > time_handshake_ns"
    return f"SELECT scan, count(*) AS flows FROM {of['flows']} WHERE {waited} AND scan NOT IN ({found}) GROUP BY scan"


def shared(of: Sources, name: str) -> str:
    """A source that several tables of sums are made of, as SQL, unless `of` has it as a table.

    `home`: flows of one day, whose rows are all in parts of that day. `waited`: time that flows lost in these waits,
    by the ways in which losses are added up, with `home` null for others.
    """
    if name in of:
        return of[name]
    if name == "home":
        return f"(SELECT scan, flow, true AS home FROM {of['flows']} WHERE {_WHOLE})"
    waits = f"SELECT {_SOME}, host, cause, start_ns // {HOUR_NS} AS hour"
    if ONE_WAIT in of:
        return f"({waits}, lost_ns AS lost, true AS home FROM {of['stalls']} WHERE lost_ns > 0)"
    each = f"{waits}, sum(lost_ns)::BIGINT AS lost FROM {of['stalls']} WHERE lost_ns > 0 GROUP BY ALL"
    if AT_HOME in of:
        return f"(SELECT *, true AS home FROM ({each}))"
    return f"(SELECT * FROM ({each}) LEFT JOIN {shared(of, 'home')} USING (scan, flow))"


def _read_often(of: Sources, name: str) -> tuple[str, str]:
    """A shared source that one statement reads several times: its name there, and what follows WITH to make it.

    What is a table already is read as such: made again, it would take its memory twice.
    """
    return (of[name], "") if name in of else (name, f"{name} AS MATERIALIZED (FROM {shared(of, name)})")


LEADERS: Mapping[str, tuple[str, str]] = {
    "service": ("server_address", "server_port"),
    "cause": ("cause", "NULL"),
    "host": ("host", "NULL"),
    "hour": ("NULL", "hour"),
}
"""Text and number that a key of losses has in `leaders`, as columns of `far`."""


def _leaders(of: Sources, _classes: str) -> str:
    """Flows that waited, by key of losses, and the flow that waited longest. `end` counts flows by address.

    Flows with one kind of wait, as most short ones, are not added up for each key.
    """
    waited, made = _read_often(of, "waited")
    if ONE_WAIT in of:
        return f"{_of_single(waited)} UNION ALL {_ends(of)}"
    several = f"SELECT scan, flow FROM {waited} WHERE home GROUP BY scan, flow HAVING count(*) > 1"
    parted = (
        f"several AS MATERIALIZED ({several}), "
        f"single AS MATERIALIZED (SELECT * FROM {waited} ANTI JOIN several USING (scan, flow) WHERE home), "
        f"others AS MATERIALIZED (SELECT * FROM {waited} SEMI JOIN several USING (scan, flow))"
    )
    each = " UNION ALL ".join(
        f"SELECT '{by}' AS key, {text}::VARCHAR AS text, {number}::BIGINT AS number, count(*) AS flows, "
        f"arg_max({{scan: scan, flow: flow, lost: lost}}, lost) AS worst FROM (SELECT {own}, scan, flow, lost "
        f"FROM single UNION ALL SELECT {own}, scan, flow, sum(lost)::BIGINT AS lost "
        "FROM others GROUP BY ALL) GROUP BY ALL"
        for by, (text, number) in LEADERS.items()
        for own in [", ".join(name for name in (text, number) if name != "NULL")]
    )
    return f"WITH {made and f'{made}, '}{parted} {each} UNION ALL {_ends(of)}"


def _of_single(waited: str) -> str:
    """The same where each flow has one wait."""
    return " UNION ALL ".join(
        f"SELECT '{by}' AS key, {text}::VARCHAR AS text, {number}::BIGINT AS number, count(*) AS flows, "
        f"arg_max({{scan: scan, flow: flow, lost: lost}}, lost) AS worst FROM {waited} "
        f"GROUP BY {', '.join(name for name in (text, number) if name != 'NULL')}"
        for by, (text, number) in LEADERS.items()
    )


def _ends(of: Sources) -> str:
    # Counted by end first: parts have each address of a column once, and a list of both is made anew for each flow.
    ends = " UNION ALL ".join(
        f"SELECT {address} AS text, count(*) AS flows FROM {of['flows']} GROUP BY ALL"
        for address in ("client_address", "server_address")
    )
    return f"SELECT 'end', text, NULL, sum(flows)::BIGINT, NULL FROM ({ends}) GROUP BY text"


def _far(of: Sources, _classes: str) -> str:
    """The same of each flow whose other rows may be in parts of other days."""
    return f"SELECT * EXCLUDE (home) FROM {shared(of, 'waited')} WHERE home IS NULL"


def _findings(of: Sources, _classes: str) -> str:
    """Findings by kind, side, service and cause, and the flow that shows each best."""
    sums = ", ".join(f"sum({name})::DECIMAL(38, 0) AS {name}" for name in _ADDED)
    best = ", ".join(f"{name}: {name}" for name in _BEST)
    rank = "if(kind = 'server-slow', longest_ns, time_ns)"
    return (
        f"SELECT {_FINDING}, count(*) AS flows, {sums}, max(time_ns) AS most_ns, "
        # To compare the addresses themselves takes longer than all sums together.
        "any_value(client_address) AS client, min(hash(client_address)) = max(hash(client_address)) AS one_client, "
        "min(start_ns) AS first_ns, max(end_ns) AS last_ns, max(attempts) AS most_attempts, "
        "max(longest_ns) AS longest_ns, sum(confidence * time_ns) AS weighted, "
        "(sum(time_ns) FILTER (confidence IS NOT NULL))::DECIMAL(38, 0) AS weight, "
        f"arg_max({{{best}}}, {rank}) AS best, max({rank}) AS rank FROM {of['findings']} GROUP BY ALL"
    )


def _findings_added(rows: str) -> str:
    sums = ", ".join(f"sum({name})::DECIMAL(38, 0) AS {name}" for name in _ADDED)
    return (
        f"SELECT {_FINDING}, sum(flows)::BIGINT AS flows, {sums}, max(most_ns) AS most_ns, "
        "any_value(client) AS client, "
        "bool_and(one_client) AND min(client) = max(client) AS one_client, min(first_ns) AS first_ns, "
        "max(last_ns) AS last_ns, max(most_attempts) AS most_attempts, max(longest_ns) AS longest_ns, "
        "sum(weighted) AS weighted, sum(weight)::DECIMAL(38, 0) AS weight, arg_max(best, rank) AS best, "
        f"max(rank) AS rank FROM {rows} GROUP BY ALL"
    )


def _details_added(rows: str) -> str:
    return f"SELECT {_FINDING}, detail, sum(time_ns)::DECIMAL(38, 0) AS time_ns FROM {rows} GROUP BY ALL"


def _spread_added(rows: str) -> str:
    return f"SELECT {_FINDING}, class, {_CLASSES_ADDED} FROM {rows} GROUP BY ALL"


def _answers_added(rows: str) -> str:
    return f"SELECT {_SOME}, class, {_CLASSES_ADDED} FROM {rows} GROUP BY ALL"


def _details(of: Sources, _classes: str) -> str:
    """Time of the details of findings."""
    each = f"SELECT {_FINDING}, unnest(string_split(details, ' ')) AS one FROM {of['findings']} WHERE details NOT NULL"
    return (
        f"SELECT {_FINDING}, split_part(one, ':', 1) AS detail, "
        f"sum(split_part(one, ':', 2)::BIGINT)::DECIMAL(38, 0) AS time_ns FROM ({each}) GROUP BY ALL"
    )


def _spread(of: Sources, classes: str) -> str:
    """Distributions of the time of findings over flows: classes, each with its number and its sum."""
    number = classes.format("time_ns")
    added = "count(*) AS n, sum(time_ns)::DECIMAL(38, 0) AS time_ns, max(time_ns) AS most_ns"
    return f"SELECT {_FINDING}, {number} AS class, {added} FROM {of['findings']} GROUP BY ALL"


def _answers(of: Sources, classes: str) -> str:
    """Distributions of answers of slow servers, as those of findings.

    Those of a flow that may have rows in parts of other days are for themselves, and so is, without a class, the word
    that such a flow found its server slow.
    """
    slow = f"SELECT DISTINCT {_SOME} FROM {of['findings']} WHERE kind = 'server-slow'"
    added = "count(*) AS n, sum(think_ns)::DECIMAL(38, 0) AS time_ns, max(think_ns) AS most_ns"
    service = "server_address, server_port"
    if AT_HOME in of:
        return (
            f"WITH slow AS MATERIALIZED ({slow}) SELECT {_NO_FLOW}, {service}, "
            f"{classes.format('think_ns')} AS class, {added} FROM {of['exchanges']} SEMI JOIN slow USING (scan, flow) "
            "WHERE think_ns > 0 AND requester = 'client' GROUP BY ALL"
        )
    home, made = _read_often(of, "home")
    return (
        f"WITH {made and f'{made}, '}slow AS MATERIALIZED ({slow}), "
        f"each AS (SELECT {_SOME}, {classes.format('think_ns')} AS class, think_ns FROM {of['exchanges']} "
        "WHERE think_ns > 0 AND requester = 'client') "
        f"SELECT {_NO_FLOW}, {service}, class, {added} FROM each "
        f"SEMI JOIN {home} USING (scan, flow) SEMI JOIN slow USING (scan, flow) GROUP BY ALL UNION ALL "
        f"SELECT {_SOME}, class, {added} FROM each ANTI JOIN {home} USING (scan, flow) GROUP BY ALL UNION ALL "
        f"SELECT {_SOME}, NULL, 0, NULL, NULL FROM slow ANTI JOIN {home} USING (scan, flow)"
    )


ROLLUPS = {
    each.name: each
    for each in (
        Rollup("service_sums", _services),
        Rollup("flow_sums", _flows),
        Rollup("flows_without", _without),
        Rollup("leaders", _leaders),
        Rollup("far", _far),
        Rollup("finding_sums", _findings, _findings_added),
        Rollup("detail_sums", _details, _details_added),
        Rollup("spread_sums", _spread, _spread_added),
        Rollup("answer_sums", _answers, _answers_added),
    )
}
"""All but the sums of waits by hour, which are a table of the store."""

OF_DAYS = tuple(each.name for each in ROLLUPS.values() if each.added)
"""Tables of sums that are added up over days too: their questions have no time."""
