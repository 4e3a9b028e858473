"""Parquet parts of a store, a file a table and day: new rows as the core writes them, and DuckDB's of parts."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from tcpstall import _core
from tcpstall.archive.columns import TABLES, layout
from tcpstall.archive.storing.duck import connected
from tcpstall.archive.storing.hours import SUMMED, Sums, added_up, to_add_up
from tcpstall.archive.storing.literals import listed
from tcpstall.archive.storing.names import HOURS, fresh, part_name
from tcpstall.archive.storing.rollups import AT_HOME, CLASSES, ONE_WAIT, READ, ROLLUPS, SHARED, facts, shared
from tcpstall.archive.storing.row_table import given, in_columns
from tcpstall.archive.storing.storage import Place
from tcpstall.archive.storing.store import Part
from tcpstall.archive.storing.views import rows_of
from tcpstall.errors import CannotWrite

if TYPE_CHECKING:
    import duckdb

__all__ = ["BESIDE", "COUNTS", "REPLACES", "SMALL_BYTES", "Gone", "Parts", "form"]

_GATHERED_BYTES = 100_000_000
"""Memory of the rows gathered before they are written. Fewer would make parts that are merged, and so written twice, at
the end of the scan."""

_ROW_GROUP = {"flows": 30_720}
"""Rows of a group that DuckDB writes, where they are wide: its own 122,880 flows take more memory than a scan has, and
writing them took eight times as long because they were spilled to disk. A multiple of DuckDB's 2,048."""

_MANY_ROWS = 20_000
"""Rows of a part that is written as differences, which fewer rows of real captures would make larger by a quarter."""

_BY_THE_CORE = 100_000
"""Most rows that are given as such and that the core writes, in a sixth of DuckDB's time: it holds them once more."""

_DIFFERENCES = ", PARQUET_VERSION V2, DICTIONARY_SIZE_LIMIT 1000"
"""Differences between neighbours (Parquet's DELTA_BINARY_PACKED) where a column has more values than that: a dictionary
of ten thousand times costs a fifth of writing a table, and takes more bytes."""

_READ = "read_parquet(?, union_by_name = true, hive_partitioning = false)"
"""Of these files, whichever version wrote them; the day is in their folder's name, not among their columns."""

SMALL_BYTES = 32_000_000
"""Parts below this are merged: a query pays about a millisecond for each part that it opens."""

REPLACES = "tcpstall_replaces"
"""Key of the metadata of a Parquet file: names of the parts that it took the place of, parted by spaces."""

BESIDE = "tcpstall_beside"
"""The same of the parts of its table that count beside it: the newest part of captures names all others."""

COUNTS = "NOT list_contains(?, scan) AND NOT (at_end AND list_contains(?, scan))"
"""Rows that count, as SQL over a table by day: given scans that were dropped, and scans that were continued."""


@dataclass(frozen=True, slots=True)
class Gone:
    """Rows that are to go, as SQL over a table by day, with its values."""

    sql: str = "false"
    values: Sequence[object] = ()


