"""The processes that a scan starts: what they load, and who is to blame where they fail."""

import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import duckdb
import pytest

from tcpstall import _core
from tcpstall.archive import isolated, local, plan
from tcpstall.archive.discovery import Input
from tcpstall.archive.plan import Member, Set, Task
from tcpstall.archive.scan import scan
from tcpstall.archive.store import Commit, Store
from tcpstall.archive.task import CannotWork, Done, Options, scan_task
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
from tcpstall.archive import local, task
import os

true = task.scan_task

def scan_task(task, *rest):
    if any("poison" in each.name for each in task.sets):
        {ending}
    return true(task, *rest)

local.scan_task = scan_task
local.serve({descriptor})
"""


@pytest.fixture
def small_tasks(monkeypatch: pytest.MonkeyPatch) -> None:
    """A commit a set."""
    monkeypatch.setattr(plan, "_TASK_BYTES", 1)


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


def here(tasks: Sequence[Task], url: str, options: Options, done: Callable[[Done], None], told: Any) -> None:
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


@pytest.mark.usefixtures("small_tasks")
@pytest.mark.parametrize(
    ("ending", "starved"),
    [
        ("os.kill(os.getpid(), 9)", True),
        ("raise SystemExit('MemoryError')", True),
        ("os.kill(os.getpid(), 11)", False),
        ("raise SystemExit('PanicException: index out of bounds')", False),
    ],
    ids=["killed for memory", "memory", "a crash", "a panic"],
)
def test_a_capture_that_ends_its_process_twice_has_a_row_unless_memory_was_short(
    made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ending: str, starved: bool
) -> None:
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
    asked = isolated.command("tcpstall.archive.local", "")
    assert Path(asked[asked.index("-c") + 2], "archive", "local.py").samefile(local.__file__)


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


@pytest.mark.parametrize(
    ("sizes", "jobs", "dealt"),
    [
        ([(10_000, 3_000)], 1, [10_000]),
        ([(10_000, 3_000)], 2, [5_000] * 2),
        ([(10_000, 3_000)], 4, [2_500] * 4),
        ([(1_000, 3_000)], 2, [1_000]),
        ([(1, 90_000_000), (10_000, 3_000)], 2, [1, 10_000]),
        ([(1, 90_000_000), (10_000, 3_000)], 3, [1, 5_000, 5_000]),
        ([(1, 90_000_000)], 2, [1]),
        ([(1, 90_000_000)] * 4 + [(10_000, 3_000)], 4, [1, 1, 1, 1, 10_000]),
        ([], 2, []),
    ],
)
def test_few_tasks_of_many_small_files_are_cut_for_all_workers(
    sizes: Sequence[tuple[int, int]], jobs: int, dealt: Sequence[int]
) -> None:
    """`sizes` are the sets of each task and their bytes; no set is lost or scanned twice, and neighbours stay."""
    tasks = [Task(small_sets(*each)) for each in sizes]
    found = local._for_all(tasks, jobs)
    assert [len(task.sets) for task in found] == dealt
    assert [each for task in found for each in task.sets] == [each for task in tasks for each in task.sets]


def test_both_workers_scan_small_files_of_one_task(
    made: Path, undisturbed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(local, "_WORTH_CUTTING_BYTES", 1)
    commits: list[int] = []
    commit = Store.commit

    def counting(store: Store, what: Commit) -> None:
        commit(store, what)
        commits.append(len(what.captures))

    monkeypatch.setattr(Store, "commit", counting)
    scan([str(made)], str(tmp_path / "two"), jobs=2)
    assert sum(count > 0 for count in commits) >= 2
    assert rows(tmp_path / "two") == rows(undisturbed)
