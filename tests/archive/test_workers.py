"""The processes that a scan starts: what they load, and who is to blame where they fail."""

import os
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import duckdb
import pytest

from tcpstall import _core
from tcpstall.archive.captures.discovery import Input, fingerprint
from tcpstall.archive.planning import plan, to_do
from tcpstall.archive.planning.plan import Member, Set, Task
from tcpstall.archive.planning.sets import TASK_BYTES
from tcpstall.archive.scanning import isolated, local
from tcpstall.archive.scanning.scan import scan
from tcpstall.archive.scanning.task import CannotWork, Done, Options, scan_task
from tcpstall.archive.storing.store import Commit, Store
from tcpstall.errors import ExitCode
from tests.archive.contents import rows
from tests.cli.conftest import environment

HOSTILE = (
    "json",
    "struct",
    "polars",
    "pickle",
    "socket",
    "signal",
    "duckdb",
    "numpy",
    "pandas",
    "pyarrow",
    "distributed",
)
"""Modules that a worker loads, or that a library tries to load."""

DYING = """
from tcpstall.archive.scanning import local, task
from tcpstall.archive.planning.sets import Task
import os

true = task.scan_task

def watched(sets):
    for each in sets:
        if "poison" in each.name:
            {ending}
        yield each

def scan_task(task, url, options, told, further, captured):
    return true(Task(tuple(watched(task.sets))), url, options, told, watched(further), captured)

local.scan_task = scan_task
local.serve({descriptor})
"""


@pytest.fixture
def small_tasks(monkeypatch: pytest.MonkeyPatch) -> None:
    """A commit a set."""
    for module in (plan, to_do):
        monkeypatch.setattr(module, "TASK_BYTES", 1)


@pytest.fixture
def hostile(tmp_path: Path) -> Path:
    """A folder whose modules leave a trace when they are loaded."""
    folder = tmp_path / "hostile"
    trace = f"open({str(tmp_path / 'trace')!r}, 'a').write(__name__)\nraise SystemExit(7)\n"
    for name in (*HOSTILE, "sitecustomize", "usercustomize"):
        (folder / name).mkdir(parents=True)
        (folder / name / "__init__.py").write_text(trace)
        (folder / f"{name}.py").write_text(trace)
    (folder / "tcpstall").mkdir()
    (folder / "tcpstall" / "__init__.py").write_text(trace)
    return folder


@pytest.fixture
def command(tmp_path: Path) -> list[str]:
    """As an installation starts it: from a file elsewhere, without an option of Python that workers would inherit."""
    program = tmp_path / "bin" / "start.py"
    program.parent.mkdir()
    program.write_text(
        "import sys\n\nfrom tcpstall.cli import main\n\nif __name__ == '__main__':\n    sys.exit(main())\n"
    )
    return [sys.executable, str(program)]


@pytest.mark.parametrize("options", [("--jobs", "2"), ("--dask", "local", "--jobs", "1")], ids=["processes", "dask"])
def test_no_file_of_the_working_folder_is_run(
    hostile: Path, made: Path, undisturbed: Path, tmp_path: Path, command: Sequence[str], options: Sequence[str]
) -> None:
    if "--dask" in options:
        pytest.importorskip("distributed", reason="Dask's distributed is not installed")
    store = tmp_path / "store"
    done = subprocess.run(
        [*command, "scan", str(made), "--store", str(store), *options],
        cwd=hostile,
        env=environment(PYTHONWARNINGS=""),
        capture_output=True,
        text=True,
        check=False,
    )
    assert not (tmp_path / "trace").exists()
    assert done.returncode == ExitCode.DAMAGED, done.stderr
    assert len(done.stderr.strip().splitlines()) == 1
    assert rows(store) == rows(undisturbed)


