"""Archives in a scan: whatever interrupts it, every member is read once, and none is taken for read that is not."""

import io
import os
import tarfile
from pathlib import Path

import pytest

from tcpstall.archive.captures import watch
from tcpstall.archive.captures.open_members import Opener
from tcpstall.archive.captures.tar import Window
from tcpstall.archive.planning import plan, to_do
from tcpstall.archive.scanning.progress import Nobody, Summary
from tcpstall.archive.scanning.scan import scan
from tcpstall.archive.scanning.task import Done
from tcpstall.archive.storing.store import Store
from tests.archive.conftest import rotated, single
from tests.archive.contents import Rows, rows
from tests.archive.here import here
from tests.archive.trees import tar


class Enough(Exception):
    pass


class Ending(Nobody):
    """Ends a scan as if it was killed, once so many commits were made."""

    def __init__(self, commits: int) -> None:
        self.left = commits

    def done(self, done: Done) -> None:
        self.left -= 1
        if self.left == 0:
            raise Enough


@pytest.fixture(autouse=True)
def small_tasks(monkeypatch: pytest.MonkeyPatch) -> None:
    """A commit a set."""
    for module in (plan, to_do):
        monkeypatch.setattr(module, "TASK_BYTES", 1)


@pytest.fixture(scope="module")
def members() -> dict[str, bytes]:
    """Single captures and a rotated set."""
    each = {f"day/{name}.pcap": single(number * 3_600, packets=60) for number, name in enumerate("abc")}
    return each | {f"web/eth0.pcap{number}": content for number, content in enumerate(rotated(90_000, 300))}


def scanned(path: Path, store: Path, *, stop: int | None = None) -> Summary | None:
    try:
        return scan([str(path)], str(store), executor=here, progress=None if stop is None else Ending(stop))
    except Enough:
        return None


def undisturbed(path: Path, store: Path) -> Rows:
    """A store that read all of it at once."""
    other = store.with_name("undisturbed")
    scanned(path, other)
    return rows(other)


def without_scans(held: Rows) -> list[str]:
    """Rows of flows, stalls and exchanges, whichever scan they came from."""
    return sorted(
        repr((table, row[3:])) for table in ("flows", "stalls", "exchanges", "findings") for row in held[table]
    )


@pytest.mark.parametrize("mode", ["w", "w:gz"])
@pytest.mark.parametrize("stop", [1, 2, 3])
def test_an_archive_is_read_on_after_a_kill_between_its_members(
    tmp_path: Path, members: dict[str, bytes], mode: str, stop: int
) -> None:
    path, store = tmp_path / "captures.tar", tmp_path / "store"
    path.write_bytes(packed(members, mode))
    assert scanned(path, store, stop=stop) is None
    again = scanned(path, store)
    assert again is not None
    assert again.captures + again.known == len(members)
    assert rows(store) == undisturbed(path, store)


def packed(members: dict[str, bytes], mode: str) -> bytes:
    held = io.BytesIO()
    with tarfile.open(fileobj=held, mode=mode) as archive:  # type: ignore[call-overload]
        for name, content in members.items():
            about = tarfile.TarInfo(name)
            about.size = len(content)
            archive.addfile(about, io.BytesIO(content))
    return held.getvalue()


