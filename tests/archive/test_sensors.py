"""Rows have the label of the sensor that a scan was told of."""

import json
import os
import shutil
import subprocess
import sys
import uuid
from pathlib import Path

import duckdb
import pytest

from tcpstall.archive.columns import BY_DAY
from tcpstall.archive.scanning.scan import scan
from tcpstall.archive.scanning.task import Options
from tcpstall.cli import main
from tcpstall.errors import ExitCode
from tests.archive.conftest import single
from tests.archive.here import here
from tests.archive.test_captures import asked
from tests.cli.conftest import environment

FIXTURES = Path(__file__).parents[2] / "fixtures"


@pytest.fixture
def captures(tmp_path: Path) -> Path:
    folder = tmp_path / "captures"
    folder.mkdir()
    (folder / "a.pcap").write_bytes(single(0, packets=60))
    (folder / "bad.pcap").write_bytes(b"no capture")
    return folder


@pytest.fixture
def store(tmp_path: Path) -> Path:
    return tmp_path / "store"


def scanned(captures: Path, store: Path, sensor: str | None, *, again: bool = False) -> int:
    from tcpstall.archive.planning.repeat import always, never

    wanted = always if again else never
    return scan(captures, store, options=Options(sensor=sensor), executor=here, wanted=wanted).captures


def sensors(store: Path, table: str = "captures") -> dict[str, object]:
    """By the last part of captures' names."""
    name = "name" if table in ("captures", "errors") else "capture"
    told = asked(store, f"SELECT DISTINCT {name}, sensor FROM {table}")
    found = {Path(str(capture)).name: sensor for capture, sensor in told}
    assert len(found) == len(told)
    return found


def test_every_table_tells_the_sensor(tmp_path: Path, store: Path) -> None:
    scanned(FIXTURES / "lab", store, "it's db3")
    for table in ("flows", "stalls", "exchanges", "findings", "hours", "captures"):
        assert asked(store, f"SELECT DISTINCT sensor FROM {table}") == [("it's db3",)], table


def test_a_scan_by_another_name_labels_what_is_new(captures: Path, store: Path) -> None:
    scanned(captures, store, "db3")
    assert sensors(store) == {"a.pcap": "db3", "bad.pcap": "db3"}
    (captures / "b.pcap").write_bytes(single(86_400, packets=60))
    os.utime(captures / "a.pcap", (1, 1))
    assert scanned(captures, store, "db4") == 1
    assert sensors(store) == {"a.pcap": "db3", "b.pcap": "db4", "bad.pcap": "db3"}
    assert sensors(store, "flows") == {"a.pcap": "db3", "b.pcap": "db4"}
    assert sensors(store, "errors") == {"bad.pcap": "db3"}
    assert scanned(captures, store, None) == 0
    assert sensors(store, "flows") == {"a.pcap": "db3", "b.pcap": "db4"}


def test_a_capture_that_was_moved_keeps_its_label_and_a_copy_has_one_of_its_own(captures: Path, store: Path) -> None:
    scanned(captures, store, "db3")
    (captures / "a.pcap").rename(captures / "moved.pcap")
    shutil.copy(captures / "moved.pcap", captures / "z-copy.pcap")
    scanned(captures, store, "db4")
    assert sensors(store) == {"moved.pcap": "db3", "z-copy.pcap": "db4", "bad.pcap": "db3"}
    assert sensors(store, "stalls") == {"a.pcap": "db3"}


def test_captures_that_are_read_again_are_labelled_anew(captures: Path, store: Path) -> None:
    scanned(captures, store, None)
    before = asked(store, "SELECT count(*), count(sensor) FROM flows")
    assert before[0][1] == 0
    assert scanned(captures, store, "db3", again=True) == 1
    assert sensors(store) == {"a.pcap": "db3", "bad.pcap": None}  # no capture: there is nothing to read again
    assert asked(store, "SELECT count(*), count(sensor) FROM flows") == [(before[0][0], before[0][0])]
    assert asked(store, "SELECT DISTINCT sensor FROM hours") == [("db3",)]


@pytest.mark.parametrize(("name", "code"), [("db3", 5), ("", 2), ("db*", 2), ("a\nb", 2), ("x" * 201, 2)])
def test_the_command_takes_a_name_and_nothing_that_selects_several(
    captures: Path, store: Path, name: str, code: int
) -> None:
    command = [sys.executable, "-m", "tcpstall", "scan", str(captures), "--store", str(store), "--sensor", name]
    done = subprocess.run([*command, "--jobs", "1"], capture_output=True, env=environment())
    assert done.returncode == code, done.stderr
    if code == 2:
        assert b"is no name of a sensor" in done.stderr
        assert not store.exists()
    else:
        assert sensors(store, "flows") == {"a.pcap": "db3"}


@pytest.mark.parametrize("name", ["db3", "db[3]"])
def test_a_sensor_is_forgotten_and_its_captures_stay_known(captures: Path, store: Path, name: str) -> None:
    scanned(captures, store, "db3")
    (captures / "b.pcap").write_bytes(single(86_400, packets=60))
    scanned(captures, store, "db4")
    (captures / "c.pcap").write_bytes(single(2 * 86_400, packets=60))
    scanned(captures, store, None)
    command = ["store", "forget", "--store", str(store), "--sensor", name]
    assert main([*command, "--dry-run"]) == 0
    assert sensors(store, "flows") == {"a.pcap": "db3", "b.pcap": "db4", "c.pcap": None}
    assert main(command) == 0
    assert sensors(store) == {"b.pcap": "db4", "c.pcap": None}
    for table in ("flows", "stalls"):
        assert sensors(store, table) == {"b.pcap": "db4", "c.pcap": None}, table
    assert sensors(store, "errors") == {}
    assert scanned(captures, store, "db3") == 0
    assert main(command) == ExitCode.NOTHING_FITS


def test_conditions_beside_a_sensor_narrow(captures: Path, store: Path) -> None:
    scanned(captures, store, "db3")
    (captures / "b.pcap").write_bytes(single(86_400, packets=60))
    scanned(captures, store, "db3")
    assert main(["store", "forget", "--store", str(store), "--sensor", "db3", "--capture", "a.pcap"]) == 0
    assert sensors(store) == {"b.pcap": "db3", "bad.pcap": "db3"}
    assert sensors(store, "flows") == {"b.pcap": "db3"}


def test_rows_of_a_version_without_sensors_are_not_taken_for_anyones(captures: Path, store: Path) -> None:
    scanned(captures, store, None)
    catalog = json.loads((store / "catalog.json").read_text())
    for part in (part for part in catalog["parts"] if part["table"] in BY_DAY):
        file = store / part["name"]
        new = file.with_name(f"{uuid.uuid4().hex}.parquet")
        duckdb.sql(f"COPY (SELECT * EXCLUDE (sensor) FROM read_parquet('{file}')) TO '{new}' (FORMAT parquet)")
        file.unlink()
        part |= {"layout": "another", "name": str(new.relative_to(store)), "bytes": new.stat().st_size}
    old = {key: catalog[key] for key in ("schema", "upto", "parts", "captures", "dropped", "continued")}
    (store / "catalog.json").write_text(json.dumps(old))
    shutil.rmtree(store / "copy")
    command = ["store", "forget", "--store", str(store), "--sensor", "*"]
    assert main([*command, "--dry-run"]) == ExitCode.CANNOT_OPEN
    assert main(command) == ExitCode.NOTHING_FITS
    assert sensors(store, "flows") == {"a.pcap": None}
