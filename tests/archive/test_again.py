"""Captures read again: their rows are replaced at once, or stay as they are."""

import os
from pathlib import Path

import pytest

from tcpstall import _core
from tcpstall.archive.planning.repeat import Wanted, always, never, version, written_before
from tcpstall.archive.scanning import task
from tcpstall.archive.scanning.progress import Nobody, Progress, Summary
from tcpstall.archive.scanning.scan import scan
from tcpstall.archive.scanning.task import Done
from tcpstall.cli import main
from tcpstall.errors import CannotOpen, ExitCode
from tests.archive.conftest import rotated, single
from tests.archive.contents import rows
from tests.archive.here import here
from tests.archive.test_archives import without_scans
from tests.archive.test_captures import asked
from tests.archive.test_environment import Refusing

WRITTEN = "SELECT name, tcpstall FROM captures ORDER BY name"


@pytest.fixture
def captures(tmp_path: Path) -> Path:
    """Two captures alone, and one that was rotated into files."""
    folder = tmp_path / "captures"
    (folder / "ring").mkdir(parents=True)
    for number, name in enumerate(("a.pcap", "b.pcap")):
        (folder / name).write_bytes(single(number * 86_400, packets=200))
    for number, content in enumerate(rotated(3 * 86_400)[:3]):
        (folder / "ring" / f"eth0.pcap{number}").write_bytes(content)
    return folder


@pytest.fixture
def store(captures: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Store of those captures, written by version 0.0.9."""
    with monkeypatch.context() as patch:
        patch.setattr(_core, "version", lambda: "0.0.9")
        scanned(captures, tmp_path / "store", never)
    return tmp_path / "store"


def scanned(captures: Path, store: Path, wanted: Wanted = always, progress: Progress | None = None) -> Summary:
    return scan([str(captures)], str(store), wanted=wanted, executor=here, progress=progress)


def versions(store: Path) -> dict[str, str]:
    return {Path(str(name)).name: str(by) for name, by in asked(store, WRITTEN)}


def test_all_rows_are_replaced_and_none_is_there_twice(captures: Path, store: Path) -> None:
    before = without_scans(rows(store))
    for _ in range(2):
        summary = scanned(captures, store)
        assert (summary.captures, summary.known, summary.kept, summary.skipped) == (5, 0, 0, [])
        assert without_scans(rows(store)) == before
        assert len(rows(store)["captures"]) == 5
        assert set(versions(store).values()) == {_core.version()}
    assert main(["store", "check", "--store", str(store)]) == ExitCode.COMPLETE


def test_what_was_touched_or_moved_is_read_again_too(captures: Path, store: Path) -> None:
    os.utime(captures / "a.pcap", (1, 1))
    (captures / "b.pcap").rename(captures / "c.pcap")
    assert scanned(captures, store).captures >= 5
    assert {name: by for name, by in versions(store).items() if "eth0" not in name} == dict.fromkeys(
        ("a.pcap", "c.pcap"), _core.version()
    )


def test_only_what_is_under_the_given_paths_is_read_again(captures: Path, store: Path) -> None:
    assert scanned(captures / "a.pcap", store).captures == 1
    assert [name for name, by in versions(store).items() if by == _core.version()] == ["a.pcap"]


def test_rows_stay_as_they_are_where_a_file_of_the_set_is_gone(captures: Path, store: Path) -> None:
    before = rows(store)
    (captures / "ring" / "eth0.pcap1").unlink()
    summary = scanned(captures / "ring", store)
    assert (summary.captures, summary.known, summary.kept) == (0, 2, 2)
    assert rows(store) == before


@pytest.mark.parametrize("at", [0, 30_000], ids=["opened", "in the middle"])
def test_rows_stay_as_they_are_where_a_file_cannot_be_read_this_time(
    captures: Path, store: Path, monkeypatch: pytest.MonkeyPatch, at: int
) -> None:
    before = rows(store)

    def opened(name: str) -> Refusing | None:
        if not name.endswith(("a.pcap", "eth0.pcap1")):
            return None
        if not at:
            raise CannotOpen(f"cannot open {name}: Stale file handle")
        return Refusing(Path(name).read_bytes(), OSError(5, "Input/output error"), min(at, 4_000))

    with monkeypatch.context() as patch:
        patch.setattr(task, "opened", opened)
        summary = scanned(captures, store)
    assert {Path(each.name).name for each in summary.skipped} == {"a.pcap", "eth0.pcap0", "eth0.pcap1", "eth0.pcap2"}
    after = rows(store)
    for table in ("flows", "stalls", "exchanges", "findings"):
        ours = [row for row in after[table] if not str(row[2]).endswith("b.pcap")]
        assert ours == [row for row in before[table] if not str(row[2]).endswith("b.pcap")], table
    assert after["errors"] == []
    assert [name for name, by in versions(store).items() if by == _core.version()] == ["b.pcap"]


def test_a_scan_that_ends_after_any_commit_has_lost_no_rows(captures: Path, store: Path) -> None:
    class Enough(Exception):
        pass

    class Ending(Nobody):
        def done(self, done: Done) -> None:
            raise Enough

    before = without_scans(rows(store))
    with pytest.raises(Enough):
        scanned(captures, store, progress=Ending())
    assert without_scans(rows(store)) == before
    scanned(captures, store, never)
    assert without_scans(rows(store)) == before


@pytest.mark.parametrize(
    ("written", "again"), [("0.2.0", 0), ("0.1.9", 1), ("0.1", 1), ("0.2.0-rc.1", 1), ("0.10.0", 0)]
)
def test_captures_of_older_versions_alone_are_read_again(
    captures: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, written: str, again: int
) -> None:
    other = tmp_path / "other"
    with monkeypatch.context() as patch:
        patch.setattr(_core, "version", lambda: written)
        scanned(captures / "a.pcap", other, never)
    assert scanned(captures / "a.pcap", other, written_before("0.2")).captures == again


def test_what_was_given_up_is_tried_again(captures: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    other = tmp_path / "other"
    with monkeypatch.context() as patch:
        patch.setattr(task._Scan, "_keep", lambda *_: next(iter(())))
        assert scanned(captures / "a.pcap", other, never).failed == 1
    assert scanned(captures / "a.pcap", other, never).captures == 0
    assert scanned(captures / "a.pcap", other).captures == 1
    assert rows(other)["errors"] == []


@pytest.mark.parametrize(
    ("options", "code", "said"),
    [
        (["--again"], ExitCode.COMPLETE, "5 captures scanned"),
        (["--again", "--older-than-version", "0.0.9"], ExitCode.COMPLETE, "0 captures scanned"),
        (["--again", "--older-than-version", "0.0.10"], ExitCode.COMPLETE, "5 captures scanned"),
        (["--again", "--older-than-version", "new"], ExitCode.USAGE, "'new' is no version: write one such as 0.2"),
        (["--older-than-version", "0.2"], ExitCode.USAGE, "narrows --again: give both"),
        (["--again", "--watch"], ExitCode.USAGE, "give one of them"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_the_command_reads_again_what_is_asked_for(
    captures: Path, store: Path, options: list[str], code: int, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["scan", str(captures), "--store", str(store), "--jobs", "1", *options]) == code
    assert said in capsys.readouterr().err


def test_versions_are_three_numbers() -> None:
    assert [version(text) for text in ("1", "1.2", "1.2.3", "", "1.2.3.4", "v1", "1.2-rc")] == [
        (1, 0, 0), (1, 2, 0), (1, 2, 3), None, None, None, None,
    ]  # fmt: skip
