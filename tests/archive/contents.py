"""Content of a store, for comparison row by row."""

from pathlib import Path
from typing import Any

from tcpstall.archive.asking.session import session
from tcpstall.archive.columns import TABLES
from tcpstall.archive.storing.store import Store

__all__ = ["counted", "rows"]

_BY_THE_CLOCK = {"scanned_ns"}

Rows = dict[str, list[tuple[Any, ...]]]


def rows(store: Path | str) -> Rows:
    """Every row that counts, in an order of its own, but for when it was scanned."""
    opened = Store.open(str(store))
    found: Rows = {}
    with session(opened) as asked:
        for table in TABLES.values():
            names = [f'"{column.name}"' for column in table.columns if column.name not in _BY_THE_CLOCK]
            answer = asked.rows(f"SELECT {', '.join(names)} FROM {table.name}")
            found[table.name] = sorted((tuple(row.values()) for row in answer), key=repr)
    return found


def counted(store: Path | str) -> dict[str, int]:
    """Number of rows of each table."""
    return {table: len(held) for table, held in rows(store).items()}
