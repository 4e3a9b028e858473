"""A store of millions of waits, written directly: what questions cost does not depend on where rows came from."""

import math
import sys
import tempfile
import uuid
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import duckdb

from tcpstall import _core
from tcpstall.archive.columns import CAPTURES, TABLES, layout
from tcpstall.archive.maintenance.upkeep import MEMORY_BYTES
from tcpstall.archive.storing.parquet import Parts, form
from tcpstall.archive.storing.store import Commit, Part, Store
from tcpstall.archive.storing.summing import sum_up

START_NS = 1_790_035_200 * 10**9
"""2026-09-22 00:00 UTC."""

STALLS_A_FLOW = 8
SCANS_A_DAY = 96
HOUR_NS = 3600 * 10**9
DAY_NS = 24 * HOUR_NS
DAYS = 14
PART_ROWS = 100_000

INCIDENT = "10.0.3.7"
"""From `incident_ns()` on its send buffers hold 64 KB."""

_UNLIKE = "(hash({0}, {1}) / 18446744073709551616.0)"
"""A number from 0 to 1 that looks random and is the same each time."""

_TIDE = 0.5
"""In the quietest hour so much less than on average is going on."""

_CAUSES = (
    ("app-limited", "think-time", 0.34, 4e7),
    ("app-limited", "awaiting-peer", 0.12, 3e7),
    ("cwnd-limited", "slow-start", 0.17, 9e6),
    ("cwnd-limited", "congestion-avoidance", 0.05, 1.2e7),
    ("rwnd-limited", None, 0.09, 1.1e7),
    ("retransmission", "fast-retransmit", 0.05, 4e7),
    ("retransmission", "timeout", 0.02, 2.6e8),
    ("handshake", None, 0.05, 8e6),
    ("delayed-ack", None, 0.03, 3.9e7),
    ("idle-restart", "slow-start", 0.02, 1e7),
    ("nagle", None, 0.01, 2e7),
    ("pacing", None, 0.02, 2e6),
    ("zero-window", None, 0.01, 2.1e8),
    ("unexplained", None, 0.02, 1e7),
)
"""Cause, detail, share of the waits, mean length in ns."""


def u(key: str, number: int) -> str:
    return _UNLIKE.format(key, number)


def incident_ns(days: int) -> int:
    """After two thirds of the time, at 02:10."""
    return START_NS + days * 2 // 3 * DAY_NS + 130 * 60 * 10**9


