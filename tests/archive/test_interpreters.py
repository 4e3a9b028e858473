"""Interpreters that are started before workers need them, and rows that workers hand over as they come."""

import gc
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tcpstall.archive.planning import to_do
from tcpstall.archive.scanning import interpreters, local
from tcpstall.archive.scanning.interpreters import Interpreters
from tcpstall.archive.scanning.scan import scan
from tcpstall.archive.storing import duck
from tcpstall.archive.storing.records import Commit, Written, read_entry
from tests.archive.contents import rows
from tests.archive.here import here


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Processes in the order in which they are started."""
    found: list[int] = []
    start = interpreters._started

    def noted(descriptor: int) -> interpreters.Started:
        process, complaints = start(descriptor)
        found.append(process.pid)
        return process, complaints

    monkeypatch.setattr(interpreters, "_started", noted)
    return found


def test_workers_take_what_is_started_and_the_rest_is_ended(
    made: Path, undisturbed: Path, tmp_path: Path, started: list[int]
) -> None:
    prepared = Interpreters()
    prepared.prepare(3)
    prepared.prepare(2)
    assert len(started) == 3
    scan([str(made)], str(tmp_path / "store"), jobs=1, interpreters=prepared)
    assert len(started) == 3
    assert not any(Path(f"/proc/{pid}").exists() for pid in started)
    assert rows(tmp_path / "store") == rows(undisturbed)


def test_one_that_ended_before_it_was_taken_leaves_its_task_to_others(
    made: Path, undisturbed: Path, tmp_path: Path, started: list[int]
) -> None:
    prepared = Interpreters()
    prepared.prepare(1)
    prepared._started[0].process.kill()
    prepared._started[0].process.wait()
    scan([str(made)], str(tmp_path / "store"), jobs=2, interpreters=prepared)
    assert len(started) > 1
    assert rows(tmp_path / "store") == rows(undisturbed)


def test_a_scan_that_cannot_begin_ends_them(tmp_path: Path, started: list[int]) -> None:
    prepared = Interpreters()
    prepared.prepare(1)
    with pytest.raises(Exception, match="no such file"):
        scan([str(tmp_path / "nothing")], str(tmp_path / "store"), interpreters=prepared)
    assert not Path(f"/proc/{started[0]}").exists()


@pytest.mark.parametrize(
    ("workers", "files", "size", "wanted"),
    [
        (1, 10_000, 30_000_000, 1),
        (2, 10_000, 30_000_000, 2),
        (8, 3, 30_000_000, 3),
        (8, 900, 2_700_000, 2),
        (2, 0, 0, 1),
    ],
)
def test_as_many_are_started_as_shorten_the_scan(workers: int, files: int, size: int, wanted: int) -> None:
    assert to_do.worth(workers, files, size) == wanted


def test_a_scan_leaves_nothing_to_the_search_for_cycles(
    made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The command searches seldom, and a DuckDB has threads and memory: `--watch` makes one each round."""
    there: list[Callable[[], object]] = []
    connect = duck.alone

    def noted(*arguments: Any) -> Any:
        database = connect(*arguments)
        there.append(weakref.ref(arguments[0]))
        return database

    monkeypatch.setattr(duck, "alone", noted)
    gc.collect()
    gc.disable()
    try:
        scan([str(made / "single")], str(tmp_path / "store"), executor=here)
        assert there
        assert [place() for place in there] == [None] * len(there)
    finally:
        gc.enable()


def test_an_entry_of_the_journal_takes_the_text_of_rows_as_it_is() -> None:
    captures = [{"name": f"ü{number}.pcap", "scan": None, "packets": number} for number in range(5)]
    pieces = (captures[:2], captures[2:2], captures[2:])
    written = Written.of(local._written(piece) for piece in pieces)
    assert list(written) == captures
    assert Commit(captures=written).encoded() == Commit(captures=captures).encoded()
    assert list(read_entry(Commit(captures=written).encoded()).captures) == captures
    assert Commit(captures=Written.of([])) == Commit()
    assert Commit(captures=Written.of([])).encoded() == Commit().encoded()
