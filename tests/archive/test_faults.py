"""A scan that ends, or is refused something, at any of its steps: the next one comes to what an undisturbed one has."""

import errno
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tcpstall.archive.planning import plan, to_do
from tcpstall.archive.scanning.scan import scan
from tcpstall.archive.storing import parquet
from tcpstall.errors import CannotWrite
from tests.archive.conftest import EXHAUSTIVE, single
from tests.archive.contents import Rows, rows
from tests.archive.faults import ROOT, InWorkers, Steps, refused
from tests.archive.here import here
from tests.archive.trees import tar
from tests.cli.conftest import environment
from tests.tools.bench.archive import Rotating
from tests.tools.bench.captures import long

ERRORS = (errno.ENOSPC, errno.EIO)
_RANDOM = re.compile("[0-9a-f]{32}")


@dataclass
class Corpus:
    """Captures, a store that has the older ones of them, and what it is to have in the end."""

    captures: Path
    before: Path
    after: Rows = field(default_factory=dict)

    def store(self, folder: Path) -> Path:
        return Path(shutil.copytree(self.before, folder))


@pytest.fixture(scope="module", autouse=True)
def small_tasks() -> Iterator[None]:
    """A commit a set; captures are written by DuckDB, as many of them are, beside the parts that the core writes."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(parquet, "_BY_THE_CORE", 0)
        for module in (plan, to_do):
            patch.setattr(module, "TASK_BYTES", 1)
        yield


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory, small_tasks: None) -> Corpus:
    """A rotated set that goes on, a file that grew, an archive, and what is no capture."""
    folder = tmp_path_factory.mktemp("corpus")
    captures = folder / "captures"
    (captures / "ring").mkdir(parents=True)
    rotating = Rotating(3_000, 0)
    long(2).write(rotating, 120)  # type: ignore[arg-type]
    rotating.close()
    for number, (_, content) in enumerate(rotating.files[:2]):
        (captures / "ring" / f"eth0.pcap{number}").write_bytes(content)
    growing = single(200_000, packets=30)
    (captures / "growing.pcap").write_bytes(growing[: len(growing) // 2])
    made = Corpus(captures, folder / "before")
    scan([str(captures)], str(made.before), executor=here)
    for number, (_, content) in enumerate(rotating.files[2:4], 2):
        (captures / "ring" / f"eth0.pcap{number}").write_bytes(content)
    (captures / "growing.pcap").write_bytes(growing)
    (captures / "noise.pcap").write_bytes(b"no capture")
    (captures / "old.tar").write_bytes(tar({f"{name}.pcap": single(at, packets=12) for at, name in enumerate("ab")}))
    done = made.store(folder / "after")
    scan([str(captures)], str(done), executor=here)
    made.after = rows(done)
    return made


def shape(store: Path) -> list[str]:
    """Files that there are, without unfinished ones and without random parts of names."""
    files = (str(file.relative_to(store)) for file in store.rglob("*") if file.is_file())
    return sorted(_RANDOM.sub("*", file) for file in files if not file.startswith("unfinished/"))


def content(store: Path) -> tuple[object, ...]:
    """The same with sizes, and whether there is anything unfinished."""
    files = [(str(file.relative_to(store)), file.stat().st_size) for file in store.rglob("*") if file.is_file()]
    kept = sorted(file for file in files if not file[0].startswith("unfinished/"))
    return tuple(kept), len(files) > len(kept)


EACH = 1 if EXHAUSTIVE else 4
"""Of the states that a kill leaves every fourth is gone on with in the gate; TCPSTALL_EXHAUSTIVE=1 takes them all."""


@pytest.fixture(scope="module")
def snapshots(corpus: Corpus, tmp_path_factory: pytest.TempPathFactory) -> list[tuple[str, Path]]:
    """The store before each step of a scan, as a kill there would leave it."""
    folder = tmp_path_factory.mktemp("snapshots")
    store = corpus.store(folder / "store")
    taken: list[tuple[str, Path]] = []

    def keep(number: int, what: str) -> None:
        taken.append((what, Path(shutil.copytree(store, folder / str(number)))))

    with pytest.MonkeyPatch.context() as patch:
        Steps(store, keep).watch(patch)
        scan([str(corpus.captures)], str(store), executor=here)
    assert rows(store) == corpus.after
    return taken


def test_the_steps_are_all_there(snapshots: list[tuple[str, Path]]) -> None:
    whats = [what.rpartition(" ")[0] for what, _ in snapshots]
    assert len(whats) > 100
    assert {"open", "write", "half of write", "fsync", "replace", "COPY", "half of COPY", "unlink"} <= set(whats)
    assert sum(what.startswith("write ") and what.endswith(".parquet") for what, _ in snapshots) >= 8


def test_a_scan_that_was_killed_at_any_step_is_gone_on_with(corpus: Corpus, snapshots: list[tuple[str, Path]]) -> None:
    """Of steps between which nothing has changed but an unfinished file, the last."""
    states: dict[tuple[object, ...], list[tuple[str, Path]]] = {}
    for what, store in snapshots:
        states.setdefault(content(store), []).append((what, store))
    assert len(states) > 30
    for alike in list(states.values())[::EACH]:
        what, store = alike[-1]
        scan([str(corpus.captures)], str(store), executor=here)
        assert rows(store) == corpus.after, f"killed before {what}"


def test_a_scan_that_is_refused_any_step_says_so_and_leaves_what_a_kill_there_leaves(
    corpus: Corpus, snapshots: list[tuple[str, Path]], tmp_path: Path
) -> None:
    for number, (what, killed) in list(enumerate(snapshots))[:: 1 if EXHAUSTIVE else 2 * EACH]:
        store = corpus.store(tmp_path / "store")
        with pytest.MonkeyPatch.context() as patch:
            Steps(store, refused(number, ERRORS[number % len(ERRORS)])).watch(patch)
            refusal = ""
            try:
                scan([str(corpus.captures)], str(store), executor=here)
            except CannotWrite as error:
                refusal = str(error)
        assert refusal.startswith("cannot write") or what.startswith("mkdir"), what
        if not refusal or shape(store) != shape(killed):
            scan([str(corpus.captures)], str(store), executor=here)
            assert rows(store) == corpus.after, f"refused {what}"
        shutil.rmtree(store)


@pytest.mark.parametrize(("number", "code"), [(2, 0), (12, 0), (9, errno.ENOSPC)])
def test_a_worker_that_dies_or_is_refused_a_step_costs_nothing(
    corpus: Corpus, tmp_path: Path, number: int, code: int
) -> None:
    store, once = corpus.store(tmp_path / "store"), tmp_path / "once"
    options = InWorkers().of(store, number, code, once)
    try:
        scan([str(corpus.captures)], str(store), jobs=2, options=options)
    except CannotWrite:
        assert code
        scan([str(corpus.captures)], str(store), jobs=2)
    assert once.exists()
    assert rows(store) == corpus.after


@pytest.mark.parametrize("number", [12, 30])
def test_a_coordinator_of_two_workers_that_is_killed_at_a_step_is_gone_on_with(
    corpus: Corpus, tmp_path: Path, number: int
) -> None:
    store = corpus.store(tmp_path / "store")
    program = (
        f"import sys, pathlib, pytest; sys.path.append({str(ROOT)!r});"
        "from tests.archive.faults import Steps, killed; from tcpstall.archive.planning import plan, to_do;"
        "from tcpstall.archive.scanning import scan;"
        "plan.TASK_BYTES = to_do.TASK_BYTES = 1;"
        f"Steps(pathlib.Path({str(store)!r}), killed({number})).watch(pytest.MonkeyPatch());"
        f"scan.scan([{str(corpus.captures)!r}], {str(store)!r}, jobs=2)"
    )
    done = subprocess.run([sys.executable, "-c", program], env=environment(), check=False)
    assert done.returncode == -signal.SIGKILL
    scan([str(corpus.captures)], str(store), jobs=2)
    assert rows(store) == corpus.after
