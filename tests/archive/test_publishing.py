"""A store published for other tools: globs find the rows that count, at any moment, and no others."""

import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import duckdb
import pytest

import tcpstall
from tcpstall import _core
from tcpstall.archive.asking.anonymising import Hidden
from tcpstall.archive.asking.session import session
from tcpstall.archive.columns import BY_DAY, TABLES
from tcpstall.archive.maintenance.publishing import published
from tcpstall.archive.scanning.scan import scan
from tcpstall.archive.scanning.task import scan_task
from tcpstall.archive.storing.store import Store
from tcpstall.errors import CannotOpen
from tcpstall.keys import derived
from tests.archive.contents import rows
from tests.archive.here import here
from tests.archive.rings import crossed
from tests.cli.conftest import environment

FILES = 4
NAMED = ("label", "server_name", "http_host", "capture", "name", "fingerprint", "capture_set")
KEY = bytes(range(32))
FIXTURES = Path(__file__).parents[2] / "fixtures"


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


def test_files_of_stalls_are_grouped_as_questions_group_them(tmp_path: Path) -> None:
    scan(FIXTURES / "lab", tmp_path / "store", executor=here)
    published(str(tmp_path / "store"), tmp_path / "out")
    sums = "SELECT host, service, sum(lost_ns)::BIGINT, sum(duration_ns)::BIGINT FROM {} GROUP BY ALL ORDER BY ALL"
    found = duckdb.sql(sums.format(f"'{tmp_path}/out/current/stalls/*/*.parquet'")).fetchall()
    ends = "if(sender = 'client', client_address, server_address)"
    with session(Store.open(str(tmp_path / "store"))) as asked:
        told = [tuple(row) for row in asked.ask(sums.format("stalls"))]
        (others,) = asked.ask(
            f"SELECT count(*), count(*) FILTER (host = {ends}) FROM stalls WHERE cause = 'zero-window'"
        )
        (hours,) = asked.ask("SELECT sum(lost_ns)::BIGINT FROM hours")
    assert found == told
    assert sum(row[2] for row in found) == hours[0] < sum(row[3] for row in found)
    assert len({row[0] for row in found}) == 2
    assert (others[0] > 0, others[1]) == (True, 0)


def test_amid_a_scan_rows_that_count_no_more_are_left_out(store: Path, tmp_path: Path) -> None:
    class Killed(Exception):
        pass

    def dying(tasks, url, options, done, told):  # type: ignore[no-untyped-def]
        done(scan_task(next(iter(tasks)), url, options, told))
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


def test_anonymised_files_tell_the_same_of_nobody(tmp_path: Path) -> None:
    """Pseudonyms are those of `analyze --anonymise` with the same key; times and sums stay."""
    scan(FIXTURES / "lab", tmp_path / "store", executor=here)
    published(str(tmp_path / "store"), tmp_path / "out", key=KEY)
    whole, hidden = rows(tmp_path / "store"), read(tmp_path / "out")
    names = {
        name: [column.name for column in table.columns if column.name != "scanned_ns"] for name, table in TABLES.items()
    }
    assert {name: len(found) for name, found in hidden.items()} == {name: len(found) for name, found in whole.items()}
    told = repr(hidden)
    for table, found in whole.items():
        for row in found:
            for name, value in zip(names[table], row, strict=True):
                if value and name in NAMED:
                    assert value not in told, (table, name)
                if value and name in ("client_address", "server_address", "host", "service"):
                    assert f"'{value}'" not in told, (table, name)
    pseudonyms = {
        end.address
        for capture in (FIXTURES / "lab").glob("*/*.pcap")
        for flow in tcpstall.analyze(capture, anonymise=KEY)
        for end in (flow.client, flow.server)
    }
    at = names["flows"].index("client_address"), names["flows"].index("server_address")
    assert {row[index] for row in hidden["flows"] for index in at} >= pseudonyms > set()
    lost = names["stalls"].index("duration_ns")
    assert sorted(row[lost] for row in hidden["stalls"]) == sorted(row[lost] for row in whole["stalls"])


def test_tunnels_keep_their_form_under_pseudonyms() -> None:
    with duckdb.connect() as duck:
        for table in BY_DAY:
            tunnel = "'VXLAN 42 10.0.0.1 > 2001:db8::2' AS tunnel, " if table == "flows" else ""
            duck.execute(f"CREATE TABLE {table} AS SELECT {tunnel}'10.0.0.1' AS client_address, "
                         "'10.0.0.2' AS server_address, 'a.pcap' AS capture, 'a' AS sensor")  # fmt: skip
        duck.execute("CREATE TABLE captures AS SELECT 'a.pcap' AS name, 'a' AS capture_set, 'a' AS sensor")
        Hidden(duck, KEY)
        [[told]] = duck.execute("SELECT told FROM hidden_tunnels").fetchall()
    one, other = _core.pseudonyms(derived(KEY), ["10.0.0.1", "2001:db8::2"])
    assert told == f"VXLAN 42 {one} > {other}"
    assert "10.0.0.1" not in told


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
