"""Files of sums, kept beside the parts of a store for questions that need no more.

Sums are of some parts of one day: a file by hour, sensor, service, host and cause, and one for each of the ROLLUPS.
`hours.json` lists the files, each with its parts. Sums of several days are added up once more where a question needs
no time: its cost would grow with the days otherwise. A store may lose them: sums of parts that no longer count are not
used, and parts without sums are added up when a question is asked.
"""

import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from tcpstall.archive.columns import TABLES
from tcpstall.archive.storing.damaged_parts import faults
from tcpstall.archive.storing.names import HOURS, HOURS_INDEX, is_sums, new_digest
from tcpstall.archive.storing.records import Damaged, Part, document, sealed
from tcpstall.archive.storing.rollups import AT_HOME, CLASSES, HOUR_NS, OF_DAYS, ONE_WAIT, ROLLUPS, SUMMED, to_add_up
from tcpstall.archive.storing.spared import is_spared
from tcpstall.archive.storing.storage import Place

__all__ = ["HOUR_NS", "SUMMED", "SUMS", "SUM_TABLES", "Hours", "Sums", "added_up", "to_add_up"]

SUM_TABLES = ("hours", *ROLLUPS)
"""Tables of sums, a file each."""

SUMS = "hour_sums"
"""The view of all sums, of which several may have one key: for sums of sums."""

_KEYS = "start_ns, sensor, server_address, server_port, host, cause"


def added_up(source: str) -> str:
    """One row per hour, sensor, service, host and cause, as SQL."""
    sums = ", ".join(f"sum({name})::BIGINT AS {name}" for name in ("waits", "lost_ns", "recoverable_ns"))
    return f"SELECT {_KEYS}, {sums} FROM {source} GROUP BY ALL"


@dataclass(frozen=True, slots=True)
class Sums:
    """Files of sums, a file a table of sums, and the names of the parts that they are of.

    Those of several days have files of the tables OF_DAYS alone.
    """

    files: tuple[Part, ...]
    of: frozenset[str]

    def of_table(self, name: str) -> Part:
        """The file of a table of sums."""
        return next(file for file in self.files if file.table == name)


@dataclass(frozen=True, slots=True)
class _Index:
    sums: tuple[Sums, ...] = ()
    """Of a day each."""
    of_days: tuple[Sums, ...] = ()
    """The same added up over days."""
    spared_ns: Mapping[str, int] = field(default_factory=dict)
    """Files that were replaced and may still be read, and since when."""


class Hours:
    """The files of sums of a place."""

    def __init__(self, place: Place) -> None:
        self._place = place
        self._known: _Index | None = None

    def of(self, parts: Collection[str]) -> list[Sums]:
        """Those of these parts and no others."""
        counting = set(parts)
        return [each for each in self._index().sums if each.of <= counting]

    def of_days(self, sums: Sequence[Sums]) -> list[Sums]:
        """Those in which each of these sums of a day is whole, or not at all, and nothing else is."""
        return [each for each in self._index().of_days if _is_of(each, sums)]

    def keep(self, sums: Sequence[Sums], of_days: Sequence[Sums] = (), *, spares: bool = True) -> None:
        """Lists these alone, and deletes the others; if it `spares` them, later. Raises CannotWrite."""
        old, now = self._index(), time.time_ns()
        kept = {file.name for each in (*sums, *of_days) for file in each.files}
        before = [file.name for each in (*old.sums, *old.of_days) for file in each.files]
        replaced = [name for name in before if name not in kept]
        spared = {name: since_ns for name, since_ns in old.spared_ns.items() if is_spared(since_ns)}
        new = _Index(tuple(sums), tuple(of_days), {**spared, **dict.fromkeys(replaced, now)} if spares else {})
        there = [name for name in self._place.names(HOURS) if is_sums(name)]
        over = [name for name in there if name not in kept and name not in new.spared_ns]
        if new != old:
            self._place.put(HOURS_INDEX, _encoded(new))
            self._known = new
        self._place.remove(over)

    def _index(self) -> _Index:
        if self._known is None:
            index = _read(self._place.read(HOURS_INDEX))
            files = [file for each in (*index.sums, *index.of_days) for file in each.files]
            damaged = faults(self._place, files, {})
            whole, of_days = (
                tuple(each for each in some if damaged.keys().isdisjoint(file.name for file in each.files))
                for some in (index.sums, index.of_days)
            )
            self._known = _Index(whole, of_days, index.spared_ns)
        return self._known


def _is_of(each: Sums, sums: Sequence[Sums]) -> bool:
    within = [one.of for one in sums if not one.of.isdisjoint(each.of)]
    return frozenset().union(*within) == each.of


def _schema() -> str:
    """Another one wherever sums would be others."""
    computed = [column.sql for table in SUMMED for column in TABLES[table].shown]
    digest = new_digest()
    tables = dict(zip(SUMMED, SUMMED, strict=True))
    spared = (tables, {**tables, AT_HOME: ""}, {**tables, AT_HOME: "", ONE_WAIT: ""})
    rolled = [each.rows(sources, CLASSES) for sources in spared for each in ROLLUPS.values()]
    rolled += [each.added(each.name) for each in ROLLUPS.values() if each.added]
    digest.update("\n".join((added_up(to_add_up("stalls", "findings")), *rolled, *computed)).encode())
    return f"tcpstall.hours/{digest.hexdigest()}"


def _encoded(index: _Index) -> bytes:
    sums, of_days = (
        [{"files": [asdict(file) for file in each.files], "of": sorted(each.of)} for each in some]
        for some in (index.sums, index.of_days)
    )
    return sealed({"schema": _schema(), "sums": sums, "of_days": of_days, "spared_ns": dict(index.spared_ns)})


def _read(content: bytes | None) -> _Index:
    """Nothing where there is none, a damaged one, or one of another version: sums are made anew."""
    if content is None:
        return _Index()
    try:
        row = document(content)
        if row["schema"] != _schema():
            return _Index()
        spared_ns = {str(name): int(since_ns) for name, since_ns in row["spared_ns"].items()}
        sums = tuple(_sums(each, SUM_TABLES) for each in row["sums"])
        return _Index(sums, tuple(_sums(each, OF_DAYS) for each in row["of_days"]), spared_ns)
    except (Damaged, AttributeError, KeyError, TypeError, ValueError):
        return _Index()


def _sums(row: Mapping[str, Any], tables: Sequence[str]) -> Sums:
    files = tuple(Part(**{name: file[name] for name in Part.__dataclass_fields__}) for file in row["files"])
    for file in files:
        if not is_sums(file.name):
            raise Damaged(f"it names {file.name!r}, which holds no sums")
    if sorted(file.table for file in files) != sorted(tables):
        raise Damaged("it does not name a file for each table of sums")
    return Sums(files, frozenset(row["of"]))