def test_an_archive_that_was_read_to_its_end_is_not_opened_again(
    tmp_path: Path, members: dict[str, bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    path, store = tmp_path / "captures.tar", tmp_path / "store"
    path.write_bytes(tar(members | {"notes.pcap": b"no capture, whatever its name says"}))
    scanned(path, store)
    before = rows(store)

    def never(self: object, name: str) -> None:
        pytest.fail(f"{name} was opened")

    monkeypatch.setattr("tcpstall.archive.captures.open_members.Opener.archive", never)
    again = scanned(path, store)
    assert again is not None
    assert (again.captures, again.known) == (0, len(members) + 1)
    assert rows(store) == before


def test_a_store_without_the_record_has_its_archives_looked_into_once_more(
    tmp_path: Path, members: dict[str, bytes]
) -> None:
    """As an earlier version left it when it was killed: rows of some members, and no word of the others."""
    path, store = tmp_path / "captures.tar", tmp_path / "store"
    path.write_bytes(tar(members))
    scanned(path, store, stop=2)
    assert Store.open(str(store)).archives == {}
    scanned(path, store)
    assert rows(store) == undisturbed(path, store)
    assert list(Store.open(str(store)).archives) == [str(path)]


def test_an_archive_that_was_appended_to_is_read_on_even_when_that_is_interrupted(
    tmp_path: Path, members: dict[str, bytes]
) -> None:
    path, store = tmp_path / "captures.tar", tmp_path / "store"
    path.write_bytes(tar(members))
    scanned(path, store)
    more = {f"more/{name}.pcap": single(number * 3_600 + 200_000, packets=60) for number, name in enumerate("xyz")}
    path.write_bytes(tar(members | more))
    os.utime(path, ns=(2 * 10**18, 2 * 10**18))
    assert scanned(path, store, stop=1) is None
    scanned(path, store)
    assert without_scans(rows(store)) == without_scans(undisturbed(path, store))
    again = scanned(path, store)
    assert again is not None
    assert (again.captures, again.known) == (0, len(members) + len(more))


def test_an_archive_of_another_size_is_another_archive_whatever_its_time(
    tmp_path: Path, members: dict[str, bytes]
) -> None:
    path, store = tmp_path / "captures.tar", tmp_path / "store"
    for content in (dict(list(members.items())[:2]), members):
        path.write_bytes(tar(content))
        os.utime(path, ns=(10**18, 10**18))
        scanned(path, store)
    assert without_scans(rows(store)) == without_scans(undisturbed(path, store))


def test_a_cut_archive_is_read_on_after_a_kill_and_its_damage_is_told_until_it_is_healed(
    tmp_path: Path, members: dict[str, bytes]
) -> None:
    path, store = tmp_path / "captures.tar", tmp_path / "store"
    whole = tar(members)
    path.write_bytes(whole[: len(whole) * 3 // 4])
    assert scanned(path, store, stop=2) is None
    for _ in range(3):
        scanned(path, store)
        assert rows(store) == undisturbed(path, store)
    assert [row[0] for row in rows(store)["errors"] if row[0] == str(path)] == [str(path)]
    path.write_bytes(whole)
    os.utime(path, ns=(2 * 10**18, 2 * 10**18))
    (tmp_path / "undisturbed").rename(tmp_path / "old")
    scanned(path, store)
    assert rows(store)["errors"] == []
    assert without_scans(rows(store)) == without_scans(undisturbed(path, store))


def test_a_member_that_could_not_be_read_this_time_is_tried_again(
    tmp_path: Path, members: dict[str, bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    path, store = tmp_path / "captures.tar", tmp_path / "store"
    path.write_bytes(tar(members))
    read = Window.read

    def failing(self: Window, size: int = -1, /) -> bytes:
        if self._member.name == "day/b.pcap" and self.tell() > 1_000:
            raise OSError(5, "Input/output error")
        return read(self, size)

    with monkeypatch.context() as patch:
        patch.setattr(Window, "read", failing)
        scanned(path, store)
    scanned(path, store)
    assert rows(store) == undisturbed(path, store)


@pytest.mark.parametrize("mode", ["w", "w:gz"])
def test_an_archive_whose_listing_fails_this_time_is_no_damaged_archive(
    tmp_path: Path, members: dict[str, bytes], mode: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, store = tmp_path / "captures.tar", tmp_path / "store"
    path.write_bytes(packed(members, mode))
    plain = Opener._plain

    class Failing(io.BytesIO):
        def read(self, size: int | None = -1, /) -> bytes:
            if self.tell() > 30_000:
                raise OSError(5, "Input/output error")
            return super().read(size)

    def failing(self: Opener, name: str) -> Failing:
        with plain(self, name) as file:
            return Failing(file.read())

    with monkeypatch.context() as patch:
        patch.setattr(Opener, "_plain", failing)
        summary = scan([str(path)], str(store), executor=here)
    assert [skipped.name for skipped in summary.skipped] == [str(path)]
    assert rows(store)["errors"] == []
    scanned(path, store)
    assert rows(store)["errors"] == []
    assert without_scans(rows(store)) == without_scans(undisturbed(path, store))


def test_what_is_still_being_written_keeps_its_archive_from_being_known(
    tmp_path: Path, members: dict[str, bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    """On a share nobody can be asked who writes: the newest of a set waits until it has settled."""
    path, store = tmp_path / "captures.tar", tmp_path / "store"
    path.write_bytes(tar(members))
    with monkeypatch.context() as patch:
        patch.setattr(watch, "_is_written", lambda _: None)
        first = scan([str(path)], str(store), executor=here, only_complete=True)
        assert first.captures < len(members)
        patch.setattr(watch, "SETTLED_NS", 0)
        scan([str(path)], str(store), executor=here, only_complete=True)
    assert without_scans(rows(store)) == without_scans(undisturbed(path, store))


def test_a_member_that_cannot_be_read_at_all_does_not_have_the_archive_read_for_ever(
    tmp_path: Path, members: dict[str, bytes]
) -> None:
    path, store = tmp_path / "captures.tar", tmp_path / "store"
    path.write_bytes(tar(members | {"inner.pcap": tar({"x.pcap": b"x"})}))
    scanned(path, store)
    assert [row[4] for row in rows(store)["errors"]] == [4]
    assert list(Store.open(str(store)).archives) == [str(path)]
    again = scanned(path, store)
    assert again is not None
    assert again.captures == 0
    assert rows(store) == undisturbed(path, store)
