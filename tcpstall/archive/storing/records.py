"""The catalog and the journal as bytes: what a store says of itself, checked before any of it is believed."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from typing import Any, Self

from tcpstall.archive.columns import CAPTURES
from tcpstall.archive.storing.names import TABLES, is_part, is_streams, new_digest, table_of

__all__ = [
    "SCHEMA",
    "Commit",
    "Damaged",
    "Lost",
    "Part",
    "Row",
    "State",
    "Stream",
    "Written",
    "document",
    "read_catalog",
    "read_entry",
    "sane_row",
    "sealed",
]

SCHEMA = "tcpstall.store/1"
"""Name and version of how a store is laid out; a newer version is refused, an older one migrated."""

_DIGEST = "digest"
"""Key of the digest of a document without this key. Versions before it wrote none, and those documents are believed."""

_INT64 = 2**63

Row = Mapping[str, Any]


class Damaged(Exception):
    """A document of the store cannot be believed; the text says why."""


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
class Lost:
    """A part that was damaged: its rows are missing until the scans of these chains are repeated."""

    part: Part
    chains: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Stream:
    """State open at the end of a scan's files: `bytes` of the file `name` from `start` on, as the core wrote it."""

    scan: str
    name: str
    start: int
    bytes: int


class Written(tuple[Row, ...]):
    """Rows with their JSON, which a worker has made while others work: an entry of the journal takes it as it is."""

    text: bytes
    """Without the brackets of the list."""

    @classmethod
    def of(cls, pieces: Iterable[tuple[Sequence[Row], bytes]]) -> Self:
        """The rows of pieces with the JSON of each."""
        held = [piece for piece in pieces if piece[0]]
        made = cls(row for rows, _ in held for row in rows)
        made.text = b", ".join([text for _, text in held])
        return made


@dataclass(frozen=True, slots=True)
class Commit:
    """Changes that become true at once.

    `dropped` are scans that no longer count, `continued` scans whose rows with `at_end` no longer count: connections
    open when their files ended have new rows of the scan that read on. `captures` are rows of that table.
    `removed` are parts that no longer count, because their rows are in `parts`. `repeated` are chains whose files were
    scanned again because their rows were lost, `counted` scans that count again. `archives` were read to their end:
    see listed_archives. `streams` are the states that later scans read on from; a lost stream costs reading again.
    """

    parts: Sequence[Part] = ()
    captures: Sequence[Row] = ()
    dropped: Sequence[str] = ()
    continued: Sequence[str] = ()
    removed: Sequence[str] = ()
    repeated: Sequence[str] = ()
    counted: Sequence[str] = ()
    archives: Sequence[Row] = ()
    streams: Sequence[Stream] = ()

    def encoded(self) -> bytes:
        """As an entry of the journal. What is seldom there is left out: older versions know no such keys."""
        # Rows as they are: asdict would copy each of their values.
        row = {each.name: getattr(self, each.name) for each in fields(self)}
        row |= {"parts": [asdict(part) for part in self.parts], "streams": [asdict(each) for each in self.streams]}
        for name in ("repeated", "counted", "archives", "streams"):
            if not row[name]:
                del row[name]
        return sealed(row)


@dataclass(slots=True)
class State:
    """Catalog and journal, added up."""

    parts: dict[str, Part] = field(default_factory=dict)
    captures: list[Row] = field(default_factory=list)
    dropped: set[str] = field(default_factory=set)
    continued: set[str] = field(default_factory=set)
    archives: dict[str, Row] = field(default_factory=dict)
    lost: list[Lost] = field(default_factory=list)
    streams: dict[str, Stream] = field(default_factory=dict)
    """By their scans."""
    removed: set[str] = field(default_factory=set)
    """Parts that no longer count and may still lie there: the only ones that a sweep takes without a question."""
    spared_ns: dict[str, int] = field(default_factory=dict)
    """Those of them that readers may have open, and since when they no longer count."""
    changed_ns: dict[str, int] = field(default_factory=dict)
    """Time of the last write of each part's file, ns since 1970, as it was when the part's digest was right."""
    upto: int = 0
    absorbed: int = 0

    def add(self, commit: Commit) -> None:
        """Makes the commit part of the state."""
        self.parts.update((part.name, part) for part in commit.parts)
        self.remove(commit.removed)
        self.captures.extend(commit.captures)
        self.dropped.update(commit.dropped)
        self.dropped.difference_update(commit.counted)
        self.continued.update(commit.continued)
        self.archives.update((archive["name"], archive) for archive in commit.archives)
        self.streams.update((stream.scan, stream) for stream in commit.streams)
        for scan in (*commit.dropped, *commit.continued):
            self.streams.pop(scan, None)
        repeated = set(commit.repeated)
        left = [replace(each, chains=tuple(c for c in each.chains if c not in repeated)) for each in self.lost]
        self.lost = [now for now, each in zip(left, self.lost, strict=True) if now.chains or not each.chains]

    def remove(self, names: Iterable[str]) -> None:
        """Takes these parts out."""
        for name in names:
            if self.parts.pop(name, None) is not None:
                self.removed.add(name)
            self.changed_ns.pop(name, None)

    def encoded(self) -> bytes:
        """As a catalog."""
        return sealed(
            {
                "schema": SCHEMA,
                "upto": self.upto,
                "parts": [asdict(part) for part in self.parts.values()],
                "captures": self.captures,
                "dropped": sorted(self.dropped),
                "continued": sorted(self.continued),
                "archives": list(self.archives.values()),
                "lost": [asdict(each) for each in self.lost],
                "streams": [asdict(each) for each in self.streams.values()],
                "removed": sorted(self.removed),
                "spared_ns": self.spared_ns,
                "changed_ns": self.changed_ns,
            }
        )


