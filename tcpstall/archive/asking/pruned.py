"""A store of which only the files are read that can hold what is asked for."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, overload

from tcpstall.archive.asking.where import Chosen
from tcpstall.archive.storing.damaged_parts import refused
from tcpstall.archive.storing.hours import SUM_TABLES
from tcpstall.archive.storing.store import Lost, Part, Store
from tcpstall.units import counted

__all__ = ["Within", "missing", "sound"]

_BY_START = ("stalls", "exchanges", "findings", *SUM_TABLES)

_SCAN_AGAIN = "scan its captures again, into the same store"


class Within:
    """The store, for questions about these waits. Flows that began before them are in it too."""

    def __init__(self, store: Store, chosen: Chosen) -> None:
        self._store = store
        self._chosen = chosen

    @property
    def url(self) -> str:
        """URL of the store."""
        return self._store.url

    @property
    def filesystem(self) -> Any | None:
        """File system of the store's files; None where they are this machine's."""
        return self._store.filesystem

    @property
    def dropped(self) -> frozenset[str]:
        """Scans whose rows no longer count."""
        return self._store.dropped

    @property
    def continued(self) -> frozenset[str]:
        """Scans whose rows with `at_end` no longer count."""
        return self._store.continued

    def files(self, table: str) -> list[str]:
        """Those with a row of the time: each part is known by its earliest and its latest start."""
        store = self._store
        parts = store.summed(table) if table in SUM_TABLES else store.parts(table)
        return [store.place.path(part.name) for part in parts if self._can_hold(table, part)]

    def unsummed(self, table: str) -> list[str]:
        """The same of those that are not in the sums."""
        parts = self._store.unsummed_parts(table)
        return [self._store.place.path(part.name) for part in parts if self._can_hold(table, part)]

    def all_parts(self) -> list[Part]:
        """Those of all tables."""
        return [part for part in self._store.all_parts() if self._can_hold(part.table, part)]

    @property
    def lost(self) -> list[Lost]:
        """Parts with a row of the time whose rows are missing."""
        return [each for each in self._store.lost if self._can_hold(each.part.table, each.part)]

    def older(self, table: str) -> Mapping[str, str]:
        """Files that another version has written with other columns, and the layout of these."""
        return self._store.older(table)

    def recent(self, table: str) -> Sequence[Mapping[str, Any]]:
        """Rows that are in no file yet."""
        return self._store.recent(table)

    def _can_hold(self, table: str, part: Part) -> bool:
        since, until = self._chosen.since_ns, self._chosen.until_ns
        if until is not None and part.from_ns is not None and part.from_ns >= until:
            return False
        return not (table in _BY_START and since is not None and part.to_ns is not None and part.to_ns < since)


@overload
def sound(url: str) -> Store: ...


@overload
def sound(url: str, chosen: Chosen | None) -> Store | Within: ...


def sound(url: str, chosen: Chosen | None = None) -> Store | Within:
    """The store, or what is chosen of it. Raises CannotOpen where a part is damaged that no scan has just replaced."""
    before: list[str] = []
    while True:
        opened = Store.open(url)
        asked = opened if chosen is None else Within(opened, chosen)
        found = opened.faults(asked.all_parts())
        if not found:
            return asked
        parts = [part.name for part in opened.all_parts()]
        if parts == before:
            raise refused(url, found)
        before = parts


def missing(store: Store | Within) -> Iterator[str]:
    """A line for each part whose rows are missing."""
    for each in store.lost:
        rows = f"{counted(each.part.rows, 'row')} of {each.part.table} missing"
        yield f"{rows}: {each.part.name} was damaged; {_SCAN_AGAIN}"
