"""Parts that others have replaced: kept for those who have just looked up which ones count, and not for long."""

import json
import time
from pathlib import Path

import pytest

from tcpstall.archive.asking.session import session
from tcpstall.archive.maintenance import upkeep
from tcpstall.archive.maintenance.check import checked
from tcpstall.archive.maintenance.forget import Which, forget
from tcpstall.archive.scanning.scan import scan
from tcpstall.archive.storing.storage import at
from tcpstall.archive.storing.store import Commit, Part, Store
from tests.archive.conftest import single
from tests.archive.here import here

FOLDER = "flows/day=2026-11-21"
OLD = Part("flows", f"{FOLDER}/{'1' * 32}.parquet", rows=1, bytes=4, from_ns=0, to_ns=9)
NEW = Part("flows", f"{FOLDER}/{'2' * 32}.parquet", rows=1, bytes=4, from_ns=0, to_ns=9)


@pytest.fixture
def url(tmp_path: Path) -> str:
    """A store in which a part has taken the place of another one."""
    found = str(tmp_path / "store")
    with Store.writing(found) as store:
        for part in (OLD, NEW):
            store.place.put(part.name, b"rows")
        store.commit(Commit(parts=[OLD]))
        store.commit(Commit(parts=[NEW], removed=[OLD.name]))
        store.checkpoint(None)
    return found


def swept(url: str) -> list[str]:
    """Parts of flows that are left after the next writer has begun."""
    with Store.writing(url) as store:
        return store.place.names("flows")


def later(monkeypatch: pytest.MonkeyPatch, seconds: int) -> None:
    now_ns = time.time_ns() + seconds * 1_000_000_000
    monkeypatch.setattr(time, "time_ns", lambda: now_ns)


@pytest.mark.parametrize(
    ("seconds", "left"),
    [(0, [OLD.name, NEW.name]), (50, [OLD.name, NEW.name]), (61, [NEW.name]), (-3600, [NEW.name])],
)
def test_a_part_that_was_replaced_is_kept_for_a_minute(
    url: str, monkeypatch: pytest.MonkeyPatch, seconds: int, left: list[str]
) -> None:
    later(monkeypatch, seconds)
    assert swept(url) == left


def test_it_counts_no_more_and_check_has_nothing_to_say_of_it(url: str) -> None:
    assert Store.open(url).parts("flows") == [NEW]
    assert OLD.name not in checked(at(url)).notes


def test_the_catalog_forgets_what_was_swept(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    later(monkeypatch, 61)
    with Store.writing(url) as store:
        store.checkpoint(None)
    catalog = json.loads((Path(url) / "catalog.json").read_bytes())
    assert (catalog["removed"], catalog["spared_ns"]) == ([], {})


def test_a_checkpoint_that_spares_none_deletes_them_at_once(url: str) -> None:
    with Store.writing(url) as store:
        store.checkpoint(None, spares=False)
        assert store.place.names("flows") == [NEW.name]


def grown(folder: Path, number: int) -> None:
    """The archive with one more capture in its store."""
    (folder / "captures").mkdir(exist_ok=True)
    (folder / "captures" / f"{number}.pcap").write_bytes(single(number * 60, packets=60))
    assert scan([str(folder / "captures")], str(folder / "store"), executor=here).captures == 1


def test_who_asked_before_parts_were_merged_has_an_answer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    grown(tmp_path, 0)
    captures = "SELECT count(DISTINCT scan) AS captures FROM flows"
    with session(Store.open(str(tmp_path / "store"))) as opened:
        monkeypatch.setattr(upkeep, "_MANY", 2)
        grown(tmp_path, 1)
        assert opened.rows(captures) == [{"captures": 1}]
    with session(Store.open(str(tmp_path / "store"))) as opened:
        assert opened.rows(captures) == [{"captures": 2}]


def test_what_is_forgotten_is_in_no_file_any_more(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(upkeep, "_MANY", 2)
    for number in range(2):
        grown(tmp_path, number)
    with Store.writing(str(tmp_path / "store")) as store:
        assert len(store.place.names("flows")) > len(store.parts("flows"))
        forget(store, Which("0.pcap"))
        for table in ("flows", "stalls", "captures"):
            assert sorted(store.place.names(table)) == sorted(part.name for part in store.parts(table))
