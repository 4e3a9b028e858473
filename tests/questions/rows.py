"""A small store whose every row is known, so that answers can be added up in plain Python."""

import json
import random
import uuid
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tcpstall import Cause, _core
from tcpstall.archive.asking.saved import Question
from tcpstall.archive.columns import CAPTURES, TABLES, layout
from tcpstall.archive.storing.store import Commit, Part, Store

HOUR_NS = 3_600_000_000_000
DAY_NS = 24 * HOUR_NS
START_NS = 1_790_035_200 * 10**9
"""2026-09-22 00:00 UTC."""

Row = dict[str, Any]

SERVICES = (("10.0.3.7", 443), ("10.0.0.1", 80), ("2001:db8::1", 5432), ("10.0.0.2", 80))
SERVER_NAMES = {("10.0.3.7", 443): "www.example.org"}
HTTP_HOSTS = {("10.0.0.1", 80): "shop.example.org"}
KINDS = (
    (Cause.APP_LIMITED, "think-time"), (Cause.APP_LIMITED, "awaiting-peer"), (Cause.CWND_LIMITED, "slow-start"),
    (Cause.RWND_LIMITED, None), (Cause.RETRANSMISSION, "timeout"), (Cause.ZERO_WINDOW, None),
    (Cause.HANDSHAKE, "syn-loss"), (Cause.UNEXPLAINED, None),
)  # fmt: skip


@dataclass
class Rows:
    """The rows that count, and the folder of the store that holds them."""

    folder: Any
    flows: list[Row] = field(default_factory=list)
    stalls: list[Row] = field(default_factory=list)
    exchanges: list[Row] = field(default_factory=list)
    findings: list[Row] = field(default_factory=list)
    captures: list[Row] = field(default_factory=list)

    def lost_by(self, *names: str) -> dict[tuple[Any, ...], int]:
        """Lost time by those columns of stalls."""
        sums: dict[tuple[Any, ...], int] = {}
        for row in self.stalls:
            key = tuple(row[name] for name in names)
            sums[key] = sums.get(key, 0) + lost(row)
        return sums


def lost(stall: Mapping[str, Any]) -> int:
    return 0 if stall["detail"] == "awaiting-peer" else int(stall["duration_ns"])


def host(stall: Mapping[str, Any]) -> str:
    """The end whose doing it was."""
    if stall["cause"] == Cause.HANDSHAKE:
        return str(stall["server_address"])
    receiver = stall["cause"] in (Cause.RWND_LIMITED, Cause.ZERO_WINDOW, Cause.DELAYED_ACK)
    at_server = (stall["sender"] == "server") != receiver
    return str(stall["server_address" if at_server else "client_address"])


NAMES = ("sensor", "label", "server_name", "http_host")
"""Values on each row of a flow that has them."""


def flow(number: int, start_ns: int, service: tuple[str, int], **known: Any) -> Row:
    return {
        "scan": f"{start_ns // DAY_NS:016x}", "flow": number, "capture": f"day-{start_ns // DAY_NS}.pcap",
        "client_address": f"192.0.2.{number % 5}", "client_port": 40_000 + number, "server_address": service[0],
        "server_port": service[1], "sensor": (None, "berlin-1", "berlin-2")[number % 3], "label": None,
        "server_name": SERVER_NAMES.get(service),
        "http_host": HTTP_HOSTS.get(service), "at_end": False,
        "start_ns": start_ns, "end_ns": start_ns + 10**10, "duration_ns": 10**10,
        "client_bytes": 500, "server_bytes": 10_000 + number,
        "server_retransmitted_bytes": number, "client_retransmitted_bytes": 0,
        "handshake_ns": 10**6 * (1 + number % 7), "handshake_complete": True,
        "http_status": 503 if service in HTTP_HOSTS else None, "client_syns": 1 + number % 2, "server_syns": 1,
        "server_syn_ttl": 60 + number % 3, "client_sack_permitted": True, "server_sack_permitted": number % 2 == 0,
        "client_timestamps": True, "server_timestamps": True, "client_ecn": True, "server_ecn": number % 2 == 0,
        "server_initial_window_bytes": 9_000, "server_mss_bytes": 900, "client_announced_window_bytes": 20_000,
        "server_bdp_bytes": 50_000, "closed_by": "server", "state": "closed",
        "base_rtt_ns": 10**5 * number if number % 9 else None,
    } | known  # fmt: skip


