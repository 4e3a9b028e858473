"""Rows of many scans become parts."""

import subprocess
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import duckdb
import pyarrow.parquet
import pytest

from tcpstall import _core
from tcpstall.archive.columns import TABLES
from tcpstall.archive.storing.parquet import Parts
from tcpstall.archive.storing.storage import at
from tcpstall.archive.storing.store import Part
from tests.archive.conftest import single
from tests.cli.conftest import environment
from tests.scene import Scene

FIXTURES = Path(__file__).parents[2] / "fixtures"
DAY_S = 86_400

WORKER = """
import sys
from tcpstall.archive.captures import discovery
from tcpstall.archive.planning import plan
from tcpstall.archive.scanning import task
inputs = list(discovery.find([{capture!r}]))
[one] = plan.planned(inputs, [], discovery.fingerprint).tasks
done = task.scan_task(one, {store!r}, task.Options(), lambda _: None)
print(sorted(part.table for part in done.commit.parts), "duckdb" in sys.modules)
"""


class Held:
    """Rows that were gathered, by table, as DuckDB reads them."""

    def __init__(self, gathered: _core.Gathered, folder: Path) -> None:
        self.files = gathered.take()
        self._folder = folder
        folder.mkdir()
        for number, (table, *_, content) in enumerate(self.files):
            (folder / f"{table}-{number}.parquet").write_bytes(content)

    def of(self, table: str, columns: str = "*") -> list[tuple[Any, ...]]:
        rows: list[tuple[Any, ...]] = duckdb.sql(f"SELECT {columns} FROM '{self._folder}/{table}-*.parquet'").fetchall()
        return rows

    def described(self, table: str) -> list[tuple[str, str]]:
        rows = duckdb.sql(f"DESCRIBE FROM '{self._folder}/{table}-*.parquet'").fetchall()
        return [(row[0], row[1]) for row in rows]

    def about(self, table: str, columns: str) -> set[tuple[Any, ...]]:
        return set(duckdb.sql(f"SELECT {columns} FROM parquet_metadata('{self._folder}/{table}-*.parquet')").fetchall())


@pytest.fixture
def reports(tmp_path: Path) -> Sequence[_core.Report]:
    """Of captures of a few flows."""
    capture = tmp_path / "a.pcap"
    capture.write_bytes(single(0, packets=60))
    return [_core.analyze([str(capture)]) for _ in range(2)]


