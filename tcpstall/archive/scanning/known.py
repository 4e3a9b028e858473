"""Captures that the store has, as a scan asks for them: it costs what is new, not what is known.

A file that is as its only row says needs no look and no row in Python, unless a file beside it is new.
"""

from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from tcpstall.archive.captures.input import Input
from tcpstall.archive.maintenance.upkeep import held_rows, known_captures
from tcpstall.archive.planning.plan import current
from tcpstall.archive.planning.repeat import Wanted, never
from tcpstall.archive.scanning.known_files import Remembered
from tcpstall.archive.scanning.settled import ALONE, Settled, told_apart
from tcpstall.archive.storing.records import Row
from tcpstall.archive.storing.store import Store

__all__ = ["Known", "known"]

_IN_FOLDER = """(
    {0} BETWEEN $least AND $most
    AND parse_dirpath({0}, 'forward_slash') IN (SELECT parse_dirpath(unnest($names), 'forward_slash')))"""
"""Texts in the folders of these names, as SQL; bounds come first, because to cut a path takes four times as long."""

_NEAR = f"""(
    {_IN_FOLDER.format("name")} OR {_IN_FOLDER.format("capture_set")} OR fingerprint IN (SELECT unnest($contents)))"""
"""Rows of the same folders or contents: those that a plan for these names looks at, with their chains."""

_LAST = "\U0010ffff"
"""Comes after all names: those without a folder may begin with any letter."""


@contextmanager
def known(store: Store, wanted: Wanted) -> "Iterator[Known]":
    """Captures that a store knows, for one scan. Raises CannotOpen.

    Of a store of which something is to be repeated all rows are looked at.
    """
    if not store.files("captures") or wanted is not never or store.lost or store.outdated() or store.recent("captures"):
        yield Known(store, wanted, None)
        return
    with told_apart(store) as duck:
        yield Known(store, wanted, duck)


class Known:
    """Rows that count, but for those of `settled` files. Called with a file, gives the captures that were in it."""

    def __init__(self, store: Store, wanted: Wanted, duck: Any | None) -> None:
        """With a DuckDB of told_apart; without it no file is settled."""
        self._store = store
        self._duck = duck
        self.settled = Settled(duck, sum(part.rows for part in store.parts("captures")))
        rows = known_captures(store) if duck is None else held_rows(store, duck, f"NOT {ALONE}")
        self.rows = current(rows, store.dropped)
        """All, but for those of files that were found as they were."""
        self._remembered = Remembered((row for row in self.rows if not wanted(row)), store.archives)

    @property
    def is_nothing(self) -> bool:
        """True for a store that never had a capture, and none that is to be scanned again."""
        store = self._store
        return not (store.files("captures") or store.recent("captures") or store.lost or store.archives)

    def __call__(self, name: str, size: int, changed_ns: int | None) -> Sequence[Input] | None:
        """As Remembered."""
        return self._remembered(name, size, changed_ns)

    def near(self, names: Collection[str], contents: Collection[str]) -> tuple[Sequence[Row], Sequence[Input]]:
        """Further rows that say something of new files with these names and contents; which of their files are there.

        Raises CannotOpen.
        """
        if not self.settled:
            return (), ()
        where = f"(chain IN (SELECT chain FROM held WHERE {_NEAR}) OR (chain IS NULL AND {_NEAR})) AND {ALONE}"
        folders = {name.rpartition("/")[0] for name in names}
        # What lies in a folder lies between its own name and that of the next character: `/` comes before `0`.
        most = f"{max(folders)}0" if folders and "" not in folders else _LAST
        bounds = {"least": min(folders, default=""), "most": most}
        values = {"names": list(names), "contents": list(contents), **bounds}
        rows = held_rows(self._store, self._duck, where, values)
        there = self.settled.taken(rows)
        remembered = Remembered(there, {})
        return rows, [
            each for row in there for each in remembered(row["name"], row["size_bytes"], row["changed_ns"]) or ()
        ]
