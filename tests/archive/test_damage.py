"""Any single file of a store deleted or damaged: no wrong answer, no data lost, and all rows back after a repair."""

import os
import re
import shutil
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest

from tcpstall.archive.maintenance.check import checked
from tcpstall.archive.planning.plan import Task
from tcpstall.archive.scanning.progress import Nobody
from tcpstall.archive.scanning.scan import scan
from tcpstall.archive.scanning.task import Done, Options, scan_task
from tcpstall.archive.storing.storage import at
from tcpstall.cli import main
from tcpstall.errors import CannotOpen
from tests.archive.conftest import EXHAUSTIVE, single
from tests.archive.contents import rows

QUESTION = "SELECT count(*) AS flows, sum(lost_ns) AS lost FROM flows"


def _flip(file: Path) -> None:
    """One bit in the middle."""
    content = bytearray(file.read_bytes() or b"\0")
    content[len(content) // 2] ^= 1
    file.write_bytes(content)


def _flip_early(file: Path) -> None:
    content = bytearray(file.read_bytes() or b"\0")
    content[min(9, len(content) - 1)] ^= 64
    file.write_bytes(content)


def _link(file: Path) -> None:
    """To a file elsewhere with the same content, which must outlive everything."""
    victim = Path(os.environ["TCPSTALL_TEST_VICTIM"])
    shutil.copy(file, victim)
    file.unlink()
    file.symlink_to(victim)


def _folder(file: Path) -> None:
    file.unlink()
    file.mkdir()
    (file / "thesis.txt").write_text("precious")


def _pipe(file: Path) -> None:
    file.unlink()
    os.mkfifo(file)


DAMAGES: dict[str, Callable[[Path], None]] = {
    "deleted": Path.unlink,
    "cut": lambda file: os.truncate(file, file.stat().st_size // 2),
    "emptied": lambda file: os.truncate(file, 0),
    "a bit flipped": _flip,
    "a bit near its beginning flipped": _flip_early,
    "a link": _link,
    "a folder": _folder,
    "a pipe": _pipe,
}


GATE = {("deleted", "complete"), ("a bit flipped", "complete"), ("a folder", "complete"), ("a bit flipped", "killed")}
"""Damages that each run tries; TCPSTALL_EXHAUSTIVE=1 tries all."""


@pytest.fixture(scope="module")
def captures(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two days, and a file that is no capture."""
    folder = tmp_path_factory.mktemp("captures")
    for number, name in enumerate(("a.pcap", "b.pcap")):
        (folder / name).write_bytes(single(number * 86_400, packets=60))
    (folder / "c.pcap").write_bytes(single(0, packets=60)[:200])
    return folder


class _Killed(Exception):
    pass


class _Killing(Nobody):
    def done(self, done: Done) -> None:
        raise _Killed


@pytest.fixture(scope="module")
def complete(captures: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    store = tmp_path_factory.mktemp("stores") / "complete"
    scan([str(captures)], str(store), executor=here)
    return store


@pytest.fixture(scope="module")
def killed(captures: Path, complete: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with a catalog of one day, and a commit of the other in its journal."""
    store = tmp_path_factory.mktemp("stores") / "killed"
    scan([str(captures / "a.pcap")], str(store), executor=here)
    with pytest.raises(_Killed):
        scan([str(captures)], str(store), executor=here, progress=_Killing())
    assert list((store / "journal").iterdir())
    return store


@pytest.fixture
def victim(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("TCPSTALL_TEST_VICTIM", str(tmp_path / "victim"))
    return tmp_path / "victim"


Told = tuple[int, str, str]


@pytest.fixture
def told(capfd: pytest.CaptureFixture[str]) -> Callable[..., Told]:
    def _told(*arguments: object) -> Told:
        capfd.readouterr()
        code = main([str(argument) for argument in arguments])
        written = capfd.readouterr()
        assert "defect" not in written.err, written.err
        assert "Traceback" not in written.err, written.err
        if code not in (0, 5):
            assert written.err.count("\n") == 1, written.err
        return code, written.out, written.err

    return _told


def files(store: Path) -> list[str]:
    """One of each kind: the parts of one table are alike."""
    kinds: dict[str, str] = {}
    for file in sorted(store.rglob("*")):
        if file.is_file():
            name = str(file.relative_to(store))
            kinds.setdefault(re.sub(r"[^/]*\d[^/]*", "", name), name)
    return list(kinds.values())


def parts(store: Path) -> dict[str, bytes]:
    """Content of all parts, wherever they lie."""
    return {file.name.rpartition("-")[2]: file.read_bytes() for file in store.rglob("*.parquet") if file.is_file()}


def here(
    tasks: Iterable[Task], url: str, options: Options, done: Callable[[Done], None], told: Callable[[int], None]
) -> None:
    """Scans in this process."""
    for task in tasks:
        done(scan_task(task, url, options, told))


def scanned(captures: Path, store: Path) -> str | None:
    """The line of a refused scan; None where it was not refused."""
    try:
        scan([str(captures)], str(store), executor=here)
    except CannotOpen as error:
        return str(error)
    return None


def test_a_lost_catalog_is_no_empty_store(
    complete: Path, captures: Path, tmp_path: Path, told: Callable[..., Told]
) -> None:
    """No question counts nothing, and no scan takes the parts for leavings."""
    store = Path(shutil.copytree(complete, tmp_path / "store"))
    before = parts(store)
    (store / "catalog.json").unlink()
    code, out, _ = told("query", QUESTION, "--store", store, "--format", "json")
    assert (code, out) == (3, "")
    assert scanned(captures / "a.pcap", store) is not None
    assert parts(store) == before


@pytest.mark.parametrize(
    ("damage", "which"),
    [
        (damage, which)
        for damage in DAMAGES
        for which in ("complete", "killed")
        if EXHAUSTIVE or (damage, which) in GATE
    ],
)
def test_any_single_file(
    which: str, damage: str, request: pytest.FixtureRequest, captures: Path, complete: Path, victim: Path,
    tmp_path: Path, told: Callable[..., Told],
) -> None:  # fmt: skip
    whole: Path = request.getfixturevalue(which)
    undisturbed, at_first = rows(complete), rows(whole)
    right = told("query", QUESTION, "--store", whole, "--format", "json")
    for name in files(whole):
        if which == "killed" and not re.search("journal|catalog|flows", name):
            continue
        store = tmp_path / "store"
        shutil.rmtree(store, ignore_errors=True)
        shutil.copytree(whole, store)
        DAMAGES[damage](store / name)
        kept = victim.read_bytes() if victim.exists() else None
        before = parts(store)

        answer = told("query", QUESTION, "--store", store, "--format", "json")
        assert answer == right or answer[0] == 3, (name, answer)
        said = scanned(captures, store)
        if said is not None:
            assert "tcpstall store check --repair" in said, name
            assert parts(store) == before, name  # nothing is swept, nothing merged

        code, _, err = told("store", "check", "--repair", "--store", store)
        assert code in (0, 5), (name, err)
        code, _, err = told("query", QUESTION, "--store", store, "--format", "json")
        assert code in (0, 5), (name, err)
        assert code == 0 or "missing" in err, name
        assert scanned(captures, store) is None, name
        assert rows(store) == undisturbed, name
        assert not checked(at(str(store))).problems, name
        assert kept is None or victim.read_bytes() == kept, name
        victim.unlink(missing_ok=True)
    assert rows(whole) == at_first
