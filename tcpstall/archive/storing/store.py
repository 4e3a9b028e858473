"""A store: which Parquet files count. A checkpoint (`catalog.json`) and a journal of the commits since then."""

import json
import re
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, Self

from tcpstall.archive.columns import layout
from tcpstall.archive.storing import names
from tcpstall.archive.storing.damaged_parts import faults, refused
from tcpstall.archive.storing.hours import SUM_TABLES, Hours, Sums
from tcpstall.archive.storing.journal import absorbed_by, any_part, read_state
from tcpstall.archive.storing.names import ABOUT, CATALOG, COPY, DATABASE, JOURNAL, TABLES, repair_of
from tcpstall.archive.storing.records import (
    SCHEMA,
    Commit,
    Lost,
    Part,
    Row,
    State,
    Stream,
)
from tcpstall.archive.storing.rollups import OF_DAYS
from tcpstall.archive.storing.spared import is_spared
from tcpstall.archive.storing.storage import Place, at
from tcpstall.errors import CannotOpen, CannotWrite

__all__ = ["DATABASE", "SCHEMA", "TABLES", "Commit", "Lost", "Part", "Store", "Stream"]

_INTERRUPTED = "Query interrupted"


class Store:
    """A store as it was when it was opened, and what this process has committed since."""

    def __init__(self, place: Place, state: State) -> None:
        self.place = place
        self.hours = Hours(place)
        self._state = state

    @classmethod
    def open(cls, url: str) -> Self:
        """Raises CannotOpen where there is no store, a damaged one, or one of a newer version."""
        place = at(url)
        refuse_misplaced(place)
        about = place.read(ABOUT)
        if about is None:
            if _has_more(place):
                raise CannotOpen(f"{url}: {ABOUT} is missing; {repair_of(url)}")
            raise CannotOpen(f"{url}: no store is here; `tcpstall scan CAPTURES --store {url}` makes one")
        check_schema(place, about)
        return cls(place, read_state(place))

    @classmethod
    @contextmanager
    def writing(cls, url: str) -> Iterator[Self]:
        """The store, made if it is not there, for the one process that may change it.

        Raises StoreInUse, CannotOpen (a folder with something else in it, a damaged store, a newer version) and
        CannotWrite.
        """
        place = at(url)
        refuse_misplaced(place)
        if place.read(ABOUT) is None and place.strangers():
            raise CannotOpen(f"{url}: the folder has other files in it; give one that is empty or not there yet")
        with place.writing():
            about = place.read(ABOUT)
            if about is not None:
                check_schema(place, about)
            elif _has_more(place):
                raise CannotOpen(f"{url}: {ABOUT} is missing; {repair_of(url)}")
            else:
                place.put(ABOUT, about_content())
            store = cls(place, read_state(place))
            if found := store.faults(store.all_parts()):
                raise refused(url, found)
            store._sweep()
            try:
                store._mirror()
            except CannotWrite as error:
                if not isinstance(error.__cause__, IsADirectoryError):
                    raise
                raise CannotOpen(f"{url}: a folder lies where a copy belongs; {repair_of(url)}") from error
            with _interruptible():
                yield store

    def as_it_is(self) -> "Store":
        """The same store for another thread: it stays as it is now."""
        other = Store(self.place, replace(self._state, parts=dict(self._state.parts)))
        other.hours = self.hours
        return other

    @property
    def url(self) -> str:
        """Path or URL of the store."""
        return self.place.url

    @property
    def filesystem(self) -> Any | None:
        """The fsspec file system of its files; None where they are this machine's."""
        return self.place.filesystem

    def files(self, table: str) -> list[str]:
        """Files that DuckDB opens to read the table, without its `recent` rows."""
        parts = self.summed(table) if table in SUM_TABLES else self.parts(table)
        return [self.place.path(part.name) for part in parts]

    def summed(self, table: str) -> list[Part]:
        """The files of a table of sums: of several days where there are such, else of a day each."""
        sums = self.sums
        of_days = self.hours.of_days(sums) if table in OF_DAYS else []
        alone = [each for each in sums if all(each.of.isdisjoint(some.of) for some in of_days)]
        return [each.of_table(table) for each in (*of_days, *alone)]

    @property
    def sums(self) -> list[Sums]:
        """Sums that are added up already; none while parts have rows that do not count."""
        return [] if self.dropped or self.continued else self.hours.of(self._state.parts)

    def unsummed(self, table: str) -> list[str]:
        """The table's files whose rows are not in the `sums`."""
        return [self.place.path(part.name) for part in self.unsummed_parts(table)]

    def unsummed_parts(self, table: str) -> list[Part]:
        """The same as parts."""
        summed = {name for each in self.sums for name in each.of}
        return [part for part in self.parts(table) if part.name not in summed]

    def parts(self, table: str) -> list[Part]:
        """The Parquet files that count."""
        return [part for part in self._state.parts.values() if part.table == table]

    def all_parts(self) -> list[Part]:
        """Those of all tables."""
        return list(self._state.parts.values())

    @property
    def revision(self) -> str:
        """A digest that is another one after every change of what counts."""
        digest = names.new_digest()
        digest.update("\n".join([str(self._state.upto), *sorted(self._state.parts)]).encode())
        return digest.hexdigest()

    @property
    def changed(self) -> bool:
        """Something was committed since the last checkpoint."""
        return self._state.upto > self._state.absorbed

    def outdated(self) -> list[Part]:
        """Parts that another version has written, with other columns."""
        return [part for table in TABLES for part in self.parts(table) if part.layout != layout(table)]

    def refuse_older(self) -> None:
        """Raises CannotOpen where another version has written files with other columns."""
        if self.outdated():
            what_to_do = f"`tcpstall store compact --store {self.url}` brings it up to date"
            raise CannotOpen(f"{self.url}: another version of tcpstall wrote it; {what_to_do}")

    def older(self, table: str) -> dict[str, str]:
        """Files of a table that another version has written with other columns, and the layout of these."""
        others = (part for part in self.parts(table) if part.layout != layout(table)) if table in TABLES else ()
        return {self.place.path(part.name): part.layout for part in others}

    def recent(self, table: str) -> list[Row]:
        """Rows that are in no Parquet file yet."""
        return list(self._state.captures) if table == "captures" else []

    @property
    def dropped(self) -> frozenset[str]:
        """Scans whose rows no longer count."""
        return frozenset(self._state.dropped)

    @property
    def continued(self) -> frozenset[str]:
        """Scans whose rows with `at_end` no longer count."""
        return frozenset(self._state.continued)

    @property
    def archives(self) -> Mapping[str, Row]:
        """Records of the archives whose members are all in the store, by the archives' names."""
        return self._state.archives

    @property
    def lost(self) -> list[Lost]:
        """Parts that were damaged and whose rows are missing."""
        return list(self._state.lost)

    def stream(self, scan: str) -> Stream | None:
        """Stream that the scan left open, if it is known."""
        return self._state.streams.get(scan)

    def faults(self, parts: Iterable[Part], *, thoroughly: bool = False) -> dict[str, str]:
        """Faults of these parts, by name."""
        changed_ns = self._state.changed_ns
        return faults(self.place, parts, changed_ns, thoroughly=thoroughly, verified=changed_ns.__setitem__)

    def commit(self, commit: Commit) -> None:
        """Makes it so, durably. Raises CannotWrite."""
        number = self._state.upto + 1
        content = commit.encoded()
        self.place.put(names.entry(number), content)
        self._state.add(commit)
        self._spare(commit.removed)
        self._state.upto = number
        self.place.put(f"{COPY}/{names.entry(number)}", content)

    def checkpoint(
        self, captures: Part | None, *, removed: Sequence[str] = (), spares: bool = True, amid: bool = False
    ) -> None:
        """Puts what the journal says into the catalog; `captures` has all rows of that table, not those `removed`.

        Unless it `spares` them, it deletes the parts that this and earlier commits have removed. `amid` a scan it
        deletes none: workers have written some that are not committed yet.
        """
        state = self._state
        state.remove(removed)
        self._spare(removed)
        if not spares:
            state.spared_ns.clear()
        if captures is not None:
            state.parts[captures.name] = captures
            state.captures.clear()
        new = [name for name in state.parts if name not in state.changed_ns]
        for name, about in self.place.abouts(new).items():
            if about.changed_ns is not None:
                state.changed_ns[name] = about.changed_ns
        content = state.encoded()
        self.place.put(CATALOG, content)
        state.absorbed = state.upto
        self._copy_captures()
        self.place.put(f"{COPY}/{CATALOG}", content)
        if not amid:
            self._sweep()

    def forget(self, scans: frozenset[str], continued: frozenset[str]) -> None:
        """No part has rows of these any more: they need not be left out."""
        self._state.dropped -= scans
        self._state.continued -= continued

    def forget_streams(self) -> None:
        """Forgets the streams that scans left open: where a set goes on, its files are read again."""
        self._state.streams.clear()

    def forget_lost(self, before_ns: int) -> None:
        """Forgets the lost parts whose rows all began before then."""
        self._state.lost = [each for each in self._state.lost if (each.part.to_ns or before_ns) >= before_ns]

    def _spare(self, removed: Iterable[str]) -> None:
        self._state.spared_ns.update(dict.fromkeys(removed, time.time_ns()))

    def _sweep(self) -> None:
        """Removes what was absorbed or replaced, and parts that a writer made who was killed before it committed them.

        The latter only because the catalog and the journal are whole: they name every part that ever counted.
        """
        state = self._state
        state.spared_ns = {name: since_ns for name, since_ns in state.spared_ns.items() if is_spared(since_ns)}
        entries = [*self.place.names(JOURNAL), *self.place.names(f"{COPY}/{JOURNAL}")]
        done = [name for name in entries if names.is_entry(name) and names.number_of(name) <= state.absorbed]
        there = [name for table in TABLES for name in self.place.names(table)]
        stale = [name for name in there if name not in state.parts and _is_swept(name, state)]
        copies = [name for name in self.place.names(f"{COPY}/captures") if _original(name) not in state.parts]
        kept = {stream.name for stream in state.streams.values()}
        over = [name for name in self.place.names(names.STREAMS) if names.is_streams(name) and name not in kept]
        self.place.remove([*done, *stale, *over, *filter(lambda name: names.is_part(_original(name)), copies)])
        state.removed.intersection_update(state.spared_ns)

    def _mirror(self) -> None:
        """Makes the copies that are missing: a writer was killed, or an older version wrote."""
        catalog = self.place.read(CATALOG)
        if catalog is None:
            catalog = State().encoded()
            self.place.put(CATALOG, catalog)
        self._copy_captures()
        copy = self.place.read(f"{COPY}/{CATALOG}")
        if copy != catalog:
            if copy is not None and absorbed_by(copy) > self._state.absorbed:
                raise CannotOpen(f"{self.url}: {CATALOG} is older than its copy; {repair_of(self.url)}")
            self.place.put(f"{COPY}/{CATALOG}", catalog)
        copies = set(self.place.names(f"{COPY}/{JOURNAL}"))
        for number in range(self._state.absorbed + 1, self._state.upto + 1):
            content = self.place.read(names.entry(number))
            if content is not None and f"{COPY}/{names.entry(number)}" not in copies:
                self.place.put(f"{COPY}/{names.entry(number)}", content)

    def _copy_captures(self) -> None:
        """The table that says what was scanned is small, and dear: with it, all else can be scanned again."""
        parts = {f"{COPY}/{part.name}": part for part in self.parts("captures")}
        there = self.place.abouts(parts)
        for name, part in parts.items():
            if name not in there or there[name].bytes != part.bytes:
                content = self.place.read(part.name)
                if content is not None:
                    self.place.put(name, content)


