"""A damaged store brought back to what of it is sound. What is damaged is set aside, and nothing is deleted."""

from collections.abc import Sequence

from tcpstall.archive.maintenance.check import Health, checked, parts_there, unreadable
from tcpstall.archive.maintenance.rebuild import rebuilt
from tcpstall.archive.maintenance.rescan import lost_part, scans_in
from tcpstall.archive.maintenance.upkeep import known_captures
from tcpstall.archive.planning.plan import current
from tcpstall.archive.storing.database import database_beside
from tcpstall.archive.storing.names import (
    ABOUT,
    CATALOG,
    COPY,
    DAMAGED,
    JOURNAL,
    LOCK,
    UNFINISHED,
    digest_in,
    is_made_part,
)
from tcpstall.archive.storing.records import Lost, Part, Row
from tcpstall.archive.storing.storage import Place, at
from tcpstall.archive.storing.store import Store, about_content
from tcpstall.errors import CannotOpen

__all__ = ["repaired"]

_LOST_CAPTURES = Part("captures", "captures/lost.parquet", 0, 0)
"""Stands for rows of captures that no file has any more."""


def repaired(url: str) -> Health:
    """Mends what can be mended; gives back what was wrong. Raises CannotOpen, CannotWrite and StoreInUse."""
    place = at(url)
    checked(place)  # raises where no store is
    for name in (DAMAGED, LOCK, UNFINISHED):
        if name in place.misplaced():
            place.set_aside(name)
    with place.writing():
        found = checked(place)
        if found.problems:
            _repair(place, found)
    return found


def _repair(place: Place, health: Health) -> None:
    misplaced = place.misplaced()
    for name in health.problems:
        if name != JOURNAL or name in misplaced:
            place.set_aside(name)
    place.put(ABOUT, about_content())
    if health.whole:
        state = health.state
        damaged = [part for part in state.parts.values() if part.name in health.problems]
    else:
        state, damaged = rebuilt(place, health)
    damaged = [part for part in damaged if not _restored(place, part)]
    for part in damaged:
        state.parts.pop(part.name, None)
    store = Store(place, state)
    rows = current(known_captures(store), store.dropped)
    state.lost += [lost_part(part, rows) for part in damaged if part.table != "captures"]
    state.lost += _without_captures(store, rows, [part for part in damaged if part.table == "captures"], health)
    if any(name.startswith((CATALOG, COPY, JOURNAL)) for name in health.problems):
        for name in parts_there(place):  # perhaps they counted: what says so is damaged
            if name not in state.parts and is_made_part(name):
                place.set_aside(name)
    store.checkpoint(None)
    with database_beside(store):
        pass


def _restored(place: Place, part: Part) -> bool:
    """The table of captures is there twice."""
    if part.table != "captures":
        return False
    try:
        copy = place.read(f"{COPY}/{part.name}")
    except CannotOpen:
        return False
    if copy is None or (part.bytes and len(copy) != part.bytes):
        return False
    place.put(part.name, copy)
    if digest_in(part.name) in (None, place.digest(part.name)) and not unreadable(place, [part]):
        return True
    place.set_aside(part.name)
    return False


def _without_captures(store: Store, rows: Sequence[Row], damaged: Sequence[Part], health: Health) -> list[Lost]:
    """Scans with rows whose captures nobody knows any more: their rows count until a scan replaces them."""
    if health.whole and not damaged:
        return []
    known = {row["scan"] for row in rows} | store.dropped
    orphans = tuple(sorted(scan for scan in scans_in(store.place, store.parts("flows")) if scan not in known))
    return [Lost(damaged[0] if damaged else _LOST_CAPTURES, orphans)] if orphans else []