def read_catalog(content: bytes) -> State:
    """Raises Damaged."""
    row = document(content)
    upto = _whole(row.get("upto"))
    parts = _parts(row.get("parts"))
    return State(
        parts={part.name: part for part in parts},
        captures=_captures(row.get("captures")),
        dropped=set(_texts(row.get("dropped"))),
        continued=set(_texts(row.get("continued"))),
        archives={row["name"]: row for row in _archives(row.get("archives", []))},
        lost=[_lost(each) for each in _list(row.get("lost", []))],
        streams={each.scan: each for each in _streams(row.get("streams", []))},
        removed=set(_part_names(row.get("removed", []))),
        spared_ns=_times(row.get("spared_ns", {})),
        changed_ns=_times(row.get("changed_ns", {})),
        upto=upto,
        absorbed=upto,
    )


def read_entry(content: bytes) -> Commit:
    """Raises Damaged."""
    row = document(content)
    return Commit(
        parts=_parts(row.get("parts")),
        captures=_captures(row.get("captures")),
        dropped=_texts(row.get("dropped")),
        continued=_texts(row.get("continued")),
        removed=_part_names(row.get("removed")),
        repeated=_texts(row.get("repeated", [])),
        counted=_texts(row.get("counted", [])),
        archives=_archives(row.get("archives", [])),
        streams=_streams(row.get("streams", [])),
    )


def sane_row(row: Row) -> bool:
    """A row of captures has the types of its columns."""
    return all(_fits(row[name], kind) for name, kind in CAPTURES.items() if name in row)


def _fits(value: object, kind: str) -> bool:
    if kind == "VARCHAR":
        return value is None or isinstance(value, str)
    return value is None or (isinstance(value, int) and -_INT64 <= value < _INT64)


def sealed(row: dict[str, Any]) -> bytes:
    """As JSON with a digest of itself, its last key."""
    content = bytearray()
    for key, value in row.items():
        content += b", " if content else b"{"
        content += f"{json.dumps(key)}: ".encode()
        content += b"[%b]" % value.text if isinstance(value, Written) else json.dumps(value).encode()
    digest = new_digest()
    digest.update(content)
    digest.update(b"}")
    content += f', "{_DIGEST}": "{digest.hexdigest()}"}}'.encode()
    return bytes(content)


def _digest(content: str) -> str:
    digest = new_digest()
    digest.update(content.encode())
    return digest.hexdigest()


def document(content: bytes) -> dict[str, Any]:
    """The document that was sealed. Raises Damaged."""
    try:
        row = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise Damaged("it is no JSON") from error
    if not isinstance(row, dict):
        raise Damaged("it is no JSON object")
    wanted = row.pop(_DIGEST, None)
    if wanted is not None and wanted != _digest(json.dumps(row)):
        raise Damaged("its digest differs")
    return row


def _list(value: object) -> list[Any]:
    if not isinstance(value, list):
        raise Damaged("it lacks a list")
    return value


def _texts(value: object) -> list[str]:
    found = _list(value)
    if not all(isinstance(each, str) for each in found):
        raise Damaged("a list of scans has something else in it")
    return found


def _part_names(value: object) -> list[str]:
    names = _texts(value)
    for name in names:
        if not is_part(name):
            raise Damaged(f"it names {name!r}, which is no part of a store")
    return names


def _captures(value: object) -> list[Row]:
    rows = _list(value)
    if not all(isinstance(row, dict) and sane_row(row) for row in rows):
        raise Damaged("a row of captures has values of other types")
    return rows


def _archives(value: object) -> list[Row]:
    rows = _list(value)
    if not all(isinstance(row, dict) and isinstance(row.get("name"), str) for row in rows):
        raise Damaged("an archive in it has no name")
    return rows


def _streams(value: object) -> list[Stream]:
    found = []
    for row in _list(value):
        if not isinstance(row, dict) or not isinstance(row.get("scan"), str) or not isinstance(row.get("name"), str):
            raise Damaged("a stream in it has no name")
        if not is_streams(row["name"]):
            raise Damaged(f"it names {row['name']!r}, which holds no streams")
        found.append(Stream(row["scan"], row["name"], _whole(row.get("start")), _whole(row.get("bytes"))))
    return found


def _whole(value: object, *, least: int = 0) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value < _INT64:
        raise Damaged("a number in it is none")
    return value


def _parts(value: object) -> list[Part]:
    return [_part(row) for row in _list(value)]


def _part(row: object) -> Part:
    """Keys that a later version has added are left out."""
    if not isinstance(row, dict):
        raise Damaged("a part in it is none")
    table, name, layout = row.get("table"), row.get("name"), row.get("layout", "")
    if not (isinstance(name, str) and isinstance(layout, str)):
        raise Damaged("a part in it has no name")
    if not is_part(name) or table not in TABLES or table != table_of(name):
        raise Damaged(f"it names {name!r}, which is no part of a store")
    rows, size = _whole(row.get("rows")), _whole(row.get("bytes"))
    return Part(table, name, rows, size, _moment(row.get("from_ns")), _moment(row.get("to_ns")), layout)


def _times(value: object) -> dict[str, int]:
    if not isinstance(value, dict):
        raise Damaged("its times are none")
    return {name: _whole(time_ns, least=-_INT64) for name, time_ns in value.items()}


def _moment(value: object) -> int | None:
    return None if value is None else _whole(value, least=-_INT64)


def _lost(row: object) -> Lost:
    if not isinstance(row, dict):
        raise Damaged("a lost part in it is none")
    return Lost(_part(row.get("part")), tuple(_texts(row.get("chains"))))
