"""A store: what counts is what was committed, whenever its writer was killed."""

import json
import multiprocessing
import uuid
from collections.abc import Callable
from pathlib import Path

import pytest

from tcpstall.archive.storing.journal import read_state
from tcpstall.archive.storing.storage import LocalPlace
from tcpstall.archive.storing.store import Commit, Part, Store
from tcpstall.errors import CannotOpen, CannotWrite, StoreInUse, TcpstallError


@pytest.fixture
def url(tmp_path: Path) -> str:
    return str(tmp_path / "store")


def part(number: int, table: str = "flows") -> Part:
    day = "" if table == "captures" else "day=2026-11-21/"
    return Part(table, f"{table}/{day}{number}.parquet", rows=1, bytes=4, from_ns=0, to_ns=9)


def put(store: Store, *parts: Part) -> None:
    for each in parts:
        store.place.put(each.name, b"rows")


def test_what_was_committed_is_there_when_it_is_opened_again(url: str) -> None:
    with Store.writing(url) as store:
        put(store, part(1), part(2))
        store.commit(Commit(parts=[part(1)], captures=[{"name": "a.pcap"}], dropped=["old"], continued=["grown"]))
        store.commit(Commit(parts=[part(2)], removed=[part(1).name]))
    again = Store.open(url)
    assert again.parts("flows") == [part(2)]
    assert again.files("flows") == [str(Path(url) / part(2).name)]
    assert again.recent("captures") == [{"name": "a.pcap"}]
    assert again.dropped == {"old"}
    assert again.continued == {"grown"}


def test_a_checkpoint_says_the_same_and_empties_the_journal(url: str) -> None:
    with Store.writing(url) as store:
        put(store, part(1), part(1, "captures"))
        store.commit(Commit(parts=[part(1)], captures=[{"name": "a.pcap"}]))
        store.checkpoint(part(1, "captures"))
        assert store.place.names("journal") == []
        store.commit(Commit(captures=[{"name": "b.pcap"}]))
    again = Store.open(url)
    assert again.parts("flows") == [part(1)]
    assert again.parts("captures") == [part(1, "captures")]
    assert again.recent("captures") == [{"name": "b.pcap"}]


def test_a_writer_killed_between_checkpoint_and_clearing_the_journal_commits_nothing_twice(url: str) -> None:
    with Store.writing(url) as store:
        store.commit(Commit(captures=[{"name": "a.pcap"}]))
        entry = store.place.read("journal/000000000001.json")
        assert entry is not None
        store.checkpoint(None)
        store.place.put("journal/000000000001.json", entry)
    assert len(Store.open(url).recent("captures")) == 1
    with Store.writing(url) as store:
        assert store.place.names("journal") == []


def test_what_a_killed_writer_made_is_swept_by_the_next_one_and_nothing_else(url: str) -> None:
    made = f"flows/day=2026-11-21/{uuid.uuid4().hex}.parquet"
    strangers = ["flows/day=2026-11-21/notes.txt", "flows/day=2026-11-21/kept.parquet", "unfinished/thesis.txt"]
    with Store.writing(url) as store:
        put(store, part(1))
        store.commit(Commit(parts=[part(1)]))
        for name in (made, *strangers):
            store.place.put(name, b"rows")
    left = [f"unfinished/{uuid.uuid4().hex}{ending}" for ending in ("", ".parquet", ".duckdb")]
    left.append(f"unfinished/spilled-{uuid.uuid4().hex}/duckdb_temp_storage_DEFAULT-0.tmp")
    for name in left:
        (Path(url) / name).parent.mkdir(exist_ok=True)
        (Path(url) / name).write_bytes(b"ro")
    with Store.writing(url) as store:
        assert store.place.names("flows") == sorted([part(1).name, *strangers[:2]])
        assert store.place.names("unfinished") == strangers[2:]


def test_a_journal_with_a_hole_is_told_rather_than_skipped(url: str) -> None:
    with Store.writing(url) as store:
        for name in "abc":
            store.commit(Commit(captures=[{"name": name}]))
        store.place.remove(["journal/000000000002.json"])
    with pytest.raises(TcpstallError, match="lacks entry 2"):
        Store.open(url)


