"""A store kept small and fast: parts merged, and what no longer counts removed."""

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from tcpstall.archive.columns import BY_DAY, TABLES
from tcpstall.archive.planning.plan import as_originals, current
from tcpstall.archive.storing.damaged_parts import refused
from tcpstall.archive.storing.database import database_beside
from tcpstall.archive.storing.duck import MEMORY_BYTES, connected
from tcpstall.archive.storing.literals import listed
from tcpstall.archive.storing.marks import IS_WITHDRAWN, withdrawn
from tcpstall.archive.storing.names import repair_of
from tcpstall.archive.storing.parquet import SMALL_BYTES, Parts
from tcpstall.archive.storing.records import Row, sane_row
from tcpstall.archive.storing.store import Commit, Part, Store
from tcpstall.archive.storing.summing import sum_up
from tcpstall.errors import CannotOpen

__all__ = [
    "MEMORY_BYTES",
    "committed",
    "compacted",
    "held_captures",
    "held_rows",
    "known_captures",
    "parts_with",
    "readable",
    "refuse_damaged",
]

_MANY = 8
"""Least number of small parts of one day that are merged into one."""

_RECENT = 100_000
"""Most rows of captures in memory amid a scan, about 1.4 kB each, beside those of the latest commit."""

_WITHDRAWN = 1_000
_SHARE_WITHDRAWN = 64
"""Most rows of captures that withdraw others: the greater of this number and this fraction (1/64) of all rows.

Each scan looks at them, and at the rows that they withdraw, in Python; where there would be more all rows are written
anew."""

_CAPTURES = {column.name: column.type for column in TABLES["captures"].columns}


@contextmanager
def held_captures(store: Store) -> Iterator[Any]:
    """A DuckDB with the rows of captures that are in files as the table `held`. Raises CannotOpen."""
    with connected(store.place, MEMORY_BYTES) as duck, readable(store, "captures"):
        files = listed(store.files("captures"))
        duck.execute(f"CREATE TEMP VIEW held AS FROM read_parquet([{files}], union_by_name = true)")
        yield duck


def known_captures(
    store: Store, where: str = "true", values: Mapping[str, object] | None = None
) -> list[dict[str, Any]]:
    """Rows of captures, those that no longer count included, and the recent ones.

    `where` chooses among those `held` in files, as SQL with its values. Raises CannotOpen.
    """
    known: list[dict[str, Any]] = []
    if store.files("captures"):
        with held_captures(store) as duck:
            known = held_rows(store, duck, where, values)
    blank = dict.fromkeys(_CAPTURES)
    recent = [{**blank, **row} for row in store.recent("captures")]
    if not all(map(_is_named, recent)):  # types were looked at when the journal was read
        raise _insane(store)
    return known + recent


def held_rows(store: Store, duck: Any, where: str, values: Mapping[str, object] | None = None) -> list[dict[str, Any]]:
    """Rows of captures `held` by a DuckDB of held_captures. Raises CannotOpen."""
    types = {name: kind for name, kind, *_ in duck.execute("DESCRIBE held").fetchall()}
    lacking = [name for name in _CAPTURES if name not in types]
    columns, nothing = [*types, *lacking], (None,) * len(lacking)
    rows = duck.execute(f"FROM held WHERE {where}", values).fetchall()
    known = [dict(zip(columns, row + nothing, strict=True)) for row in rows]
    typed = all(_CAPTURES.get(name, kind) == kind for name, kind in types.items())
    if not (all(map(_is_sane, known[:1] if typed else known)) and _all_named(duck)):
        raise _insane(store)
    return known


def _insane(store: Store) -> CannotOpen:
    return CannotOpen(f"{store.url}: the table captures has rows that no scan writes; {repair_of(store.url)}")


def _is_sane(row: Row) -> bool:
    return _is_named(row) and sane_row(row)


def _is_named(row: Row) -> bool:
    return row["name"] is not None and row["scanned_ns"] is not None


def _all_named(duck: Any) -> bool:
    """Asked of DuckDB, which looks at a hundred thousand rows in no time."""
    lacking = "SELECT count(*) FROM held WHERE name IS NULL OR scanned_ns IS NULL"
    return bool(duck.execute(lacking).fetchall() == [(0,)])


def compacted(store: Store, *, spares: bool = True) -> None:
    """Merges small parts, leaves out what no longer counts, gives parts of other versions the columns of this one.

    The parts that were merged are kept for a while for those who have just looked up which ones count, if it `spares`
    them: not where rows are to be forgotten.
    """
    parts = Parts(store.place, MEMORY_BYTES)
    others = {*_with_gone(store), *(part.name for part in store.outdated())}
    by_day: dict[str, list[Part]] = defaultdict(list)
    for table in BY_DAY:
        for part in store.parts(table):
            by_day[part.name.rpartition("/")[0]].append(part)
    for folder, all_parts in by_day.items():
        small = [part for part in all_parts if part.bytes < SMALL_BYTES]
        merged = small if len(small) >= _MANY else []
        old = [part for part in all_parts if part in merged or part.name in others]
        if old:
            refuse_damaged(store, old)
            with readable(store, old[0].table):
                made = parts.merged(folder, old, store.dropped, store.continued)
            store.commit(Commit(parts=made, removed=[part.name for part in old]))
    there = store.parts("captures")
    rows = _to_add(store) if there else None
    small = there if rows is None else _no_larger(there, len(rows))
    beside = [part for part in there if part not in small]
    if rows is None or not beside:
        rows = current(known_captures(store), store.dropped)
    store.forget(store.dropped, store.continued)
    _checkpoint(store, parts, rows, small, beside, spares=spares)