def stall(of: Row, number: int, cause: Cause, detail: str | None, duration_ns: int, **known: Any) -> Row:
    names = (
        "scan",
        "flow",
        "capture",
        "client_address",
        "client_port",
        "server_address",
        "server_port",
        *NAMES,
        "at_end",
    )
    start = of["start_ns"] + number * 10**8
    return {name: of[name] for name in names} | {
        "stall": number, "sender": "server", "start_ns": start, "end_ns": start + duration_ns,
        "duration_ns": duration_ns, "ended": True, "cause": cause.value, "detail": detail, "confidence": 0.9,
        "also": "", "missing": "", "in_flight_bytes": 20_000, "peer_window_bytes": 30_000,
    } | known  # fmt: skip


def kind(wait: Mapping[str, Any]) -> str:
    """The finding that a wait belongs to."""
    if wait["cause"] == Cause.APP_LIMITED:
        return "server-slow" if wait["sender"] == "server" else "idle"
    return {"retransmission": "loss", "handshake": "handshake-loss"}.get(wait["cause"], str(wait["cause"]))


def found(of: Row, waits: Iterable[Row]) -> list[Row]:
    """Rows that the flow adds to each finding."""
    groups: dict[tuple[str, str, str], list[Row]] = {}
    for wait in waits:
        if lost(wait):
            groups.setdefault((kind(wait), wait["sender"], wait["cause"]), []).append(wait)
    return [part(of, *key, some) for key, some in groups.items()]


def part(of: Row, kind: str, side: str, cause: str, waits: Sequence[Row]) -> Row:
    names = ("scan", "flow", "capture", "client_address", "client_port", "server_address", "server_port", *NAMES)
    longest = max(waits, key=lost)
    time_ns, details = sum(map(lost, waits)), {str(wait["detail"]): 0 for wait in waits if wait["detail"]}
    for wait in waits:
        if wait["detail"]:
            details[wait["detail"]] += lost(wait)
    return {name: of[name] for name in names} | {
        "at_end": of["at_end"], "kind": kind, "side": side, "cause": cause,
        "details": " ".join(f"{name}:{span}" for name, span in details.items()) or None,
        "start_ns": min(wait["start_ns"] for wait in waits), "end_ns": max(wait["end_ns"] for wait in waits),
        "time_ns": time_ns, "recoverable_ns": None if kind in ("idle", "unexplained") else time_ns,
        "waits": len(waits), "longest_ns": lost(longest), "stall": longest["stall"], "confidence": 0.9,
        "level_bytes": longest["in_flight_bytes"] if cause == Cause.SNDBUF_LIMITED else None,
        "exchanges": 1, "bytes": of[f"{side}_bytes"], "segments": 8, "lasted_ns": of["duration_ns"],
        "retransmitted_bytes": of[f"{side}_retransmitted_bytes"], "reordered_segments": 0,
        "needless_retransmissions": 0,
    }  # fmt: skip


def ledger(of: Row, stalls: Iterable[Row]) -> Row:
    """The flow with what its waits cost it."""
    owned = {f"time_{owner.replace('-', '_')}_ns": 0 for owner in _core.owners()}
    waits = list(stalls)
    for wait in waits:
        owned[f"time_{wait['cause'].replace('-', '_')}_ns"] += lost(wait)
    return of | owned | {"lost_ns": sum(owned.values()), "stalls": len(waits), "exchanges": 1}


def capture(scan: str, name: str, first_ns: int, **known: Any) -> Row:
    return dict.fromkeys(CAPTURES) | {
        "scan": scan, "chain": scan, "capture_set": "day-*.pcap", "name": name, "size_bytes": 1_000,
        "changed_ns": first_ns, "fingerprint": name, "format": "pcap", "packets": 10, "tcp_segments": 10,
        "first_ns": first_ns, "last_ns": first_ns + DAY_NS - 1, "exit_code": 0, "flows": 1, "scanned_ns": first_ns,
    } | known  # fmt: skip


def values(question: Question) -> list[str]:
    """The options that give a question's parameters values: a moment within the rows."""
    return ["--set", "at=2026-09-24T00:00"] if "$at" in question.sql else []


