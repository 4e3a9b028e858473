"""A column, a table, and the types and units that they have."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace

# Types in DuckDB.
TEXT, COUNT, REAL, FLAG, MOMENT, DAY = "VARCHAR", "BIGINT", "DOUBLE", "BOOLEAN", "TIMESTAMP", "DATE"

# Units.
NS = "ns"
SINCE_1970 = "ns since 1970-01-01 UTC"
BYTES = "bytes"
RATE = "bytes/s"
SHARE = "0 to 1"
SEGMENTS = "segments"


@dataclass(frozen=True, slots=True)
class Column:
    """A column; `sql` computes it of the others, `family` joins columns told together."""

    name: str
    type: str
    unit: str
    meaning: str
    sql: str = ""
    family: str = ""


@dataclass(frozen=True, slots=True)
class Table:
    """A table: `columns` stand in its files, computed when rows are written or not; `added` in the view of it only."""

    name: str
    meaning: str
    columns: tuple[Column, ...]
    added: tuple[Column, ...] = ()

    def only(self, names: Collection[str]) -> "Table":
        """The table with columns of these names alone: to plan a statement over all columns of flows takes 4 ms."""
        columns, added = (tuple(each for each in some if each.name in names) for some in (self.columns, self.added))
        return replace(self, columns=columns, added=added)

    @property
    def shown(self) -> tuple[Column, ...]:
        """All that a question can name."""
        return (*self.columns, *self.added)

    @property
    def computed(self) -> str:
        """Columns that a view computes, as SQL after the columns of the files."""
        return _further(self.added)

    @property
    def derived(self) -> str:
        """Columns of the files that are computed when rows are written, as SQL after the others."""
        return _further(self.columns)

    @property
    def analysed(self) -> tuple[Column, ...]:
        """Columns of the files that an analysis gives, which come first."""
        return tuple(column for column in self.columns if not column.sql)


def _further(columns: Iterable[Column]) -> str:
    return "".join(f", {column.sql} AS {column.name}" for column in columns if column.sql)


def column(type_: str, unit: str, name: str, meaning: str) -> Column:
    """A column of the files; its type and unit come first, so that the columns of a table align."""
    return Column(name, type_, unit, meaning)
