"""Rows that are taken out of a store on purpose: those of captures, of sensors, of hosts, of old days."""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from fnmatch import fnmatchcase
from ipaddress import IPv4Network, IPv6Network, ip_address
from typing import Any

from tcpstall.archive.asking.exporting import bring_up_to_date
from tcpstall.archive.columns import BY_DAY
from tcpstall.archive.maintenance.upkeep import MEMORY_BYTES, compacted, known_captures, readable, refuse_damaged
from tcpstall.archive.planning.plan import current
from tcpstall.archive.storing.duck import connected
from tcpstall.archive.storing.marks import forgotten, is_forgotten
from tcpstall.archive.storing.parquet import COUNTS, Gone, Parts
from tcpstall.archive.storing.records import Row
from tcpstall.archive.storing.store import Commit, Part, Store

__all__ = ["Forgettable", "Which", "first_day_within", "forget", "to_forget"]

_READ = "read_parquet(?, filename = true, union_by_name = true, hive_partitioning = false)"


@dataclass(frozen=True, slots=True)
class Which:
    """The rows that are meant: those that fit all that is given.

    `capture` is a name or a glob; without a slash it is compared with the last part of names. `network` has either end
    of the connection. `before_ns` is later than the start of the flow, the wait, the exchange or the finding. `sensor`
    is a name or a glob.
    """

    capture: str | None = None
    network: IPv4Network | IPv6Network | None = None
    before_ns: int | None = None
    sensor: str | None = None

    @property
    def only_by_day(self) -> bool:
        """No row need be read to know whether it is meant, if all of its file is older."""
        return self.capture is None and self.network is None and self.sensor is None

    @property
    def names_captures(self) -> bool:
        """Whole captures are meant, also those of which there are no rows."""
        return not (self.capture is None and self.sensor is None) and self.network is None and self.before_ns is None

    def means(self, row: Row) -> bool:
        """True of the row of a capture that is meant."""
        return self.names(row["name"]) and (self.sensor is None or self.labels(row.get("sensor")))

    def labels(self, sensor: str | None) -> bool:
        """True if the sensor is meant."""
        return sensor is not None and self.sensor is not None and fnmatchcase(sensor, self.sensor)

    def names(self, capture: str) -> bool:
        """True if a capture of that name is meant."""
        if self.capture is None:
            return True
        name = capture if "/" in self.capture else capture.rpartition("/")[2]
        return name == self.capture or fnmatchcase(name, self.capture)


@dataclass(frozen=True, slots=True)
class Forgettable:
    """Rows of a store that are meant: their condition, their number by part, and captures of which nothing is left."""

    gone: Gone
    rows: Mapping[Part, int]
    captures: Sequence[Row]

    @property
    def counts(self) -> dict[str, int]:
        """Rows by table, captures among them."""
        counts = Counter(dict.fromkeys((*BY_DAY, "captures"), 0))
        for part, rows in self.rows.items():
            counts[part.table] += rows
        counts["captures"] = len(self.captures)
        return dict(counts)


def forget(store: Store, which: Which) -> dict[str, int]:
    """Takes the rows out, in one commit; how many went, by table. Captures of which nothing is left stay known.

    Raises CannotOpen for damaged files, and CannotWrite.
    """
    if store.dropped or store.continued or (which.sensor is not None and store.outdated()):
        compacted(store, spares=False)
    bring_up_to_date(store)  # what counters have not seen yet must not go unseen
    found = to_forget(store, which)
    parts = Parts(store.place, MEMORY_BYTES)
    made: list[Part] = []
    for part, rows in found.rows.items():
        if rows < part.rows:
            refuse_damaged(store, [part])
            with readable(store, part.table):
                made += parts.merged(part.name.rpartition("/")[0], [part], frozenset(), frozenset(), found.gone)
    if found.rows or found.captures:
        captures = [forgotten(row) for row in found.captures]
        store.commit(Commit(parts=made, removed=[part.name for part in found.rows], captures=captures))
    if which.only_by_day and which.before_ns is not None:
        store.forget_lost(which.before_ns)
    if not which.only_by_day:
        store.forget_streams()  # they hold what is meant too, addresses and first words
    compacted(store, spares=False)
    bring_up_to_date(store)
    return found.counts


def to_forget(store: Store, which: Which) -> Forgettable:
    """Rows and captures that `forget` would take out. Raises CannotOpen."""
    if which.sensor is not None:
        store.refuse_older()  # they may lack the column
    captures = [row for row in current(known_captures(store), store.dropped) if not is_forgotten(row)]
    chains = _Chains(captures)
    gone = _condition(store, which, captures, chains)
    rows = dict(_rows(store, which, gone))
    whole = {part for part, count in rows.items() if count == part.rows}
    left = chains.named(_held(store, [part for part in _by_day(store) if part not in whole], gone))
    named = which.names_captures
    ended = [row for row in captures if which.means(row) and (named or chains.has_ended(row, left))]
    return Forgettable(gone, rows, ended)


def first_day_within(store: Store, keep_bytes: int) -> int | None:
    """The ns at which the day begins from which on the store's files have at most so many bytes; None where all have.

    The table of captures, which is there twice, stays in any case.
    """
    days: Counter[str] = Counter()
    for part in _by_day(store):
        days[part.name.partition("day=")[2].partition("/")[0]] += part.bytes
    size = days.total() + 2 * sum(part.bytes for part in store.parts("captures"))
    before = None
    for day in sorted(days):
        if size <= keep_bytes:
            break
        size -= days[day]
        before = day
    if before is None:
        return None
    since = datetime.fromisoformat(before).replace(tzinfo=UTC) - datetime(1970, 1, 1, tzinfo=UTC)
    return (since.days + 1) * 86_400 * 10**9


