"""The table of captures: what is new stands beside what is there, and is one table to whoever asks."""

import os
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tcpstall.archive.asking.session import session
from tcpstall.archive.maintenance import upkeep
from tcpstall.archive.maintenance.repair import repaired
from tcpstall.archive.maintenance.upkeep import known_captures
from tcpstall.archive.planning.plan import current
from tcpstall.archive.scanning import known as knowing
from tcpstall.archive.scanning.scan import scan
from tcpstall.archive.storing.store import Store
from tcpstall.errors import CannotOpen
from tests.archive.conftest import single
from tests.archive.contents import rows
from tests.archive.test_damage import here
from tests.archive.test_known import Tree


@pytest.fixture
def captures(tmp_path: Path) -> Path:
    folder = tmp_path / "captures"
    folder.mkdir()
    return folder


@pytest.fixture
def store(tmp_path: Path) -> Path:
    return tmp_path / "store"


def add(captures: Path, number: int) -> None:
    (captures / f"{number:02}.pcap").write_bytes(single(number * 86_400, packets=60))


def scanned(captures: Path, store: Path) -> int:
    return scan([str(captures)], str(store), executor=here).captures


def parts(store: Path) -> list[Path]:
    """Those that count: what was merged is kept for a while."""
    return sorted(store / part.name for part in Store.open(str(store)).parts("captures"))


def asked(store: Path, sql: str) -> list[tuple[object, ...]]:
    with session(Store.open(str(store))) as opened:
        return [tuple(row.values()) for row in opened.rows(sql)]


def test_a_scan_writes_the_rows_of_what_is_new_and_leaves_the_others(captures: Path, store: Path) -> None:
    for number in range(4):
        add(captures, number)
    scanned(captures, store)
    (first,) = parts(store)
    add(captures, 4)
    (captures / "broken.pcap").write_bytes(b"no capture")
    assert scanned(captures, store) == 2
    add(captures, 5)
    assert scanned(captures, store) == 1
    assert first in parts(store)
    assert [part.rows for part in Store.open(str(store)).parts("captures")] == [4, 2, 1]
    assert len(rows(store)["captures"]) == 7
    assert len(rows(store)["errors"]) == 1
    assert scanned(captures, store) == 0


def test_small_parts_become_one_with_what_is_new_and_no_row_is_copied_often(captures: Path, store: Path) -> None:
    counts = []
    for number in range(12):
        add(captures, number)
        scanned(captures, store)
        counts.append(len(parts(store)))
        assert sum(part.rows for part in Store.open(str(store)).parts("captures")) == number + 1
    assert counts == [files.bit_count() for files in range(1, 13)]
    assert len(rows(store)["captures"]) == 12


def test_a_file_that_was_touched_or_moved_has_one_row(captures: Path, store: Path) -> None:
    add(captures, 0)
    add(captures, 1)
    scanned(captures, store)
    os.utime(captures / "00.pcap", (1, 1))
    (captures / "01.pcap").rename(captures / "moved.pcap")
    scanned(captures, store)
    names = [Path(str(name)).name for (name,) in asked(store, "SELECT name FROM captures ORDER BY name")]
    assert names == ["00.pcap", "moved.pcap"]


def test_a_copy_of_a_file_that_is_broken_is_broken_too_whenever_it_comes(captures: Path, store: Path) -> None:
    add(captures, 0)
    broken = captures / "broken.pcap"
    broken.write_bytes((captures / "00.pcap").read_bytes()[:-50])
    (captures / "00.pcap").unlink()
    scanned(captures, store)
    shutil.copy(broken, captures / "copy.pcap")
    scanned(captures, store)
    assert asked(store, "SELECT count(*), count(DISTINCT exit_code), min(exit_code) FROM captures") == [(2, 1, 5)]


