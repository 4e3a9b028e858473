"""A store: which Parquet files count. A checkpoint (`catalog.json`) and a journal of the commits since then."""

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Self

from tcpstall.archive.columns import layout
from tcpstall.archive.place import Place, at
from tcpstall.errors import CannotOpen, TcpstallError

__all__ = ["DATABASE", "SCHEMA", "TABLES", "Commit", "Part", "Store"]

SCHEMA = "tcpstall.store/1"
"""Name and version of how a store is laid out; a newer version is refused, an older one migrated."""

TABLES = ("flows", "stalls", "exchanges", "captures")

DATABASE = "store.duckdb"
"""Views of the tables, for other tools; tcpstall itself does not read it."""

_ABOUT = "store.json"
_CATALOG = "catalog.json"
_INTERRUPTED = "Query interrupted"
_JOURNAL = "journal"

Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Part:
    """One Parquet file. `from_ns` and `to_ns` are the least and greatest `start_ns` in it, None in captures.

    `layout` is the digest of its columns.
    """

    table: str
    name: str
    rows: int
    bytes: int
    from_ns: int | None = None
    to_ns: int | None = None
    layout: str = ""


@dataclass(frozen=True, slots=True)
class Commit:
    """What becomes true at once.

    `dropped` are scans that no longer count, `continued` scans whose rows with `at_end` no longer do: what was
    open when their files ended are told anew by the scan that read on. `captures` are rows of that table.
    `removed` are parts that no longer count, for what they held is in `parts`. `archives` were read to their end: see
    archive.walked.
    """

    parts: Sequence[Part] = ()
    captures: Sequence[Row] = ()
    dropped: Sequence[str] = ()
    continued: Sequence[str] = ()
    removed: Sequence[str] = ()
    archives: Sequence[Row] = ()


@dataclass(slots=True)
class _State:
    """Catalog and journal, added up."""

    parts: dict[str, Part] = field(default_factory=dict)
    captures: list[Row] = field(default_factory=list)
    dropped: set[str] = field(default_factory=set)
    continued: set[str] = field(default_factory=set)
    archives: dict[str, Row] = field(default_factory=dict)
    upto: int = 0
    absorbed: int = 0

    def add(self, commit: Commit) -> None:
        self.parts.update((part.name, part) for part in commit.parts)
        for name in commit.removed:
            self.parts.pop(name, None)
        self.captures.extend(commit.captures)
        self.dropped.update(commit.dropped)
        self.continued.update(commit.continued)
        self.archives.update((archive["name"], archive) for archive in commit.archives)


class Store:
    """A store as it was when it was opened, and what this process has committed since."""

    def __init__(self, place: Place, state: _State) -> None:
        self.place = place
        self._state = state

    @classmethod
    def open(cls, url: str) -> Self:
        """Raises CannotOpen where there is no store, or one of a newer version."""
        place = at(url)
        about = place.read(_ABOUT)
        if about is None:
            raise CannotOpen(f"{url}: no store is here; `tcpstall scan CAPTURES --store {url}` makes one")
        _check(url, about)
        return cls(place, _read(place))

    @classmethod
    def asked(cls, url: str) -> Self:
        """The same to be asked: raises CannotOpen too where another version has written with other columns."""
        store = cls.open(url)
        if store.outdated():
            what_to_do = f"`tcpstall store compact --store {url}` brings it up to date"
            raise CannotOpen(f"{url}: another version of tcpstall wrote it; {what_to_do}")
        return store

    @classmethod
    @contextmanager
    def writing(cls, url: str) -> Iterator[Self]:
        """The store, made if it is not there, for the one process that may change it.

        Raises StoreInUse, CannotOpen (a folder with something else in it, a newer version) and CannotWrite.
        """
        place = at(url)
        if place.read(_ABOUT) is None and any(not _ours(name) for name in place.names("")):
            raise CannotOpen(f"{url}: the folder has other files in it; give one that is empty or not there yet")
        with place.writing():
            about = place.read(_ABOUT)
            if about is None:
                place.put(_ABOUT, json.dumps({"schema": SCHEMA}).encode())
            else:
                _check(url, about)
            store = cls(place, _read(place))
            store._sweep()
            with _interruptible():
                yield store

    @property
    def url(self) -> str:
        """Where it is."""
        return self.place.url

    @property
    def filesystem(self) -> Any | None:
        """The fsspec file system of its files; None where they are this machine's."""
        return self.place.filesystem

    def files(self, table: str) -> list[str]:
        """What DuckDB opens to read the table, but for its `recent` rows."""
        return [self.place.path(part.name) for part in self.parts(table)]

    def parts(self, table: str) -> list[Part]:
        """The Parquet files that count."""
        return [part for part in self._state.parts.values() if part.table == table]

    @property
    def changed(self) -> bool:
        """Something was committed since the last checkpoint."""
        return self._state.upto > self._state.absorbed

    def outdated(self) -> list[Part]:
        """Parts that another version has written, with other columns."""
        return [part for table in TABLES for part in self.parts(table) if part.layout != layout(table)]

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
        """What is recorded of the archives whose members are all in the store, by their names."""
        return self._state.archives

    def commit(self, commit: Commit) -> None:
        """Makes it so, durably. Raises CannotWrite; then nothing has changed."""
        number = self._state.upto + 1
        self.place.put(f"{_JOURNAL}/{number:012}.json", json.dumps(asdict(commit)).encode())
        self._state.add(commit)
        self._state.upto = number

    def checkpoint(self, captures: Part | None, *, removed: Sequence[str] = ()) -> None:
        """Puts what the journal says into the catalog; `captures` has all rows of that table, not those `removed`."""
        state = self._state
        for name in removed:
            state.parts.pop(name, None)
        if captures is not None:
            state.parts[captures.name] = captures
            state.captures.clear()
        catalog = {
            "schema": SCHEMA,
            "upto": state.upto,
            "parts": [asdict(part) for part in state.parts.values()],
            "captures": state.captures,
            "dropped": sorted(state.dropped),
            "continued": sorted(state.continued),
            "archives": list(state.archives.values()),
        }
        self.place.put(_CATALOG, json.dumps(catalog).encode())
        state.absorbed = state.upto
        self._sweep()

    def forget(self, scans: frozenset[str], continued: frozenset[str]) -> None:
        """No part has rows of these any more: they need not be left out."""
        self._state.dropped -= scans
        self._state.continued -= continued

    def _sweep(self) -> None:
        """Removes what a writer that was killed has left, and what was absorbed."""
        done = [name for name in self.place.names(_JOURNAL) if _number(name) <= self._state.absorbed]
        stale = [name for table in TABLES for name in self.place.names(table) if name not in self._state.parts]
        self.place.remove([*done, *stale])


