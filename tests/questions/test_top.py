"""`tcpstall top` adds up to the sums of the rows."""

import csv
import io
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from rich.cells import cell_len

from tcpstall import Cause
from tests.questions.conftest import Ask, Told
from tests.questions.rows import DAY_NS, HOUR_NS, START_NS, Row, Rows, host, lost

KEYS: Mapping[str, Any] = {
    "service": lambda row: f"[{row['server_address']}]:5432" if ":" in row["server_address"] else _end(row),
    "cause": lambda row: row["cause"],
    "host": host,
    "hour": lambda row: row["start_ns"] // HOUR_NS,
    "sensor": lambda row: row["sensor"] or "",
}


def _end(row: Row) -> str:
    return f"{row['server_address']}:{row['server_port']}"


def _hour(text: str) -> int:
    from datetime import datetime

    return int(datetime.fromisoformat(text).timestamp()) * 10**9 // HOUR_NS


@pytest.mark.parametrize("by", KEYS)
@pytest.mark.parametrize("cause", [None, "rwnd-limited"])
def test_sums_are_those_of_the_rows(rows: Rows, ask: Ask, by: str, cause: str | None) -> None:
    sums: Counter[Any] = Counter()
    waits: Counter[Any] = Counter()
    for row in rows.stalls:
        if lost(row) and cause in (None, row["cause"]):
            sums[KEYS[by](row)] += lost(row)
            waits[KEYS[by](row)] += 1

    chosen = ["--cause", cause] if cause else []
    found = ask("top", "--by", by, "--top", 1_000, *chosen)

    key = _hour if by == "hour" else str
    assert {key(row[by]): row["lost_ns"] for row in found} == dict(sums)
    assert {key(row[by]): row["waits"] for row in found} == dict(waits)
    order = [(row["recoverable_ns"], row["lost_ns"]) for row in found]
    assert order == sorted(order, reverse=True)
    for row in found:
        assert sum(row[f"{one.replace('-', '_')}_ns"] for one in Cause) == row["lost_ns"]


def test_each_flow_of_a_service_counts_once_and_the_worst_is_told(rows: Rows, ask: Ask) -> None:
    for row in ask("top", "--by", "service"):
        flows = [one for one in rows.flows if KEYS["service"](one) == row["service"]]
        worst = max(flows, key=lambda one: one["lost_ns"])
        assert row["flows"] == len(flows)
        assert row["worst_lost_ns"] == worst["lost_ns"]
        assert row["worst_capture"] == worst["capture"]
        assert row["worst_client"] == f"{worst['client_address']}:{worst['client_port']}"


@pytest.mark.parametrize("by", ["cause", "host", "hour", "sensor"])
def test_the_worst_flow_is_one_that_lost_time_to_it(rows: Rows, ask: Ask, by: str) -> None:
    flows = {(row["scan"], row["flow"]): row for row in rows.flows}
    found = [row for row in ask("top", "--by", by) if row["worst_flow"] is not None]
    assert len(found) >= (3 if by == "sensor" else 5)
    for row in found:
        worst = flows[row["worst_scan"], row["worst_flow"]]
        if by == "cause":
            column = f"time_{row['cause'].replace('-', '_')}_ns"
            assert worst[column] == row["worst_lost_ns"] == max(one[column] for one in rows.flows)
            waits = (one for one in rows.stalls if one["cause"] == row["cause"] and lost(one))
            assert row["flows"] == len({(one["scan"], one["flow"]) for one in waits})
        elif by == "sensor":
            assert worst["sensor"] == (row["sensor"] or None)
            assert row["flows"] == sum(one["sensor"] == worst["sensor"] for one in rows.flows)
        elif by == "host":
            assert row["host"] in (worst["client_address"], worst["server_address"])
        else:
            assert worst["start_ns"] // HOUR_NS == _hour(row["hour"])


