"""A store repaired after worse than one damaged file: no row twice, and none fewer than are left."""

import json
import shutil
from collections.abc import Sequence
from pathlib import Path

import fsspec
import pytest

from tcpstall.archive.maintenance.check import checked
from tcpstall.archive.maintenance.repair import repaired
from tcpstall.archive.scanning import task
from tcpstall.archive.scanning.scan import scan
from tcpstall.archive.storing.storage import at
from tcpstall.archive.storing.store import Store
from tcpstall.errors import CannotOpen
from tests.archive.conftest import rotated, single
from tests.archive.contents import Rows, rows
from tests.archive.test_damage import here
from tests.archive.test_environment import Refusing


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Single captures of two days, and a rotated set."""
    folder = tmp_path_factory.mktemp("captures")
    for number, name in enumerate(("a.pcap", "b.pcap")):
        (folder / name).write_bytes(single(number * 86_400, packets=60))
    for number, content in enumerate(rotated(3 * 86_400, packets=200)[:3]):
        (folder / f"eth0.pcap{number}").write_bytes(content)
    return folder


@pytest.fixture
def captures(made: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(made, tmp_path / "captures"))


@pytest.fixture
def store(captures: Path, tmp_path: Path) -> Path:
    scan([str(captures)], str(tmp_path / "store"), executor=here)
    return tmp_path / "store"


def flows_of(store: Path) -> list[Path]:
    """Those that count: what was merged is kept for a while."""
    return sorted(store / part.name for part in Store.open(str(store)).parts("flows"))


def flip(file: Path) -> None:
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 1
    file.write_bytes(content)


def lose(store: Path, names: Sequence[str]) -> None:
    for name in names:
        (store / name).unlink()


def without_scan(found: Rows) -> list[list[str]]:
    return [sorted(repr(row[3:]) for row in found[table]) for table in ("flows", "stalls", "exchanges", "findings")]


def test_a_catalog_lost_with_its_copy_is_made_anew_from_the_parts(store: Path, captures: Path) -> None:
    before = rows(store)
    lose(store, ["catalog.json", "copy/catalog.json"])
    with pytest.raises(CannotOpen, match=r"catalog\.json is missing; `tcpstall store check --repair"):
        Store.open(str(store))
    repaired(str(store))
    assert rows(store) == before
    assert scan([str(captures)], str(store), executor=here).captures == 0
    assert rows(store) == before
    assert not checked(at(str(store))).problems


def test_all_but_the_parts_may_be_lost(store: Path, captures: Path) -> None:
    before = rows(store)
    shutil.rmtree(store / "copy")
    lose(store, ["catalog.json", "store.json", "lock", "store.duckdb"])
    with pytest.raises(CannotOpen, match=r"store\.json is missing"):
        scan([str(captures)], str(store), executor=here)
    repaired(str(store))
    assert rows(store) == before


def test_the_captures_lost_with_their_copy_are_scanned_again_and_no_row_is_there_twice(
    store: Path, captures: Path
) -> None:
    before = rows(store)
    shutil.rmtree(store / "copy" / "captures")
    lose(store, [str(file.relative_to(store)) for file in store.glob("captures/*")])
    repaired(str(store))
    assert rows(store)["flows"] == before["flows"]
    assert Store.open(str(store)).lost
    scan([str(captures)], str(store), executor=here)
    assert rows(store) == before
    assert not checked(at(str(store))).problems


@pytest.mark.parametrize("worse", ["", "catalog.json"], ids=["the part alone", "the catalog too"])
def test_rows_that_are_left_stay_where_the_captures_are_gone(worse: str, store: Path, captures: Path) -> None:
    before = rows(store)
    (captures / "eth0.pcap0").unlink()
    flip(next(file for file in flows_of(store) if "day=" in str(file)))
    flip(flows_of(store)[-1])
    if worse:
        lose(store, [worse, f"copy/{worse}"])
    repaired(str(store))
    left = rows(store)
    scan([str(captures)], str(store), executor=here)
    after = rows(store)
    for table in ("flows", "stalls", "exchanges", "findings"):
        assert set(map(repr, left[table])) <= set(map(repr, after[table])) <= set(map(repr, before[table]))
    assert len(after["flows"]) < len(before["flows"])
    assert checked(at(str(store))).problems  # and each question says so


@pytest.mark.parametrize("beginning", [0, 4_000], ids=["opened", "in the middle"])
def test_rows_that_are_left_stay_where_a_capture_cannot_be_read_this_time(
    store: Path, captures: Path, monkeypatch: pytest.MonkeyPatch, beginning: int
) -> None:
    before = rows(store)
    flip(next(store.glob("stalls/day=*/*.parquet")))
    repaired(str(store))
    left = rows(store)
    assert left["flows"] == before["flows"] != []
    assert len(left["stalls"]) < len(before["stalls"])

    def opened(name: str) -> Refusing:
        return Refusing(Path(name).read_bytes(), OSError(5, "Input/output error"), beginning)

    with monkeypatch.context() as patch:
        patch.setattr(task, "opened", opened)
        assert scan([str(captures)], str(store), executor=here).skipped
    assert rows(store) == left
    scan([str(captures)], str(store), executor=here)
    assert rows(store) == before


def test_a_set_that_grew_file_by_file_has_its_rows_back(made: Path, tmp_path: Path) -> None:
    growing, store = tmp_path / "growing", tmp_path / "store"
    growing.mkdir()
    for file in sorted(made.glob("eth0*")):
        shutil.copy2(file, growing)
        scan([str(growing)], str(store), executor=here)
    before = rows(store)
    flip(flows_of(store)[0])
    repaired(str(store))
    assert rows(store) != before
    scan([str(growing)], str(store), executor=here)
    assert without_scan(rows(store)) == without_scan(before)
    assert not checked(at(str(store))).problems


def test_parts_that_were_merged_and_not_yet_swept_do_not_double_rows(store: Path) -> None:
    """As a writer leaves them that is killed between the catalog and the sweep; then the catalog is lost."""
    before = rows(store)
    old = {name: (store / name).read_bytes() for name in at(str(store)).names("stalls")}
    with Store.writing(str(store)) as opened:
        from tcpstall.archive.storing.parquet import Parts
        from tcpstall.archive.storing.store import Commit

        for part in opened.parts("stalls"):
            new = Parts(opened.place, 10**8).merged(part.name.rpartition("/")[0], [part], frozenset(), frozenset())
            opened.commit(Commit(parts=new, removed=[part.name]))
        opened.checkpoint(None)
    for name, content in old.items():
        (store / name).write_bytes(content)
    lose(store, ["catalog.json", "copy/catalog.json"])
    repaired(str(store))
    assert rows(store) == before


def test_a_store_of_an_older_version_is_read_and_gets_its_copies(store: Path, captures: Path) -> None:
    before = rows(store)
    catalog = json.loads((store / "catalog.json").read_text())
    for part in catalog["parts"]:
        new = f"{part['name'].rpartition('-')[0]}.parquet"
        (store / part["name"]).rename(store / new)
        part["name"] = new
    old = {key: catalog[key] for key in ("schema", "upto", "parts", "captures", "dropped", "continued")}
    (store / "catalog.json").write_text(json.dumps(old))
    shutil.rmtree(store / "copy")
    assert rows(store) == before
    assert not checked(at(str(store))).problems
    (captures / "c.pcap").write_bytes(single(5 * 86_400, packets=60))
    scan([str(captures)], str(store), executor=here)
    assert (store / "copy" / "catalog.json").read_bytes() == (store / "catalog.json").read_bytes()
    (captures / "c.pcap").unlink()


@pytest.mark.parametrize("kind", ["memory", "s3"])
def test_a_store_behind_a_url_is_repaired_too(kind: str, captures: Path, request: pytest.FixtureRequest) -> None:
    url = f"memory:/{captures}/store" if kind == "memory" else f"{request.getfixturevalue('bucket')}/store"
    scan([str(captures)], url, executor=here)
    before = rows(url)
    files, root = fsspec.url_to_fs(url)
    assert not checked(at(url)).problems
    files.rm_file(f"{root}/catalog.json")
    with pytest.raises(CannotOpen, match="store check --repair"):
        scan([str(captures)], url, executor=here)
    repaired(url)
    assert rows(url) == before
    part = at(url).names("flows")[0]
    content = bytearray(files.cat_file(f"{root}/{part}"))
    content[len(content) // 2] ^= 1
    files.pipe_file(f"{root}/{part}", bytes(content))
    assert part in checked(at(url)).problems
    repaired(url)
    assert Store.open(url).lost
    scan([str(captures)], url, executor=here)
    assert rows(url) == before
    assert not checked(at(url)).problems
