"""Rows of the program's own answers as Parquet."""

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from tcpstall.errors import CannotWrite

__all__ = ["write_parquet"]


def write_parquet(columns: Mapping[str, str], rows: Iterable[Sequence[Any]], output: Path) -> None:
    """A column for each name, of that DuckDB type. Raises CannotWrite."""
    import duckdb

    names = list(columns)
    text = json.dumps([dict(zip(names, row, strict=True)) for row in rows])
    form = json.dumps([dict(columns)])
    with duckdb.connect(":memory:") as connection:
        made = connection.sql(
            f"SELECT unnest(from_json($rows::JSON, '{form}'), recursive := true)", params={"rows": text}
        )
        try:
            made.write_parquet(str(output), compression="zstd")
        except duckdb.Error as error:
            raise CannotWrite(f"cannot write {output}: {str(error).splitlines()[0]}") from error