class Raced(LocalPlace):
    """A place in which a writer does something while a reader reads: before, amid or after each of its steps."""

    def __init__(self, path: Path, steps: dict[int, Callable[[], None]]) -> None:
        super().__init__(path)
        self._steps = steps
        self._done = 0

    def read(self, name: str) -> bytes | None:
        self._step()
        return super().read(name)

    def names(self, folder: str) -> list[str]:
        self._step()
        return super().names(folder)

    def _step(self) -> None:
        self._steps.pop(self._done, lambda: None)()
        self._done += 1


@pytest.mark.parametrize("first", range(8))
@pytest.mark.parametrize("second", range(8))
def test_whoever_reads_beside_a_writer_finds_what_was_committed_before(url: str, first: int, second: int) -> None:
    """Entries are written and absorbed between any two of a reader's steps."""
    with Store.writing(url) as store:
        for number in range(3):
            store.commit(Commit(captures=[{"name": f"{number}.pcap"}]))

        def absorbs() -> None:
            store.checkpoint(None)
            store.commit(Commit(captures=[{"name": "after.pcap"}]))

        def commits() -> None:
            store.commit(Commit(captures=[{"name": "amid.pcap"}]))

        steps = {first: commits, second: absorbs}
        state = read_state(Raced(Path(url), steps))
    found = [row["name"] for row in state.captures]
    assert found[:3] == ["0.pcap", "1.pcap", "2.pcap"]
    assert set(found[3:]) <= {"amid.pcap", "after.pcap"}
    assert len(found) == len(set(found))


@pytest.mark.parametrize("content", [b"{", b"[]", b'{"parts": 3}'])
def test_a_damaged_journal_is_told(url: str, content: bytes) -> None:
    with Store.writing(url) as store:
        store.place.put("journal/000000000001.json", content)
    with pytest.raises(TcpstallError, match=r"journal/000000000001\.json in the store is damaged"):
        Store.open(url)


def test_where_there_is_no_store_nothing_is_made(url: str) -> None:
    with pytest.raises(CannotOpen, match="no store is here"):
        Store.open(url)
    assert not Path(url).exists()


def test_a_folder_with_other_files_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").touch()
    with pytest.raises(CannotOpen, match="other files"), Store.writing(str(tmp_path)):
        pass
    assert [each.name for each in tmp_path.iterdir()] == ["thesis.tex"]


def test_a_store_of_a_newer_version_is_refused(url: str) -> None:
    with Store.writing(url):
        pass
    (Path(url) / "store.json").write_text(json.dumps({"schema": "tcpstall.store/99"}))
    with pytest.raises(CannotOpen, match="use a newer tcpstall"):
        Store.open(url)
    with pytest.raises(CannotOpen, match="use a newer tcpstall"), Store.writing(url):
        pass


def test_there_is_one_writer_at_a_time_and_readers_meanwhile(url: str) -> None:
    with Store.writing(url) as store:
        store.commit(Commit(captures=[{"name": "a.pcap"}]))
        with pytest.raises(StoreInUse, match="another scan"), Store.writing(url):
            pass
        assert len(Store.open(url).recent("captures")) == 1
    with Store.writing(url):
        pass


def test_a_lock_does_not_outlive_a_writer_that_is_killed(url: str) -> None:
    context = multiprocessing.get_context("spawn")
    held = context.Event()
    writer = context.Process(target=_hold, args=(url, held))
    writer.start()
    assert held.wait(60)
    with pytest.raises(StoreInUse), Store.writing(url):
        pass
    writer.kill()
    writer.join()
    with Store.writing(url):
        pass


def _hold(url: str, held: "multiprocessing.synchronize.Event") -> None:
    with Store.writing(url):
        held.set()
        multiprocessing.Event().wait()


def test_a_file_is_replaced_whole_or_not_at_all(tmp_path: Path) -> None:
    place = LocalPlace(tmp_path / "store")
    place.put("catalog.json", b"old")
    (tmp_path / "store" / "catalog.json").chmod(0o400)
    place.put("catalog.json", b"new")
    assert place.read("catalog.json") == b"new"
    blocked = LocalPlace(tmp_path / "store" / "catalog.json")
    with pytest.raises(CannotWrite, match="cannot write"):
        blocked.put("anything", b"")