def test_a_worker_has_neither_the_working_folder_nor_python_variables_in_front(
    hostile: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Other folders of the path come last: they may add modules, not replace them."""
    monkeypatch.chdir(hostile)
    monkeypatch.setattr(sys, "path", ["", str(hostile), str(tmp_path), *sys.path])
    asked = isolated.command("tests.nothing", "")
    asked[asked.index("-c") + 1] = (
        "import sys; sys.path += [path for path in sys.argv[4:]]; print(*sys.path, sep='\\n')"
    )
    printed = subprocess.run(
        asked, capture_output=True, text=True, check=True, env={**os.environ, "PYTHONPATH": str(hostile)}
    )
    path = printed.stdout.splitlines()
    assert "" not in path
    assert str(hostile) not in path
    assert path.index(str(tmp_path)) > min(number for number, each in enumerate(path) if each.endswith("site-packages"))


class TestWorkersThatCannotStart:
    @pytest.mark.parametrize(
        ("broken", "said"),
        [
            ([sys.executable, "-I", "-c", "import no_such_library"], "no_such_library"),
            ([sys.executable, "-I", "-c", "raise SystemExit(3)"], "exit code 3"),
            (["/nowhere/python"], "No such file"),
        ],
        ids=["a library is missing", "it ends at once", "there is no interpreter"],
    )
    def test_stop_the_scan_and_no_capture_counts_as_read(
        self,
        made: Path,
        undisturbed: Path,
        tmp_path: Path,
        monkeypatch: pytest.MonkeyPatch,
        broken: Sequence[str],
        said: str,
    ) -> None:
        store = str(tmp_path / "store")
        with monkeypatch.context() as patched:
            patched.setattr(isolated, "command", lambda *_: list(broken))
            with pytest.raises(CannotWork, match=said) as raised:
                scan([str(made)], store, jobs=2)
        assert "\n" not in str(raised.value)
        before = rows(store)
        assert not before["flows"]
        assert {row[4] for row in before["errors"]} <= {ExitCode.NOT_A_CAPTURE}
        scan([str(made)], store, jobs=2)
        assert rows(store) == rows(undisturbed)


def here(tasks: Iterable[Task], url: str, options: Options, done: Callable[[Done], None], told: Any) -> None:
    for task in tasks:
        done(scan_task(task, url, options, told))


@pytest.fixture(scope="module")
def of_single(made: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The store of some of the archive; not to be changed."""
    store = tmp_path_factory.mktemp("stores") / "single"
    scan([str(made / "single")], str(store), executor=here)
    return store


@pytest.mark.usefixtures("small_tasks")
@pytest.mark.parametrize(
    "error",
    [
        MemoryError(),
        ImportError("no module named dpkt"),
        PermissionError(13, "Permission denied"),
        OSError(28, "No space left on device"),
        duckdb.OutOfMemoryException("could not allocate block"),
        duckdb.FatalException("the database has been invalidated"),
    ],
    ids=["memory", "library", "permission", "disk", "DuckDB's memory", "DuckDB's end"],
)
def test_what_this_machine_lacks_is_no_captures_fault(
    made: Path, of_single: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    store = str(tmp_path / "store")

    def lacking(*_: object, **__: object) -> None:
        raise error

    with monkeypatch.context() as patched:
        patched.setattr(_core, "analyze", lacking)
        with pytest.raises(CannotWork, match="scan again") as raised:
            scan([str(made / "single")], store, executor=here)
    assert "\n" not in str(raised.value)
    scan([str(made / "single")], store, executor=here)
    assert rows(store) == rows(of_single)


@pytest.mark.parametrize(
    ("ending", "starved", "limit"),
    [
        ("os.kill(os.getpid(), 9)", True, "TASK_BYTES"),
        ("raise SystemExit('MemoryError')", True, "TASK_BYTES"),
        ("os.kill(os.getpid(), 11)", False, "TASK_BYTES"),
        ("raise SystemExit('PanicException: index out of bounds')", False, "TASK_BYTES"),
        ("os.kill(os.getpid(), 11)", False, "_PORTION_BYTES"),
    ],
    ids=["killed for memory", "memory", "a crash", "a panic", "a crash amid small sets"],
)
def test_a_capture_that_ends_its_process_twice_has_a_row_unless_memory_was_short(
    made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ending: str, starved: bool, limit: str
) -> None:
    monkeypatch.setattr(to_do, limit, 1)
    archive = tmp_path / "archive"
    archive.mkdir()
    for name in ("a.pcap", "b.pcap"):
        (archive / name).write_bytes((made / "single" / name).read_bytes())
    (archive / "poison.pcap").write_bytes((made / "single" / "a.pcap").read_bytes()[:-1])
    store = str(tmp_path / "store")
    command = isolated.command

    def dying(module: str, descriptor: str) -> list[str]:
        made_up = command(module, descriptor)
        program = made_up.index("-c") + 1
        made_up[program] = made_up[program].rpartition("importlib.import_module(module)")[0] + DYING.format(
            ending=ending, descriptor=repr(descriptor)
        )
        return made_up

    with monkeypatch.context() as patched:
        patched.setattr(isolated, "command", dying)
        summary = scan([str(archive)], store, jobs=2)
    told = [skipped.why for skipped in summary.skipped] if starved else [str(row[5]) for row in rows(store)["errors"]]
    assert len(told) == len(summary.skipped) + summary.failed == 1
    assert "was lost 2 times" in told[0]
    second = scan([str(archive)], store, jobs=2)
    assert second.captures == (1 if starved else 0)
    assert [row[4] for row in rows(store)["errors"]] == [ExitCode.DAMAGED if starved else ExitCode.DEFECT]


def test_a_worker_of_ours_is_this_package() -> None:
    """Also where the folder that holds it is not on the path of an isolated interpreter."""
    asked = isolated.command("tcpstall.archive.scanning.local", "")
    assert Path(asked[asked.index("-c") + 2], "archive", "scanning", "local.py").samefile(local.__file__)


def test_a_worker_of_another_version_stops_the_scan_and_blames_no_capture(
    made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As where tcpstall is replaced while it watches a folder."""
    installed = _core.version()
    monkeypatch.setattr(_core, "version", lambda: "0.0.9")
    with pytest.raises(CannotWork, match=f"tcpstall {installed} was installed while 0.0.9 scans"):
        scan([str(made / "single")], str(tmp_path / "store"), jobs=1)
    assert rows(tmp_path / "store")["errors"] == []


def small_sets(count: int, size: int) -> tuple[Set, ...]:
    def one(number: int) -> Set:
        name = f"{number}-x.pcap"
        return Set(name, name, name, (Member(Input(name, size, 0, "pcap", None, 0), name),))

    return tuple(one(number) for number in range(count))


@pytest.mark.parametrize("jobs", [1, 2, 4])
@pytest.mark.parametrize(
    ("sizes", "large"),
    [([(10_000, 3_000)], 0), ([(3, 5_000)], 0), ([(1, 90_000_000), (700, 3_000)], 1), ([(60_000, 3_000)], 0)],
    ids=["small files", "few", "a large one too", "more than a commit takes"],
)
def test_all_sets_are_dealt_once_the_largest_first_and_small_ones_in_shrinking_portions(
    sizes: Sequence[tuple[int, int]], large: int, jobs: int
) -> None:
    """`sizes` are the sets of each task and their bytes. Neighbours stay together."""
    tasks = [Task(small_sets(*each)) for each in sizes]
    to_deal = to_do.ToDo(jobs)
    for task in tasks:
        to_deal.add(task)
    assert [len(to_deal.next()[0].sets) for _ in range(large)] == [1] * large
    found: list[Set] = []
    begun: list[int] = []
    while to_deal:
        task, deaths = to_deal.next()
        assert not deaths
        size = task.size
        found += task.sets
        begun.append(size)
        while sets := to_deal.portion(behind=size)[0]:
            found += sets
            size += sum(each.size for each in sets)
        assert size < TASK_BYTES + 300_000
    assert found == [each for task in tasks[large:] for each in task.sets]
    assert max(begun) <= max(300_000 + 5_000, 400 * 3_000)


@pytest.mark.parametrize(("count", "workers"), [(600, 1), (700, 2), (0, 0)])
def test_another_worker_is_started_for_more_than_it_takes_to_start_one(count: int, workers: int) -> None:
    waiting = to_do.ToDo(2)
    waiting.add(Task(small_sets(count, 3_000)))
    assert [waiting.is_worth_a_worker(first=first) for first in (True, False)] == [workers > 0, workers > 1]


def test_what_died_comes_last_and_what_was_begun_first() -> None:
    waiting = to_do.ToDo(2)
    again, rest, large, small = (Task(small_sets(1, size)) for size in (1, 70_000_000, 80_000_000, 3))
    waiting.add_again(again, 1)
    waiting.add(small)
    waiting.add(large)
    waiting.add_rest(rest)
    assert waiting.portion(behind=0) == ((), 0)
    assert [waiting.next() for _ in range(4)] == [(rest, 0), (large, 0), (small, 0), (again, 1)]


def test_workers_begin_before_all_is_planned(made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """This plan goes on until a worker has begun with its first file; both files are in one commit."""
    store = str(tmp_path / "store")
    asked: list[object] = []
    done: list[Done] = []
    answer = local._Crew._answer

    def answering(crew: local._Crew, worker: Any) -> None:
        asked.append(worker)
        answer(crew, worker)

    def plan() -> Iterator[Task]:
        for name in ("a.pcap", "b.pcap"):
            path = made / "single" / name
            found = Input(str(path), path.stat().st_size, path.stat().st_mtime_ns)
            yield Task((Set(name, name, name, (Member(found, fingerprint(found.name, found.size)),)),))
            for _ in range(10_000_000):
                if asked:
                    break
                yield Task(())

    monkeypatch.setattr(local._Crew, "_answer", answering)
    with Store.writing(store):
        local.run(plan(), store, Options(), done.append, lambda _: None, jobs=1)
    assert asked
    assert [len(each.commit.captures) for each in done] == [2]


def test_both_workers_scan_small_files_of_one_task(
    made: Path, undisturbed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(to_do, "_WORTH_A_WORKER_BYTES", 1)
    monkeypatch.setattr(to_do, "_PORTION_BYTES", 1)
    commits: list[int] = []
    commit = Store.commit

    def counting(store: Store, what: Commit) -> None:
        commit(store, what)
        commits.append(len(what.captures))

    monkeypatch.setattr(Store, "commit", counting)
    scan([str(made)], str(tmp_path / "two"), jobs=2)
    assert sum(count > 0 for count in commits) >= 2
    assert rows(tmp_path / "two") == rows(undisturbed)
