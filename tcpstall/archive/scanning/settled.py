"""Files that are as they were when a scan read them, asked for by folder: a scan may know millions of them."""

import hashlib
from array import array
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from typing import Any

from tcpstall.archive.captures.listing import Listed, Plain
from tcpstall.archive.captures.open_members import WITHIN
from tcpstall.archive.maintenance.upkeep import held_captures
from tcpstall.archive.storing.records import Row
from tcpstall.archive.storing.store import Store
from tcpstall.errors import ExitCode

__all__ = ["ALONE", "Settled", "told_apart"]

ALONE = f"""coalesce(
    scan IS NOT NULL AND exit_code <> {ExitCode.NOT_A_CAPTURE:d} AND NOT contains(name, '{WITHIN}')
    AND hash(name) NOT IN (FROM several) AND hash(fingerprint) NOT IN (FROM several), false)"""
"""Rows of `held` that no other rows explain, as SQL: not copies, moved and broken files, members of archives."""

_SEVERAL = """
CREATE TEMP TABLE several AS
SELECT hash(name) FROM held GROUP BY ALL HAVING count(*) > 1
UNION ALL SELECT hash(fingerprint) FROM held GROUP BY ALL HAVING count(*) > 1"""
"""Texts that several rows have, by eight bytes each, for memory: of two texts of one hash more rows are looked at."""

_FOLDER = "left(name, length(name) - position('/' IN reverse(name)) + 1)"
"""Folder of a row's name with the last `/`, as SQL."""

_FILES = """string_agg(
    right(name, position('/' IN reverse(name)) - 1) || chr(0) || size_bytes || chr(0) || changed_ns,
    chr(10) ORDER BY name)"""
"""Text of all rows of a folder, as SQL."""

_ROWS = 150_000
"""Rows of which digests are made together: DuckDB holds their text, about 100 bytes each, until it has all."""

_LARGE = 100_000
"""Files of a folder that has no digest, for the same reason: all of its files are looked up."""

_FILES_AT_ONCE = 20_000
"""Files of folders that are not as they were, looked up together."""


@contextmanager
def told_apart(store: Store) -> Iterator[Any]:
    """As held_captures, for statements with ALONE in them. Raises CannotOpen."""
    with held_captures(store) as duck:
        duck.execute(_SEVERAL)
        yield duck


def _digest(files: Sequence[Plain]) -> bytes:
    text = "\n".join([f"{name}\0{size}\0{changed_ns}" for name, size, changed_ns in files])
    # What is no UTF-8 stands in rows as a URL: its folder is never as it was.
    return hashlib.md5(text.encode(errors="surrogateescape"), usedforsecurity=False).digest()


def _digests(duck: Any, rows: int) -> Iterator[tuple[str, bytes | None]]:
    """By folder, in passes over as many rows as there is memory for; None for a folder of too many."""
    digest = f"SELECT {_FOLDER} AS folder, unhex(md5({_FILES})) FROM held"
    if rows <= _ROWS:
        yield from duck.execute(f"{digest} WHERE {ALONE} GROUP BY folder").fetchall()
        return
    counted = f"SELECT {_FOLDER} AS folder, count(*) AS files FROM held GROUP BY folder"
    upto = f"(sum(files) OVER (ORDER BY folder) - 1) // {_ROWS}"
    duck.execute(f"CREATE TEMP TABLE passes AS SELECT folder, files, {upto} AS number FROM ({counted})")
    for (number,) in duck.execute("SELECT DISTINCT number FROM passes").fetchall():
        these = f"SELECT folder FROM passes WHERE number = {number} AND files <= {_LARGE}"
        yield from duck.execute(f"{digest} WHERE folder IN ({these}) AND {ALONE} GROUP BY folder").fetchall()
    yield from duck.execute(f"SELECT folder, NULL FROM passes WHERE files > {_LARGE}").fetchall()


class Settled:
    """Files that have a row of their own which says of them all that there is to say."""

    def __init__(self, duck: Any | None, rows: int) -> None:
        """Of a DuckDB of told_apart with so many rows; no files without it."""
        self._duck = duck
        self._folders = {} if duck is None else dict(_digests(duck, rows))
        self._whole: dict[str, int] = {}
        """Number of files of the folders that are as they were."""
        self._there = array("q")
        """Hashes of the names of other files that are."""
        self._taken = 0

    def __bool__(self) -> bool:
        return bool(self._folders)

    @property
    def count(self) -> int:
        """Number of these files that were found and not taken."""
        return sum(self._whole.values()) + len(self._there) - self._taken

    def holds(self, folder: str, files: Sequence[Plain]) -> bool:
        """True if all files in it are as they were, and none is gone."""
        digest = self._folders.get(folder)
        if digest is None or digest != _digest(files):
            return False
        self._whole[folder] = len(files)
        return True

    def without(self, files: Iterator[Listed]) -> Iterator[Listed]:
        """Those that are none of them."""
        if not self._folders:
            yield from files
        while some := list(islice(files, _FILES_AT_ONCE)):
            known = self._known([file.name for file in some if _folder(file.name) in self._folders])
            for file in some:
                if known.get(file.name) == (file.size, file.changed_ns) and file.error is None:
                    self._there.append(hash(file.name))
                else:
                    yield file

    def _known(self, names: Sequence[str]) -> dict[str, tuple[int, int | None]]:
        """Size and time of change of these files, as their rows have them."""
        if not names or self._duck is None:
            return {}
        # Parts are sorted by name: DuckDB reads only their blocks that can hold one of the folders.
        rows = self._duck.execute(
            "SELECT name, size_bytes, changed_ns FROM held "
            f"WHERE name BETWEEN ? AND ? AND {_FOLDER} IN (SELECT unnest(?)) AND {ALONE}",
            [min(names), max(names), sorted({_folder(name) for name in names})],
        ).fetchall()
        return {name: (size, changed_ns) for name, size, changed_ns in rows}

    def taken(self, rows: Sequence[Row]) -> list[Row]:
        """Those rows whose files were found; they count no more."""
        there = frozenset(self._there)
        found = [row for row in rows if _folder(row["name"]) in self._whole or hash(row["name"]) in there]
        self._taken += len(found)
        return found


def _folder(name: str) -> str:
    return name[: name.rfind("/") + 1]
