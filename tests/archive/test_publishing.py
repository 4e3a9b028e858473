"""A store published for other tools: globs find the rows that count, at any moment, and no others."""

import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import duckdb
import pytest

from tcpstall.archive.columns import BY_DAY, TABLES
from tcpstall.archive.publishing import published
from tcpstall.archive.scan import scan
from tcpstall.archive.store import Store
from tcpstall.archive.task import scan_task
from tcpstall.errors import CannotOpen
from tests.archive.contents import rows
from tests.archive.here import here
from tests.archive.rings import crossed
from tests.cli.conftest import environment

FILES = 4


def ring(folder: Path, numbers: range) -> None:
    """Files of one capture; its connections cross all of them."""
    folder.mkdir(exist_ok=True)
    files = crossed(60_000, 5_000)
    for number in numbers:
        (folder / f"eth0.pcap{number}").write_bytes(files[number])


def read(folder: Path) -> dict[str, list[tuple[Any, ...]]]:
    """As `rows`, by globs alone."""
    found = {}
    for table in TABLES.values():
        names = ", ".join(f'"{column.name}"' for column in table.columns if column.name != "scanned_ns")
        glob = folder / "current" / table.name / ("*/*.parquet" if table.name in BY_DAY else "*.parquet")
        found[table.name] = sorted(duckdb.sql(f"SELECT {names} FROM '{glob}'").fetchall(), key=repr)
    return found


@pytest.fixture
def store(tmp_path: Path) -> Path:
    ring(tmp_path / "captures", range(2))
    scan(tmp_path / "captures", tmp_path / "store", executor=here)
    return tmp_path / "store"


def test_globs_find_what_questions_find(store: Path, tmp_path: Path) -> None:
    published(str(store), tmp_path / "out")
    assert read(tmp_path / "out") == rows(store)
    part = Store.open(str(store)).parts("flows")[0].name
    assert (tmp_path / "out/current" / part).samefile(store / part)


def test_amid_a_scan_rows_that_count_no_more_are_left_out(store: Path, tmp_path: Path) -> None:
    class Killed(Exception):
        pass

    def dying(tasks, url, options, done, told):  # type: ignore[no-untyped-def]
        done(scan_task(tasks[0], url, options, told))
        raise Killed

    ring(tmp_path / "captures", range(FILES))
    with pytest.raises(Killed):
        scan(tmp_path / "captures", store, executor=dying)
    opened = Store.open(str(store))
    assert opened.continued
    assert opened.recent("captures")
    published(str(store), tmp_path / "out")
    assert read(tmp_path / "out") == rows(store)


def test_a_version_is_replaced_at_once_and_stays_for_an_hour(store: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    first = published(str(store), out)
    assert published(str(store), out) == first
    ring(tmp_path / "captures", range(FILES))
    scan(tmp_path / "captures", store, executor=here)
    second = published(str(store), out)
    assert (out / "current").resolve() == second
    assert sorted(path.name for path in (out / "versions").iterdir()) == sorted([first.name, second.name])
    long_ago = time.time() - 3_700
    os.utime(first, (long_ago, long_ago))
    published(str(store), out)
    assert [path.name for path in (out / "versions").iterdir()] == [second.name]
    assert read(out) == rows(store)


def test_a_folder_with_something_else_in_it_is_refused(store: Path, tmp_path: Path) -> None:
    with pytest.raises(CannotOpen, match="has other files in it"):
        published(str(store), tmp_path / "captures")
    with pytest.raises(CannotOpen, match="has other files in it"):
        published(str(store), store)


def test_a_command_publishes(store: Path, tmp_path: Path) -> None:
    arguments = ["store", "publish", str(tmp_path / "out"), "--store", str(store)]
    done = subprocess.run([sys.executable, "-m", "tcpstall", *arguments], capture_output=True, env=environment())
    version = (tmp_path / "out/current").resolve().name
    assert (done.returncode, done.stderr.decode()) == (0, f"tcpstall: {tmp_path}/out/current is {version} now\n")
