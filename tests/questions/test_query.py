"""SQL over a store: answered from its rows, and from nothing else."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest

from tcpstall.archive.asking.saved import ours
from tcpstall.archive.columns import TABLES
from tcpstall.errors import ExitCode
from tests.cli.conftest import environment
from tests.questions.conftest import Ask, Told
from tests.questions.rows import DAY_NS, START_NS, Rows, values


def test_rows_that_no_longer_count_are_left_out(rows: Rows, ask: Ask) -> None:
    for table in ("flows", "stalls", "exchanges", "findings", "captures"):
        assert ask("query", f"SELECT count(*) AS n FROM {table}") == [{"n": len(getattr(rows, table))}]
    assert ask("query", "SELECT count(*) AS n FROM stalls WHERE cause = 'nagle'") == [{"n": 0}]
    # Of a file that was scanned twice the later row counts.
    assert ask("query", "SELECT packets FROM captures ORDER BY packets DESC LIMIT 1 OFFSET 4") == [{"packets": 10}]


def test_errors_are_the_captures_that_were_not_read(ask: Ask) -> None:
    assert ask("query", "SELECT name, exit_code, error FROM errors") == [
        {"name": "x.pcap", "exit_code": 4, "error": "x.pcap: not a capture"}
    ]


def test_a_capture_that_was_read_later_is_no_error(tmp_path: Path, told: Told) -> None:
    from tcpstall.archive.storing.store import Commit, Store
    from tests.questions.rows import START_NS, capture

    bad = capture("", "a.pcap", START_NS) | {"scan": None, "exit_code": 3, "error": "a.pcap: gone", "fingerprint": None}
    good = capture("0123456789abcdef", "a.pcap", START_NS, scanned_ns=START_NS + 1)
    with Store.writing(str(tmp_path / "store")) as store:
        store.commit(Commit(captures=[bad]))
        store.commit(Commit(captures=[good]))
    _, out, _ = told("query", "SELECT count(*) AS n FROM errors", "--store", tmp_path / "store", "--format", "json")
    assert json.loads(out) == [{"n": 0}]


def test_views_tell_day_hour_time_and_ends(rows: Rows, ask: Ask) -> None:
    found = ask("query", "SELECT day, hour, time, service, client FROM flows WHERE flow = 0")
    assert found[0]["day"] == "2026-09-22"
    assert found[0]["hour"] == found[0]["time"] == "2026-09-22T00:00:00Z"
    assert found[0]["client"] == "192.0.2.0:40000"
    services = {row["service"] for row in ask("query", "SELECT DISTINCT service FROM stalls")}
    assert services == {"10.0.3.7:443", "10.0.0.1:80", "[2001:db8::1]:5432", "10.0.0.2:80"}


def test_every_column_can_be_asked_for_of_an_empty_store_too(told: Told, tmp_path: Path) -> None:
    from tcpstall.archive.storing.store import Store

    with Store.writing(str(tmp_path / "empty")):
        pass
    for table in TABLES.values():
        described = f"SELECT column_name, column_type FROM (DESCRIBE {table.name})"
        wanted = [{"column_name": column.name, "column_type": column.type} for column in table.shown]
        for store in ([], ["--store", tmp_path / "empty"]):
            code, out, err = told("query", described, "--format", "json", *store)
            assert code == 0, err
            found = json.loads(out)
            assert sorted(found, key=lambda row: row["column_name"]) == sorted(
                wanted, key=lambda row: row["column_name"]
            )


@pytest.mark.parametrize("name", ours())
def test_the_questions_that_have_a_name_are_answered(ask: Ask, name: str) -> None:
    assert ours()[name].text.endswith("?")
    assert ask("query", f"@{name}", *values(ours()[name]))


def test_a_moment_parts_before_from_after(rows: Rows, ask: Ask) -> None:
    at = START_NS + 2 * DAY_NS
    for row in ask("query", "@change", "--set", "at=2026-09-24T00:00"):
        flows = [one for one in rows.flows if str(row["service"]).replace("[", "").startswith(one["server_address"])]
        later = [one["lost_ns"] for one in flows if one["start_ns"] >= at]
        assert (row["flows_before"], row["flows_after"]) == (len(flows) - len(later), len(later))
        assert row["lost_after_ms"] == pytest.approx(sum(later) / len(later) / 1e6)


def test_questions_of_the_user_go_first(told: Told, ask: Ask, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "tcpstall" / "questions"
    folder.mkdir(parents=True)
    (folder / "mine.sql").write_text("-- What is one?\nSELECT 1 AS one")
    (folder / "services.sql").write_text("SELECT 2 AS two")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    assert ask("query", "@mine") == [{"one": 1}]
    assert ask("query", "@services") == [{"two": 2}]
    code, out, _ = told("query", "--questions")
    assert code == 0
    assert "What is one?" in out
    assert set(ours()) <= {line.split()[0] for line in out.splitlines() if line.strip()}
    (folder / "broken.sql").write_bytes(b"\xff")
    code, _, err = told("query", "@mine")
    assert (code, "broken.sql" in err, err.count("\n")) == (ExitCode.CANNOT_OPEN, True, 1)


@pytest.mark.parametrize(
    ("arguments", "told_of"),
    [
        (["@servics"], "did you mean @services?"),
        (["@zzzzzz"], "--questions"),
        (["@change"], "at"),
        (["@services", "--set", "at=1"], "at"),
        (["@change"], "the question needs $at: give --set at=VALUE"),
        (["SELECT $b, $a, $c", "--set", "c=1"], "the question needs $a and $b: give --set a=VALUE --set b=VALUE"),
        (["SELECT ?"], "write $at"),
        (["@change", "--set", "at"], "write at=2026-03-01"),
        (["@change", "--set", "at=tomorrow"], "tomorrow"),
    ],
)
def test_a_question_that_cannot_be_asked_so_is_one_line(told: Told, arguments: list[str], told_of: str) -> None:
    code, out, err = told("query", *arguments)
    assert (code, out) == (ExitCode.USAGE, "")
    assert told_of in err.splitlines()[-1]


def test_a_documented_answer_is_the_sum_of_the_rows(rows: Rows, ask: Ask) -> None:
    sql = ours()["full-windows"].sql
    sums: Counter[int] = Counter()
    for row in rows.stalls:
        if row["cause"] == "rwnd-limited":
            sums[row["start_ns"] // 3_600_000_000_000] += row["duration_ns"]
    assert [row["lost_s"] for row in ask("query", sql)] == pytest.approx([sums[hour] / 1e9 for hour in sorted(sums)])


REFUSED = {
    "copy": "COPY flows TO '{folder}/out.csv'",
    "copy into the store": "COPY flows TO '{store}/out.parquet'",
    "copy from": "COPY flows FROM '{secret}'",
    "copy in with": "WITH x AS (COPY flows TO '{folder}/out.csv') SELECT 1",
    "copy in a deep with": "SELECT * FROM (WITH x AS (COPY flows TO '{folder}/out.csv') SELECT 1)",
    "insert in with": "WITH x AS (INSERT INTO flows SELECT * FROM flows RETURNING 1) SELECT * FROM x",
    "delete in with": "WITH x AS (DELETE FROM flows RETURNING 1) SELECT * FROM x",
    "export": "EXPORT DATABASE '{folder}/out'",
    "attach": "ATTACH '{folder}/out.db'",
    "install": "INSTALL httpfs",
    "load": "LOAD httpfs",
    "set": "SET enable_external_access = true",
    "reset": "RESET lock_configuration",
    "pragma": "PRAGMA database_list",
    "call": "CALL pragma_version()",
    "explain analyze copy": "EXPLAIN ANALYZE COPY flows TO '{folder}/out.csv'",
    "create": "CREATE TABLE x AS SELECT 1",
    "drop": "DROP VIEW flows",
    "prepare": "PREPARE x AS SELECT 1",
    "two statements": "SELECT 1; SELECT 2",
    "none": "/* nothing */",
    "no SQL": "selec flows",
    "read_csv": "SELECT * FROM read_csv('{secret}')",
    "read_text": "SELECT content FROM read_text('{secret}')",
    "read_blob": "SELECT content FROM read_blob('{secret}')",
    "glob": "SELECT * FROM glob('{folder}/*')",
    "a file as a table": "SELECT * FROM '{secret}'",
    "a part of the store": "SELECT * FROM read_parquet('{store}/flows/*/*.parquet')",
    "out of the store": "SELECT * FROM read_text('{store}/../../secret.csv')",
    "a file in a subquery": "SELECT * FROM flows WHERE label IN (SELECT content FROM read_text('{secret}'))",
    "a file in an order": "SELECT 1 FROM flows ORDER BY (SELECT content FROM read_text('{secret}'))",
    "a file under the name of a with": 'WITH "{secret}" AS (SELECT 1) SELECT * FROM (SELECT * FROM "{secret}.csv")',
    "SQL in a function": "SELECT * FROM query('SELECT 1')",
    "a table by its name": "SELECT * FROM query_table('flows')",
    "settings": "SELECT * FROM duckdb_settings()",
    "memory": "SELECT * FROM arrow_scan(1, 2, 3)",
    "a catalog": "SELECT * FROM information_schema.tables",
    "a Python variable": "SELECT * FROM arguments",
    "the environment": "SELECT getenv('HOME')",
    "a setting": "SELECT current_setting('temp_directory')",
    "no such column": "SELECT weather FROM flows",
}


@pytest.mark.parametrize("which", REFUSED)
def test_what_writes_or_reads_something_else_is_refused(
    which: str, told: Told, rows: Rows, elsewhere: Path, tmp_path: Path
) -> None:
    before = sorted(rows.folder.rglob("*"))
    sql = REFUSED[which].format(folder=tmp_path, store=rows.folder, secret=elsewhere)

    code, out, err = told("query", sql)

    assert (code, out) == (2, "")
    assert err.startswith("tcpstall: ")
    assert err.count("\n") == 1
    assert "secret\n" not in err
    assert sorted(rows.folder.rglob("*")) == before
    assert [file.name for file in tmp_path.iterdir()] == ["secret.csv"]


@pytest.mark.parametrize("which", REFUSED)
def test_it_is_refused_as_parquet_too(which: str, told: Told, rows: Rows, elsewhere: Path, tmp_path: Path) -> None:
    sql = REFUSED[which].format(folder=tmp_path, store=rows.folder, secret=elsewhere)
    code, out, err = told("query", sql, "--format", "parquet", "-o", tmp_path / "answer.parquet")
    assert (code, out) == (2, "")
    assert err.count("\n") == 1
    assert [file.name for file in tmp_path.iterdir()] == ["secret.csv"]


def test_the_engine_itself_refuses_other_files(rows: Rows, elsewhere: Path, tmp_path: Path) -> None:
    """Were the reading of the statement mistaken, DuckDB still opens nothing but the store."""
    from tcpstall.archive.asking.session import session
    from tcpstall.archive.storing.store import Store
    from tcpstall.errors import CannotAnswer

    inside = rows.folder / "link.csv"
    inside.symlink_to(elsewhere)
    try:
        with session(Store.open(str(rows.folder))) as asked:
            for sql in (
                f"SELECT * FROM read_text('{elsewhere}')",
                f"SELECT * FROM read_text('{rows.folder}/../{elsewhere.name}')",
                f"SELECT * FROM '{elsewhere}'",
                f"COPY (SELECT 1) TO '{tmp_path}/out.csv'",
                f"ATTACH '{tmp_path}/out.db'",
                "SET enable_external_access = true",
                "SET allowed_directories = ['/']",
                "INSTALL httpfs",
                f"SELECT * FROM read_text('{inside}')",
            ):
                with pytest.raises(CannotAnswer):
                    asked.rows(sql)
    finally:
        inside.unlink()
    assert [file.name for file in tmp_path.iterdir()] == ["secret.csv"]


def test_a_store_behind_a_symbolic_link_is_read(rows: Rows, told: Told, tmp_path: Path) -> None:
    link = tmp_path / "it's here"
    link.symlink_to(rows.folder)
    code, out, err = told("query", "SELECT count(*) AS n FROM flows", "--store", link, "--format", "json")
    assert code == 0, err
    assert json.loads(out) == [{"n": len(rows.flows)}]


def test_parquet_is_written_whole_or_not_at_all(told: Told, rows: Rows, tmp_path: Path) -> None:
    duckdb = pytest.importorskip("duckdb")
    output = tmp_path / "answer.parquet"
    sql = "SELECT flow, service FROM flows -- and a remark"
    assert told("query", sql, "--format", "parquet", "-o", output)[0] == 0
    assert len(duckdb.sql(f"FROM '{output}'").fetchall()) == len(rows.flows)
    code, _, err = told("query", "SELECT 1", "--format", "parquet", "-o", tmp_path / "no folder" / "answer.parquet")
    assert code == 1
    assert "cannot write" in err


def test_rows_too_wide_for_the_terminal_are_told_a_line_a_cell(told: Told, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    lines = told("query", "SELECT * FROM flows LIMIT 2")[1].splitlines()
    assert max(map(len, lines)) <= 80
    assert [line for line in lines if line.startswith("row ")] == ["row 1", "row 2"]
    names = [line.split()[0] for line in lines if not line.startswith(("row ", " "))]
    assert names[: len(names) // 2] == names[len(names) // 2 :]
    assert {"lost_ns", "client_address", "time_pacing_ns"} <= set(names)
    assert told("query", "SELECT 1 AS a, 'b' AS c")[1].split() == ["a", "c", "─" * 4, "1", "b"]


def test_strangers_text_is_text_in_every_form(told: Told) -> None:
    sql = "SELECT '=cmd()' AS formula, chr(27) || '[31m' AS escape, '\u202eevil' AS turned"
    table = told("query", sql)[1]
    assert "\\x1b[31m" in table
    assert "\x1b" not in table
    assert "\\u202eevil" in table
    assert told("query", sql, "--format", "csv")[1] == "formula,escape,turned\n'=cmd(),\\x1b[31m,\\u202eevil\n"
    out = told("query", sql, "--format", "json")[1]
    assert "\x1b" not in out
    assert "\u202e" not in out
    assert json.loads(out) == [{"formula": "=cmd()", "escape": "\x1b[31m", "turned": "\u202eevil"}]


def test_every_type_has_a_form(told: Told) -> None:
    sql = (
        "SELECT 1::HUGEINT AS whole, 1.25::DECIMAL(9,2) AS decimal, 'nan'::DOUBLE AS nothing, NULL AS missing, "
        "DATE '2026-01-02' AS day, TIMESTAMP '2026-01-02 03:04:05' AS moment, INTERVAL 90 SECONDS AS span, "
        "[1, NULL] AS list, {'a': true} AS struct, 'x'::BLOB AS raw"
    )
    assert json.loads(told("query", sql, "--format", "json")[1]) == [
        {
            "whole": 1, "decimal": 1.25, "nothing": None, "day": "2026-01-02", "moment": "2026-01-02T03:04:05Z",
            "span": 90.0, "list": [1, None], "struct": {"a": True}, "missing": None, "raw": "78",
        }
    ]  # fmt: skip
    assert told("query", sql)[0] == told("query", sql, "--format", "csv")[0] == 0


def test_a_long_table_says_where_the_rest_is(told: Told) -> None:
    out = told("query", "SELECT range AS n FROM range(1001)")[1]
    assert "and more than these 1,000 rows" in out
    assert "no rows" in told("query", "SELECT 1 AS n FROM flows WHERE false")[1]


@pytest.mark.parametrize("remark", ["-- how many?\n", "--\n-- how many?\n", "/* how many? */ "])
def test_sql_may_begin_with_a_remark(rows: Rows, ask: Ask, remark: str) -> None:
    assert ask("query", f"{remark}SELECT count(*) AS n FROM flows") == [{"n": len(rows.flows)}]


def test_columns_are_told_without_a_store(told: Told, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TCPSTALL_STORE")
    monkeypatch.setenv("COLUMNS", "200")
    code, out, _ = told("query", "--columns")
    assert code == 0
    for table in TABLES.values():
        assert f"{table.name}: {table.meaning}" in out
        for column in table.shown:
            assert column.name in out


@pytest.mark.parametrize("which", [0, -1], ids=["the first part", "the last part"])
@pytest.mark.parametrize("harm", ["cut", "gone"])
def test_a_damaged_store_is_a_line(which: int, harm: str, rows: Rows, told: Told, tmp_path: Path) -> None:
    store = tmp_path / "store"
    shutil.copytree(rows.folder, store)
    part = sorted(store.glob("stalls/*/*.parquet"))[which]
    if harm == "cut":
        os.truncate(part, part.stat().st_size // 2)
    else:
        part.unlink()
    for arguments in (["query", "SELECT count(cause) FROM stalls"], ["top"], ["trend"]):
        code, out, err = told(*arguments, "--store", store)
        assert (code, out) == (3, "")
        assert err.count("\n") == 1
        assert "cannot be read" in err


def test_more_memory_than_there_is_is_a_line(rows: Rows) -> None:
    from tcpstall.archive.asking.session import session
    from tcpstall.archive.storing.store import Store
    from tcpstall.errors import CannotAnswer

    with session(Store.open(str(rows.folder)), memory="64MB") as asked, pytest.raises(CannotAnswer, match="memory"):
        list(asked.ask("SELECT list(repeat('x', 1000) || a.range) FROM range(2000000) a"))


def test_ctrl_c_ends_a_long_question(rows: Rows) -> None:
    sql = "SELECT count(*) FROM range(10000000) a, range(10000000) b WHERE hash(a.range, b.range) = 7"
    process = subprocess.Popen(
        [sys.executable, "-m", "tcpstall", "query", sql, "--store", str(rows.folder)],
        env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    time.sleep(1.5)
    os.kill(process.pid, signal.SIGINT)
    out, err = process.communicate(timeout=20)
    assert (process.returncode, out) == (130, b"")
    assert err == b"tcpstall: interrupted\n"
