"""A scan that is killed, or loses its disk or its captures: the next one comes to what an undisturbed one has."""

import os
import random
import shutil
import signal
import subprocess
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

import pytest

from tcpstall.archive.scanning import interpreters
from tcpstall.archive.scanning.progress import Nobody
from tcpstall.archive.scanning.scan import scan
from tcpstall.archive.scanning.task import Done
from tcpstall.archive.storing import database
from tcpstall.archive.storing.store import Store
from tcpstall.errors import CannotOpen, CannotWrite
from tests.archive.conftest import command
from tests.archive.contents import rows
from tests.archive.here import here

KILLS = 10


def children() -> list[int]:
    """The processes that this one has started and that still run, but for what multiprocessing keeps beside its own."""
    started = Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()
    return [int(child) for child in started if b"resource_tracker" not in Path(f"/proc/{child}/cmdline").read_bytes()]


def test_a_scan_killed_ten_times_at_random_moments_is_resumed(made: Path, undisturbed: Path, tmp_path: Path) -> None:
    store = tmp_path / "store"
    moments = random.Random(7)
    for _ in range(KILLS):
        running = command(made, store)
        time.sleep(moments.uniform(0.05, 1.5))
        os.killpg(running.pid, signal.SIGKILL)
        running.communicate()
        if (store / "store.json").exists():
            rows(store)
    scan([str(made)], str(store))
    assert rows(store) == rows(undisturbed)


@pytest.mark.usefixtures("small_tasks")
def test_a_scan_that_ends_after_any_commit_is_resumed(made: Path, undisturbed: Path, tmp_path: Path) -> None:
    """It ends at each of its commits in turn, and each next scan goes on."""

    class Enough(Exception):
        pass

    class Ending(Nobody):
        def done(self, done: Done) -> None:
            raise Enough

    store = str(tmp_path / "store")
    for _ in range(100):
        try:
            scan([str(made)], store, jobs=1, progress=Ending())
        except Enough:
            rows(store)
        else:
            break
    assert rows(store) == rows(undisturbed)


@pytest.mark.usefixtures("small_tasks")
def test_a_worker_that_dies_is_replaced(made: Path, undisturbed: Path, tmp_path: Path) -> None:
    killed: list[int] = []

    class Killing(Nobody):
        def done(self, done: Done) -> None:
            if not killed and (workers := children()):
                os.kill(workers[0], signal.SIGKILL)
                killed.append(1)

    scan([str(made)], str(tmp_path / "store"), jobs=2, progress=Killing())
    assert killed
    assert rows(tmp_path / "store") == rows(undisturbed)


@pytest.mark.usefixtures("small_tasks")
def test_what_a_worker_that_never_started_had_to_do_is_left_to_others(
    made: Path, undisturbed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    started, hired = interpreters._started, []

    def start(descriptor: int) -> tuple[subprocess.Popen[bytes], IO[bytes]]:
        process, complaints = started(descriptor)
        hired.append(process)
        if len(hired) == 2:
            process.kill()
        return process, complaints

    monkeypatch.setattr(interpreters, "_started", start)
    scan([str(made)], str(tmp_path / "store"), jobs=2)
    assert len(hired) == 2
    assert rows(tmp_path / "store") == rows(undisturbed)


def test_ctrl_c_leaves_a_store_that_can_be_gone_on_with(made: Path, undisturbed: Path, tmp_path: Path) -> None:
    store = tmp_path / "store"
    running = command(made, store)
    while not (store / "store.json").exists() and running.poll() is None:
        time.sleep(0.01)
    os.killpg(running.pid, signal.SIGINT)
    _, said = running.communicate()
    assert b"Traceback" not in said
    scan([str(made)], str(store), executor=here)
    assert rows(store) == rows(undisturbed)


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=1m", "none", str(disk)]
    if shutil.which("mount") is None or subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("a small file system can be mounted by root only")
    yield disk
    subprocess.run(["umount", "-l", str(disk)], check=True)


def test_a_full_disk_is_told_and_the_scan_can_be_gone_on_with(made: Path, undisturbed: Path, small_disk: Path) -> None:
    store = small_disk / "store"
    filler = small_disk / "filler"
    filler.write_bytes(bytes(950_000))
    with pytest.raises(CannotWrite, match="cannot write"):
        scan([str(made)], str(store))
    rows(store)
    filler.unlink()
    subprocess.run(["mount", "-o", "remount,size=64m", str(small_disk)], check=True)
    scan([str(made)], str(store), executor=here)
    assert rows(store) == rows(undisturbed)


@pytest.mark.usefixtures("small_tasks")
def test_a_share_that_vanishes_is_told_and_its_files_are_no_errors(archive: Path, tmp_path: Path) -> None:
    away = archive.with_name("away")

    class Vanishing(Nobody):
        def done(self, done: Done) -> None:
            if archive.exists():
                archive.rename(away)

    store = str(tmp_path / "store")
    with pytest.raises(CannotOpen, match="vanished"):
        scan([str(archive)], store, jobs=1, progress=Vanishing())
    assert not [row for row in rows(store)["errors"] if row[4] == 3]
    away.rename(archive)
    scan([str(archive)], store, executor=here)
    other = tmp_path / "other"
    scan([str(archive)], str(other), executor=here)
    assert rows(store) == rows(other)


def test_a_signal_while_the_views_are_made_is_no_fault_of_the_store(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another thread makes them; the signal ends the wait for it, and the database is still its own."""
    begun = threading.Event()
    join = threading.Thread.join

    def takes_long(connection: Any, *_: object) -> None:
        begun.set()
        connection.execute("SELECT count(*) FROM range(1_000_000_000)")

    def signalled(*_: object) -> None:
        monkeypatch.setattr(threading.Thread, "join", join)
        raise KeyboardInterrupt

    def made(store: Store) -> None:
        with database.database_beside(store):
            begun.wait()
            monkeypatch.setattr(threading.Thread, "join", signalled)

    monkeypatch.setattr(database, "make_view", takes_long)
    before = set(threading.enumerate())
    with Store.writing(str(tmp_path / "store")) as store:
        with pytest.raises(KeyboardInterrupt):
            made(store)
        assert set(threading.enumerate()) <= before
