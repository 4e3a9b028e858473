"""The same scan on a cluster: a scheduler and workers in processes of their own, captures and store behind URLs."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, nullcontext
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tcpstall import _core
from tcpstall.archive.planning import plan, to_do
from tcpstall.archive.scanning import cluster
from tcpstall.archive.scanning.progress import Nobody, Summary
from tcpstall.archive.scanning.scan import scan
from tcpstall.archive.scanning.task import Done
from tcpstall.archive.storing.storage import at
from tcpstall.archive.storing.store import Store
from tcpstall.cli import main
from tcpstall.errors import CannotOpen, ExitCode
from tests.archive.contents import rows

distributed = pytest.importorskip("distributed", reason="Dask's distributed is not installed")

ROOT = Path(__file__).parents[2]
"""Folder of tcpstall, even if it is not installed."""

POISON = """
import os
from tcpstall.archive.scanning import cluster, task

true = task.scan_task

def scan_task(task, *rest):
    if any("poison" in each.name for each in task.sets):
        os._exit(9)
    return true(task, *rest)

cluster.scan_task = scan_task
"""
"""A worker that dies of certain captures, as one does whose memory ends."""


class Crew:
    """A scheduler and its workers, in processes of their own."""

    def __init__(self, folder: Path, held: ExitStack) -> None:
        self._folder = folder
        self._held = held
        self._about = folder / "scheduler.json"
        self.workers: list[subprocess.Popen[bytes]] = []
        self._start("scheduler", "--port", "0", "--scheduler-file", str(self._about))
        while not (self._about.exists() and self._about.read_text().rstrip().endswith("}")):  # not written in one go
            time.sleep(0.05)
        self.address = str(json.loads(self._about.read_text())["address"])

    def hire(self, *options: str) -> None:
        known = ["--nthreads", "1", "--memory-limit", "0", "--local-directory", str(self._folder)]
        self.workers.append(self._start("worker", self.address, *known, *options))

    def _start(self, what: str, *arguments: str) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", f"distributed.cli.dask_{what}", *arguments, "--host", "127.0.0.1"]
        settings = {"DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES": "1", "DASK_DISTRIBUTED__DASHBOARD__LINK": ""}
        with (self._folder / f"{what}.log").open("ab") as log:
            process = subprocess.Popen(
                [*command, "--no-dashboard"], stdout=log, stderr=log, env=os.environ | settings, cwd=ROOT
            )
        self._held.callback(process.wait)
        self._held.callback(process.kill)
        return process


@contextmanager
def crew(folder: Path, *options: str) -> Iterator[Crew]:
    with ExitStack() as held:
        hired = Crew(folder, held)
        for _ in range(2):
            hired.hire(*options)
        yield hired


@pytest.fixture(scope="module")
def two_workers(tmp_path_factory: pytest.TempPathFactory, s3_server: str) -> Iterator[Crew]:
    """They know the server of S3 through the environment."""
    assert s3_server
    with crew(tmp_path_factory.mktemp("cluster"), "--no-nanny") as hired:
        yield hired


@pytest.fixture
def captures(made: Path, bucket: str) -> str:
    """The small archive, in a bucket."""
    place = at(f"{bucket}/captures")
    for file in made.rglob("*"):
        if file.is_file():
            place.put(str(file.relative_to(made)), file.read_bytes())
    return place.url


@pytest.fixture
def small_tasks(monkeypatch: pytest.MonkeyPatch) -> None:
    """A commit a set."""
    for module in (plan, to_do):
        monkeypatch.setattr(module, "TASK_BYTES", 1)


def on(address: str, source: str, store: str, *, done: Callable[[Done], None] = lambda _: None, **rest: Any) -> Summary:
    class Watching(Nobody):
        def done(self, news: Done) -> None:
            done(news)

    return scan([source], store, executor=partial(cluster.run, address=address, **rest), progress=Watching())


def test_captures_and_store_behind_urls_give_the_local_scan(
    two_workers: Crew, captures: str, bucket: str, tmp_path: Path
) -> None:
    here = scan([captures], str(tmp_path / "here"))
    there = on(two_workers.address, captures, f"{bucket}/store")
    assert rows(f"{bucket}/store") == rows(tmp_path / "here")
    assert (there.captures, there.packets, there.flows, there.failed) == (
        here.captures,
        here.packets,
        here.flows,
        here.failed,
    )
    assert at(f"{bucket}/store").names("lock") == []


@pytest.mark.usefixtures("small_tasks")
def test_a_worker_that_is_killed_changes_nothing(captures: str, bucket: str, tmp_path: Path) -> None:
    scan([captures], str(tmp_path / "here"))
    done: list[Done] = []
    with crew(tmp_path, "--no-nanny") as hired:

        def kill(news: Done) -> None:
            done.append(news)
            if len(done) == 1:
                hired.workers[0].send_signal(signal.SIGKILL)

        on(hired.address, captures, f"{bucket}/store", done=kill)
        assert hired.workers[0].wait() == -signal.SIGKILL
    assert len(done) > 1
    assert rows(f"{bucket}/store") == rows(tmp_path / "here")


@pytest.mark.usefixtures("small_tasks")
def test_what_kills_its_workers_is_skipped_and_costs_nothing_else(made: Path, tmp_path: Path) -> None:
    archive = tmp_path / "archive"
    archive.mkdir()
    for file in (made / "single").iterdir():
        (archive / file.name).write_bytes(file.read_bytes())
    scan([str(archive)], str(tmp_path / "here"))
    (archive / "poison.pcap").write_bytes((made / "single" / "a.pcap").read_bytes()[:-1])
    (tmp_path / "poison.py").write_text(POISON)
    with crew(tmp_path, "--preload", str(tmp_path / "poison.py")) as hired:
        summary = on(hired.address, str(archive), str(tmp_path / "there"))
    (skipped,) = summary.skipped
    assert skipped.name == str(archive / "poison.pcap")
    assert "every worker that analysed it died" in skipped.why
    assert rows(tmp_path / "there") == rows(tmp_path / "here")


def test_a_cluster_of_this_machine(made: Path, undisturbed: Path, tmp_path: Path) -> None:
    on(cluster.LOCAL, str(made), str(tmp_path / "there"), jobs=2)
    assert rows(tmp_path / "there") == rows(undisturbed)


@pytest.mark.usefixtures("small_tasks")
def test_breaking_off_takes_back_what_is_not_done(
    two_workers: Crew, made: Path, undisturbed: Path, tmp_path: Path
) -> None:
    def interrupt(_: Done) -> None:
        raise KeyboardInterrupt

    store = str(tmp_path / "store")
    with pytest.raises(KeyboardInterrupt):
        on(two_workers.address, str(made), store, done=interrupt)
    with distributed.Client(two_workers.address, set_as_default=False) as client:
        until = time.monotonic() + 60
        while any(client.processing().values()) and time.monotonic() < until:
            time.sleep(0.05)
        assert not any(client.processing().values())
    on(two_workers.address, str(made), store)
    assert rows(store) == rows(undisturbed)


def test_who_cannot_be_reached_is_one_line(
    tmp_path: Path, made: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    store = tmp_path / "store"
    monkeypatch.setattr(cluster, "_CONNECT_S", 1)
    with pytest.raises(CannotOpen, match="no Dask scheduler can be reached"):
        on("tcp://127.0.0.1:1", str(made), str(store))
    assert main(["scan", str(made), "--store", str(store), "--dask", "nonsense://x"]) == ExitCode.CANNOT_OPEN
    said = capsys.readouterr().err.strip().splitlines()
    assert len(said) == 1
    assert "nonsense://x" in said[0]
    assert Store.open(str(store)).files("flows") == []


def test_relative_names_are_refused_before_anything_is_sent(
    two_workers: Crew, made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(made)
    with pytest.raises(CannotOpen, match="whole paths"):
        on(two_workers.address, "single", str(tmp_path / "store"))


def test_a_worker_that_does_not_see_the_store_is_told(two_workers: Crew, made: Path, tmp_path: Path) -> None:
    with pytest.raises(CannotOpen, match=r"does not see the store memory://.*give a URL"):
        on(two_workers.address, str(made), f"memory:/{tmp_path}/store")


def test_the_command_scans_on_a_cluster(two_workers: Crew, made: Path, tmp_path: Path) -> None:
    arguments = ["scan", str(made), "--store", str(tmp_path / "store"), "--dask", two_workers.address]
    assert main(arguments) == ExitCode.DAMAGED
    assert rows(tmp_path / "store")["flows"]


class Flaky:
    """A client to whose only worker the connection breaks so many times."""

    def __init__(self, breaks: int) -> None:
        self.left = breaks

    def run(self, _seen: object, _url: str, *, on_error: str) -> dict[str, object]:
        assert on_error == "return"
        self.left -= 1
        broken = distributed.comm.CommClosedError("ConnectionResetError: [Errno 104] Connection reset by peer")
        return {"tcp://worker:1": broken if self.left >= 0 else (_core.version(), None)}


@pytest.mark.parametrize(("breaks", "refused"), [(0, False), (1, False), (9, True)])
def test_a_connection_that_breaks_once_is_no_worker_that_cannot_scan(
    breaks: int, refused: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cluster, "_TOLD_S", 0)
    client: Any = Flaky(breaks)
    with pytest.raises(CannotOpen, match=r"it does not answer: .*reset") if refused else nullcontext():
        cluster._check(client, "tcp://scheduler:1", str(tmp_path))
