"""Rows that Python holds reach DuckDB as they are."""

import math
from typing import Any

import duckdb

from tcpstall.archive.row_table import given, in_columns

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
