"""The tables of a store as views of a DuckDB: the rows that count, with the columns that are computed of others."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from tcpstall.archive.columns import BY_DAY, TABLES, Table
from tcpstall.archive.forgotten_mark import IS_FORGOTTEN
from tcpstall.archive.literals import listed, literal
from tcpstall.archive.row_table import given
from tcpstall.errors import CannotOpen

if TYPE_CHECKING:
    import duckdb

__all__ = ["Readable", "line", "make_views"]


class Readable(Protocol):
    """What a session needs of a store."""

    @property
    def url(self) -> str:
        """The folder that all its files lie in."""

    @property
    def filesystem(self) -> Any | None:
        """The fsspec file system of its files; None where they are this machine's."""

    @property
    def dropped(self) -> frozenset[str]:
        """Scans whose rows no longer count."""

    @property
    def continued(self) -> frozenset[str]:
        """Scans whose rows with `at_end` no longer count."""

    def files(self, table: str) -> list[str]:
        """The Parquet files of a table."""

    def recent(self, table: str) -> Sequence[Mapping[str, Any]]:
        """Its rows that are in no file yet."""


def make_views(connection: "duckdb.DuckDBPyConnection", *stores: Readable, called: Sequence[str] = ()) -> None:
    """The tables of the stores as views of a database. Raises CannotOpen where files of a store cannot be read."""
    import duckdb

    suffixes = [f"_{number}" for number in range(len(stores))] if called else [""]
    for name, table in TABLES.items():
        for store, suffix in zip(stores, suffixes, strict=True):
            try:
                connection.execute(f"CREATE VIEW {name}{suffix} AS {_view(connection, store, table, suffix)}")
            except duckdb.Error as error:
                raise CannotOpen(f"{store.url}: the table {name} cannot be read: {line(error)}") from error
        if called:
            each = zip(called, suffixes, strict=True)
            union = " UNION ALL ".join(f"SELECT *, {literal(own)} AS store FROM {name}{suffix}" for own, suffix in each)
            connection.execute(f"CREATE VIEW {name} AS {union}")


def _view(connection: "duckdb.DuckDBPyConnection", store: Readable, table: Table, suffix: str) -> str:
    if table.name == "errors":
        return f"SELECT {_names(table)} FROM captures{suffix} WHERE exit_code <> 0"
    source = _files(store, table)
    if recent := store.recent(table.name):
        held = f"recent_{table.name}{suffix}"
        given(connection, held, recent, {column.name: column.type for column in table.columns})
        source = f"({source} UNION ALL SELECT {_names(table)} FROM {held})"
    else:
        source = f"({source})"
    added = "".join(f", {column.sql} AS {column.name}" for column in table.added if column.sql)
    return f"SELECT *{added} FROM {source} {_that_count(store, table)}"


def _files(store: Readable, table: Table) -> str:
    if files := store.files(table.name):
        listed = ", ".join(map(literal, files))
        days = (
            "hive_partitioning = true, hive_types = {'day': DATE}"
            if table.name in BY_DAY
            else "hive_partitioning = false, union_by_name = true"
        )
        return f"SELECT {_names(table)} FROM read_parquet([{listed}], {days})"
    return f"SELECT {', '.join(f'NULL::{column.type} AS {_name(column.name)}' for column in _held(table))} WHERE false"


def _held(table: Table) -> Sequence[Any]:
    """The columns that files give, the day of their folder among them."""
    return [*table.columns, *(column for column in table.added if not column.sql)]


def _names(table: Table) -> str:
    return ", ".join(_name(column.name) for column in _held(table))


def _name(name: str) -> str:
    """Quoted: `overlaps` is a word of SQL."""
    return f'"{name}"'


def _that_count(store: Readable, table: Table) -> str:
    conditions = []
    if store.dropped:
        conditions.append(f"(scan IS NULL OR scan NOT IN ({listed(sorted(store.dropped))}))")
    if store.continued and table.name in BY_DAY:
        conditions.append(f"NOT (at_end AND scan IN ({listed(sorted(store.continued))}))")
    where = f"WHERE {' AND '.join(conditions)}" if conditions else ""
    if table.name != "captures":
        return where
    # A file that was scanned again, or moved, has a newer row; what could not be read is forgotten once it could be.
    latest = "row_number() OVER (PARTITION BY scan, if(scan IS NULL, name, fingerprint) ORDER BY scanned_ns DESC)"
    newest = "max(scanned_ns) OVER (PARTITION BY name)"
    return f"{where} QUALIFY {latest} = 1 AND (scan IS NOT NULL OR scanned_ns = {newest}) AND NOT {IS_FORGOTTEN}"


def line(error: Exception) -> str:
    """DuckDB's message without the picture of where in the statement it was."""
    return next((line.strip() for line in str(error).splitlines() if line.strip()), type(error).__name__)
