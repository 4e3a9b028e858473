"""A long scan: its coordinator's memory is bounded, and nothing that workers have written is lost by that."""

from collections.abc import Callable, Iterable
from itertools import islice
from pathlib import Path

import pytest

from tcpstall.archive.maintenance import upkeep
from tcpstall.archive.planning.plan import Task
from tcpstall.archive.scanning.scan import scan
from tcpstall.archive.scanning.task import Done, Options, scan_task
from tcpstall.archive.storing.store import Commit, Store
from tests.archive.conftest import single
from tests.archive.contents import rows
from tests.archive.here import here

CAPTURES = 9
LIMIT = 2

pytestmark = pytest.mark.usefixtures("small_tasks")


@pytest.fixture
def captures(tmp_path: Path) -> Path:
    """Captures of one connection set each: a commit for each."""
    folder = tmp_path / "several"
    folder.mkdir()
    for number in range(CAPTURES):
        (folder / f"{'abcdefghi'[number]}.pcap").write_bytes(single(number * 3_600, packets=26))
    return folder


@pytest.fixture
def held(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Rows of captures in memory after each commit, of which few are allowed."""
    monkeypatch.setattr(upkeep, "_RECENT", LIMIT)
    held: list[int] = []
    commit = Store.commit

    def counting(store: Store, what: Commit) -> None:
        commit(store, what)
        held.append(len(store.recent("captures")))

    monkeypatch.setattr(Store, "commit", counting)
    return held


def all_read_before_the_first_commit(
    tasks: Iterable[Task], url: str, options: Options, done: Callable[[Done], None], told: Callable[[int], None]
) -> None:
    """As if a worker of each task had just written its parts when the first commit comes."""
    for news in [scan_task(task, url, options, told) for task in tasks]:
        done(news)


def test_rows_of_new_captures_leave_memory_amid_the_scan(captures: Path, tmp_path: Path, held: list[int]) -> None:
    scan([str(captures)], str(tmp_path / "store"), executor=here)
    assert len(held) >= CAPTURES
    assert max(held) == LIMIT


def test_a_checkpoint_amid_the_scan_deletes_no_part_that_is_not_committed_yet(
    captures: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scan([str(captures)], str(tmp_path / "undisturbed"), executor=here)
    monkeypatch.setattr(upkeep, "_RECENT", LIMIT)
    store = tmp_path / "store"
    scan([str(captures)], str(store), executor=all_read_before_the_first_commit)
    assert rows(store) == rows(tmp_path / "undisturbed")
    opened = Store.open(str(store))
    assert not opened.faults(opened.all_parts(), thoroughly=True)


@pytest.mark.usefixtures("held")
def test_a_scan_that_ends_behind_a_checkpoint_amid_it_is_gone_on_with(captures: Path, tmp_path: Path) -> None:
    class Enough(Exception):
        pass

    def ending(
        tasks: Iterable[Task], url: str, options: Options, done: Callable[[Done], None], told: Callable[[int], None]
    ) -> None:
        here(islice(tasks, CAPTURES // 2), url, options, done, told)
        raise Enough

    store = tmp_path / "store"
    with pytest.raises(Enough):
        scan([str(captures)], str(store), executor=ending)
    assert len(Store.open(str(store)).parts("captures")) == (CAPTURES // 2 - 1) // LIMIT
    scan([str(captures)], str(store), executor=here)
    scan([str(captures)], str(tmp_path / "undisturbed"), executor=here)
    assert rows(store) == rows(tmp_path / "undisturbed")
