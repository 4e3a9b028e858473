"""A catalog made anew from the parts themselves, where it is lost and its copy too."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from tcpstall.archive.columns import TABLES, layout
from tcpstall.archive.maintenance.check import Health, parts_there
from tcpstall.archive.maintenance.upkeep import MEMORY_BYTES, known_captures
from tcpstall.archive.planning.plan import current
from tcpstall.archive.storing.duck import connected
from tcpstall.archive.storing.marks import is_withdrawn
from tcpstall.archive.storing.names import COPY, digest_in, new_digest, table_of
from tcpstall.archive.storing.parquet import BESIDE, REPLACES
from tcpstall.archive.storing.records import Part, Row, State
from tcpstall.archive.storing.storage import Place
from tcpstall.archive.storing.store import Store
from tcpstall.errors import CannotOpen

__all__ = ["rebuilt"]

_KEYS = {
    "flows": "scan, flow",
    "stalls": "scan, flow, stall",
    "exchanges": "scan, flow, start_ns, requester",
    "findings": "scan, flow, kind, side, cause",
}


@dataclass(frozen=True, slots=True)
class _Told:
    """A part as its own file tells."""

    part: Part
    replaced: frozenset[str]
    beside: frozenset[str]
    newest_ns: int


def rebuilt(place: Place, health: Health) -> tuple[State, list[Part]]:
    """The state, and parts that are damaged or missing. A part with rows of another one is set aside."""
    _captures_from_copies(place)
    told: list[_Told] = []
    damaged: list[Part] = []
    with connected(place, MEMORY_BYTES) as duck:
        for name in parts_there(place):
            found = _told(place, duck, name)
            if found is None:
                place.set_aside(name)
                damaged.append(health.state.parts.get(name, Part(table_of(name), name, 0, 0)))
            else:
                told.append(found)
        kept = _once(place, duck, told)
    there = {each.part.name for each in told} | {part.name for part in damaged}
    replaced = {name for each in told for name in each.replaced}
    known = {name: part for name, part in health.state.parts.items() if part.table != "captures"}
    damaged += [part for name, part in known.items() if name not in there | replaced]
    old = health.state
    state = State(
        parts={part.name: part for part in kept},
        captures=[*old.captures, *health.captures],
        dropped=old.dropped | health.dropped,
        continued=old.continued | health.continued,
        lost=old.lost,
        upto=old.upto,
        absorbed=old.upto,
    )
    said = known_captures(Store(place, state))
    rows = current(said, frozenset(state.dropped))
    # A part whose rows were all replaced is named by no other part, and may still lie there for readers.
    state.dropped |= {row["scan"] for row in said if is_withdrawn(row)} - {row["scan"] for row in rows}
    state.continued |= _carried_on(rows)
    return state, damaged


def _captures_from_copies(place: Place) -> None:
    there = place.names("captures")
    for copy in place.names(f"{COPY}/captures"):
        name = copy.removeprefix(f"{COPY}/")
        content = place.read(copy)
        if name not in there and content is not None:
            place.put(name, content)


def _told(place: Place, duck: Any, name: str) -> _Told | None:
    """None for a file that is damaged."""
    import duckdb

    table, path = table_of(name), place.path(name)
    about = place.abouts([name]).get(name)
    try:
        if about is None or digest_in(name) not in (None, place.digest(name)):
            return None
        ends = "NULL, NULL, max(scanned_ns)" if table == "captures" else "min(start_ns), max(start_ns), 0"
        query = f"SELECT count(*), {ends}, bit_xor(hash(held)) FROM read_parquet(?, hive_partitioning = false) held"
        rows, from_ns, to_ns, newest_ns, _ = duck.execute(query, [path]).fetchone()
        described = duck.execute("DESCRIBE SELECT * FROM read_parquet(?, hive_partitioning = false)", [path]).fetchall()
        metadata = duck.execute("SELECT key, value FROM parquet_kv_metadata(?)", [path]).fetchall()
    except (duckdb.Error, CannotOpen):
        return None
    said = {key: frozenset(value.decode("ascii", "replace").split()) for key, value in metadata}
    replaced, beside = (said.get(key.encode(), frozenset()) for key in (REPLACES, BESIDE))
    part = Part(table, name, rows, about.bytes, from_ns, to_ns, _layout(table, [(row[0], row[1]) for row in described]))
    return _Told(part, replaced, beside, newest_ns or 0)


def _layout(table: str, columns: list[tuple[str, str]]) -> str:
    if set(columns) == {(column.name, column.type) for column in TABLES[table].columns}:
        return layout(table)
    digest = new_digest()
    digest.update(repr(columns).encode())
    return digest.hexdigest()


def _once(place: Place, duck: Any, told: Iterable[_Told]) -> list[Part]:
    """Of parts that hold the same rows those that took the place of others; of captures the newest and those beside."""
    told = list(told)
    replaced = {name for each in told for name in each.replaced}
    captures = [each for each in told if each.part.table == "captures" and each.part.name not in replaced]
    newest = max(captures, key=lambda each: (each.newest_ns, each.part.rows), default=None)
    kept: list[Part] = []
    for table, keys in _KEYS.items():
        of_table = [each for each in told if each.part.table == table]
        seen: list[str] = []
        for each in sorted(of_table, key=lambda each: (each.part.name in replaced, -each.part.rows, each.part.name)):
            path = place.path(each.part.name)
            if seen:
                query = (
                    f"SELECT count(*) FROM (SELECT {keys} FROM read_parquet(?)) SEMI JOIN "
                    f"(SELECT {keys} FROM read_parquet(?, union_by_name = true)) USING ({keys})"
                )
                if duck.execute(query, [path, seen]).fetchone()[0]:
                    continue
            seen.append(path)
            kept.append(each.part)
    if newest is not None:
        kept += [each.part for each in captures if each is newest or each.part.name in newest.beside]
    for each in told:
        if each.part not in kept:
            place.set_aside(each.part.name)
    return kept


def _carried_on(rows: Iterable[Row]) -> set[str]:
    """The scans of each chain that later ones have carried on."""
    chains: dict[str, dict[str, int]] = {}
    for row in rows:
        if row["scan"] is not None and row["chain"] is not None:
            scans = chains.setdefault(row["chain"], {})
            scans[row["scan"]] = max(scans.get(row["scan"], row["scanned_ns"]), row["scanned_ns"])
    return {scan for scans in chains.values() for scan in scans if scan != max(scans, key=scans.__getitem__)}
