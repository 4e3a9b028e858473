"""Rows that Python holds, as a table of DuckDB."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import duckdb

__all__ = ["given"]

_AT_ONCE = 4_096
"""Rows of one statement: a few megabytes of values."""


def given(
    connection: "duckdb.DuckDBPyConnection", name: str, rows: Sequence[Mapping[str, Any]], columns: Mapping[str, str]
) -> None:
    """Makes the table `name` of these columns and DuckDB types. What a row lacks is null.

    A list for each column: a statement a row would take a millisecond each, and JSON twice the time of lists.
    """
    described = ", ".join(f'"{column}" {kind}' for column, kind in columns.items())
    connection.execute(f"CREATE OR REPLACE TABLE {name} ({described})")
    values = ", ".join(f"unnest(${number}::{kind}[])" for number, kind in enumerate(columns.values(), 1))
    for start in range(0, len(rows), _AT_ONCE):
        some = rows[start : start + _AT_ONCE]
        connection.execute(
            f"INSERT INTO {name} SELECT {values}", [[row.get(column) for row in some] for column in columns]
        )
