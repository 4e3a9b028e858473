"""Names of a store's files: which are ours, which tcpstall makes itself, and the digest that a part's name carries."""

import hashlib
import os
import re
from pathlib import Path

from tcpstall.archive.columns import BY_DAY

__all__ = [
    "ABOUT",
    "BY_DAY",
    "CATALOG",
    "COPY",
    "DAMAGED",
    "DATABASE",
    "FILES",
    "FOLDERS",
    "HOURS",
    "HOURS_INDEX",
    "JOURNAL",
    "LEDGER",
    "LOCK",
    "STREAMS",
    "TABLES",
    "UNFINISHED",
    "aside",
    "digest_in",
    "entry",
    "fresh",
    "is_entry",
    "is_left_over",
    "is_made_part",
    "is_ours",
    "is_part",
    "is_streams",
    "is_sums",
    "new_digest",
    "number_of",
    "part_name",
    "repair_of",
    "streams_name",
    "table_of",
]

TABLES = (*BY_DAY, "captures")

ABOUT = "store.json"
CATALOG = "catalog.json"
JOURNAL = "journal"
COPY = "copy"
"""Second copies of the catalog, the journal and the table of captures, under the same names."""
DAMAGED = "damaged"
"""Files that `store check --repair` has set aside; tcpstall never deletes any of them."""
UNFINISHED = "unfinished"
"""Files being made; what is left in there belongs to a writer that was killed."""
LOCK = "lock"
STREAMS = "streams"
"""State of the connections open where the files of rotated sets end, for the scan that reads on."""
LEDGER = "metrics.json"
"""Counters as `tcpstall metrics` last gave them, so that none ever steps back."""
HOURS = "hours"
"""Sums of the waits of parts, by hour."""
HOURS_INDEX = "hours.json"
"""Lists the files of sums, each with its parts."""
DATABASE = "store.duckdb"
"""Views of the tables, for other tools; tcpstall itself does not read it."""

FILES = (ABOUT, CATALOG, LOCK, LEDGER, HOURS_INDEX, DATABASE)
FOLDERS = (*TABLES, JOURNAL, COPY, DAMAGED, UNFINISHED, STREAMS, HOURS)

_HEX = "[0-9a-f]{32}"
_PART = re.compile(rf"(?:(?:{'|'.join(BY_DAY)})/day=\d{{4}}-\d\d-\d\d|captures)/[0-9A-Za-z_-]{{1,100}}\.parquet")
_MADE = re.compile(rf"[^/]+/(?:[^/]+/)?{_HEX}(?:-({_HEX}))?\.parquet")
_ENTRY = re.compile(rf"(?:{COPY}/)?{JOURNAL}/\d{{12}}\.json")
_STREAMS = re.compile(rf"{STREAMS}/{_HEX}-({_HEX})\.streams")
_SUMS = re.compile(rf"{HOURS}/{_HEX}-{_HEX}\.parquet")
_LEFT_OVER = re.compile(rf"{UNFINISHED}/(?:{_HEX}(?:\.parquet|\.duckdb(?:\.wal)?)?|spilled-{_HEX}/[0-9A-Za-z_.-]+)")


def is_part(name: str) -> bool:
    """A part may have that name: in the folder of a table, and of a day where the table is parted by days."""
    return _PART.fullmatch(name) is not None


def is_made_part(name: str) -> bool:
    """A name of the exact form that tcpstall gives its parts: what nobody knows of these was broken off."""
    return is_part(name) and _MADE.fullmatch(name) is not None


def aside(name: str) -> str:
    """New name for a file that is set aside: in `damaged`, unlike any other."""
    new = f"{fresh()}-{name.replace('/', '-')}"
    return new if name == DAMAGED else f"{DAMAGED}/{new}"


def is_ours(name: str) -> bool:
    """A file of a store may have that name."""
    held = name.removeprefix(f"{COPY}/")
    return (
        name in FILES
        or held == CATALOG
        or is_entry(name)
        or is_part(held)
        or is_left_over(name)
        or is_streams(name)
        or is_sums(name)
        or name.startswith((f"{DAMAGED}/", f"{LOCK}/"))
    )


def is_left_over(name: str) -> bool:
    """A name of the exact form that tcpstall gives files while it makes them."""
    return _LEFT_OVER.fullmatch(name) is not None


def is_streams(name: str) -> bool:
    """A name of the exact form that tcpstall gives files of streams."""
    return _STREAMS.fullmatch(name) is not None


def is_sums(name: str) -> bool:
    """A name of the exact form that tcpstall gives files of sums."""
    return _SUMS.fullmatch(name) is not None


def is_entry(name: str) -> bool:
    """An entry of the journal, or the copy of one."""
    return _ENTRY.fullmatch(name) is not None


def entry(number: int) -> str:
    """The name of the journal's entry of that number."""
    return f"{JOURNAL}/{number:012}.json"


def number_of(name: str) -> int:
    """The number of a journal's entry."""
    return int(name.rpartition("/")[2].removesuffix(".json"))


def table_of(name: str) -> str:
    """The table of a part."""
    return name.partition("/")[0]


def part_name(folder: str, file: Path) -> str:
    """A new name for a part: unlike any other, and with the digest of its content."""
    with file.open("rb") as content:
        digest = hashlib.file_digest(content, new_digest)
    return f"{folder}/{fresh()}-{digest.hexdigest()}.parquet"


def digest_in(name: str) -> str | None:
    """The digest that the name of a part or of a file of streams carries; None where its version wrote none."""
    found = _MADE.fullmatch(name) or _STREAMS.fullmatch(name)
    return found[1] if found else None


def streams_name(content: bytes) -> str:
    """A new name for a file of streams, with the digest of its content."""
    digest = new_digest()
    digest.update(content)
    return f"{STREAMS}/{fresh()}-{digest.hexdigest()}.streams"


def fresh() -> str:
    """A name that no other file has: 32 hexadecimal digits."""
    return os.urandom(16).hex()


def new_digest() -> "hashlib.blake2b":
    """New digest for contents: 1 GB/s, in the standard library, and infeasible to forge."""
    return hashlib.blake2b(digest_size=16)


def repair_of(url: str) -> str:
    """Advice for a store that is damaged, as the end of a message."""
    return f"`tcpstall store check --repair --store {url}` sets aside what is damaged and keeps the rest"
