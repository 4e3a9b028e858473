"""Sets of which older files are gone, and files that grow: rows are never replaced by less, nothing counts twice."""

import io
import json
import shutil
from collections.abc import Mapping
from pathlib import Path

import pytest

from tcpstall import _core
from tcpstall.archive.asking.session import session
from tcpstall.archive.scanning import task
from tcpstall.archive.scanning.progress import Summary
from tcpstall.archive.scanning.scan import scan
from tcpstall.archive.scanning.task import NOT_CONTINUED
from tcpstall.archive.storing.store import Store
from tcpstall.cli import main
from tcpstall.errors import ExitCode
from tests.archive.contents import rows
from tests.archive.here import here
from tests.archive.rings import crossed

FILES = 10


@pytest.fixture(scope="module")
def files() -> list[bytes]:
    """A ring's files in their order: four connections cross all of them."""
    found = crossed(12_000, 1_600)
    assert len(found) > FILES
    return found


def place(folder: Path, contents: Mapping[int, bytes], *, slots: int = 1_000) -> None:
    """Puts files where tcpdump -W puts those of these numbers."""
    folder.mkdir(exist_ok=True)
    for number, content in contents.items():
        (folder / f"eth0.pcap{number % slots:03}").write_bytes(content)


def scanned(folder: Path, store: Path) -> Summary:
    return scan([str(folder)], str(store), executor=here)


def lose_streams(store: Path) -> None:
    """Removes the record of open connections: an older version of tcpstall wrote the store, or somebody tidied it."""
    shutil.rmtree(store / "streams")


def sums(store: Path) -> tuple[int, int]:
    """Segments of all flows, and those that the captures say they have."""
    with session(Store.open(str(store))) as asked:
        (flows,) = asked.rows("SELECT coalesce(sum(segments), 0)::BIGINT AS n FROM flows")
        (captures,) = asked.rows("SELECT sum(tcp_segments)::BIGINT AS n FROM captures")
    return flows["n"], captures["n"]


def segments(contents: list[bytes], folder: Path) -> int:
    """TCP segments of these files."""
    total = 0
    for content in contents:
        file = folder / "one"
        file.write_bytes(content)
        report = _core.analyze([str(file)])
        total += json.loads(report.captures[0].json)["tcp_segments"]
        file.unlink()
    return total


def warned(store: Path) -> list[str]:
    """Captures that could not be joined to older ones."""
    with session(Store.open(str(store))) as asked:
        found = asked.rows(f"SELECT name FROM captures WHERE contains(warnings, '{NOT_CONTINUED}') ORDER BY name")
        return [Path(row["name"]).name for row in found]


def test_rows_of_connections_stay_when_the_files_they_began_in_are_gone(tmp_path: Path, files: list[bytes]) -> None:
    folder, store = tmp_path / "ring", tmp_path / "store"
    place(folder, dict(enumerate(files[:FILES])))
    scanned(folder, store)
    lose_streams(store)
    before = rows(store)
    for number in range(FILES - 2):
        (folder / f"eth0.pcap{number:03}").unlink()
    place(folder, {FILES: files[FILES]})
    summary = scanned(folder, store)
    whole = segments(files[: FILES + 1], tmp_path)
    assert sums(store) == (whole, whole)
    for table in ("flows", "stalls", "exchanges"):
        assert set(before[table]) <= set(rows(store)[table])
    assert summary.not_continued == 1
    assert warned(store) == [f"eth0.pcap{FILES:03}"]
    assert scanned(folder, store).captures == 0
    assert sums(store) == (whole, whole)


def test_the_command_says_what_it_could_not_continue(
    tmp_path: Path, files: list[bytes], capsys: pytest.CaptureFixture[str]
) -> None:
    folder, store = tmp_path / "ring", tmp_path / "store"
    place(folder, {0: files[0]}, slots=1)
    scanned(folder, store)
    lose_streams(store)
    place(folder, {1: files[1]}, slots=1)
    assert main(["scan", str(folder), "--store", str(store), "--jobs", "1"]) == ExitCode.COMPLETE
    assert "1 capture not joined to older ones, which are gone" in capsys.readouterr().err