def made(folder: Path) -> Rows:
    """Five days of four services; from the third day on one of them runs into a send buffer of 64 KB."""
    rows, chance = Rows(folder), random.Random(4711)
    for number in range(600):
        service = SERVICES[min(3, int(chance.expovariate(1)))]
        start = START_NS + number * 5 * DAY_NS // 600
        of = flow(number, start, service)
        waits = [
            stall(of, at, cause, detail, chance.randrange(10**5, 10**8), sender=chance.choice(("client", "server")))
            for at, (cause, detail) in enumerate(chance.choices(KINDS, k=chance.randrange(6)))
        ]
        if service == SERVICES[0] and start >= START_NS + 3 * DAY_NS:
            waits += [
                stall(
                    of, 10 + at, Cause.SNDBUF_LIMITED, "plateau", 3 * 10**7, in_flight_bytes=64_000 + 1_448 * (at % 2)
                )
                for at in range(5)
            ]
        rows.flows.append(ledger(of, waits))
        rows.stalls += waits
        rows.findings += found(of, waits)
        names = ("scan", "flow", "capture", "client_address", "client_port", "server_address", "server_port", "at_end")
        rows.exchanges.append(
            {name: of[name] for name in names}
            | {
                "requester": "client",
                "think_ns": 10**6,
                "start_ns": start,
                "end_ns": start + 5,
                "latency_ns": number * 10**6,
                "response_ns": number * 10**5,
                "response_bytes": number % 3 * 1_000,
                "complete": True,
            }
        )
    for day in range(5):
        start = START_NS + day * DAY_NS
        rows.captures.append(capture(f"{start // DAY_NS:016x}", f"day-{start // DAY_NS}.pcap", start))
    bad = {"scan": None, "exit_code": 4, "error": "x.pcap: not a capture", "first_ns": None, "last_ns": None}
    rows.captures.append(capture("", "x.pcap", START_NS) | bad)
    stored(rows)
    return rows


def stored(rows: Rows) -> None:
    """Writes them, and beside them what no longer counts."""
    gone = flow(9_000, START_NS + 5, SERVICES[0], scan="00000000dead0000")
    open_ = flow(9_001, START_NS + 6, SERVICES[0], scan="00000000beef0000", at_end=True)
    kept = flow(9_002, START_NS + 7, SERVICES[0], scan="00000000beef0000", capture=f"day-{START_NS // DAY_NS}.pcap")
    rows.flows.append(ledger(kept, ()))
    old = [stall(of, 0, Cause.NAGLE, None, 10**12) for of in (gone, open_)]
    with Store.writing(str(rows.folder)) as store:
        parts = [
            *written(store, "flows", [*rows.flows, ledger(gone, ()), ledger(open_, ())]),
            *written(store, "stalls", [*rows.stalls, *old]),
            *written(store, "exchanges", rows.exchanges),
            *written(store, "findings", [*rows.findings, *found(gone, old[:1]), *found(open_, old[1:])]),
            # Half of the captures stand in a part, the others in the journal, and one in both, as it was before.
            *written(store, "captures", [*rows.captures[:3], rows.captures[3] | {"packets": 1, "scanned_ns": 1}]),
        ]
        dropped, continued = ["00000000dead0000"], ["00000000beef0000"]
        store.commit(Commit(parts=parts, captures=rows.captures[3:], dropped=dropped, continued=continued))


def written(store: Store, table: str, rows: Sequence[Row]) -> Iterable[Part]:
    """Parts of a table, a day each."""
    import duckdb

    days: dict[str, list[Row]] = {}
    for row in rows:
        days.setdefault("" if table == "captures" else str(row["start_ns"] // DAY_NS), []).append(row)
    columns = {column.name: column.type for column in TABLES[table].analysed}
    for day, some in days.items():
        file = store.place.scratch / f"{uuid.uuid4().hex}.parquet"
        text = json.dumps([{name: row.get(name) for name in columns} for row in some])
        with duckdb.connect() as connection:
            sql = f"SELECT unnest(from_json($rows::JSON, '{json.dumps([columns])}'), recursive := true)"
            given = connection.sql(sql, params={"rows": text})
            given.project(f"*{TABLES[table].derived}").write_parquet(str(file))
        name = f"{table}/{file.name}" if table == "captures" else f"{table}/day={_date(int(day))}/{file.name}"
        size = file.stat().st_size
        store.place.take(name, file)
        starts = [row["start_ns"] for row in some if "start_ns" in row]
        yield Part(table, name, len(some), size, min(starts, default=None), max(starts, default=None), layout(table))


def _date(day: int) -> str:
    from datetime import date, timedelta

    return str(date(1970, 1, 1) + timedelta(days=day))
