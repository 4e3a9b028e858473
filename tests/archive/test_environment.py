"""Failures that no capture is to blame for make no row: they are reported, and the next scan tries again."""

import ctypes
import errno
import gzip
import io
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tcpstall.archive.captures.open_members import Opener
from tcpstall.archive.scanning import task
from tcpstall.archive.scanning.progress import Summary
from tcpstall.archive.scanning.scan import scan
from tcpstall.cli import main
from tcpstall.errors import CannotOpen, ExitCode
from tests.archive.conftest import single
from tests.archive.contents import rows
from tests.archive.here import here
from tests.archive.trees import tar
from tests.cli.conftest import environment

_PR_CAPBSET_DROP = 24
_CAP_DAC_OVERRIDE, _CAP_DAC_READ_SEARCH = 1, 2

REFUSALS = {
    "permission": PermissionError(errno.EACCES, "Permission denied"),
    "a share that is away": OSError(errno.ESTALE, "Stale file handle"),
    "a disk": OSError(errno.EIO, "Input/output error"),
    "descriptors": OSError(errno.EMFILE, "Too many open files"),
    "memory": MemoryError(),
    "a library": ImportError("no module named s3fs"),
}

refusals = pytest.mark.parametrize("refusal", REFUSALS.values(), ids=list(REFUSALS))


class Refusing(io.BytesIO):
    """Gives the beginning of a file, then an error."""

    def __init__(self, content: bytes, refusal: Exception, beginning: int) -> None:
        super().__init__(content)
        self._refusal = refusal
        self._beginning = beginning

    def read(self, size: int | None = -1, /) -> bytes:
        if self.tell() >= self._beginning:
            raise self._refusal
        return super().read(self._beginning)


@pytest.fixture
def captures(tmp_path: Path) -> Path:
    folder = tmp_path / "captures"
    folder.mkdir()
    for number, name in enumerate(("good", "bad")):
        (folder / f"{name}.pcap").write_bytes(single(number * 86_400, packets=200))
    return folder


@pytest.fixture
def store(tmp_path: Path) -> Path:
    return tmp_path / "store"


def scanned(captures: Path, store: Path) -> Summary:
    return scan([str(captures)], str(store), executor=here)


def expect_one_skipped(summary: Summary, captures: Path, store: Path) -> None:
    """The other capture is in, and the next scan takes in this one."""
    assert [Path(each.name).name for each in summary.skipped] == ["bad.pcap"]
    assert "\n" not in summary.skipped[0].why
    assert (summary.captures, summary.failed) == (1, 0)
    assert [Path(str(row[3])).name for row in rows(store)["captures"]] == ["good.pcap"]
    assert rows(store)["errors"] == []
    again = scanned(captures, store)
    assert (again.captures, again.known, again.skipped) == (1, 1, [])
    assert len(rows(store)["captures"]) == 2


@refusals
@pytest.mark.parametrize("beginning", [0, 4_000], ids=["opened", "in the middle"])
def test_a_capture_that_the_system_refuses_to_a_worker_is_skipped(
    captures: Path, store: Path, monkeypatch: pytest.MonkeyPatch, refusal: Exception, beginning: int
) -> None:
    def opened(name: str) -> io.BytesIO | None:
        if not name.endswith("bad.pcap"):
            return None
        if not beginning:
            raise refusal
        return Refusing(Path(name).read_bytes(), refusal, beginning)

    with monkeypatch.context() as patch:
        patch.setattr(task, "opened", opened)
        summary = scanned(captures, store)
    expect_one_skipped(summary, captures, store)


@refusals
@pytest.mark.parametrize("beginning", [0, 10], ids=["at once", "within the header"])
def test_a_capture_that_cannot_be_looked_into_is_skipped(
    captures: Path, store: Path, monkeypatch: pytest.MonkeyPatch, refusal: Exception, beginning: int
) -> None:
    plain = Opener.beginning

    def begun(self: Opener, name: str) -> Any:
        if name.endswith("bad.pcap"):
            return Refusing(Path(name).read_bytes(), refusal, beginning)
        return plain(self, name)

    with monkeypatch.context() as patch:
        patch.setattr(Opener, "beginning", begun)
        summary = scanned(captures, store)
    expect_one_skipped(summary, captures, store)


def test_what_begins_damaged_is_damaged_where_its_file_can_be_read(captures: Path, store: Path) -> None:
    (captures / "bad.pcap").write_bytes(gzip.compress(single(0, packets=60))[:15])
    summary = scanned(captures, store)
    assert (summary.failed, summary.skipped) == (1, [])
    assert [row[4] for row in rows(store)["errors"]] == [ExitCode.DAMAGED]


@pytest.mark.parametrize("harm", ["its file", "its content"])
def test_a_member_of_an_archive_is_to_blame_for_its_content_and_not_for_its_file(
    captures: Path, store: Path, monkeypatch: pytest.MonkeyPatch, harm: str
) -> None:
    """A compressed archive is read forward: its damage and its disk's fault come at the same place."""
    path = captures / "old.tgz"
    packed = gzip.compress(tar({"a.pcap": single(172_800, packets=2_000)}), 0)
    path.write_bytes(packed)
    plain = Opener._plain
    scanned(captures, store)
    shutil.rmtree(store)

    def harmed(self: Opener, name: str) -> Any:
        if not name.endswith(".tgz"):
            return plain(self, name)
        if harm == "its file":
            return Refusing(packed, REFUSALS["a disk"], 70_000)
        return io.BytesIO(packed[:70_000] + bytes(len(packed) - 70_000))

    with monkeypatch.context() as patch:
        true = task.scan_task

        def late(tasks: Any, url: str, options: Any, done: Callable[[Any], None], told: Any) -> None:
            patch.setattr(Opener, "_plain", harmed)
            os.utime(path)  # so that it is opened anew
            for task in tasks:
                done(true(task, url, options, told))

        summary = scan([str(captures)], str(store), executor=late)
    assert len(summary.skipped) == (harm == "its file")
    assert summary.failed == len(rows(store)["errors"]) == (harm == "its content")