@pytest.mark.parametrize("at_once", [1, 3])
def test_a_ring_that_is_overwritten_file_by_file_keeps_all_that_was_scanned(
    tmp_path: Path, files: list[bytes], at_once: int
) -> None:
    """tcpdump -W 4 with --watch."""
    folder, store = tmp_path / "ring", tmp_path / "store"
    for first in range(0, FILES, at_once):
        place(folder, {number: files[number] for number in range(first, first + at_once)}, slots=4)
        scanned(folder, store)
        whole = segments(files[: first + at_once], tmp_path)
        assert sums(store) == (whole, whole)


def test_connections_are_joined_as_long_as_the_files_they_are_in_are_there(tmp_path: Path, files: list[bytes]) -> None:
    folder, store = tmp_path / "ring", tmp_path / "store"
    for number in range(5):
        place(folder, {number: files[number]})
        scanned(folder, store)
    assert warned(store) == []
    whole = tmp_path / "whole"
    scanned(folder, whole)
    assert sorted(row[3:] for row in rows(store)["flows"]) == sorted(row[3:] for row in rows(whole)["flows"])


def cut(content: bytes, share: float) -> bytes:
    """The beginning of a file that is still being written, cut within a packet."""
    return content[: int(len(content) * share)]


def test_a_file_that_grew_is_read_beyond_what_was_scanned_of_it_where_older_ones_are_gone(
    tmp_path: Path, files: list[bytes]
) -> None:
    folder, store = tmp_path / "ring", tmp_path / "store"
    place(folder, {0: files[0], 1: files[1], 2: files[2], 3: cut(files[3], 0.4)})
    scanned(folder, store)
    (folder / "eth0.pcap000").unlink()
    for share in (0.7, 0.7001, 0.9, 1):
        place(folder, {3: cut(files[3], share)})
        scanned(folder, store)
        whole = segments([*files[:3], cut(files[3], share)], tmp_path)
        assert sums(store) == (whole, whole)
    place(folder, {4: cut(files[4], 0.5)})
    scanned(folder, store)
    place(folder, {4: files[4], 5: files[5]})
    scanned(folder, store)
    whole = segments(files[:6], tmp_path)
    assert sums(store) == (whole, whole)


def test_a_ring_scanned_by_cron_while_its_newest_file_is_written_keeps_everything(
    tmp_path: Path, files: list[bytes]
) -> None:
    folder, store = tmp_path / "ring", tmp_path / "store"
    for number in range(FILES):
        place(folder, {number: files[number]}, slots=4)
        place(folder, {number + 1: cut(files[number + 1], 0.5)}, slots=4)
        scanned(folder, store)
        whole = segments([*files[: number + 1], cut(files[number + 1], 0.5)], tmp_path)
        assert sums(store) == (whole, whole)


def test_a_file_that_turns_up_between_others_of_which_some_are_gone_is_read_alone(
    tmp_path: Path, files: list[bytes]
) -> None:
    folder, store = tmp_path / "ring", tmp_path / "store"
    place(folder, {number: files[number] for number in (0, 1, 3, 4)})
    scanned(folder, store)
    (folder / "eth0.pcap000").unlink()
    place(folder, {2: files[2], 5: files[5]})
    scanned(folder, store)
    whole = segments(files[:6], tmp_path)
    assert sums(store) == (whole, whole)


def test_files_of_a_set_that_were_moved_away_are_not_lost_when_the_set_goes_on(
    tmp_path: Path, files: list[bytes]
) -> None:
    """Nor when a file turns up that the whole set would be read again for."""
    folder, store = tmp_path / "all" / "ring", tmp_path / "store"
    folder.parent.mkdir()
    place(folder, {number: files[number] for number in (0, 1, 3)})
    scanned(folder.parent, store)
    (folder.parent / "old").mkdir()
    (folder / "eth0.pcap000").rename(folder.parent / "old" / "first.pcap")
    place(folder, {2: files[2]})
    scanned(folder.parent, store)
    whole = segments(files[:4], tmp_path)
    assert sums(store) == (whole, whole)


