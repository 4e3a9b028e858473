"""Few rows are left for the coordinator to write: the worker loads no DuckDB, and the store is the same."""

import subprocess
import sys
from pathlib import Path

import pytest

from tcpstall import _core
from tcpstall.archive import local
from tcpstall.archive.parquet import Parts
from tcpstall.archive.scan import scan
from tcpstall.archive.storage import at
from tests.archive.conftest import single
from tests.archive.contents import rows
from tests.archive.here import here
from tests.cli.conftest import environment

WORKER = """
import sys
from tcpstall.archive import discovery, plan, task
inputs = list(discovery.find([{capture!r}]))
[one] = plan.planned(inputs, [], discovery.fingerprint).tasks
done = task.scan_task(one, {store!r}, task.Options(hands_over={upto}), lambda _: None)
print(len(done.handed) > 0, len(done.commit.parts) > 0, "duckdb" in sys.modules)
"""


@pytest.fixture
def capture(tmp_path: Path) -> Path:
    """Of a few flows."""
    path = tmp_path / "captures" / "a.pcap"
    path.parent.mkdir()
    path.write_bytes(single(0, packets=60))
    return path


@pytest.mark.parametrize(("upto", "printed"), [(1_000, "True False False"), (1, "False True True")])
def test_a_worker_hands_over_few_rows_and_loads_no_duckdb(
    capture: Path, tmp_path: Path, upto: int, printed: str
) -> None:
    program = WORKER.format(capture=str(capture), store=str(tmp_path / "store"), upto=upto)
    done = subprocess.run(
        [sys.executable, "-c", program], env=environment(), capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == printed


@pytest.mark.parametrize("few", [0, 1_000])
def test_the_store_is_the_same_whoever_writes_the_rows(
    made: Path, undisturbed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, few: int
) -> None:
    monkeypatch.setattr(local, "_FEW_ROWS", few)
    scan([str(made)], str(tmp_path / "store"), jobs=1)
    assert rows(tmp_path / "store") == rows(undisturbed)


def test_a_file_that_grew_is_the_same_whoever_writes_its_rows(tmp_path: Path) -> None:
    captures = tmp_path / "captures"
    captures.mkdir()
    whole = single(200_000, packets=30)
    for content in (whole[: len(whole) // 2], whole):
        (captures / "a.pcap").write_bytes(content)
        scan([str(captures)], str(tmp_path / "handed"), jobs=1)
        scan([str(captures)], str(tmp_path / "written"), executor=here)
    assert rows(tmp_path / "handed") == rows(tmp_path / "written")


def test_handed_rows_are_divided_by_day(capture: Path, tmp_path: Path) -> None:
    folder = tmp_path / "days"
    folder.mkdir()
    names = []
    for day in range(3):
        path = folder / f"{day}-x.pcap"
        path.write_bytes(single(day * 86_400, packets=12))
        names.append(str(path))
    report = _core.analyze(names, sets=list(range(3)))
    written = []
    for way in ("finish", "handed"):
        parts = Parts(at(str(tmp_path / way)), 10**8)
        parts.add(report, "0" * 16, names)
        made = parts.finish() if way == "finish" else parts.taken(parts.handed(1_000))
        written.append(sorted((part.table, part.name.split("/")[1], part.rows, part.from_ns) for part in made))
    assert written[0] == written[1]
    assert len({day for _, day, _, _ in written[0]}) == 3
