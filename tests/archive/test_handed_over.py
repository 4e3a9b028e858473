"""A store that a stranger hands over: links and names in it lead nowhere, and nothing outside it is read or deleted."""

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tcpstall.archive.scanning.scan import scan
from tcpstall.archive.storing.confined import Inside
from tcpstall.archive.storing.records import sealed
from tcpstall.archive.storing.storage import LocalPlace
from tcpstall.cli import main
from tcpstall.errors import CannotOpen, CannotWrite
from tests.archive.conftest import single
from tests.archive.contents import rows

FOLDERS = ("flows", "stalls", "exchanges", "captures", "journal", "unfinished", "damaged", "copy")
FILES = ("store.json", "catalog.json", "lock", "store.duckdb", "copy/catalog.json")
WITHIN = ("flows/day=*", "captures/*.parquet", "stalls/*/*.parquet", "copy/captures")


@pytest.fixture(scope="module")
def captures(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("captures")
    (folder / "a.pcap").write_bytes(single(0, packets=60))
    return folder


@pytest.fixture(scope="module")
def made(captures: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    store = tmp_path_factory.mktemp("stores") / "store"
    scan([str(captures)], str(store), jobs=1)
    return store


@pytest.fixture
def store(made: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(made, tmp_path / "store"))


@pytest.fixture
def victim(tmp_path: Path) -> Path:
    folder = tmp_path / "victim"
    for name in ("thesis.txt", "docs/notes.txt", "day=2026-01-01/00000000000000000000000000000000.parquet"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("precious")
    (folder / ("0" * 32)).write_text("precious")
    return folder


def everything(folder: Path) -> dict[str, bytes]:
    return {str(file): file.read_bytes() for file in folder.rglob("*") if file.is_file()}


def commands(captures: Path, store: Path, output: Path) -> list[list[str]]:
    at = ["--store", str(store)]
    return [
        ["scan", str(captures), *at, "--jobs", "1"],
        ["store", "compact", *at],
        ["store", "prune", "--older-than", "1d", *at],
        ["store", "info", *at],
        ["query", "SELECT count(*) FROM flows", *at],
        ["top", *at],
        ["trend", *at],
        ["report", *at, "-o", str(output)],
    ]


@pytest.mark.parametrize("name", [*FOLDERS, *FILES, *WITHIN])
def test_a_link_in_the_place_of_anything_of_ours_is_refused_and_what_it_leads_to_stays(
    name: str, store: Path, captures: Path, victim: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    place = next(iter(store.glob(name)), store / name)
    is_file = place.is_file() or name in FILES
    if place.is_dir():
        shutil.rmtree(place)
    place.unlink(missing_ok=True)
    place.symlink_to(victim / "thesis.txt" if is_file else victim)
    before = everything(victim)
    for command in commands(captures, store, tmp_path / "page.html"):
        capfd.readouterr()
        code, err = main(command), capfd.readouterr().err
        assert (code, err.count("\n")) == (3, 1), (command, err)
        assert "store check --repair" in err, command
        assert everything(victim) == before, command
    assert main(["store", "check", "--repair", "--store", str(store)]) in (0, 5)
    assert main(["scan", str(captures), "--store", str(store), "--jobs", "1"]) == 0
    assert main(["store", "check", "--store", str(store)]) == 0
    assert everything(victim) == before


def test_links_below_unfinished_are_not_followed_and_strangers_files_stay(
    store: Path, captures: Path, victim: Path
) -> None:
    before = everything(victim)
    unfinished = store / "unfinished"
    unfinished.mkdir(exist_ok=True)
    (unfinished / f"spilled-{'0' * 32}").symlink_to(victim)
    (unfinished / "docs").mkdir()
    (unfinished / "docs" / "thesis.txt").write_text("precious")
    assert main(["scan", str(captures), "--store", str(store), "--jobs", "1"]) == 0
    assert everything(victim) == before
    assert (unfinished / "docs" / "thesis.txt").exists()


def test_a_hard_link_to_a_file_elsewhere_leaves_that_file_as_it_is(store: Path, captures: Path, tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    for name in [str(file.relative_to(store)) for file in store.rglob("*") if file.is_file()]:
        if not (store / name).exists():
            continue  # compacted away
        kept.unlink(missing_ok=True)
        os.link(store / name, kept)
        content = kept.read_bytes()
        assert main(["scan", str(captures), "--store", str(store), "--jobs", "1"]) == 0
        assert main(["store", "compact", "--store", str(store)]) == 0
        assert kept.read_bytes() == content, name
    assert rows(store)["flows"]


def test_the_folder_of_the_store_may_be_a_link(store: Path, captures: Path, tmp_path: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to(store)
    for command in commands(captures, link, tmp_path / "page.html"):
        assert main(command) == 0, command


def _name(name: str) -> Callable[[dict[str, Any]], None]:
    def harm(catalog: dict[str, Any]) -> None:
        catalog["parts"][0]["name"] = name

    return harm


def _key(key: str, value: object) -> Callable[[dict[str, Any]], None]:
    def harm(catalog: dict[str, Any]) -> None:
        catalog[key] = value

    return harm


def _row(key: str, value: object) -> Callable[[dict[str, Any]], None]:
    def harm(catalog: dict[str, Any]) -> None:
        catalog["captures"] = [{"name": "a", "scan": "0", "scanned_ns": 1, key: value}]

    return harm


HOSTILE = {
    "a path above": _name("../../etc/passwd"),
    "a path above within a table": _name("flows/day=2026-01-01/../../../x.parquet"),
    "a whole path": _name("/etc/passwd"),
    "a file of the store that is no part": _name("store.json"),
    "a folder": _name("flows"),
    "a pattern": _name("flows/day=2026-01-01/*.parquet"),
    "a quote": _name("flows/day=2026-01-01/a'b.parquet"),
    "a NUL": _name("flows/day=2026-01-01/a\0b.parquet"),
    "a line": _name("flows/day=2026-01-01/a\nb.parquet"),
    "no name": _name(None),  # type: ignore[arg-type]
    "another table": lambda catalog: catalog["parts"][0].update(table="errors"),
    "rows that are text": lambda catalog: catalog["parts"][0].update(rows="many"),
    "bytes below zero": lambda catalog: catalog["parts"][0].update(bytes=-1),
    "a part that is none": _key("parts", [7]),
    "no parts": _key("parts", None),
    "no number": _key("upto", "7"),
    "a huge number": _key("upto", 10**30),
    "dropped that are no scans": _key("dropped", [7]),
    "removed that is elsewhere": _key("removed", ["../../etc/passwd"]),
    "removed that is no part": _key("removed", ["store.json"]),
    "lost that is none": _key("lost", [{}]),
    "times that are none": _key("changed_ns", [1]),
    "captures that are none": _key("captures", ["x"]),
    "a name that is a number": _row("name", 7),
    "a time that is text": _row("scanned_ns", "now"),
}


@pytest.mark.parametrize("signed", [True, False], ids=["with the right digest", "without one"])
@pytest.mark.parametrize("what", HOSTILE)
def test_a_hostile_catalog_is_refused_and_reads_and_deletes_nothing(
    what: str, signed: bool, store: Path, captures: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    catalog = json.loads((store / "catalog.json").read_text())
    del catalog["digest"]
    HOSTILE[what](catalog)
    content = sealed(catalog) if signed else json.dumps(catalog).encode()
    (store / "catalog.json").write_bytes(content)
    before = everything(tmp_path)
    some = commands(captures, store, tmp_path / "page.html")
    for command in (some[0], some[4]):
        capfd.readouterr()
        code, err = main(command), capfd.readouterr().err
        assert (code, err.count("\n")) == (3, 1), (command, err)
        assert "defect" not in err
        now = everything(tmp_path)
        assert {name: now.get(name) for name in before} == before


@pytest.mark.parametrize(
    "content", [b"[" * 100_000, b'{"upto": 1e999}', b"\xff", b"9" * 5_000, b"null", b'{"upto": {}}']
)
@pytest.mark.parametrize("name", ["catalog.json", "journal/000000000002.json", "store.json"])
def test_any_bytes_in_the_place_of_a_document_are_one_line(
    name: str, content: bytes, store: Path, captures: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    upto = json.loads((store / "catalog.json").read_text())["upto"]
    file = store / name.replace("000000000002", f"{upto + 1:012}")
    file.parent.mkdir(exist_ok=True)
    file.write_bytes(content)
    for command in (["query", "SELECT 1"], ["scan", str(captures)], ["store", "check"], ["store", "check", "--repair"]):
        capfd.readouterr()
        code, err = main([*command, "--store", str(store)]), capfd.readouterr().err
        assert code in ((5, 0) if command[0] == "store" else (3,)), (command, err)
        assert "defect" not in err
    assert main(["query", "SELECT 1", "--store", str(store)]) == 0


@pytest.mark.parametrize("name", ["../x", "/x", "a/../../x", "a//x", ".", "", "a/", "a\0b"])
def test_names_that_lead_out_of_a_folder_are_no_names(name: str, tmp_path: Path) -> None:
    (tmp_path / "x").write_text("precious")
    (tmp_path / "store" / "a").mkdir(parents=True)
    place, inside = LocalPlace(tmp_path / "store"), Inside(tmp_path / "store")
    with pytest.raises(CannotOpen):
        place.read(name)
    with pytest.raises(CannotWrite):
        place.put(name, b"")
    with pytest.raises(CannotWrite):
        place.remove([name])
    with pytest.raises((OSError, ValueError)):
        inside.read(name)
    assert (tmp_path / "x").read_text() == "precious"


def test_a_pipe_in_the_place_of_a_file_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(CannotOpen, match="a named pipe lies where a file belongs"):
        LocalPlace(tmp_path).read("pipe")
