"""The tables of a store as views of a DuckDB: the rows that count, with the columns that are computed of others."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from tcpstall.archive.columns import BY_DAY, TABLES, Column, Table
from tcpstall.archive.storing.hours import SUMMED, SUMS, added_up, to_add_up
from tcpstall.archive.storing.literals import listed, literal
from tcpstall.archive.storing.marks import IS_UNTOLD
from tcpstall.archive.storing.rollups import EXACT, ROLLUPS, Rollup
from tcpstall.archive.storing.row_table import given, in_columns
from tcpstall.errors import CannotOpen

if TYPE_CHECKING:
    import duckdb

__all__ = ["VIEWS", "Readable", "line", "make_view", "make_views", "rows_of"]

Older = Mapping[str, frozenset[str]]
"""Files that another version wrote, each with the columns that it has."""

VIEWS = (SUMS, *TABLES)
"""The views of a store, each after those that it is made of."""


class Readable(Protocol):
    """A store, as far as a session needs it."""

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
        """The Parquet files of a table, or of a table of sums."""

    def older(self, table: str) -> Mapping[str, str]:
        """Those of its files that another version wrote, with other columns, each with the layout of these."""

    def recent(self, table: str) -> Sequence[Mapping[str, Any]]:
        """Its rows that are in no file yet."""

    def unsummed(self, table: str) -> list[str]:
        """Its files whose rows are in no files of sums."""


def make_views(connection: "duckdb.DuckDBPyConnection", *stores: Readable, called: Sequence[str] = ()) -> None:
    """The tables of the stores as views of a database. Raises CannotOpen where files of a store cannot be read."""
    for name in VIEWS:
        make_view(connection, name, *stores, called=called)


def make_view(
    connection: "duckdb.DuckDBPyConnection", name: str, *stores: Readable, called: Sequence[str] = ()
) -> None:
    """A table, or a table of sums, as a view. Raises CannotOpen as make_views does."""
    import duckdb

    suffixes = [f"_{number}" for number in range(len(stores))] if called else [""]
    for store, suffix in zip(stores, suffixes, strict=True):
        try:
            connection.execute(f"CREATE VIEW {name}{suffix} AS {_view(connection, store, name, suffix)}")
        except duckdb.Error as error:
            raise CannotOpen(f"{store.url}: the table {name} cannot be read: {line(error)}") from error
    if called:
        each = zip(called, suffixes, strict=True)
        union = " UNION ALL ".join(f"SELECT *, {literal(own)} AS store FROM {name}{suffix}" for own, suffix in each)
        connection.execute(f"CREATE VIEW {name} AS {union}")


def rows_of(table: Table, files: Sequence[str], where: str = "", older: Older = {}) -> str:  # noqa: B006 - only read
    """The rows of files of a table as SQL, with the columns that are computed."""
    return f"SELECT *{table.computed} FROM ({_files(table, files, older)}) {where}"


def _view(connection: "duckdb.DuckDBPyConnection", store: Readable, name: str, suffix: str) -> str:
    match name:
        case "errors":
            return f"SELECT {_names(TABLES[name])} FROM captures{suffix} WHERE exit_code <> 0"
        case "hours":
            return f"SELECT *{TABLES[name].computed} FROM ({added_up(f'{SUMS}{suffix}')})"
        case _ if name == SUMS:
            return f"{_files(TABLES['hours'], store.files('hours'))} UNION ALL {_further_hours(connection, store)}"
        case _ if name in ROLLUPS:
            return _rolled_up(connection, store, ROLLUPS[name])
    table = TABLES[name]
    older = _older(connection, store, name)
    if not (recent := store.recent(name)):
        return rows_of(table, store.files(name), _that_count(store, table), older)
    held = f"recent_{name}{suffix}"
    types = {column.name: column.type for column in table.columns}
    given(connection, held, in_columns(recent, types), types)
    source = f"{_files(table, store.files(name), older)} UNION ALL SELECT {_names(table)} FROM {held}"
    return f"SELECT *{table.computed} FROM ({source}) {_that_count(store, table)}"


def _further_hours(connection: "duckdb.DuckDBPyConnection", store: Readable) -> str:
    """Sums of parts that were not added up yet."""
    sources = _unsummed(connection, store)
    return to_add_up(sources["stalls"], sources["findings"])


def _rolled_up(connection: "duckdb.DuckDBPyConnection", store: Readable, rollup: Rollup) -> str:
    """The sums that lie there, and those of parts that were not added up yet."""
    files = [f"FROM read_parquet([{listed(store.files(rollup.name))}])"] if store.files(rollup.name) else []
    if files and not any(store.unsummed(name) for name in SUMMED):
        return files[0]
    return " UNION ALL ".join([*files, f"FROM ({rollup.rows(_unsummed(connection, store), EXACT)})"])


def _unsummed(connection: "duckdb.DuckDBPyConnection", store: Readable) -> Mapping[str, str]:
    def rows(table: Table) -> str:
        files = store.unsummed(table.name)
        return rows_of(table, files, _that_count(store, table), _older(connection, store, table.name) if files else {})

    return {name: f"({rows(TABLES[name])})" for name in SUMMED}


def _older(connection: "duckdb.DuckDBPyConnection", store: Readable, table: str) -> Older:
    """One file of each layout is looked into; the first version kept no layouts."""
    columns: dict[str, frozenset[str]] = {}
    found: dict[str, frozenset[str]] = {}
    for file, layout in store.older(table).items():
        if layout not in columns:
            described = connection.execute(f"DESCRIBE FROM read_parquet({literal(file)}, hive_partitioning = false)")
            found[file] = frozenset(row[0] for row in described.fetchall())
            if layout:
                columns[layout] = found[file]
        else:
            found[file] = columns[layout]
    return found


def _files(table: Table, files: Sequence[str], older: Older = {}) -> str:  # noqa: B006 - only read
    """Rows of these files; columns that the version which wrote a file did not know are null, or computed."""
    ours = [file for file in files if file not in older]
    by_columns: dict[frozenset[str], list[str]] = defaultdict(list)
    for file in files:
        if file in older:
            by_columns[older[file]].append(file)
    each = [f"SELECT {_names(table)} FROM {_read(table, ours)}"] if ours else []
    for there, theirs in by_columns.items():
        held = ", ".join(_of_older(column, there) for column in _held(table) if column.name in there or not column.sql)
        computed = [column for column in table.columns if column.sql and column.name not in there]
        further = "".join(f", {column.sql} AS {_name(column.name)}" for column in computed)
        rows = f"SELECT *{further} FROM (SELECT {held} FROM {_read(table, theirs)})"
        each.append(f"SELECT {_names(table)} FROM ({rows})")
    if each:
        return " UNION ALL ".join(each)
    nothing = ", ".join(f"NULL::{column.type} AS {_name(column.name)}" for column in _held(table))
    return f"SELECT {nothing} WHERE false"


def _of_older(column: Column, there: frozenset[str]) -> str:
    if column.name in there or column.name == "day":  # the day is in the name of the file's folder
        return f"{_name(column.name)}::{column.type} AS {_name(column.name)}"
    return f"NULL::{column.type} AS {_name(column.name)}"


def _read(table: Table, files: Sequence[str]) -> str:
    by_day = "hive_partitioning = true, hive_types = {'day': DATE}"
    days = by_day if table.name in BY_DAY else "hive_partitioning = false, union_by_name = true"
    return f"read_parquet([{', '.join(map(literal, files))}], {days})"


def _held(table: Table) -> Sequence[Column]:
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
    return f"{where} QUALIFY {latest} = 1 AND (scan IS NOT NULL OR scanned_ns = {newest}) AND NOT {IS_UNTOLD}"


def line(error: Exception) -> str:
    """DuckDB's message without the picture of where in the statement it was."""
    return next((line.strip() for line in str(error).splitlines() if line.strip()), type(error).__name__)