def test_a_worker_loads_no_duckdb(tmp_path: Path) -> None:
    """To load it takes a tenth of a second, and most of the memory that a worker has."""
    capture = tmp_path / "a.pcap"
    capture.write_bytes(single(0, packets=60))
    program = WORKER.format(capture=str(capture), store=str(tmp_path / "store"))
    done = subprocess.run(
        [sys.executable, "-c", program], env=environment(), capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "['flows', 'stalls'] False"


def test_gathered_rows_are_those_of_the_reports_with_what_a_store_adds(
    reports: Sequence[_core.Report], tmp_path: Path
) -> None:
    gathered = _core.Gathered()
    for report in reports:
        gathered.add(report, "abc", ["file:///a.pcap"])
    rows = len(gathered)
    held = Held(gathered, tmp_path / "held")
    assert (rows, len(gathered)) == (sum(count for _, _, count, *_ in held.files), 0)
    for name in ("flows", "stalls", "exchanges", "findings"):
        if not any(file[0] == name for file in held.files):
            continue
        assert sorted(held.described(name)) == sorted((column.name, column.type) for column in TABLES[name].columns)
        assert set(held.of(name, "scan, capture, sensor")) == {("abc", "file:///a.pcap", None)}
        if name == "findings":  # of one capture they are added up
            continue
        plain = getattr(reports[0], name)
        for column in set(plain.names) - {"capture"}:
            assert [row[0] for row in held.of(name, f'"{column}"')] == 2 * plain.column(column)
    ends = dict(zip(reports[0].flows.column("flow"), reports[0].flows.column("client_port"), strict=True))
    assert all(ends[flow] == port for flow, port in held.of("stalls", "flow, client_port"))


def test_columns_that_a_store_computes_are_those_that_its_sql_computes(tmp_path: Path) -> None:
    gathered = _core.Gathered()
    captures = [str(path) for path in sorted(FIXTURES.rglob("*.pcap"))]
    gathered.add(_core.analyze(captures, sets=list(range(len(captures)))), "abc", captures)
    held = Held(gathered, tmp_path / "held")
    computed = [column for column in TABLES["stalls"].columns if column.sql]
    differ = " OR ".join(f"{column.name} IS DISTINCT FROM ({column.sql})" for column in computed)
    rows = held.of("stalls", f"{differ}, cause, service LIKE '[%'")
    assert {differs for differs, *_ in rows} == {False}
    assert {"handshake", "rwnd-limited", "cwnd-limited"} <= {cause for _, cause, _ in rows}
    assert {six for *_, six in rows} == {False, True}


def test_values_of_every_kind_are_read_as_they_were(tmp_path: Path) -> None:
    """Of one row group and of several."""
    captures = [str(path) for path in sorted(FIXTURES.glob("**/*.pcap"))]
    report = _core.analyze(captures, sets=list(range(len(captures))))
    few, many = _core.Gathered(), _core.Gathered()
    few.add(report, "0000", captures)
    times = 123_000 // len(report) + 1
    for number in range(times):
        many.add(report, f"{number:04}", captures)
    held = Held(few, tmp_path / "few")
    encodings = " ".join(row[0] for row in held.about("stalls", "encodings"))
    assert all(encoding in encodings for encoding in ("PLAIN", "RLE_DICTIONARY", "DELTA_BINARY_PACKED"))
    held = Held(many, tmp_path / "many")
    groups = held.about("flows", "file_name, row_group_id")
    assert len(groups) > len({file for file, _ in groups})
    assert {"ZSTD", "UNCOMPRESSED"} == {row[0] for row in held.about("flows", "compression")}
    for name in ("flows", "stalls", "exchanges"):
        plain = getattr(report, name)
        duckdb.register("plain", plain)
        columns = ", ".join(f'"{column}"' for column in plain.names if column != "capture")
        for folder, scan, times_there in (("few", "0000", 1), ("many", f"{times - 1:04}", times)):
            file = f"'{tmp_path}/{folder}/{name}-*.parquet'"
            counted = f"SELECT count(*), count(DISTINCT scan) FROM {file}"
            assert duckdb.sql(counted).fetchall() == [(times_there * len(plain), times_there)]
            of_one = f"SELECT {columns} FROM {file} WHERE scan = '{scan}'"
            assert duckdb.sql(f"SELECT {columns} FROM plain EXCEPT ALL ({of_one})").fetchall() == []


def test_another_reader_finds_the_same_rows(tmp_path: Path) -> None:
    """Also in columns without a value, and in files of one row."""
    gathered = _core.Gathered()
    captures = [str(path) for path in sorted(FIXTURES.glob("*.pcap"))]
    gathered.add(_core.analyze(captures, sets=list(range(len(captures)))), "abc", captures)
    gathered.add(_core.analyze(captures[:1]), "abd", captures[:1])
    Held(gathered, tmp_path / "held")
    files = sorted((tmp_path / "held").glob("*.parquet"))
    assert len(files) > 3
    for file in files:
        table = pyarrow.parquet.read_table(file)
        assert any(column.null_count == len(table) for column in table.columns)
        rows = list(zip(*(column.to_pylist() for column in table.columns), strict=True))
        assert rows == duckdb.sql(f"FROM read_parquet('{file}')").fetchall()


def test_readers_learn_the_ends_of_columns_and_skip_what_cannot_have_an_answer(tmp_path: Path) -> None:
    gathered = _core.Gathered()
    captures = [str(path) for path in sorted(FIXTURES.glob("*.pcap"))]
    gathered.add(_core.analyze(captures, sets=list(range(len(captures)))), "abc", captures)
    held = Held(gathered, tmp_path / "held")
    for column in ("start_ns", "client_port", "server_address", "vantage_confidence", "tunnel"):
        told = held.about("flows", f"stats_min_value, stats_max_value, stats_null_count, path_in_schema = '{column}'")
        there = f"min({column})::VARCHAR, max({column})::VARCHAR, count(*) FILTER ({column} IS NULL)"
        by_file = duckdb.sql(f"SELECT {there} FROM '{tmp_path}/held/flows-*.parquet' GROUP BY filename").fetchall()
        assert {row[:3] for row in told if row[3]} == set(by_file), column


def test_rows_beyond_a_batch_keep_their_order(reports: Sequence[_core.Report], tmp_path: Path) -> None:
    """And more different texts than are numbered are read as they were."""
    gathered = _core.Gathered()
    scans = [f"{number:05}" for number in range(17_000)]
    for name in scans:
        gathered.add(reports[0], name, ["file:///a.pcap"])
    held = Held(gathered, tmp_path / "held")
    assert [scan for (scan,) in held.of("flows", "scan")] == [scan for scan in scans for _ in range(len(reports[0]))]


def test_rows_are_divided_by_day(tmp_path: Path) -> None:
    names = []
    for day in range(3):
        path = tmp_path / f"{day}-x.pcap"
        path.write_bytes(single(day * DAY_S, packets=12))
        names.append(str(path))
    parts = Parts(at(str(tmp_path / "store")), 10**8)
    parts.add(_core.analyze(names, sets=list(range(3))), "0" * 16, names)
    flows = [part for part in parts.finish() if part.table == "flows"]
    assert len({part.name.split("/")[1] for part in flows}) == 3
    first = flows[0]
    for day, part in enumerate(flows):
        ends = (part.from_ns or 0) - day * DAY_S * 10**9, (part.to_ns or 0) - day * DAY_S * 10**9
        assert (part.rows, ends) == (first.rows, (first.from_ns, first.to_ns))


def days_of(tmp_path: Path, days: Iterable[int]) -> tuple[list[Part], int]:
    """The parts of captures that begin on these days, and the number of flows."""
    names: list[str] = []
    for day in days:
        path = tmp_path / f"{len(names)}-x.pcap"
        path.write_bytes(single(day * DAY_S, packets=12))
        names.append(str(path))
    report = _core.analyze(names, sets=list(range(len(names))))
    parts = Parts(at(str(tmp_path / "store")), 10**8)
    parts.add(report, "0" * 16, names)
    return parts.finish(), len(report)


def test_rows_lie_under_their_own_day_though_they_span_most_of_a_year(tmp_path: Path) -> None:
    written, flows = days_of(tmp_path, (*range(1, 300), 1, 1))
    assert [sum(part.rows for part in written if part.table == "flows"), len(written) % 299] == [flows, 0]
    for table in {part.table for part in written}:
        files = f"'{tmp_path}/store/{table}/*/*.parquet', hive_partitioning = true, hive_types = {{'day': DATE}}"
        elsewhere = f"SELECT count(*) FROM read_parquet({files}) WHERE day <> make_timestamp(start_ns // 1000)::DATE"
        assert duckdb.sql(elsewhere).fetchall() == [(0,)], table


def test_a_clock_that_jumps_makes_no_thousand_files(tmp_path: Path) -> None:
    written, flows = days_of(tmp_path, (0, 0, *range(1, 1_000)))
    of_flows = [part for part in written if part.table == "flows"]
    assert (len(of_flows), sum(part.rows for part in of_flows)) == (366, flows)
    most = max(of_flows, key=lambda part: part.rows)
    assert most.rows == flows - 365 * (flows // 1_001)


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
    held = Held(gathered, tmp_path / "held")
    assert held.of("flows", "scan, capture, sensor, flow") == expected
    captures = {(scan, flow): capture for scan, capture, _, flow in expected}
    for name in sorted({file[0] for file in held.files} - {"flows"}):
        told = held.of(name, "scan, flow, capture")
        assert all(captures[scan, flow] == capture for scan, flow, capture in told), name


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