def test_since_and_until_cut_where_waits_began(rows: Rows, ask: Ask) -> None:
    since, until = START_NS + DAY_NS, START_NS + 2 * DAY_NS + 7 * HOUR_NS
    found = ask("top", "--by", "cause", "--since", "2026-09-23", "--until", "2026-09-24T07:00")
    sums: Counter[str] = Counter()
    for row in rows.stalls:
        if since <= row["start_ns"] < until:
            sums[row["cause"]] += lost(row)
    assert {row["cause"]: row["lost_ns"] for row in found} == {cause: span for cause, span in sums.items() if span}


def test_the_table_says_what_is_left_out(told: Told, rows: Rows) -> None:
    code, out, _ = told("top", "--by", "service", "--top", 2)
    assert code == 0
    assert "lost time by service" in out
    assert "and 2 more services" in out
    assert "10.0.3.7:443" in out
    assert len(rows.lost_by("server_address", "server_port")) == 4


def test_csv_has_the_rows_of_json(told: Told, ask: Ask) -> None:
    _, out, _ = told("top", "--by", "service", "--format", "csv")
    found = list(csv.DictReader(io.StringIO(out)))
    assert [row["service"] for row in found] == [row["service"] for row in ask("top", "--by", "service")]
    assert [int(row["lost_ns"]) for row in found] == [row["lost_ns"] for row in ask("top", "--by", "service")]


def test_parquet_has_the_rows_of_json(told: Told, ask: Ask, tmp_path: Path) -> None:
    duckdb = pytest.importorskip("duckdb")
    output = tmp_path / "top.parquet"
    assert told("top", "--by", "service", "--format", "parquet", "--output", output)[0] == 0
    read = duckdb.sql(f"SELECT service, lost_ns, worst_capture FROM '{output}'").fetchall()
    assert read == [(row["service"], row["lost_ns"], row["worst_capture"]) for row in ask("top", "--by", "service")]
    assert [file.name for file in tmp_path.iterdir()] == ["top.parquet"]


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--since", "+5s"], "give --since and --until with a date"),
        (["--since", "2026-09-23", "--until", "2026-09-22"], "--until must be later"),
        (["--format", "parquet"], "give --output FILE"),
        (["--output", "x"], "--output is for"),
        (["--cause", "laziness"], "laziness"),
        (["--by", "weather"], "weather"),
    ],
)
def test_what_cannot_be_meant_is_refused(told: Told, arguments: list[str], says: str) -> None:
    code, out, err = told("top", *arguments)
    assert (code, out) == (2, "")
    assert says in err


def test_no_store_is_a_clear_error(told: Told, tmp_path: Path) -> None:
    code, out, err = told("top", "--store", tmp_path / "nowhere")
    assert (code, out) == (3, "")
    assert "no store is here" in err
    assert err.count("\n") == 1


def test_a_store_in_which_nobody_waited_says_so(told: Told, tmp_path: Path) -> None:
    from tcpstall.archive.storing.store import Store

    with Store.writing(str(tmp_path / "empty")):
        pass
    assert "no finding is in the store" in told("top", "--store", tmp_path / "empty")[1]
    for command in (
        ("top", "--by", "service"),
        ("top", "--by", "cause"),
        ("trend",),
        ("trend", "--by", "day"),
    ):
        code, out, _ = told(*command, "--store", tmp_path / "empty")
        assert code == 0
        assert "nothing was lost" in out
    for command in (("top",), ("trend",)):
        assert told(*command, "--store", tmp_path / "empty", "--format", "json")[1] == "[]\n"


@pytest.mark.parametrize("columns", [80, 100, 120])
@pytest.mark.parametrize(
    "question", [("top", "--by", by) for by in ("service", "host", "cause", "hour")] + [("trend",)]
)
def test_tables_fit_the_terminal_and_part_no_address(
    told: Told, ask: Ask, question: tuple[str, ...], columns: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    _, out, _ = told(*question)
    assert out
    lines = [line for line in out.splitlines() if not line.startswith("   tcpstall ")]  # a command is never folded
    assert max(map(cell_len, lines)) <= columns
    if "service" in question:
        told_first = [line for line in out.splitlines() if line[:1].isdigit() or line.startswith("[")]
        services = {row["service"] for row in ask(*question)}
        assert told_first
        assert all(line.split()[0] in services for line in told_first)
