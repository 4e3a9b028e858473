"""Captures that the store has, as a scan asks for them: it costs what is new, not what is known.

A file that is as its only row says needs no look and no row in Python, unless a file beside it is new.
"""

from collections.abc import Collection, Sequence

from tcpstall.archive.discovery import Input
from tcpstall.archive.known_files import Remembered
from tcpstall.archive.open_members import WITHIN
from tcpstall.archive.plan import current
from tcpstall.archive.records import Row
from tcpstall.archive.repeat import Wanted, never
from tcpstall.archive.store import Store
from tcpstall.archive.upkeep import held_captures, known_captures
from tcpstall.errors import ExitCode

__all__ = ["Known"]

_AMONG_OTHERS = f"""coalesce(
    scan IS NULL OR exit_code = {ExitCode.NOT_A_CAPTURE:d} OR contains(name, '{WITHIN}')
    OR name IN (SELECT name FROM held GROUP BY name HAVING count(*) > 1)
    OR fingerprint IN (SELECT fingerprint FROM held GROUP BY fingerprint HAVING count(*) > 1), true)"""
"""Rows that only other rows explain: copies, moved and broken files, members of archives."""

_NEAR = """(
    parse_dirpath(name, 'forward_slash') IN (SELECT parse_dirpath(unnest($names), 'forward_slash'))
    OR parse_dirpath(capture_set, 'forward_slash') IN (SELECT parse_dirpath(unnest($names), 'forward_slash'))
    OR fingerprint IN (SELECT unnest($contents)))"""
"""Rows of the same folders or contents: those that a plan for these names looks at, with their chains."""


class Known:
    """Rows that count, and files that are as they were. Called with a file, gives the captures that were in it."""

    def __init__(self, store: Store, wanted: Wanted) -> None:
        """Of a store of which something is to be repeated all rows are looked at. Raises CannotOpen."""
        self._store = store
        whole = wanted is not never or store.lost or store.outdated() or store.recent("captures")
        self._unchanged = {} if whole else _alone(store)
        rows = known_captures(store, _AMONG_OTHERS) if self._unchanged else known_captures(store)
        self.rows = current(rows, store.dropped)
        """All, but for those of files that were found unchanged."""
        self._remembered = Remembered((row for row in self.rows if not wanted(row)), store.archives)
        self._there: set[str] = set()

    @property
    def unchanged(self) -> int:
        """Number of files that were found as they were, and are in no plan."""
        return len(self._there)

    def __call__(self, name: str, size: int, changed_ns: int | None) -> Sequence[Input] | None:
        """As Remembered; nothing for a file that is as it was."""
        if self._unchanged.get(name) == (size, changed_ns):
            self._there.add(name)
            return ()
        return self._remembered(name, size, changed_ns)

    def near(self, names: Collection[str], contents: Collection[str]) -> tuple[Sequence[Row], Sequence[Input]]:
        """Further rows that say something of new files with these names and contents; which of their files are there.

        Raises CannotOpen.
        """
        if not self._unchanged:
            return (), ()
        found = known_captures(
            self._store,
            f"{_NEAR} OR chain IN (SELECT chain FROM held WHERE {_NEAR})",
            {"names": list(names), "contents": list(contents)},
        )
        rows = [row for row in found if row["name"] in self._unchanged]
        there = [row for row in rows if row["name"] in self._there]
        self._there.difference_update(row["name"] for row in there)
        remembered = Remembered(there, {})
        return rows, [
            each for row in there for each in remembered(row["name"], row["size_bytes"], row["changed_ns"]) or ()
        ]


def _alone(store: Store) -> dict[str, tuple[int, int | None]]:
    """Size and time of change of captures that have one row, which alone has their content; by name."""
    if not store.files("captures"):
        return {}
    with held_captures(store) as duck:
        rows = duck.execute(f"SELECT name, size_bytes, changed_ns FROM held WHERE NOT {_AMONG_OTHERS}").fetchall()
    return {name: (size, changed_ns) for name, size, changed_ns in rows}