def test_an_archive_whose_beginning_cannot_be_read_is_not_damaged(
    captures: Path, store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    packed = gzip.compress(tar({"a.pcap": single(172_800, packets=60)}))
    (captures / "bad.pcap").unlink()
    (captures / "old.tgz").write_bytes(packed)
    plain = Opener._plain

    def failing(self: Opener, name: str) -> Any:
        return Refusing(packed, REFUSALS["a disk"], 0) if name.endswith(".tgz") else plain(self, name)

    with monkeypatch.context() as patch:
        patch.setattr(Opener, "_plain", failing)
        summary = scanned(captures, store)
    assert ([Path(each.name).name for each in summary.skipped], summary.failed) == (["old.tgz"], 0)
    assert scanned(captures, store).captures == 1


@pytest.mark.parametrize(("code", "told"), [(errno.EACCES, 1), (errno.ESTALE, 1), (errno.ENOENT, 0), (errno.ELOOP, 0)])
def test_a_link_is_told_where_what_it_leads_to_is_refused_and_not_where_it_is_gone(
    captures: Path, store: Path, monkeypatch: pytest.MonkeyPatch, code: int, told: int
) -> None:
    link = captures / "link.pcap"
    link.symlink_to("/elsewhere/far.pcap")
    stat = Path.stat

    def refused(self: Path, **options: Any) -> os.stat_result:
        if self == link:
            raise OSError(code, os.strerror(code))
        return stat(self, **options)

    monkeypatch.setattr(Path, "stat", refused)
    summary = scanned(captures, store)
    assert (summary.captures, len(summary.skipped)) == (2, told)
    assert rows(store)["errors"] == []


def test_a_share_that_is_away_when_its_captures_are_looked_into_ends_the_scan(
    captures: Path, store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def gone(_: Opener, name: str) -> None:
        shutil.rmtree(captures, ignore_errors=True)
        raise CannotOpen(f"cannot open {name}: Stale file handle")

    monkeypatch.setattr(Opener, "beginning", gone)
    with pytest.raises(CannotOpen, match="has vanished"):
        scanned(captures, store)
    assert rows(store)["captures"] == []


def test_a_defect_is_the_captures_row(captures: Path, store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(task._Scan, "_keep", lambda *_: next(iter(())))
        summary = scanned(captures, store)
    assert (summary.failed, summary.skipped) == (2, [])
    assert {row[4] for row in rows(store)["errors"]} == {ExitCode.DEFECT}


def bound_by_permissions() -> None:
    """Takes root's right to read everything from a process that is about to begin (capabilities(7), prctl(2))."""
    for capability in (_CAP_DAC_OVERRIDE, _CAP_DAC_READ_SEARCH):
        ctypes.CDLL(None).prctl(_PR_CAPBSET_DROP, capability, 0, 0, 0)


def test_the_command_skips_what_it_may_not_read_with_a_line_and_exit_code_3(
    captures: Path, store: Path, tmp_path: Path
) -> None:
    (captures / "closed").mkdir()
    (captures / "closed" / "more.pcap").write_bytes(single(2 * 86_400, packets=60))
    log, shut = tmp_path / "log", [captures / "bad.pcap", captures / "closed"]
    command = [sys.executable, "-m", "tcpstall", "scan", str(captures), "--store", str(store), "--jobs", "1"]

    def run() -> "subprocess.CompletedProcess[str]":
        return subprocess.run(
            [*command, "--log", str(log)],
            env=environment(),
            capture_output=True,
            text=True,
            check=False,
            preexec_fn=bound_by_permissions,
        )

    for each in shut:
        each.chmod(0)
    first = run()
    for each in shut:
        each.chmod(0o755)
    assert first.returncode == ExitCode.CANNOT_OPEN, first.stderr
    said = first.stderr.splitlines()
    assert ["ermission denied" in line and line.endswith(" (skipped)") for line in said] == [True, True, False]
    assert all(str(each) in first.stderr for each in shut)
    assert log.read_text().count('"event": "skipped"') == 2
    assert (len(rows(store)["captures"]), rows(store)["errors"]) == (1, [])
    second = run()
    assert (second.returncode, len(rows(store)["captures"])) == (ExitCode.COMPLETE, 3), second.stderr


def test_many_that_are_skipped_have_some_lines(
    tmp_path: Path, store: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "many"
    folder.mkdir()
    for number in range(25):
        (folder / f"{number}.pcap").write_bytes(single(number, packets=20))

    def refused(_: Opener, name: str) -> None:
        raise CannotOpen(f"cannot open {name}: Permission denied")

    monkeypatch.setattr(Opener, "beginning", refused)
    assert main(["scan", str(folder), "--store", str(store), "--jobs", "1"]) == ExitCode.CANNOT_OPEN
    said = capsys.readouterr().err.splitlines()
    assert len(said) == 12
    assert said[10] == "tcpstall: 15 more captures skipped"