class _Chains:
    """The captures whose rows may stand in the same scans."""

    def __init__(self, captures: Sequence[Row]) -> None:
        self._of_scan = {row["scan"]: row["chain"] for row in captures if row["scan"] is not None}
        self.captures: dict[str, list[Row]] = defaultdict(list)
        for row in captures:
            if row["scan"] is not None:
                self.captures[row["chain"]].append(row)

    def named(self, held: Mapping[str, Collection[str]]) -> dict[str, set[str]]:
        """The names of captures that rows have, by chain; given by scan."""
        named: dict[str, set[str]] = defaultdict(set)
        for scan, names in held.items():
            if scan in self._of_scan:
                named[self._of_scan[scan]].update(names)
        return named

    def has_ended(self, row: Row, left: Mapping[str, Collection[str]]) -> bool:
        """It had flows and has none; rows with a name that no capture has any more may be of one that was moved."""
        if row["scan"] is None or not row["flows"]:
            return False
        names = set(left.get(row["chain"], ()))
        return row["name"] not in names and names <= {each["name"] for each in self.captures[row["chain"]]}

    def moved(self, captures: Collection[str], held: Mapping[str, Collection[str]]) -> Iterator[str]:
        """Scans of which all captures are among these, and whose rows have other names."""
        named = self.named(held)
        for scan, chain in self._of_scan.items():
            names = {row["name"] for row in self.captures[chain]}
            if names <= set(captures) and not set(named[chain]) <= names:
                yield scan


def _condition(store: Store, which: Which, captures: Sequence[Row], chains: _Chains) -> Gone:
    """As SQL over rows of a day's table."""
    parts = [f"start_ns < {which.before_ns}"] if which.before_ns is not None else []
    values: list[object] = []
    if which.capture is not None:
        held = _held(store, _by_day(store), Gone())
        names = {name for names in held.values() for name in names if which.names(name)}
        meant = {row["name"] for row in captures if which.names(row["name"])}
        parts.append("(capture IN (SELECT unnest(?)) OR scan IN (SELECT unnest(?)))")
        values += [sorted(names), sorted(chains.moved(meant, held))]
    if which.sensor is not None:
        query = f"SELECT DISTINCT sensor FROM {_READ} WHERE {COUNTS}"
        sensors = (sensor for (sensor,) in _asked(store, _by_day(store), query, Gone()))
        parts.append("coalesce(sensor IN (SELECT unnest(?)), false)")
        values.append([sensor for sensor in sensors if which.labels(sensor)])
    if which.network is not None:
        addresses = [address for address in _addresses(store) if _is_in(address, which.network)]
        parts.append("(client_address IN (SELECT unnest(?)) OR server_address IN (SELECT unnest(?)))")
        values += [addresses, addresses]
    return Gone(f"({' AND '.join(parts)})", values) if parts else Gone()


def _rows(store: Store, which: Which, gone: Gone) -> Iterator[tuple[Part, int]]:
    """Parts with rows that go, and how many."""
    for table in BY_DAY:
        parts = store.parts(table)
        if which.before_ns is not None:
            parts = [part for part in parts if part.from_ns is None or part.from_ns < which.before_ns]
            older = [part for part in parts if part.to_ns is not None and part.to_ns < which.before_ns]
            if which.only_by_day and not (store.dropped or store.continued):
                yield from ((part, part.rows) for part in older)
                parts = [part for part in parts if part not in older]
        by_name = {part.name: part for part in parts}
        query = f"SELECT filename, count(*) FROM {_READ} WHERE {COUNTS} AND {gone.sql} GROUP BY filename"
        for file, rows in _asked(store, parts, query, gone):
            yield by_name["/".join(file.split("/")[-3:])], rows


def _held(store: Store, parts: Sequence[Part], gone: Gone) -> dict[str, set[str]]:
    """The names of captures that rows have, by scan, without those that go."""
    held: dict[str, set[str]] = defaultdict(set)
    query = f"SELECT DISTINCT scan, capture FROM {_READ} WHERE {COUNTS} AND NOT {gone.sql}"
    for scan, capture in _asked(store, parts, query, gone):
        held[scan].add(capture)
    return held


def _addresses(store: Store) -> list[str]:
    query = f"SELECT DISTINCT unnest([client_address, server_address]) FROM {_READ} WHERE {COUNTS}"
    return [address for (address,) in _asked(store, _by_day(store), query, Gone())]


def _asked(store: Store, parts: Sequence[Part], query: str, gone: Gone) -> list[tuple[Any, ...]]:
    if not parts:
        return []
    files = [store.place.path(part.name) for part in parts]
    with connected(store.place, MEMORY_BYTES) as duck, readable(store, parts[0].table):
        rows: list[tuple[Any, ...]] = duck.execute(
            query, [files, [*store.dropped], [*store.continued], *gone.values]
        ).fetchall()
        return rows


def _by_day(store: Store) -> list[Part]:
    return [part for table in BY_DAY for part in store.parts(table)]


def _is_in(address: str, network: IPv4Network | IPv6Network) -> bool:
    try:
        return ip_address(address) in network
    except ValueError:
        return False