def write(folder: Path, stalls: int, *, days: int = DAYS) -> None:
    """A store with so many waits over so many days."""
    flows = max(1, stalls // STALLS_A_FLOW)
    with Store.writing(str(folder)) as store, tempfile.TemporaryDirectory(dir=store.place.scratch) as scratch:
        parts: list[Part] = []
        for day in range(days):
            first, last = flows * day // days, flows * (day + 1) // days
            parts += _day(store, Path(scratch), day, first, last, flows, days)
        store.commit(Commit(parts=parts, captures=list(_captures(days))))
        sum_up(store, Parts(store.place, MEMORY_BYTES), spares=False)


def _day(store: Store, scratch: Path, day: int, first: int, last: int, flows: int, days: int) -> Iterator[Part]:
    connection = duckdb.connect()
    connection.execute(f"CREATE TABLE f AS {_flows(first, last, flows, days)}")
    date = datetime.fromtimestamp((START_NS + day * DAY_NS) / 1e9, UTC).date()
    for name, rows in (
        ("flows", "f"),
        ("stalls", f"({_stalls(days)})"),
        ("exchanges", f"({_exchanges()})"),
        ("findings", f"({_findings(days)})"),
    ):
        names = [column[0] for column in connection.execute(f"SELECT * FROM {rows} LIMIT 0").description or ()]
        listed = ", ".join(_given(column.name, column.type, names) for column in TABLES[name].analysed)
        kept = f"SELECT *{TABLES[name].derived} FROM (SELECT {listed} FROM {rows} ORDER BY start_ns)"
        connection.execute(f"CREATE OR REPLACE TEMP TABLE kept AS {kept}")
        count = connection.execute("SELECT count(*) FROM kept").fetchall()[0][0]
        for offset in range(0, count, PART_ROWS):
            file = scratch / f"{uuid.uuid4().hex}.parquet"
            part = f"(SELECT * FROM kept LIMIT {PART_ROWS} OFFSET {offset})"
            connection.execute(f"COPY {part} TO '{file}' ({form(name, min(PART_ROWS, count - offset))})")
            size, path = file.stat().st_size, f"{name}/day={date}/{file.name}"
            store.place.take(path, file)
            ends = (START_NS + (day - 1) * DAY_NS, START_NS + (day + 2) * DAY_NS)
            yield Part(name, path, min(PART_ROWS, count - offset), size, *ends, layout(name))


def _given(name: str, type_: str, names: list[str]) -> str:
    return f'"{name}"' if name in names else f'NULL::{type_} AS "{name}"'


def _flows(first: int, last: int, flows: int, days: int) -> str:
    """Thirty-odd services, one taking most of it, and a few thousand clients; most is going on in the afternoon."""
    days_gone = f"i * {days / flows!r}"
    share = f"({days_gone} - floor({days_gone}))"
    rhythm = f"CAST({DAY_NS} * ({days_gone} + {_TIDE / math.tau!r} * sin({math.tau} * ({share} - 0.05))) AS BIGINT)"
    owned = ", ".join(
        f"CAST(duration_ns * {share / 1.5:.3f} * {u('i', 40 + number)} AS BIGINT) AS time_{owner.replace('-', '_')}_ns"
        for number, owner in enumerate(_core.owners())
        for share in [sum(cause[2] for cause in _CAUSES if cause[0] == owner)]
    )
    causes = " + ".join(f"time_{info.name.replace('-', '_')}_ns" for info in _core.causes())
    return f"""
    WITH a AS (
      SELECT i, CAST(36 * pow({u("i", 1)}, 2.2) AS BIGINT) AS s, {START_NS} + greatest(0, {rhythm}) AS start_ns,
             CAST(-ln({u("i", 2)} + 1e-12) * 4e9 AS BIGINT) AS duration_ns
      FROM range({first}, {last}) r(i)
    ), b AS (
      SELECT i, s, start_ns, duration_ns, start_ns + duration_ns AS end_ns,
             format('{{:016x}}', hash(start_ns // {DAY_NS // SCANS_A_DAY}) ) AS scan, i AS flow,
             {_file("start_ns")} AS capture,
             '10.1.' || CAST(8 * {u("i", 3)} AS BIGINT) || '.' || CAST(250 * pow({u("i", 4)}, 2) AS BIGINT)
               AS client_address,
             CAST(20000 + 40000 * {u("i", 5)} AS BIGINT) AS client_port,
             if(s = 7, '{INCIDENT}', if(s % 9 = 8, '2001:db8::' || s, '10.0.' || (s // 8) || '.' || (s % 8 + 1)))
               AS server_address,
             [443, 80, 5432, 6379, 8080, 443, 9092][s % 7 + 1] AS server_port,
             if(s % 3 = 0, 'GET /items/' || (i % 50) || ' HTTP/1.1 shop.example', NULL) AS label,
             if(s % 3 = 0, 'shop.example', NULL) AS http_host, if(s % 3 = 0, 'GET', NULL) AS http_method,
             if(s % 3 = 0, [200, 200, 200, 404, 503][i % 5 + 1], NULL) AS http_status,
             if(s % 3 = 1, 's' || s || '.example', NULL) AS server_name,
             1 + ({u("i", 14)} < 0.01)::BIGINT AS client_syns, [47, 55, 113][s % 3 + 1] AS client_syn_ttl,
             {u("i", 15)} < 0.9 AS client_ecn,
             CAST(100 + 900 * {u("i", 6)} AS BIGINT) AS segments, false AS at_end, 'closed' AS state,
             'server' AS vantage_side, 0.9 AS vantage_confidence,
             CAST(2e5 + 4e7 * pow({u("s", 7)}, 3) AS BIGINT) AS base_rtt_ns,
             {u("i", 8)} < 0.995 AS handshake_complete, {STALLS_A_FLOW} AS stalls, 3 AS exchanges,
             'high' AS trust_level,
             CAST(400 + 2000 * {u("i", 9)} AS BIGINT) AS client_bytes,
             CAST(2e4 - 3e5 * ln({u("i", 10)} + 1e-12) AS BIGINT) AS server_bytes,
             CAST(if({u("i", 11)} < 0.2, 1448 * 4 * {u("i", 12)}, 0) AS BIGINT) AS server_retransmitted_bytes,
             0 AS client_retransmitted_bytes
      FROM a
    ), c AS (SELECT *, CAST(base_rtt_ns * (1 + {u("i", 13)} * 0.3) AS BIGINT) AS handshake_ns, {owned} FROM b)
    SELECT *, {causes} AS lost_ns FROM c
    """


def _file(time_ns: str) -> str:
    """The file that holds that time: there is one for each scan."""
    step = DAY_NS // SCANS_A_DAY
    return f"strftime(make_timestamp({time_ns} // {step} * {step // 1000}), 'captures/eth0-%Y%m%d-%H%M.pcap.gz')"


def _stalls(days: int) -> str:
    """Losses cost more when much is going on; the rest is as it is."""
    upto, cause, detail, mean = 0.0, "", "", ""
    for name, narrower, share, length in _CAUSES:
        upto += share
        cause += f" WHEN x < {upto} THEN '{name}'"
        detail += f" WHEN x < {upto} THEN {'NULL' if narrower is None else repr(narrower)}"
        mean += f" WHEN x < {upto} THEN {length}"
    busy = f"pow(1.2 - cos({math.tau} * ((start_ns - {START_NS}) % {DAY_NS} / {DAY_NS} - 0.1)), 2)"
    number = f"i * {STALLS_A_FLOW} + j"
    full = f"(server_address = '{INCIDENT}' AND start_ns >= {incident_ns(days)} AND {u('k', 5)} < 0.5)"
    return f"""
    WITH a AS (
      SELECT f.* EXCLUDE (start_ns, end_ns, duration_ns, stalls), j AS stall, {number} AS k,
             f.start_ns + CAST(f.duration_ns * (j + {u(number, 1)}) / {STALLS_A_FLOW + 1} AS BIGINT) AS start_ns
      FROM f, range({STALLS_A_FLOW}) r(j)
    ), b AS (SELECT *, {u("k", 2)} AS x, {full} AS full_buffer FROM a),
    c AS (
      SELECT *, if(full_buffer, 'sndbuf-limited', CASE {cause} ELSE 'app-limited' END) AS cause,
             if(full_buffer, 'plateau', CASE {detail} END) AS detail,
             if(full_buffer, 2.6e7, CASE {mean} ELSE 1e7 END) * if(cause = 'retransmission', {busy}, 1) AS mean_ns,
             CAST(-ln({u("k", 3)} + 1e-12) * mean_ns AS BIGINT) AS duration_ns
      FROM b
    )
    SELECT *, start_ns + duration_ns AS end_ns, true AS ended,
           if({u("k", 4)} < 0.3 AND NOT full_buffer, 'client', 'server') AS sender,
           round(0.5 + 0.5 * {u("k", 6)}, 2) AS confidence, '' AS also, '' AS missing,
           if(full_buffer, 64000 + 1448 * (k % 2), CAST(1448 * (10 + 90 * {u("k", 7)}) AS BIGINT)) AS in_flight_bytes,
           CAST(65536 * (1 + 3 * {u("s", 8)}) AS BIGINT) AS peer_window_bytes,
           if(full_buffer, 60000, NULL) AS buffer_low_bytes, if(full_buffer, 66000, NULL) AS buffer_high_bytes,
           k % 1000 AS last_packet, k % 1000 + 2 AS next_packet
    FROM c
    """


def _findings(days: int) -> str:
    """Time that the waits of a cause take of each flow."""
    ends = "client_address, client_port, server_address, server_port"
    flow = f"scan, flow, capture, {ends}, label, server_name, http_host, at_end"
    lost = f"SELECT * FROM ({_stalls(days)}) WHERE detail IS DISTINCT FROM 'awaiting-peer' AND cause <> 'handshake'"
    idle = "cause = 'unexplained' OR cause = 'app-limited' AND sender = 'client'"
    named = "WHEN cause = 'app-limited' THEN 'server-slow' WHEN cause = 'retransmission' THEN 'loss'"
    kind = f"CASE WHEN {idle} THEN 'idle' {named} ELSE cause END"
    return f"""
    SELECT {flow}, {kind} AS kind, sender AS side, cause, max(detail) || ':' || sum(duration_ns) AS details,
           min(start_ns) AS start_ns, max(end_ns) AS end_ns, sum(duration_ns)::BIGINT AS time_ns,
           if(kind = 'idle', NULL, sum(duration_ns)::BIGINT) AS recoverable_ns, count(*) AS waits,
           max(duration_ns) AS longest_ns, arg_max(stall, duration_ns) AS stall, max(in_flight_bytes) AS level_bytes,
           avg(confidence) AS confidence, 3 AS exchanges, 20000 AS bytes, 20 AS segments,
           1448 * count(*) FILTER (cause = 'retransmission') AS retransmitted_bytes, 0 AS reordered_segments,
           0 AS needless_retransmissions, 4000000000 AS lasted_ns
    FROM ({lost}) GROUP BY {flow}, cause, sender
    """


def _exchanges() -> str:
    latency = f"base_rtt_ns + CAST(-ln({u('i * 3 + j', 20)} + 1e-12) * 3e7 AS BIGINT) AS latency"
    return f"""
    SELECT * EXCLUDE (start_ns, end_ns, handshake_ns), start_ns + j * 1000000 AS start_ns,
           start_ns + j * 1000000 + latency AS end_ns, latency AS latency_ns, 'client' AS requester, true AS complete,
           0 AS overlaps, 500 AS request_bytes, server_bytes // 3 AS response_bytes,
           latency / base_rtt_ns AS round_trips, base_rtt_ns AS travel_ns, latency - base_rtt_ns AS think_ns
    FROM (SELECT f.*, j, {latency} FROM f, range(3) r(j))
    """


def _captures(days: int) -> Iterator[Mapping[str, Any]]:
    """A file for each scan, and beside each hundredth one that could not be read."""
    step = DAY_NS // SCANS_A_DAY
    connection = duckdb.connect()
    rows = connection.execute(
        f"SELECT s, format('{{:016x}}', hash(s // {step})), {_file('s')} FROM range(?, ?, {step}) r(s)",
        [START_NS, START_NS + days * DAY_NS],
    ).fetchall()
    for number, (start, scan, name) in enumerate(rows):
        yield dict.fromkeys(CAPTURES) | {
            "scan": scan, "chain": scan, "capture_set": "captures/eth0-*.pcap.gz", "name": name, "size_bytes": 10**8,
            "changed_ns": start + step, "fingerprint": scan, "format": "pcap", "compression": "gzip",
            "link_types": "EN10MB", "packets": 10**6, "tcp_segments": 10**6, "first_ns": start, "last_ns": start + step,
            "exit_code": 0, "flows": 1000, "tcpstall": _core.version(), "scanned_ns": start + 2 * step,
        }  # fmt: skip
        if number % 100 == 99:
            bad = name.replace("eth0", "bad")
            reason = "the file ends early" if number % 200 == 99 else "not a capture"
            yield dict.fromkeys(CAPTURES) | {
                "name": bad, "size_bytes": 10**6, "changed_ns": start + step, "fingerprint": f"bad-{scan}",
                "exit_code": 5, "error": f"{bad}: {reason}", "flows": 0, "tcpstall": _core.version(),
                "scanned_ns": start + 2 * step,
            }  # fmt: skip


if __name__ == "__main__":
    write(Path(sys.argv[1]), int(sys.argv[2]))
