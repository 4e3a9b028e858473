"""A store kept small and up to date: parts merged, old rows removed, tables of other versions rewritten."""

import json
import shutil
import subprocess
import sys
import uuid
from pathlib import Path

import duckdb
import pytest

from tcpstall.archive.columns import TABLES
from tcpstall.archive.maintenance import upkeep
from tcpstall.archive.maintenance.forget import Which, forget
from tcpstall.archive.maintenance.publishing import published
from tcpstall.archive.scanning.scan import scan
from tcpstall.archive.storing.store import Store
from tcpstall.errors import CannotOpen
from tests.archive.contents import counted, rows
from tests.archive.here import here
from tests.cli.conftest import environment


def test_parts_of_a_day_are_merged_and_say_the_same(made: Path, tmp_path: Path, small_tasks: None) -> None:
    store = tmp_path / "store"
    scan([str(made)], str(store), executor=here)
    assert len(Store.open(str(store)).parts("flows")) <= 2 * upkeep._MANY
    unmerged = tmp_path / "unmerged"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(upkeep, "_MANY", 1_000)
        scan([str(made)], str(unmerged), executor=here)
    assert len(Store.open(str(unmerged)).parts("flows")) > len(Store.open(str(store)).parts("flows"))
    assert rows(unmerged) == rows(store)


def test_what_is_older_is_forgotten_and_not_scanned_again(made: Path, tmp_path: Path) -> None:
    store = tmp_path / "store"
    scan([str(made)], str(store), executor=here)
    before = rows(store)
    start = [one.name for one in TABLES["flows"].columns].index("start_ns")
    starts = sorted(row[start] for row in before["flows"])
    cut_ns = starts[len(starts) // 2]
    with Store.writing(str(store)) as opened:
        gone = forget(opened, Which(before_ns=cut_ns))
    after = rows(store)
    for table in ("flows", "stalls", "exchanges", "findings"):
        column = [one.name for one in TABLES[table].columns].index("start_ns")
        assert after[table] == [row for row in before[table] if row[column] >= cut_ns], table
    assert gone == {
        table: len(before[table]) - len(after[table]) for table in before if table not in ("errors", "hours")
    }
    assert 0 < len(after["captures"]) < len(before["captures"])
    assert scan([str(made)], str(store), executor=here).captures == 0


def test_pruning_is_a_command_that_tells_what_went(made: Path, tmp_path: Path) -> None:
    scan([str(made)], str(tmp_path / "store"), executor=here)
    held = counted(tmp_path / "store")
    arguments = ["store", "prune", "--older-than", "30d", "--store", str(tmp_path / "store")]
    done = subprocess.run([sys.executable, "-m", "tcpstall", *arguments], capture_output=True, env=environment())
    rows_gone = sum(held[table] for table in ("flows", "stalls", "exchanges", "findings"))
    assert (done.returncode, f"{rows_gone:,} rows removed" in done.stderr.decode()) == (0, True)
    assert counted(tmp_path / "store")["flows"] == 0


def test_a_store_of_another_version_is_brought_up_to_date(made: Path, undisturbed: Path, tmp_path: Path) -> None:
    """As if this version had columns that the one before did not know, computed ones too, and had lost another."""
    store = Path(shutil.copytree(undisturbed, tmp_path / "store"))
    catalog = json.loads((store / "catalog.json").read_text())
    for part in catalog["parts"]:
        if part["table"] == "stalls":
            renamed = store / part["name"]
            file = renamed.with_name(f"{uuid.uuid4().hex}.parquet")
            duckdb.sql(
                "COPY (SELECT * EXCLUDE (excess_owner, lost_ns, host, service), 1 AS forgotten "
                f"FROM read_parquet('{renamed}')) TO '{file}' (FORMAT parquet)"
            )
            renamed.unlink()
            part |= {"layout": "another", "name": str(file.relative_to(store)), "bytes": file.stat().st_size}
    # That version knew neither digests nor copies.
    old = {key: catalog[key] for key in ("schema", "upto", "parts", "captures", "dropped", "continued")}
    (store / "catalog.json").write_text(json.dumps(old))
    shutil.rmtree(store / "copy")
    names = [column.name for column in TABLES["stalls"].columns]
    lost = names.index("excess_owner")
    expected = sorted(repr((*row[:lost], None, *row[lost + 1 :])) for row in rows(undisturbed)["stalls"])
    with pytest.raises(CannotOpen, match="tcpstall store compact"):
        published(str(store), tmp_path / "published")
    assert sorted(map(repr, rows(store)["stalls"])) == expected  # questions are answered meanwhile
    scan([str(made)], str(store), executor=here)
    assert Store.open(str(store)).outdated() == []
    assert sorted(map(repr, rows(store)["stalls"])) == expected


def test_other_tools_read_the_tables_from_a_database(undisturbed: Path) -> None:
    with duckdb.connect(str(undisturbed / "store.duckdb"), read_only=True) as database:
        told = database.execute("SELECT count(*) FROM flows").fetchone()
    assert told == (counted(undisturbed)["flows"],)
