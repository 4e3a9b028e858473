"""Rows that Python holds reach DuckDB as they are."""

import math
from pathlib import Path
from typing import Any

import duckdb

from tcpstall import _core
from tcpstall.archive.storing.row_table import given, in_columns

TYPES = {"text": "VARCHAR", "count": "BIGINT", "real": "DOUBLE", "flag": "BOOLEAN"}

ROWS: list[dict[str, Any]] = [
    {"text": 'ä "quoted", with \\ and \n and \x01 and ☃ and 𝄞', "count": 2**63 - 1, "real": 0.1, "flag": True},
    {"text": "", "count": -(2**63), "real": math.inf, "flag": False},
    {"text": None, "count": None, "real": None, "flag": None},
    {"text": "a\0b"},
    {"text": "null", "count": 0, "real": 1e-300},
]


def test_values_of_every_type_are_as_they_were() -> None:
    many = ROWS * 3_000  # several statements
    with duckdb.connect() as duck:
        given(duck, "held", in_columns(many, TYPES), TYPES)
        assert duck.execute("FROM held").fetchall() == [tuple(row.get(name) for name in TYPES) for row in many]


def test_no_rows_are_an_empty_table() -> None:
    with duckdb.connect() as duck:
        given(duck, "held", in_columns([], TYPES), TYPES)
        assert duck.execute("FROM held").fetchall() == []


def test_the_core_writes_them_as_parquet_as_they_were(tmp_path: Path) -> None:
    columns = {"text": "VARCHAR", "count": "BIGINT", "nothing": "VARCHAR"}
    held = in_columns(ROWS, columns)
    given_ = [(name, kind == "VARCHAR", held[name]) for name, kind in columns.items()]
    file = tmp_path / "rows.parquet"
    file.write_bytes(_core.parquet(given_, [("of", "'a' ☃"), ("empty", "")]))
    with duckdb.connect() as duck:
        read = duck.execute(f"FROM read_parquet('{file}')").fetchall()
        about = duck.execute(f"SELECT key, value FROM parquet_kv_metadata('{file}')").fetchall()
        described = {name: kind for name, kind, *_ in duck.execute(f"DESCRIBE FROM '{file}'").fetchall()}
    assert read == [tuple(row.get(name) for name in columns) for row in ROWS]
    assert [(key.decode(), value.decode()) for key, value in about] == [("of", "'a' ☃"), ("empty", "")]
    assert described == columns