def test_a_copy_costs_the_row_of_its_original(captures: Path, store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(12):
        add(captures, number)
    broken = captures / "broken.pcap"
    broken.write_bytes(single(12 * 86_400, packets=60)[:-50])
    scanned(captures, store)
    held = parts(store)
    (captures / "beside").mkdir()
    shutil.copy(broken, captures / "beside" / "copy.pcap")
    read: list[str] = []
    held_rows = noting(upkeep.held_rows, read)
    for module in (upkeep, knowing):
        monkeypatch.setattr(module, "held_rows", held_rows)
    scanned(captures, store)
    # The plan reads the row of the same content, and so does who writes the row of the copy.
    assert [Path(name).name for name in read] == ["broken.pcap"] * 2
    assert set(held) < set(parts(store))
    told = asked(store, "SELECT count(*), count(DISTINCT error) FROM captures WHERE exit_code = 5")
    assert told == [(2, 1)]
    del read[:]
    scanned(captures, store)
    assert sorted(Path(name).name for name in read) == ["broken.pcap", "copy.pcap"]


def grow(path: Path, number: int) -> None:
    path.write_bytes(path.read_bytes() + single(number * 86_400, packets=60)[24:])


def test_a_file_that_grew_costs_its_own_row(captures: Path, store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(12):
        (captures / f"{number:02}").mkdir()
        add(captures / f"{number:02}", number)
    scanned(captures, store)
    (held,) = parts(store)
    grown = captures / "07" / "07.pcap"
    grow(grown, 20)
    read: list[str] = []
    held_rows = noting(upkeep.held_rows, read)
    for module in (upkeep, knowing):
        monkeypatch.setattr(module, "held_rows", held_rows)
    scanned(captures, store)
    # The plan reads the row of the same name, and so does who withdraws it.
    assert [Path(name).name for name in read] == ["07.pcap"] * 2
    assert held in parts(store)
    assert [part.rows for part in Store.open(str(store)).parts("captures")] == [12, 2]
    size = grown.stat().st_size
    assert asked(store, f"SELECT count(*), count(*) FILTER (size_bytes = {size}) FROM captures") == [(12, 1)]
    assert asked(store, "SELECT count(DISTINCT scan) FROM flows") == [(12,)]
    assert scanned(captures, store) == 0


def test_a_file_that_is_again_what_it_was_counts_again(captures: Path, store: Path) -> None:
    for number in range(4):
        add(captures, number)
    scanned(captures, store)
    before = asked(store, "SELECT scan, name, size_bytes FROM captures ORDER BY name")
    first = (captures / "00.pcap").read_bytes()
    grow(captures / "00.pcap", 20)
    scanned(captures, store)
    (captures / "00.pcap").write_bytes(first)
    assert scanned(captures, store) == 1
    assert asked(store, "SELECT scan, name, size_bytes FROM captures ORDER BY name") == before
    assert scanned(captures, store) == 0


def test_questions_and_scans_take_the_same_rows_for_those_that_count(tmp_path: Path, store: Path) -> None:
    tree = Tree(tmp_path / "captures", seed=3)
    for _ in range(6):
        for _ in range(3):
            tree.change()
        scanned(tmp_path / "captures", store)
        opened = Store.open(str(store))
        counting = {
            (row["scan"], row["name"], row["size_bytes"]) for row in current(known_captures(opened), frozenset())
        }
        told = asked(store, "SELECT scan, name, size_bytes FROM captures")
        assert (len(told), set(told)) == (len(counting), counting)


def test_all_rows_are_written_anew_once_many_are_withdrawn(
    captures: Path, store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(upkeep, "_WITHDRAWN", 2)
    for number in range(12):
        add(captures, number)
    scanned(captures, store)
    counts = []
    for number in range(20, 24):
        grow(captures / "07.pcap", number)
        scanned(captures, store)
        counts.append(sum(part.rows for part in Store.open(str(store)).parts("captures")))
    assert counts == [14, 16, 12, 14]
    assert asked(store, "SELECT count(*), count(DISTINCT name) FROM captures") == [(12, 12)]
    assert scanned(captures, store) == 0


def noting(held_rows: Callable[..., list[dict[str, Any]]], read: list[str]) -> Callable[..., list[dict[str, Any]]]:
    """The same function; names of the rows that it gives are added to `read`."""

    def _noting(*asked: Any) -> list[dict[str, Any]]:
        rows = held_rows(*asked)
        read.extend(row["name"] for row in rows)
        return rows

    return _noting


@pytest.mark.parametrize("lost", ["catalog", "newest part"])
def test_all_of_them_are_found_again_where_the_catalog_is_lost(captures: Path, store: Path, lost: str) -> None:
    for number in range(8):
        add(captures, number)
    scanned(captures, store)
    grow(captures / "01.pcap", 20)
    scanned(captures, store)
    before = rows(store)
    assert len(parts(store)) == 2
    newest = max(parts(store), key=lambda part: part.stat().st_mtime_ns)
    (store / "catalog.json").unlink()
    (store / "copy" / "catalog.json").unlink()
    if lost == "newest part":
        newest.unlink()  # its copy is there
    repaired(str(store))
    assert rows(store) == before
    assert scanned(captures, store) == 0


@pytest.mark.parametrize("wrong", ["'far'::VARCHAR AS size_bytes", "NULL::VARCHAR AS name", "1.5 AS changed_ns"])
def test_a_part_with_rows_that_no_scan_writes_is_refused(captures: Path, store: Path, wrong: str) -> None:
    duckdb = pytest.importorskip("duckdb")
    add(captures, 0)
    scanned(captures, store)
    (part,) = parts(store)
    made = store / "captures" / "made.parquet"
    with duckdb.connect() as connection:
        connection.execute(f"COPY (SELECT * REPLACE ({wrong}) FROM read_parquet('{part}')) TO '{made}'")
    opened = Store.open(str(store))
    held = replace(opened.parts("captures")[0], name="captures/made.parquet", bytes=made.stat().st_size)
    opened._state.parts = {held.name: held}
    with pytest.raises(CannotOpen, match="rows that no scan writes"):
        known_captures(opened)
