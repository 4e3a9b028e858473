"""A store exported as Delta or Iceberg tables, for lakehouses: each table is replaced in one commit of its own."""

import warnings
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tcpstall.archive.asking.anonymising import Hidden
from tcpstall.archive.asking.pruned import sound
from tcpstall.archive.columns import TABLES
from tcpstall.archive.maintenance.upkeep import MEMORY_BYTES
from tcpstall.archive.storing.duck import alone
from tcpstall.archive.storing.views import make_views
from tcpstall.archive.storing.writing import writing
from tcpstall.errors import CannotOpen

if TYPE_CHECKING:
    import duckdb

__all__ = ["LAKES", "exported"]

_ROWS = 500_000
"""Rows that are in memory at once."""

_NAMESPACE = "tcpstall"


def exported(url: str, folder: Path, kind: str, *, key: bytes | None = None) -> dict[str, int]:
    """Replaces the rows of each table in the folder by those of the store; number of rows by table.

    Raises CannotOpen (the store, or the package for that `kind` is not installed) and CannotWrite.
    """
    write = LAKES[kind]()
    store = sound(url)
    counts = {}
    # The packages' errors have no common type.
    with writing(folder, Exception), alone(store.place, MEMORY_BYTES) as duck:
        make_views(duck, store)
        hidden = None if key is None else Hidden(duck, key)
        folder.mkdir(parents=True, exist_ok=True)
        for table in TABLES.values():
            source = f"FROM {table.name}" if hidden is None else hidden.view(table)
            [[counts[table.name]]] = duck.execute(f"SELECT count(*) FROM {table.name}").fetchall()
            write(folder, table.name, _read(duck, source))
    return counts


def _read(duck: "duckdb.DuckDBPyConnection", sql: str) -> Any:
    """The rows as Arrow batches."""
    return duck.sql(sql).to_arrow_reader(_ROWS)


def _delta() -> Callable[[Path, str, Any], None]:
    try:
        from deltalake import write_deltalake
    except ImportError as error:
        raise CannotOpen("--delta: deltalake is not installed: pip install 'tcpstall[delta]'") from error

    def write(folder: Path, name: str, rows: Any) -> None:
        write_deltalake(str(folder / name), rows, mode="overwrite", schema_mode="overwrite", name=name)

    return write


def _iceberg() -> Callable[[Path, str, Any], None]:
    try:
        import pyarrow
        from pyiceberg.catalog.sql import SqlCatalog
        from pyiceberg.expressions import AlwaysTrue
    except ImportError as error:
        raise CannotOpen("--iceberg: pyiceberg is not installed: pip install 'tcpstall[iceberg]'") from error

    def write(folder: Path, name: str, rows: Any) -> None:
        place = folder.resolve()
        catalog = SqlCatalog(_NAMESPACE, uri=f"sqlite:///{place}/catalog.db", warehouse=place.as_uri())
        catalog.create_namespace_if_not_exists(_NAMESPACE)
        table = catalog.create_table_if_not_exists(f"{_NAMESPACE}.{name}", schema=rows.schema)
        with table.update_schema() as schema:
            schema.union_by_name(rows.schema)
        with warnings.catch_warnings(), table.transaction() as commit:
            warnings.simplefilter("ignore", UserWarning)  # of an empty table there is nothing to delete
            commit.delete(AlwaysTrue())
            for batch in rows:
                commit.append(pyarrow.Table.from_batches([batch], rows.schema))

    return write


LAKES: Mapping[str, Callable[[], Callable[[Path, str, Any], None]]] = {"delta": _delta, "iceberg": _iceberg}
"""Writer of each kind of table."""
