"""A store kept small and fast: parts merged, what no longer counts removed, old days forgotten."""

import uuid
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from tcpstall.archive.columns import BY_DAY, TABLES
from tcpstall.archive.parts import Parts, connected
from tcpstall.archive.plan import current
from tcpstall.archive.session import make_views
from tcpstall.archive.store import DATABASE, Commit, Part, Store
from tcpstall.errors import CannotWrite

__all__ = ["compacted", "known_captures", "pruned"]

_MEMORY_BYTES = 200_000_000

_SMALL_BYTES = 32_000_000
"""Parts below this are merged: a query pays about a millisecond for each part that it opens."""

_MANY = 8
"""So many small parts of one day are merged into one."""

_CAPTURES = {column.name: column.type for column in TABLES["captures"].columns}


def known_captures(store: Store) -> list[dict[str, Any]]:
    """All rows of captures, those that no longer count included."""
    rows: list[dict[str, Any]] = []
    if files := store.files("captures"):
        with connected(store.place, _MEMORY_BYTES) as duck:
            read = duck.execute("FROM read_parquet(?, union_by_name = true)", [files])
            names = [column[0] for column in read.description or ()]
            rows.extend(dict(zip(names, row, strict=True)) for row in read.fetchall())
    blank = dict.fromkeys(_CAPTURES)
    return [{**blank, **row} for row in (*rows, *store.recent("captures"))]


def compacted(store: Store) -> None:
    """Merges small parts, leaves out what no longer counts, gives parts of other versions the columns of this one."""
    parts = Parts(store.place, _MEMORY_BYTES)
    others = {*_with_gone(store), *(part.name for part in store.outdated())}
    by_day: dict[str, list[Part]] = defaultdict(list)
    for table in BY_DAY:
        for part in store.parts(table):
            by_day[part.name.rpartition("/")[0]].append(part)
    for folder, all_parts in by_day.items():
        small = [part for part in all_parts if part.bytes < _SMALL_BYTES]
        merged = small if len(small) >= _MANY else []
        old = [part for part in all_parts if part in merged or part.name in others]
        if old:
            made = parts.merged(folder, old, store.dropped, store.continued)
            store.commit(Commit(parts=made, removed=[part.name for part in old]))
    rows = current(known_captures(store), store.dropped)
    store.forget(store.dropped, store.continued)
    _checkpoint(store, parts, rows)


def pruned(store: Store, before_ns: int) -> int:
    """Forgets flows, stalls and exchanges that began before then; how many rows went. Captures stay known."""
    parts = Parts(store.place, _MEMORY_BYTES)
    gone = 0
    for table in BY_DAY:
        old = [part for part in store.parts(table) if part.from_ns is not None and part.from_ns < before_ns]
        whole = [part for part in old if part.to_ns is not None and part.to_ns < before_ns]
        gone += sum(part.rows for part in whole)
        made: list[Part] = []
        for part in old:
            if part not in whole:
                kept = parts.merged(
                    part.name.rpartition("/")[0], [part], store.dropped, store.continued, since_ns=before_ns
                )
                gone += part.rows - sum(each.rows for each in kept)
                made.extend(kept)
        if old:
            store.commit(Commit(parts=made, removed=[part.name for part in old]))
    _checkpoint(store, parts, current(known_captures(store), store.dropped))
    return gone


def _with_gone(store: Store) -> frozenset[str]:
    """The parts that hold rows which no longer count."""
    gone = [*store.dropped, *store.continued]
    files = {store.place.path(part.name): part.name for table in BY_DAY for part in store.parts(table)}
    if not gone or not files:
        return frozenset()
    with connected(store.place, _MEMORY_BYTES) as duck:
        read = "read_parquet(?, filename = true, union_by_name = true)"
        query = f"SELECT DISTINCT filename FROM {read} WHERE list_contains(?, scan)"
        return frozenset(files[row[0]] for row in duck.execute(query, [list(files), gone]).fetchall())


def _checkpoint(store: Store, parts: Parts, rows: list[Mapping[str, Any]]) -> None:
    rows.sort(key=lambda row: (row["name"], row["scanned_ns"]))
    old: Sequence[Part] = store.parts("captures")
    new = parts.rows("captures", rows, _CAPTURES)
    store.checkpoint(new, removed=[part.name for part in old])
    _make_database(store)


def _make_database(store: Store) -> None:
    """A DuckDB file with the tables as views, for people who ask with other tools; of a local store only."""
    import duckdb

    if store.filesystem is not None:
        return
    file = store.place.scratch / f"{uuid.uuid4().hex}.duckdb"
    try:
        with duckdb.connect(str(file)) as database:
            make_views(database, store)
    except duckdb.Error as error:
        raise CannotWrite(f"cannot write into {store.url}: {str(error).splitlines()[0]}") from error
    store.place.take(DATABASE, file)
