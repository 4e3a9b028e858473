"""Every column of the tables of a store: its type, unit and meaning; documentation and empty tables come from here."""

import hashlib
from collections.abc import Iterator
from functools import cache

from tcpstall.archive.columns import computed, files
from tcpstall.archive.columns.column import Column, Table
from tcpstall.archive.columns.exchanges import EXCHANGES
from tcpstall.archive.columns.findings import FINDINGS
from tcpstall.archive.columns.flows import FLOWS
from tcpstall.archive.columns.hours import HOURS
from tcpstall.archive.columns.stalls import STALLS

__all__ = ["BY_DAY", "CAPTURES", "TABLES", "Column", "Table", "documented", "layout"]

TABLES = {
    table.name: table
    for table in (
        Table("flows", "One row per connection.", FLOWS, computed.TIMES_AND_ENDS),
        Table("stalls", "One row per wait of a sender.", (*STALLS, *computed.KEPT_OF_STALLS), computed.OF_WAITS),
        Table("exchanges", "One row per request with its response.", EXCHANGES, computed.TIMES_AND_ENDS),
        Table(
            "findings",
            "One row per finding and flow that adds to it; the plain round trip of a handshake adds nothing.",
            FINDINGS,
            (*computed.TIMES_AND_ENDS, computed.host("side")),
        ),
        Table(
            "hours",
            "One row per hour, sensor, service, host and cause: the waits that began in the hour, added up.",
            HOURS,
            computed.OF_HOURS,
        ),
        Table("captures", "One row per analysed file.", files.CAPTURES),
        Table("errors", "One row per file that could not be analysed, or not whole.", files.ERRORS),
    )
}
"""By name, in the order of the documentation."""

CAPTURES = {column.name: column.type for column in files.CAPTURES}
"""The columns of `captures` by name, with their DuckDB types."""


@cache
def layout(table: str) -> str:
    """A digest of the table's columns: files with another were written by another version."""
    columns = "\n".join(f"{column.name} {column.type}" for column in TABLES[table].columns)
    return hashlib.blake2b(columns.encode(), digest_size=4).hexdigest()


BY_DAY = ("flows", "stalls", "exchanges", "findings")
"""The tables whose files are divided by the day of `start_ns`."""


def documented(table: Table) -> Iterator[tuple[str, str, str, str]]:
    """(names, type, unit, meaning) a row; what both ends have is one row."""
    families: dict[str, list[Column]] = {}
    for column in table.shown:
        families.setdefault(column.family or column.name, []).append(column)
    for family in families.values():
        yield ", ".join(column.name for column in family), family[0].type, family[0].unit, family[0].meaning
