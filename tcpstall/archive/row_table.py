"""Rows that Python holds, as a table of DuckDB."""

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import duckdb

__all__ = ["given"]

_AT_ONCE = 4_096
"""Rows of one statement: a few megabytes of JSON."""


def given(
    connection: "duckdb.DuckDBPyConnection", name: str, rows: Sequence[Mapping[str, Any]], columns: Mapping[str, str]
) -> None:
    """Makes the table `name` of these columns and DuckDB types; what a row lacks is null.

    Through JSON: a statement a row would take a millisecond each.
    """
    described = ", ".join(f'"{column}" {kind}' for column, kind in columns.items())
    connection.execute(f"CREATE OR REPLACE TABLE {name} ({described})")
    form = json.dumps([dict(columns)])
    for start in range(0, len(rows), _AT_ONCE):
        some = rows[start : start + _AT_ONCE]
        connection.execute(
            f"INSERT INTO {name} SELECT unnest(from_json($rows::JSON, '{form}'), recursive := true)",
            {"rows": json.dumps([{column: row.get(column) for column in columns} for row in some])},
        )