def committed(store: Store, commit: Commit) -> None:
    """Commits amid a scan; recent rows of captures are put into a part before they take much memory.

    Rows stay in memory until the end of the scan where older ones have to be written anew, and where a copy is among
    them: its original may be scanned later.
    """
    new = store.recent("captures")
    if commit.captures and len(new) >= _RECENT and not any(map(_is_copy, new)) and _can_add(store):
        rows = sorted(new, key=_in_order)
        beside = [part.name for part in store.parts("captures")]
        part = Parts(store.place, MEMORY_BYTES).rows("captures", rows, _CAPTURES, beside=beside)
        store.checkpoint(part, amid=True)
    store.commit(commit)


def _in_order(row: Row) -> tuple[str, int]:
    return row["name"], row["scanned_ns"]


def _can_add(store: Store) -> bool:
    """True if new rows of captures can stand beside older ones: all of them count, and older ones have all columns."""
    dropped = store.dropped
    return not store.outdated() and not any(row.get("scan") in dropped for row in store.recent("captures"))


def _to_add(store: Store) -> list[Row] | None:
    """Rows to stand beside older ones: new ones, and withdrawals of those that no longer count.

    None where all rows are to be written anew: nothing has changed, older rows lack columns, or many are withdrawn.
    """
    new = store.recent("captures")
    if not (new or store.dropped) or not _can_add(store):
        return None
    gone = _withdrawals(store)
    return None if gone is None else [*_with_originals(store, new), *gone]


def _withdrawals(store: Store) -> list[Row] | None:
    """Rows that take out those of dropped scans; None where they would be too many."""
    if not store.dropped or not store.files("captures"):
        return []
    upto = max(_WITHDRAWN, sum(part.rows for part in store.parts("captures")) // _SHARE_WITHDRAWN)
    with held_captures(store) as duck:
        (before,) = duck.execute(f"SELECT count(*) FROM held WHERE {IS_WITHDRAWN}").fetchall()[0]
        which = {"dropped": sorted(store.dropped)}
        held = held_rows(store, duck, "scan IN (SELECT unnest($dropped))", which)
    gone: list[Row] = [withdrawn(row) for row in current(held, frozenset())]
    return gone if before + len(gone) <= upto else None


def _is_copy(row: Row) -> bool:
    return row.get("scan") is None and row.get("fingerprint") is not None


def _with_originals(store: Store, new: Sequence[Row]) -> list[Row]:
    """The new rows of captures, those of copies as their originals: of older rows only these originals are read."""
    contents = sorted({row["fingerprint"] for row in new if _is_copy(row)})
    if not contents:
        return list(new)
    where = "scan IS NOT NULL AND fingerprint IN (SELECT unnest($contents))"
    originals = current(known_captures(store, where, {"contents": contents}), store.dropped)
    return as_originals(({"scan": None, **row} for row in new), originals)


def _no_larger(parts: Sequence[Part], rows: int) -> list[Part]:
    """The smallest parts, each no larger than these rows and those before it: each row is copied log2(n) times at most.

    Older rows that new ones amend stay beside them: who reads captures takes the latest.
    """
    small: list[Part] = []
    for part in sorted(parts, key=lambda part: part.rows):
        if part.rows > rows:
            break
        small.append(part)
        rows += part.rows
    return small


def refuse_damaged(store: Store, parts: Sequence[Part]) -> None:
    """Raises CannotOpen: what is damaged must not be copied into a part whose digest would then be right."""
    if found := store.faults(parts, thoroughly=True):
        raise refused(store.url, found)


@contextmanager
def readable(store: Store, table: str) -> Iterator[None]:
    """Raises CannotOpen where DuckDB cannot read the table."""
    import duckdb

    try:
        yield
    except duckdb.Error as error:
        line = str(error).splitlines()[0]
        raise CannotOpen(f"{store.url}: the table {table} cannot be read: {line}; {repair_of(store.url)}") from error


def _with_gone(store: Store) -> frozenset[str]:
    """The parts that hold rows which no longer count."""
    gone = [*store.dropped, *store.continued]
    return parts_with(store, gone) if gone else frozenset()


def parts_with(store: Store, scans: Collection[str]) -> frozenset[str]:
    """Names of the parts that hold rows of these scans."""
    files = [file for table in BY_DAY for file in store.files(table)]
    if not files:
        return frozenset()
    with connected(store.place, MEMORY_BYTES) as duck, readable(store, "flows"):
        read = "read_parquet(?, filename = true, union_by_name = true)"
        query = f"SELECT DISTINCT filename FROM {read} WHERE list_contains(?, scan)"
        found = duck.execute(query, [files, [*scans]]).fetchall()
    # Table, day and name: drivers of file systems write what is before them in several ways.
    return frozenset("/".join(row[0].split("/")[-3:]) for row in found)


def _checkpoint(
    store: Store, parts: Parts, rows: list[Row], small: Sequence[Part], beside: Sequence[Part], *, spares: bool
) -> None:
    """With these rows of captures: all of them; or, with parts `beside`, new ones, in one part with the `small`."""
    sum_up(store, parts, spares=spares)
    with database_beside(store):
        rows.sort(key=_in_order)
        replaced = [part.name for part in small]
        new = parts.rows(
            "captures",
            rows,
            _CAPTURES,
            replaced=replaced,
            beside=[part.name for part in beside],
            merged=small if beside else (),
        )
        store.checkpoint(new, removed=replaced, spares=spares)
