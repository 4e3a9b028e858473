"""Rows of a store with pseudonyms for addresses, and without what else names hosts, people and files."""

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

from tcpstall import _core
from tcpstall.archive.columns import BY_DAY, Table
from tcpstall.keys import derived

if TYPE_CHECKING:
    import duckdb

__all__ = ["Hidden"]

_ADDRESSES = ("client_address", "server_address", "host")

_LEFT_OUT = (
    "interface", "label", "server_name", "http_host", "http_method", "http_status", "fingerprint", "error", "warnings",
)  # fmt: skip
"""Content of packets, what a message may quote, and an interface's name, which may be a machine's; `analyze
--anonymise` leaves out the same of a flow."""

_CALLED = {"capture": "capture", "name": "capture", "capture_set": "set", "sensor": "sensor"}
"""Columns with paths and labels, and the words that they become with a number."""

_WORD = re.compile(r"[0-9A-Fa-f.:]+")


class Hidden:
    """Pseudonyms of what the views of a store name, in tables of their DuckDB."""

    def __init__(self, duck: "duckdb.DuckDBPyConnection", key: bytes) -> None:
        """Of the views that make_views has made, with a key of at least 16 bytes."""
        self._duck = duck
        self._secret = derived(key)
        ends = " UNION ".join(f"SELECT {end}_address FROM {name}" for name in BY_DAY for end in ("client", "server"))
        addresses = [row[0] for row in duck.execute(f"FROM ({ends}) WHERE client_address NOT NULL").fetchall()]
        self._keep("addresses", addresses, _core.pseudonyms(self._secret, addresses))
        tunnels = [row[0] for row in duck.execute("SELECT DISTINCT tunnel FROM flows WHERE tunnel NOT NULL").fetchall()]
        self._keep("tunnels", tunnels, map(self._readdressed, tunnels))
        paths = " UNION ".join([*(f"SELECT capture FROM {name}" for name in BY_DAY), "SELECT name FROM captures"])
        sensors = " UNION ".join(f"SELECT sensor FROM {name}" for name in (*BY_DAY, "captures"))
        sets = "SELECT capture_set FROM captures UNION SELECT NULL"
        for word, sql in (("capture", paths), ("set", sets), ("sensor", sensors)):
            found = [row[0] for row in duck.execute(sql).fetchall() if row[0] is not None]
            self._keep(f"{word}s", sorted(found), (f"{word}-{number}" for number in range(1, len(found) + 1)))

    def rows(self, table: Table, source: str) -> str:
        """Rows of a source with the columns of a table's files, as SQL."""
        columns = []
        for name in (column.name for column in table.analysed):
            if name in _ADDRESSES:
                told = _looked_up("addresses", name)
            elif name == "tunnel":
                told = _looked_up("tunnels", name)
            elif name in _CALLED:
                told = _looked_up(f"{_CALLED[name]}s", name)
            else:
                told = "NULL" if name in _LEFT_OUT else f'"{name}"'
            columns.append(f'({told})::{next(c.type for c in table.columns if c.name == name)} AS "{name}"')
        return f"SELECT *{table.derived} FROM (SELECT {', '.join(columns)} FROM ({source}) AS given)"

    def view(self, table: Table) -> str:
        """Rows of a table's view with all its columns, as SQL."""
        return f"SELECT *{table.computed} FROM ({self.rows(table, f'FROM {table.name}')})"

    def _keep(self, table: str, words: Iterable[str], told: Iterable[str]) -> None:
        self._duck.execute(f"CREATE TEMP TABLE hidden_{table} AS SELECT unnest($1) AS word, unnest($2) AS told",
                           [list(words), list(told)])  # fmt: skip

    def _readdressed(self, tunnel: str) -> str:
        """The path of tunnels with pseudonyms for its addresses: a word that is no address is a number or a name."""

        def told(found: "re.Match[str]") -> str:
            try:
                return _core.pseudonyms(self._secret, [found[0]])[0]
            except ValueError:
                return found[0]

        return _WORD.sub(told, tunnel)


def _looked_up(table: str, column: str) -> str:
    return f'SELECT told FROM hidden_{table} WHERE word = given."{column}"'
