"""Reads the catalog and the journal of a store, beside a writer too."""

from tcpstall.archive.storing import names
from tcpstall.archive.storing.names import CATALOG, COPY, JOURNAL, TABLES, repair_of
from tcpstall.archive.storing.records import Commit, Damaged, State, read_catalog, read_entry
from tcpstall.archive.storing.storage import Place
from tcpstall.errors import CannotOpen

__all__ = ["absorbed_by", "any_part", "read_state"]


def read_state(place: Place) -> State:
    """State after the newest commit that was there when this was called, or a later one. Raises CannotOpen.

    A writer commits, and makes checkpoints that absorb the journal, while its files are read one after the other. So an
    entry is lacking only if that is seen twice, with the same catalog before and after.
    """
    lacked = None
    while True:
        content = place.read(CATALOG)
        state = _catalog(place, content)
        # A commit writes its entry before the copy of it: listed in this order, no copy is without its entry.
        copies = filter(names.is_entry, place.names(f"{COPY}/{JOURNAL}"))
        numbers = [names.number_of(name) for name in copies]
        numbers += _add_entries(place, state)
        newest = max(numbers, default=0)
        if newest <= state.upto and (state.upto > state.absorbed or place.read(CATALOG) == content):
            return state
        if place.read(CATALOG) == content:
            if lacked == newest:
                raise CannotOpen(f"{place.url}: the journal lacks entry {state.upto + 1}; {repair_of(place.url)}")
            lacked = newest


def _add_entries(place: Place, state: State) -> list[int]:
    """Adds the entries that follow on the state, up to one that is lacking; the numbers of all that were listed."""
    entries = sorted(filter(names.is_entry, place.names(JOURNAL)))
    for name in entries:
        number = names.number_of(name)
        if number <= state.upto:
            continue
        content = place.read(name)
        if content is None or number != state.upto + 1:
            break
        state.add(_commit(place, name, content))
        state.upto = number
    return [names.number_of(name) for name in entries]


def _catalog(place: Place, content: bytes | None) -> State:
    if content is not None:
        try:
            return read_catalog(content)
        except Damaged as error:
            raise CannotOpen(f"{place.url}: {CATALOG} is damaged: {error}; {repair_of(place.url)}") from error
    # Before the first checkpoint of an older version there was none.
    begun = f"{names.entry(1)}" in place.names(JOURNAL) and not place.names(COPY)
    if not begun and (place.names(COPY) or any_part(place)):
        raise CannotOpen(f"{place.url}: {CATALOG} is missing; {repair_of(place.url)}")
    return State()


def _commit(place: Place, name: str, content: bytes) -> Commit:
    try:
        return read_entry(content)
    except Damaged as error:
        raise CannotOpen(f"{place.url}: {name} in the store is damaged: {error}; {repair_of(place.url)}") from error


def any_part(place: Place) -> bool:
    """True if any part lies there, whoever knows it."""
    return any(names.is_part(name) for table in TABLES for name in place.names(table))


def absorbed_by(catalog: bytes) -> int:
    """Number of the newest entry that a catalog has absorbed; -1 for a damaged one."""
    try:
        return read_catalog(catalog).upto
    except Damaged:
        return -1