def test_a_file_that_was_written_anew_in_another_form_keeps_its_rows_where_others_are_gone(
    tmp_path: Path, files: list[bytes]
) -> None:
    folder, store = tmp_path / "ring", tmp_path / "store"
    place(folder, dict(enumerate(files[:4])))
    scanned(folder, store)
    before = sums(store)
    (folder / "eth0.pcap000").unlink()
    place(folder, {3: cut(files[3], 0.5)})
    for _ in range(2):
        scanned(folder, store)
        assert sums(store) == before
    place(folder, {4: files[4]})
    scanned(folder, store)
    assert sums(store)[0] == segments(files[:5], tmp_path)


def test_files_that_come_back_have_the_set_read_as_one_again(tmp_path: Path, files: list[bytes]) -> None:
    folder, store, away = tmp_path / "ring", tmp_path / "store", tmp_path / "away"
    place(folder, dict(enumerate(files[:3])))
    scanned(folder, store)
    lose_streams(store)
    away.mkdir()
    for number in range(2):
        shutil.move(folder / f"eth0.pcap{number:03}", away)
    place(folder, {3: files[3]})
    scanned(folder, store)
    assert warned(store) == ["eth0.pcap003"]
    for file in away.iterdir():
        shutil.move(file, folder)
    place(folder, {4: files[4]})
    scanned(folder, store)
    scanned(folder, tmp_path / "other")
    assert rows(store) == rows(tmp_path / "other")


@pytest.mark.parametrize("change", ["gone", "overwritten"])
def test_a_file_that_is_gone_while_it_is_read_again_takes_no_rows_with_it(
    tmp_path: Path, files: list[bytes], change: str
) -> None:
    folder, store = tmp_path / "ring", tmp_path / "store"
    place(folder, dict(enumerate(files[:3])), slots=4)
    scanned(folder, store)
    lose_streams(store)
    place(folder, {3: files[3]}, slots=4)

    def late(tasks, url, options, done, told):  # type: ignore[no-untyped-def]
        if change == "gone":
            (folder / "eth0.pcap000").unlink()
        else:
            place(folder, {4: files[4]}, slots=4)
        here(tasks, url, options, done, told)

    summary = scan([str(folder)], str(store), executor=late)
    assert [Path(skipped.name).name for skipped in summary.skipped] == ["eth0.pcap003"]
    assert rows(store)["errors"] == []
    assert sums(store)[0] == segments(files[:3], tmp_path)
    scanned(folder, store)
    assert rows(store)["errors"] == []
    assert sums(store)[0] == segments(files[: 4 if change == "gone" else 5], tmp_path)


def test_a_new_file_that_is_overwritten_before_it_is_read_is_not_taken_for_what_it_was(
    tmp_path: Path, files: list[bytes]
) -> None:
    folder, store = tmp_path / "ring", tmp_path / "store"
    place(folder, {0: files[0]}, slots=1)

    def late(tasks, url, options, done, told):  # type: ignore[no-untyped-def]
        place(folder, {1: files[1]}, slots=1)
        here(tasks, url, options, done, told)

    scan([str(folder)], str(store), executor=late)
    scanned(folder, store)
    assert sums(store)[0] == segments(files[1:2], tmp_path)
    assert rows(store)["errors"] == []


def test_what_was_read_of_a_file_before_reading_failed_does_not_count_beside_the_next_try(
    tmp_path: Path, files: list[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, store = tmp_path / "ring", tmp_path / "store"
    place(folder, dict(enumerate(files[:3])))

    class Failing(io.BytesIO):
        def read(self, size: int | None = -1, /) -> bytes:
            if self.tell() > 6_000:
                raise OSError(5, "Input/output error")
            return super().read(min(size or 0, 4_000))

    for number in (1, 0, 2):
        bad = str(folder / f"eth0.pcap{number:03}")

        def opened(name: str, bad: str = bad) -> Failing | None:
            return Failing(Path(name).read_bytes()) if name == bad else None

        with monkeypatch.context() as patch:
            patch.setattr(task, "opened", opened)
            summary = scan([str(folder)], str(store), executor=here)
        assert [skipped.name for skipped in summary.skipped] == [bad]
        assert rows(store)["errors"] == []
        scanned(folder, store)
        whole = segments(files[:3], tmp_path)
        assert sums(store) == (whole, whole)
        shutil.rmtree(store)
