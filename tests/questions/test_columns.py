"""Every column that an analysis writes is told, and every column that is told is written."""

from pathlib import Path
from typing import Any

import pytest

import tcpstall
from tcpstall.archive.columns import TABLES, Table, documented
from tests.questions.document import DOCUMENT, written

duckdb = pytest.importorskip("duckdb", reason="duckdb is not installed")

FIXTURES = Path(__file__).parents[2] / "fixtures"
OF_THE_SCAN = {"scan", "capture", "sensor", "at_end"}
OF_THE_FLOW = ("client_address", "client_port", "server_address", "server_port", "label", "server_name", "http_host")


def native(name: str) -> dict[str, str]:
    """The columns of a table of the core with their types."""
    analysis = tcpstall.analyze(FIXTURES / "slowstart-rtt7ms-512k.pcap")
    connection: Any = duckdb.connect()
    connection.register("rows", getattr(analysis, name))
    return {row[0]: row[1] for row in connection.execute("DESCRIBE rows").fetchall()}


@pytest.mark.parametrize("name", ["flows", "stalls", "exchanges"])
def test_what_an_analysis_writes_is_told_and_the_other_way_round(name: str) -> None:
    own = native(name)
    copied = {} if name == "flows" else {one: native("flows")[one] for one in OF_THE_FLOW}
    told = {column.name: column.type for column in TABLES[name].analysed}

    assert {one: type_ for one, type_ in told.items() if one not in OF_THE_SCAN} == {
        one: type_ for one, type_ in (own | copied).items() if one not in OF_THE_SCAN
    }


@pytest.mark.parametrize("table", TABLES.values(), ids=list(TABLES))
def test_no_column_is_told_twice_and_none_without_a_meaning(table: Table) -> None:
    names = [column.name for column in table.shown]
    assert len(set(names)) == len(names)
    assert sorted(name for names, *_ in documented(table) for name in names.split(", ")) == sorted(names)
    assert all(column.meaning and not column.meaning.endswith(".") for column in table.shown)


@pytest.mark.parametrize("table", TABLES.values(), ids=list(TABLES))
def test_a_unit_stands_in_the_name_too(table: Table) -> None:
    suffixes = {"ns": "_ns", "ns since 1970-01-01 UTC": "_ns", "bytes/s": "_bytes_per_s"}
    for column in table.shown:
        if column.unit in suffixes:
            assert column.name.endswith(suffixes[column.unit])
        assert column.name.endswith("_ns") == column.unit.startswith("ns")


def test_the_document_has_them_all() -> None:
    assert DOCUMENT.read_text() == written()
