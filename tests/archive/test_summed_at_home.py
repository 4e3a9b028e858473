"""Sums of parts are the same whether or not DuckDB is spared what these parts cannot have."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest

from tcpstall.archive.columns import TABLES
from tcpstall.archive.maintenance.upkeep import MEMORY_BYTES
from tcpstall.archive.scanning.scan import scan
from tcpstall.archive.storing import parquet
from tcpstall.archive.storing.parquet import Parts
from tcpstall.archive.storing.records import Part
from tcpstall.archive.storing.rollups import SUMMED, facts
from tcpstall.archive.storing.store import Store
from tcpstall.archive.storing.views import rows_of
from tests.archive.here import here
from tests.scene import Scene

Rows = dict[str, tuple[list[str], list[tuple[object, ...]]]]


def summed(store: Store, parts: list[Part]) -> Rows:
    """Types and rows of each table of sums, without the flows that are named among equals."""
    found = {}
    for file in Parts(store.place, MEMORY_BYTES).summed(parts).files:
        columns = "* EXCLUDE (worst)" if file.table == "leaders" else "*"
        rows = duckdb.sql(f"SELECT {columns} FROM '{store.place.path(file.name)}' ORDER BY ALL")
        found[file.table] = [str(type_) for type_ in rows.types], rows.fetchall()
    return found


def by_day(store: Store) -> Iterator[list[Part]]:
    parts = [part for table in SUMMED for part in store.parts(table)]
    for day in sorted({part.name.split("/")[1] for part in parts}):
        yield [part for part in parts if part.name.split("/")[1] == day]


def known(store: Store, parts: list[Part]) -> tuple[bool, bool]:
    paths = {name: [store.place.path(part.name) for part in parts if part.table == name] for name in SUMMED}
    (row,) = duckdb.sql(facts({name: f"({rows_of(TABLES[name], paths[name])})" for name in SUMMED})).fetchall()
    return row[0], row[1]


@pytest.fixture
def short(tmp_path: Path) -> Store:
    """Flows with one wait at most."""
    captures = tmp_path / "captures"
    captures.mkdir()
    for number in range(3):
        scene = Scene(captures, client_port=20_000 + number)
        scene.handshake(rtt_ms=10)
        scene.client_sends(200)
        scene.download(1_400)
        scene.closes()
        scene.capture().rename(captures / f"{number}.pcap")
    scan([captures], tmp_path / "store", executor=here)
    return Store.open(str(tmp_path / "store"))


def compare(store: Store, monkeypatch: pytest.MonkeyPatch) -> set[tuple[bool, bool]]:
    found = set()
    for parts in by_day(store):
        found.add(known(store, parts))
        spared = summed(store, parts)
        with monkeypatch.context() as patch:
            patch.setattr(parquet, "facts", lambda _: "SELECT false, false")
            assert summed(store, parts) == spared
    return found


def test_sums_of_days_are_the_same(undisturbed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copytree(undisturbed, tmp_path / "store")
    assert (True, False) in compare(Store.open(str(tmp_path / "store")), monkeypatch)


def test_sums_of_flows_with_one_wait_each_are_the_same(short: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    assert compare(short, monkeypatch) == {(True, True)}


@pytest.mark.parametrize("table", ["flows", "stalls", "exchanges"])
def test_rows_without_their_flows_or_flows_without_their_rows_are_noticed(short: Store, table: str) -> None:
    (parts,) = by_day(short)
    assert known(short, parts)[0]
    assert not known(short, [part for part in parts if part.table != table])[0]
