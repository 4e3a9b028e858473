"""Rows of many scans become parts."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import duckdb
import pytest

from tcpstall import _core
from tcpstall.archive import parquet
from tcpstall.archive.columns import TABLES
from tcpstall.archive.duck import connected
from tcpstall.archive.parquet import Parts
from tcpstall.archive.scan import scan
from tcpstall.archive.storage import at
from tests.archive.conftest import single
from tests.archive.contents import rows
from tests.archive.here import here
from tests.scene import Scene

FEW, MANY = 3, 60


class Counting:
    """A DuckDB that counts what it is asked."""

    def __init__(self, duck: duckdb.DuckDBPyConnection) -> None:
        self._duck = duck
        self.asked = 0

    def execute(self, *arguments: Any) -> duckdb.DuckDBPyConnection:
        self.asked += 1
        return self._duck.execute(*arguments)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._duck, name)


@pytest.fixture
def reports(tmp_path: Path) -> Sequence[_core.Report]:
    """Of captures of a few flows."""
    capture = tmp_path / "a.pcap"
    capture.write_bytes(single(0, packets=60))
    return [_core.analyze([str(capture)]) for _ in range(MANY)]


def test_duckdb_is_asked_as_often_for_many_captures_as_for_few(
    reports: Sequence[_core.Report], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """To plan a question costs more than to analyse a capture of a thousand packets."""
    asked = []
    for number in (FEW, MANY):
        duck = Counting(connected(at(str(tmp_path)), 10**8))
        monkeypatch.setattr(parquet, "connected", lambda *_, duck=duck: duck)
        gathering = Parts(at(str(tmp_path / str(number))), 10**8)
        for report in reports[:number]:
            gathering.add(report, "0" * 16, ["file:///a.pcap"])
        written = gathering.finish()
        assert sum(part.rows for part in written if part.table == "flows") == number * len(reports[0])
        asked.append(duck.asked)
    assert asked[0] == asked[1]


def test_gathered_rows_are_those_of_the_reports_with_what_a_store_adds(reports: Sequence[_core.Report]) -> None:
    gathered = _core.Gathered()
    for report in reports[:2]:
        gathered.add(report, "abc", ["file:///a.pcap"])
    rows = len(gathered)
    tables = dict(gathered.take())
    assert rows == sum(map(len, tables.values()))
    assert len(gathered) == 0
    for name, table in tables.items():
        duckdb.register("rows_of_table", table)
        described = duckdb.sql("DESCRIBE SELECT * FROM rows_of_table").fetchall()
        assert {row[0]: row[1] for row in described} == {column.name: column.type for column in TABLES[name].analysed}
        assert table.column("scan") == ["abc"] * len(table)
        assert table.column("capture") == ["file:///a.pcap"] * len(table)
        if name == "findings":  # of one capture they are added up
            continue
        plain = getattr(reports[0], name)
        for column in set(plain.names) - {"capture"}:
            assert table.column(column) == 2 * plain.column(column)
    ends = dict(zip(reports[0].flows.column("flow"), reports[0].flows.column("client_port"), strict=True))
    stalls = tables["stalls"]
    assert stalls.column("client_port") == [ends[flow] for flow in stalls.column("flow")]


def test_rows_beyond_a_batch_keep_their_order(reports: Sequence[_core.Report]) -> None:
    gathered = _core.Gathered()
    scans = [f"{number:04}" for number in range(3_000)]
    for name in scans:
        gathered.add(reports[0], name, ["file:///a.pcap"])
    flows = dict(gathered.take())["flows"]
    assert flows.column("scan") == [scan for scan in scans for _ in range(len(reports[0]))]
    assert duckdb.sql("SELECT count(*), count(DISTINCT scan) FROM flows").fetchall() == [(len(flows), 3_000)]


def test_parts_of_many_rows_are_written_as_differences_and_say_the_same(
    made: Path, undisturbed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parquet, "_MANY_ROWS", 1)
    store = tmp_path / "store"
    scan([str(made)], str(store), executor=here)
    for folder, differences in ((store, True), (undisturbed, False)):
        encodings = "SELECT DISTINCT encodings FROM parquet_metadata(?)"
        found = duckdb.execute(encodings, [f"{folder}/flows/*/*.parquet"]).fetchall()
        assert any("DELTA_BINARY_PACKED" in encoding for (encoding,) in found) == differences
    assert rows(store) == rows(undisturbed)


def test_rows_of_small_reports_have_their_own_origin_and_the_order_in_which_they_came(tmp_path: Path) -> None:
    paths = [tmp_path / "a.pcap", tmp_path / "b.pcap"]
    for number, path in enumerate(paths):
        path.write_bytes(single(number, packets=60))
    small = _core.analyze([str(path) for path in paths], sets=[0, 1])
    large = _core.analyze([str(paths[0])] * 150, sets=list(range(150)))
    gathered = _core.Gathered()
    expected = []
    for number in range(80):
        report = large if number == 40 else small
        scan, sensor = f"{number:016}", None if number % 3 else f"berlin-{number}"
        names = [f"file:///{number}-{index}.pcap" for index in range(150 if report is large else 2)]
        gathered.add(report, scan, names, sensor)
        columns = (report.flows.column(name) for name in ("capture", "flow"))
        expected += [(scan, names[capture], sensor, flow) for capture, flow in zip(*columns, strict=True)]
    of = dict(gathered.take())
    columns = (of["flows"].column(name) for name in ("scan", "capture", "sensor", "flow"))
    assert list(zip(*columns, strict=True)) == expected
    captures = {(scan, flow): capture for scan, capture, _, flow in expected}
    for name in ("stalls", "exchanges", "findings"):
        told = [of[name].column(column) for column in ("scan", "flow", "capture")]
        assert all(captures[scan, flow] == capture for scan, flow, capture in zip(*told, strict=True)), name


def test_flows_of_many_waits_do_not_gather_unseen_because_they_are_few(scene: Scene) -> None:
    scene.handshake()
    for _ in range(400):
        scene.download(1_000, think_ms=50)
    scene.closes()
    report = _core.analyze([str(scene.capture())])
    rows = len(report.stalls) + len(report.exchanges)
    gathered = _core.Gathered()
    for _ in range(10):
        gathered.add(report, "0" * 16, ["file:///a.pcap"])
    assert (len(report.flows), 10 * rows > 4_096) == (1, True)
    assert gathered.nbytes > 0