@contextmanager
def _interruptible() -> Iterator[None]:
    """DuckDB looks for signals while it works, and makes an error of its own of what their handlers raise."""
    try:
        yield
    except RuntimeError as error:
        if str(error) == _INTERRUPTED:
            raise KeyboardInterrupt from error
        raise


def about_content() -> bytes:
    """Content of `store.json`."""
    return json.dumps({"schema": SCHEMA}).encode()


def refuse_misplaced(place: Place) -> None:
    """Raises CannotOpen where a link, a pipe or the like has a name of ours: nothing behind it is read or deleted."""
    for name, what in place.misplaced().items():
        raise CannotOpen(f"{place.url}: {name}: {what}; {repair_of(place.url)}")


def check_schema(place: Place, about: bytes) -> None:
    """Raises CannotOpen for another version than this, and for what is no store's."""
    url = place.url
    schema = _schema(about)
    if schema is None or not re.fullmatch(r"tcpstall\.store/[0-9]+", schema):
        raise CannotOpen(f"{url}: {ABOUT} is damaged; {repair_of(url)}")
    if schema != SCHEMA:
        catalog = place.read(CATALOG)
        ours = catalog is not None and _schema(catalog) == SCHEMA
        damaged = f"; or, because the catalog is of {SCHEMA}, {ABOUT} is damaged: {repair_of(url)}" if ours else ""
        what_to_do = f"use a newer tcpstall{damaged}"
        raise CannotOpen(f"{url}: a store of version {schema}, and this tcpstall knows {SCHEMA}; {what_to_do}")


def _schema(content: bytes) -> str | None:
    try:
        return str(json.loads(content)["schema"])
    except (ValueError, TypeError, KeyError, RecursionError):
        return None


def _has_more(place: Place) -> bool:
    """Detects the remains of a store whose `store.json` is missing."""
    return bool(place.read(CATALOG) is not None or place.names(COPY) or place.names(JOURNAL) or any_part(place))


def _is_swept(name: str, state: State) -> bool:
    return name not in state.spared_ns and (name in state.removed or names.is_made_part(name))


def _original(copy: str) -> str:
    return copy.removeprefix(f"{COPY}/")