@contextmanager
def _interruptible() -> Iterator[None]:
    """DuckDB looks for signals while it works, and makes an error of its own of what their handlers raise."""
    try:
        yield
    except RuntimeError as error:
        if str(error) == _INTERRUPTED:
            raise KeyboardInterrupt from error
        raise


def _ours(name: str) -> bool:
    return name.partition("/")[0] in (*TABLES, _JOURNAL, _ABOUT, _CATALOG, "unfinished", "lock", DATABASE)


def _check(url: str, about: bytes) -> None:
    try:
        schema = str(json.loads(about)["schema"])
    except (ValueError, TypeError, KeyError) as error:
        raise CannotOpen(f"{url}: {_ABOUT} is damaged; scan into a new store") from error
    if schema != SCHEMA:
        raise CannotOpen(f"{url}: a store of version {schema}, and this tcpstall knows {SCHEMA}; use a newer tcpstall")


def _number(name: str) -> int:
    return int(name.rpartition("/")[2].removesuffix(".json"))


def _read(place: Place) -> _State:
    """Catalog first: a checkpoint made in between only leaves out journal entries that it has absorbed.

    A reader that lists the journal after a checkpoint has emptied it reads the catalog again.
    """
    while True:
        state = _catalog(place)
        entries = sorted(place.names(_JOURNAL), key=_number)
        for name in entries:
            if _number(name) <= state.upto:
                continue
            content = place.read(name)
            if content is None or _number(name) != state.upto + 1:
                break
            state.add(_commit(name, content))
            state.upto = _number(name)
        else:
            return state
        if _catalog(place).upto <= state.upto and _number(entries[-1]) > state.upto:
            raise TcpstallError(f"{place.url}: the journal lacks entry {state.upto + 1}; restore it or scan anew")


def _catalog(place: Place) -> _State:
    content = place.read(_CATALOG)
    if content is None:
        return _State()
    try:
        catalog = json.loads(content)
        return _State(
            parts={part["name"]: Part(**part) for part in catalog["parts"]},
            captures=catalog["captures"],
            dropped=set(catalog["dropped"]),
            continued=set(catalog["continued"]),
            archives={archive["name"]: archive for archive in catalog.get("archives", ())},
            upto=catalog["upto"],
            absorbed=catalog["upto"],
        )
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise CannotOpen(f"{place.url}: {_CATALOG} is damaged; restore it or scan into a new store") from error


def _commit(name: str, content: bytes) -> Commit:
    try:
        row = json.loads(content)
        return replace(Commit(**row), parts=[Part(**part) for part in row["parts"]])
    except (ValueError, TypeError, KeyError) as error:
        raise TcpstallError(f"{name} in the store is damaged; restore it or scan anew") from error
