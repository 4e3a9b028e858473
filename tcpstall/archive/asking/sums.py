"""Sums over the whole store for its metrics: one statement a table, by service and cause or bucket."""

from collections import Counter
from collections.abc import Collection, Iterator

from tcpstall.archive.asking.session import Session
from tcpstall.archive.columns import TABLES
from tcpstall.archive.storing.hours import SUMS
from tcpstall.archive.storing.ledger import SUM, Key
from tcpstall.archive.storing.literals import listed
from tcpstall.metrics.families import (
    CAPTURES,
    FLOWS,
    LOST,
    NEWEST_PACKET,
    OTHER,
    RTT,
    SCANNED,
    TTFB,
    UNBOUNDED,
    UNREADABLE,
    WAITS,
    Family,
)

__all__ = ["gauges", "sums", "worst_services"]

_SERVICE = next(column.sql for column in TABLES["flows"].added if column.name == "service")

_UNKNOWN = ""
"""The bucket of connections without a known round-trip time: they are flows, and in no histogram."""

_FIRST_BYTE = "(latency_ns - coalesce(response_ns, 0))"


def worst_services(asked: Session, most: int) -> tuple[str, ...]:
    """The services that lost most time, pauses of applications aside; worst first."""
    rows = asked.rows(
        f"SELECT {_SERVICE} AS service FROM flows GROUP BY server_address, server_port "
        f"ORDER BY sum(lost_ns - time_app_limited_ns) DESC, service LIMIT {most}"
    )
    return tuple(row["service"] for row in rows)


def sums(asked: Session, services: Collection[str]) -> Counter[Key]:
    """With all but these services as one. Raises CannotOpen where the store cannot be read."""
    found: Counter[Key] = Counter()
    for service, cause, rows, time_ns in _grouped(
        asked, services, SUMS, "cause", "lost_ns", "waits > 0", rows="sum(waits)"
    ):
        found[WAITS.name, service, cause] += rows
        found[LOST.name, service, cause] += time_ns
    for service, bucket, rows, time_ns in _histogram(asked, services, RTT, "flows", "base_rtt_ns"):
        found[FLOWS.name, service, ""] += rows
        if bucket != _UNKNOWN:
            found[RTT.name, service, bucket] += rows
            found[RTT.name, service, SUM] += time_ns
    for service, bucket, rows, time_ns in _histogram(
        asked, services, TTFB, "exchanges", _FIRST_BYTE, "response_bytes > 0"
    ):
        found[TTFB.name, service, bucket] += rows
        found[TTFB.name, service, SUM] += time_ns
    return found


def gauges(asked: Session) -> dict[str, int]:
    """Values of gauges by family, times in ns; without those that nothing is known of."""
    (row,) = asked.rows(
        f"SELECT count(*) AS {CAPTURES.name}, count(*) FILTER (exit_code <> 0) AS {UNREADABLE.name}, "
        f"max(last_ns) AS {NEWEST_PACKET.name}, max(scanned_ns) AS {SCANNED.name} FROM captures"
    )
    return {name: int(value) for name, value in row.items() if value is not None}


def _histogram(
    asked: Session, services: Collection[str], family: Family, table: str, time_ns: str, condition: str = "true"
) -> Iterator[tuple[str, str, int, int]]:
    """The same by bucket, which is called as its bound is written."""
    bounds = " ".join(f"WHEN {time_ns} <= {bound} THEN '{name}'" for bound, name in family.buckets.items())
    bucket = f"CASE WHEN {time_ns} IS NULL THEN '{_UNKNOWN}' {bounds} ELSE '{UNBOUNDED}' END"
    return _grouped(asked, services, table, bucket, time_ns, condition)


def _grouped(
    asked: Session,
    services: Collection[str],
    table: str,
    label: str,
    time_ns: str,
    condition: str,
    *,
    rows: str = "count(*)",
) -> Iterator[tuple[str, str, int, int]]:
    """(service, label, `rows`, their time in ns). Text is made of addresses once a service, not once a row."""
    named = f"service IN ({listed(sorted(services))})" if services else "false"
    found = asked.rows(
        f"WITH each AS (SELECT server_address, server_port, {label} AS label, {rows} AS n, sum({time_ns}) AS time_ns "
        f"FROM {table} WHERE {condition} GROUP BY ALL), "
        f"called AS (SELECT {_SERVICE} AS service, label, n, time_ns FROM each) "
        f"SELECT if({named}, service, '{OTHER}') AS service, label, sum(n) AS n, coalesce(sum(time_ns), 0) AS time_ns "
        "FROM called GROUP BY ALL"
    )
    for row in found:
        yield row["service"], row["label"], int(row["n"]), int(row["time_ns"])