class Parts:
    """Gathers rows of several scans and writes them as parts of a place. Nothing counts before it is committed."""

    def __init__(self, place: Place, memory_bytes: int, *, sensor: str | None = None) -> None:
        """`sensor` is what the rows of reports are labelled with."""
        self.place = place
        self._sensor = sensor
        self._scratch = place.scratch
        self._memory_bytes = memory_bytes
        self._gathered = _core.Gathered()
        self._written: list[Part] = []

    @cached_property
    def _rows(self) -> "duckdb.DuckDBPyConnection":
        """Made when it is first needed: a worker loads no DuckDB."""
        return connected(self.place, self._memory_bytes)

    def add(self, report: _core.Report, scan: str, names: Sequence[str]) -> None:
        """The rows of some flows; `names` are those of the inputs, in the order of the numbers in `flows.capture`.

        Raises CannotWrite.
        """
        self._gathered.add(report, scan, names, self._sensor)
        if self._gathered.nbytes >= _GATHERED_BYTES:
            self._write()

    def finish(self) -> list[Part]:
        """Writes what is gathered; all parts written so far."""
        if len(self._gathered):
            self._write()
        return self._written

    def merged(
        self,
        folder: str,
        old: Sequence[Part],
        dropped: frozenset[str],
        continued: frozenset[str],
        gone: Gone = Gone(),
    ) -> list[Part]:
        """Rows of several parts of a folder in one, without those that no longer count; no part where none is left."""
        table = folder.partition("/")[0]
        counts = f"{COUNTS} AND NOT {gone.sql}"
        values = [[self.place.path(part.name) for part in old], [*dropped], [*continued], *gone.values]
        found = self._rows.execute(f"SELECT count(*), min(start_ns), max(start_ns) FROM {_READ} WHERE {counts}", values)
        rows, from_ns, to_ns = found.fetchone() or (0, None, None)
        if not rows:
            return []
        counting = f"SELECT {self._analysed(table, values[0])} FROM {_READ} WHERE {counts}"
        query = f"SELECT *{TABLES[table].derived} FROM ({counting})"
        replaced = [part.name for part in old]
        return [self._copied(table, query, folder, rows, from_ns, to_ns, values, replaced=replaced)]

    def summed(self, parts: Sequence[Part]) -> Sums:
        """The sums of these parts, all of whose rows count. Raises CannotWrite."""
        paths = {name: [self.place.path(part.name) for part in parts if part.table == name] for name in SUMMED}
        sources = {name: f"({rows_of(TABLES[name].only(READ[name]), paths[name])})" for name in SUMMED}
        made = self._shared(sources)
        from_ns = min((part.from_ns for part in parts if part.from_ns is not None), default=None)
        to_ns = max((part.to_ns for part in parts if part.to_ns is not None), default=None)

        def copied(table: str, query: str) -> Part:
            return self._copied(table, f"FROM ({query}) ORDER BY ALL", HOURS, None, from_ns, to_ns)

        hours = copied("hours", added_up(f"({to_add_up(sources['stalls'], sources['findings'])})"))
        sources["hours"] = f"FROM read_parquet([{listed([self.place.path(hours.name)])}])"
        files = (hours, *(copied(each.name, each.rows(sources, CLASSES)) for each in ROLLUPS.values()))
        for name in made:
            self._rows.execute(f"DROP TABLE {name}")
        return Sums(files, frozenset(part.name for part in parts))

    def _shared(self, sources: dict[str, str]) -> list[str]:
        """Adds the SHARED sources, and what is known of them; the tables that were made."""
        at_home, one_wait = self._rows.execute(facts(sources)).fetchone() or (False, False)
        if at_home:
            sources[AT_HOME] = ""
        if at_home and one_wait:
            sources[ONE_WAIT] = ""
            sources["waited"] = shared(sources, "waited")
        made = []
        for name in SHARED:
            if name not in sources and not (at_home and name == "home"):
                self._rows.execute(f"CREATE OR REPLACE TEMP TABLE summed_{name} AS FROM {shared(sources, name)}")
                sources[name] = f"summed_{name}"
                made.append(sources[name])
        return made

    def added_up(self, sums: Sequence[Sums]) -> Sums:
        """Sums of several days of these, a file for each table OF_DAYS. Raises CannotWrite."""
        made = []
        for each in ROLLUPS.values():
            if each.added:
                files = [one.of_table(each.name) for one in sums]
                from_ns = min((file.from_ns for file in files if file.from_ns is not None), default=None)
                to_ns = max((file.to_ns for file in files if file.to_ns is not None), default=None)
                read = f"read_parquet([{listed([self.place.path(file.name) for file in files])}])"
                query = f"FROM ({each.added(read)}) ORDER BY ALL"
                made.append(self._copied(each.name, query, HOURS, None, from_ns, to_ns))
        return Sums(tuple(made), frozenset().union(*(one.of for one in sums)))

    def _analysed(self, table: str, files: object) -> str:
        """Columns of this version that are not computed: null where the files, of another one, have none."""
        described = self._rows.execute(f"DESCRIBE SELECT * FROM {_READ}", [files]).fetchall()
        there = {row[0] for row in described}
        return ", ".join(
            f'"{column.name}"' if column.name in there else f'NULL::{column.type} AS "{column.name}"'
            for column in TABLES[table].analysed
        )

    def rows(
        self,
        table: str,
        rows: Sequence[Mapping[str, Any]],
        columns: Mapping[str, str],
        *,
        replaced: Sequence[str] = (),
        beside: Sequence[str] = (),
        merged: Sequence[Part] = (),
    ) -> Part | None:
        """Writes rows given as such, of these columns and DuckDB types, and those of parts that are `merged` with them.

        `replaced` and `beside` are the parts that it replaces and counts beside. Columns are texts and whole numbers.
        """
        if not rows:
            return None
        if not merged and len(rows) <= _BY_THE_CORE:
            held = in_columns(rows, columns)
            content = _core.parquet(
                [(name, kind == "VARCHAR", held[name]) for name, kind in columns.items()],
                list(_about(replaced, beside).items()),
            )
            return Part(table, self._brought(table, content), len(rows), len(content), layout=layout(table))
        given(self._rows, f"kept_{table}", in_columns(rows, columns), columns)
        query = f"FROM kept_{table}"
        values: Sequence[object] = ()
        if merged:
            query += f" UNION ALL BY NAME FROM {_READ} ORDER BY name, scanned_ns"
            values = [[self.place.path(part.name) for part in merged]]
        count = len(rows) + sum(part.rows for part in merged)
        part = self._copied(table, query, table, count, values=values, replaced=replaced, beside=beside)
        self._rows.execute(f"DROP TABLE kept_{table}")
        return part

    def _write(self) -> None:
        for table, day, rows, from_ns, to_ns, content in self._gathered.take():
            name = self._brought(f"{table}/day={_date(day)}", content)
            self._written.append(Part(table, name, rows, len(content), from_ns, to_ns, layout(table)))

    def _brought(self, folder: str, content: bytes) -> str:
        """Name of a part with this content, which is in the place now."""
        file = self._scratch / f"{fresh()}.parquet"
        try:
            file.write_bytes(content)
            name = part_name(folder, file)
        except OSError as error:
            file.unlink(missing_ok=True)
            raise CannotWrite(f"cannot write into {self.place.url}: {_line(error)}") from error
        self.place.take(name, file)
        return name

    def _copied(
        self,
        table: str,
        query: str,
        folder: str,
        rows: int | None,
        from_ns: int | None = None,
        to_ns: int | None = None,
        values: Sequence[object] = (),
        *,
        replaced: Sequence[str] = (),
        beside: Sequence[str] = (),
    ) -> Part:
        """`rows` are counted where they are not known."""
        import duckdb

        file = self._scratch / f"{fresh()}.parquet"
        keys = ", ".join(f"{key}: '{value}'" for key, value in _about(replaced, beside).items())
        about = f"KV_METADATA {{ {keys} }}"
        try:
            copied = self._rows.execute(
                f"COPY ({query}) TO '{_quoted(str(file))}' ({form(table, rows)}, {about})", values
            ).fetchone()
            size = file.stat().st_size
            name = part_name(folder, file)
        except (duckdb.Error, OSError) as error:
            file.unlink(missing_ok=True)
            raise CannotWrite(f"cannot write into {self.place.url}: {_line(error)}") from error
        self.place.take(name, file)
        if rows is None:
            (rows,) = copied or (0,)
        of_version = layout(table) if table in TABLES else ""
        return Part(table, name, rows, size, from_ns, to_ns, of_version)


def _about(replaced: Sequence[str], beside: Sequence[str]) -> dict[str, str]:
    """Metadata of a part: what it replaces and counts beside, should the catalog be lost."""
    return {REPLACES: " ".join(replaced), BESIDE: " ".join(beside)}


def form(table: str, rows: int | None) -> str:
    """Options of COPY for a part of so many rows of a table."""
    groups = f", ROW_GROUP_SIZE {_ROW_GROUP[table]}" if table in _ROW_GROUP else ""
    return f"FORMAT parquet, COMPRESSION zstd{groups}{_DIFFERENCES if (rows or 0) >= _MANY_ROWS else ''}"


def _date(day: int) -> str:
    """The UTC day of so many days since 1970; beyond the calendar the first or last day of it."""
    from datetime import date, timedelta

    try:
        return str(date(1970, 1, 1) + timedelta(days=day))
    except OverflowError:
        return str(date.min if day < 0 else date.max)


def _quoted(text: str) -> str:
    return text.replace("'", "''")


def _line(error: Exception) -> str:
    return str(error).splitlines()[0]
