# ruff: noqa: E501 - a statement reads better in one line
"""Names, functions and depth of a question: whatever it is made of, it reads the store's tables alone."""

from pathlib import Path

import pytest

from tests.questions.conftest import Ask, Told

REFUSED = {
    "a view of settings under the name of a with elsewhere": "SELECT name FROM (WITH pg_settings AS (SELECT 1) SELECT 1) t, pg_settings",
    "a view of views under the name of a with elsewhere": "SELECT sql FROM (WITH duckdb_views AS (SELECT 1) SELECT 1) t, duckdb_views",
    "a view in the with that takes its name": "WITH duckdb_views AS (SELECT * FROM duckdb_views) SELECT * FROM duckdb_views",
    "a view under the name of a later with": "WITH a AS (SELECT * FROM duckdb_views), duckdb_views AS (SELECT 1) SELECT * FROM a",
    "a view in the first part of a recursion": (
        "WITH RECURSIVE duckdb_views AS (SELECT sql FROM duckdb_views UNION ALL SELECT sql FROM "
        "duckdb_views WHERE false) SELECT * FROM duckdb_views"
    ),
    "a view beside the subquery with the with": "SELECT (WITH pg_settings AS (SELECT 1) SELECT 1), (SELECT count(*) FROM pg_settings)",
    "a view in a set operation": "(WITH duckdb_views AS (SELECT 1) SELECT 1) UNION ALL SELECT 1 FROM duckdb_views",
    "all tables": "SELECT * FROM (SHOW ALL TABLES)",
    "databases": "FROM (SHOW DATABASES)",
    "a setting in a window": "SELECT current_setting('temp_directory') OVER () FROM flows",
    "a function as a method": "SELECT 'HOME'.getenv()",
    "a function with its schema": "SELECT main.current_setting('temp_directory')",
    "the version": "SELECT version()",
    "sleep": "SELECT sleep_ms(1)",
    "SQL serialized": "SELECT json_serialize_sql('SELECT 1')",
    "a sequence": "SELECT nextval('x')",
    "depth of NOT": "SELECT " + "NOT " * 900 + "true",
    "depth of sums": "SELECT 1" + "+1" * 900,
    "depth of subqueries": "SELECT " + "(SELECT " * 900 + "1" + ")" * 900,
    "depth of FROM": "SELECT * FROM " + "(SELECT * FROM " * 900 + "flows" + ")" * 900,
    "depth of lists": "SELECT " + "[" * 900 + "]" * 900,
    "depth beyond DuckDB's": "SELECT " + "(" * 20_000 + "1" + ")" * 20_000,
    "a question without end": "SELECT 1" + " UNION ALL SELECT 1" * 20_000,
}


@pytest.mark.parametrize("which", REFUSED)
def test_what_looks_beyond_the_store_is_refused_in_one_line(which: str, told: Told) -> None:
    code, out, err = told("query", REFUSED[which])
    assert (code, out) == (2, "")
    assert err.startswith("tcpstall: ")
    assert err.count("\n") == 1
    assert "defect" not in err


ANSWERED = {
    "a with": "WITH a AS (SELECT 1 AS n), b AS (SELECT n FROM a) SELECT n FROM b, (SELECT 1) x",
    "a with in a with": "WITH a AS (WITH b AS (SELECT 1 AS n) SELECT n FROM b) SELECT n FROM a",
    "a with under a subquery": "WITH a AS (SELECT 1 AS n) SELECT (SELECT max(n) FROM a) AS n",
    "a recursion": (
        "WITH RECURSIVE a AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM a WHERE n < 3) SELECT min(n) AS n FROM a"
    ),
    "a with for both sides": "WITH a AS (SELECT 1 AS n) SELECT n FROM a UNION SELECT n FROM a",
    "a table in other letters": "SELECT 1 AS n FROM FLOWS LIMIT 1",
    "operators and windows": (
        "SELECT count(*) OVER () - count(*) OVER () + 1 AS n FROM flows WHERE label IS NULL OR "
        "label NOT LIKE '%{{%' AND NOT client_address SIMILAR TO 'x' LIMIT 1"
    ),
    "brackets in a text": "SELECT length('" + "[" * 2_000 + "') - 1999 AS n",
}


@pytest.mark.parametrize("which", ANSWERED)
def test_what_a_select_may_hold_is_answered(which: str, ask: Ask) -> None:
    assert ask("query", ANSWERED[which]) == [{"n": 1}]


def test_columns_of_one_name_are_told_apart_in_every_form(told: Told, ask: Ask, tmp_path: Path) -> None:
    sql = "SELECT 1 AS a, 2 AS a, 3 AS b, 4 AS a_1"
    assert ask("query", sql) == [{"a": 1, "a_1": 2, "b": 3, "a_1_1": 4}]
    code, out, _ = told("query", sql, "--format", "csv")
    assert (code, out.splitlines()) == (0, ["a,a_1,b,a_1_1", "1,2,3,4"])
    code, _, _ = told("query", sql, "--format", "parquet", "-o", tmp_path / "out.parquet")
    assert code == 0
    import duckdb

    assert duckdb.sql(f"FROM '{tmp_path}/out.parquet'").columns == ["a", "a_1", "b", "a_1_1"]
    joined = ask("query", "SELECT * FROM flows JOIN stalls USING (scan, flow) LIMIT 1")
    assert {"start_ns", "start_ns_1"} <= set(joined[0])
