"""DuckDBs that read and write the parts of a store."""

from pathlib import Path
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from tcpstall.archive.storing.names import fresh
from tcpstall.archive.storing.storage import Place

if TYPE_CHECKING:
    import duckdb

__all__ = ["MEMORY_BYTES", "alone", "connected"]

MEMORY_BYTES = 200_000_000
"""Memory of a DuckDB that keeps a store."""

_held: "WeakKeyDictionary[Place, duckdb.DuckDBPyConnection]" = WeakKeyDictionary()
"""The database of each place, which ends with it: to make one takes 20 ms, as long as to write a table."""


def connected(place: Place, memory_bytes: int) -> "duckdb.DuckDBPyConnection":
    """A connection to the DuckDB of a place, which reads its parts; the first connection decides on the memory of all.

    Temporary tables and views are the connection's own.
    """
    database = _held.get(place)
    if database is None:
        database = _held[place] = alone(place, memory_bytes)
    return database.cursor()


def alone(place: Place, memory_bytes: int, spill: Path | None = None) -> "duckdb.DuckDBPyConnection":
    """A DuckDB of its own. It takes so much memory; beyond that it writes into the place's scratch.

    `spill` is another folder for that: the place is not written to then.
    """
    import duckdb

    config = {
        "memory_limit": f"{memory_bytes // 1_000_000}MB",
        "threads": 1,
        "temp_directory": str((spill or place.scratch) / f"spilled-{fresh()}"),
        "preserve_insertion_order": True,
    }
    database = duckdb.connect(":memory:", config=config)
    if place.filesystem is not None:
        database.register_filesystem(place.filesystem)
    return database
