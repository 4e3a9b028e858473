"""A store exported as Delta and Iceberg tables: they hold what questions find, and are replaced as a whole."""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tcpstall.archive.columns import TABLES
from tcpstall.archive.maintenance.lakes import exported
from tcpstall.archive.scanning.scan import scan
from tcpstall.cli import main
from tests.archive.contents import rows
from tests.archive.here import here
from tests.archive.test_publishing import ring

Read = Callable[[Path, str], Any]


def delta(folder: Path, table: str) -> Any:
    deltalake = pytest.importorskip("deltalake")
    return deltalake.DeltaTable(str(folder / table)).to_pyarrow_table()


def iceberg(folder: Path, table: str) -> Any:
    catalogs = pytest.importorskip("pyiceberg.catalog.sql")
    catalog = catalogs.SqlCatalog("tcpstall", uri=f"sqlite:///{folder}/catalog.db", warehouse=folder.as_uri())
    return catalog.load_table(f"tcpstall.{table}").scan().to_arrow()


@pytest.fixture
def store(tmp_path: Path) -> Path:
    ring(tmp_path / "captures", range(2))
    scan(tmp_path / "captures", tmp_path / "store", executor=here)
    return tmp_path / "store"


@pytest.mark.parametrize(
    ("kind", "package", "read"), [("delta", "deltalake", delta), ("iceberg", "pyiceberg", iceberg)]
)
def test_tables_hold_what_questions_find(kind: str, package: str, read: Read, store: Path, tmp_path: Path) -> None:
    pytest.importorskip(package)
    for files in (2, 4):  # the second time tables are replaced
        ring(tmp_path / "captures", range(files))
        scan(tmp_path / "captures", store, executor=here)
        counts = exported(str(store), tmp_path / "out", kind)
        expected = rows(store)
        assert counts == {name: len(found) for name, found in expected.items()}
        for table in TABLES.values():
            names = [column.name for column in table.columns if column.name != "scanned_ns"]
            held = read(tmp_path / "out", table.name).select(names).to_pylist()
            assert sorted((tuple(row.values()) for row in held), key=repr) == expected[table.name]


@pytest.mark.parametrize(("kind", "package"), [("delta", "deltalake"), ("iceberg", "pyiceberg.catalog.sql")])
def test_a_package_that_is_not_installed_is_named_with_how_to_install_it(
    kind: str,
    package: str,
    store: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    assert main(["store", "publish", str(tmp_path / "out"), f"--{kind}", "--store", str(store)]) == 3
    what = package.partition(".")[0]
    told = f"tcpstall: --{kind}: {what} is not installed: pip install 'tcpstall[{kind}]'\n"
    assert capfd.readouterr().err == told
    assert not (tmp_path / "out").exists()
