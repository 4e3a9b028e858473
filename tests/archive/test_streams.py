"""Rotated files of which the older ones are gone: what was open there is kept in the store, and goes on."""

import shutil
from ipaddress import ip_network
from pathlib import Path
from typing import Any

import pytest

from tcpstall import _core
from tcpstall.archive.asking.examples import Wanted, examples
from tcpstall.archive.asking.session import session
from tcpstall.archive.maintenance.check import checked
from tcpstall.archive.maintenance.forget import Which, forget
from tcpstall.archive.planning import sets
from tcpstall.archive.scanning.progress import Summary
from tcpstall.archive.scanning.scan import scan
from tcpstall.archive.scanning.task import CannotWork, scan_task
from tcpstall.archive.storing.storage import at
from tcpstall.archive.storing.store import Store
from tests.archive.here import here
from tests.archive.rings import crossed

FILES = 24


@pytest.fixture(scope="module")
def files() -> list[bytes]:
    """A ring's files in their order: four connections cross all of them."""
    found = crossed(6_000, 2_000)
    assert len(found) >= FILES
    return found[:FILES]


@pytest.fixture(scope="module")
def undisturbed(files: list[bytes], tmp_path_factory: pytest.TempPathFactory) -> dict[int, list[dict[str, Any]]]:
    """The rows of so many files, scanned at once."""
    found = {}
    for number in (5, 11, FILES):
        base = tmp_path_factory.mktemp("undisturbed")
        ring(base / "ring", files, range(number))
        scanned(base)
        found[number] = rows(base)
    return found


def ring(folder: Path, files: list[bytes], numbers: range, slots: int = 1_000) -> None:
    """Writes those files where tcpdump -W puts them."""
    folder.mkdir(exist_ok=True)
    for number in numbers:
        (folder / f"eth0.pcap{number % slots:03}").write_bytes(files[number])


def scanned(base: Path, *, only_complete: bool = False) -> Summary:
    return scan([str(base / "ring")], str(base / "store"), executor=here, only_complete=only_complete)


def rows(base: Path) -> list[dict[str, Any]]:
    """Flows, stalls, exchanges and findings, without which scan they are of and in which file they began."""
    found = []
    with session(Store.open(str(base / "store"))) as asked:
        for table in ("flows", "stalls", "exchanges", "findings"):
            found += asked.rows(f"SELECT * EXCLUDE (capture, scan) FROM {table} ORDER BY ALL")
    return found


def kept(base: Path) -> list[Path]:
    return list((base / "store" / "streams").glob("*"))


def test_files_may_go_once_they_are_scanned(
    tmp_path: Path, files: list[bytes], undisturbed: dict[int, list[dict[str, Any]]]
) -> None:
    ring(tmp_path / "ring", files, range(10))
    scanned(tmp_path)
    for number in range(8):
        (tmp_path / "ring" / f"eth0.pcap{number:03}").unlink()
    ring(tmp_path / "ring", files, range(10, 11))

    summary = scanned(tmp_path)

    assert rows(tmp_path) == undisturbed[11]
    assert (summary.not_continued, summary.bytes) == (0, len(files[10]))


def test_a_ring_that_is_overwritten_has_the_rows_of_all_its_files(
    tmp_path: Path, files: list[bytes], undisturbed: dict[int, list[dict[str, Any]]]
) -> None:
    """tcpdump -W 4, of which several files are new at once."""
    read = 0
    for first in range(0, FILES, 3):
        ring(tmp_path / "ring", files, range(first, first + 3), slots=4)
        read += scanned(tmp_path).bytes
        assert len(kept(tmp_path)) == 1

    assert rows(tmp_path) == undisturbed[FILES]
    assert read == sum(map(len, files))
    health = checked(at(str(tmp_path / "store")))
    assert (health.problems, health.notes) == ({}, {})


def test_a_ring_of_four_that_is_watched_while_it_is_written_has_the_rows_of_all_its_files(
    tmp_path: Path, files: list[bytes], undisturbed: dict[int, list[dict[str, Any]]]
) -> None:
    """tcpdump -W 4 under --watch, 20 files beyond the first four: each round finds the newest file half written."""
    (tmp_path / "ring").mkdir()
    read = 0
    for number, content in enumerate(files):
        # tcpdump truncates the oldest file, and leaves a record unfinished whenever its buffer is full.
        with (tmp_path / "ring" / f"eth0.pcap{number % 4}").open("wb") as writing:
            writing.write(content[: len(content) * (number % 3 + 1) // 4])
            writing.flush()
            summary = scanned(tmp_path, only_complete=True)
            assert (summary.captures, summary.not_continued, summary.failed) == (min(number, 1), 0, 0)
            read += summary.bytes
            writing.write(content[len(content) * (number % 3 + 1) // 4 :])
        assert len(kept(tmp_path)) == min(number, 1)
    read += scanned(tmp_path, only_complete=True).bytes
    assert rows(tmp_path) == undisturbed[FILES]
    assert read == sum(map(len, files))
    assert scanned(tmp_path, only_complete=True).captures == 0
    health = checked(at(str(tmp_path / "store")))
    assert (health.problems, health.notes) == ({}, {})


def test_a_ring_of_which_no_file_is_left_goes_on_with_a_gap(tmp_path: Path, files: list[bytes]) -> None:
    """Between what was scanned and what is there now others may have been."""
    segments = 0
    for number in range(4):
        ring(tmp_path / "ring", files, range(number, number + 1), slots=1)
        assert scanned(tmp_path).not_continued == 0
        report = _core.analyze([str(tmp_path / "ring" / "eth0.pcap000")])
        segments += sum(report.flows.column("segments"))

    with session(Store.open(str(tmp_path / "store"))) as asked:
        (told,) = asked.rows(
            "SELECT count(*) AS flows, sum(segments)::BIGINT AS segments, max(trust_level) AS trust FROM flows"
        )
    assert told == {"flows": 4, "segments": segments, "trust": "medium"}


@pytest.mark.parametrize("harm", ["lost", "changed", "of another version"])
def test_without_it_files_are_read_again(
    tmp_path: Path,
    files: list[bytes],
    undisturbed: dict[int, list[dict[str, Any]]],
    harm: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ring(tmp_path / "ring", files, range(4))
    scanned(tmp_path)
    ring(tmp_path / "ring", files, range(4, 5))
    (stream,) = kept(tmp_path)
    if harm == "lost":
        shutil.rmtree(stream.parent)
    elif harm == "changed":
        stream.write_bytes(stream.read_bytes()[:-1] + b"?")
    else:
        refused = ValueError("the stream cannot be continued: it is of version 1")
        monkeypatch.setattr(_core, "stream_captures", lambda _: (_ for _ in ()).throw(refused))

    summary = scanned(tmp_path)

    assert summary.bytes == sum(map(len, files[:5]))
    assert [row | {"flow": 0} for row in rows(tmp_path)] == [row | {"flow": 0} for row in undisturbed[5]]


def test_what_goes_while_it_is_scanned_ends_the_scan_and_blames_no_capture(tmp_path: Path, files: list[bytes]) -> None:
    ring(tmp_path / "ring", files, range(4))
    scanned(tmp_path)
    before = rows(tmp_path)
    ring(tmp_path / "ring", files, range(4, 5))

    def late(tasks, url, options, done, told):  # type: ignore[no-untyped-def]
        shutil.rmtree(tmp_path / "store" / "streams")
        here(tasks, url, options, done, told)

    with pytest.raises(CannotWork, match=r"eth0\.pcap# cannot be continued: .* scan again"):
        scan([str(tmp_path / "ring")], str(tmp_path / "store"), executor=late)
    assert rows(tmp_path) == before
    scanned(tmp_path)
    assert len(rows(tmp_path)) >= len(before)


def test_files_that_belong_to_no_ring_leave_nothing(tmp_path: Path, files: list[bytes]) -> None:
    (tmp_path / "ring").mkdir()
    (tmp_path / "ring" / "one.pcap").write_bytes(files[0])
    (tmp_path / "ring" / "other.cap").write_bytes(files[1])
    scanned(tmp_path)
    assert not kept(tmp_path)


class Killed(Exception):
    """An exception that ends a scan."""


def test_a_large_set_is_committed_in_stages_and_whoever_is_killed_reads_one_of_them_again(
    tmp_path: Path,
    files: list[bytes],
    undisturbed: dict[int, list[dict[str, Any]]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    stage = 3 * len(files[0])
    monkeypatch.setattr(sets, "_STAGE_BYTES", stage)
    ring(tmp_path / "ring", files, range(FILES))
    read, kills = 0, 0

    def dying(tasks, url, options, done, told):  # type: ignore[no-untyped-def]
        """Commits one stage, and dies in the next."""
        nonlocal read
        news = scan_task(next(iter(tasks)), url, options, told)
        done(news)
        read += news.size
        if news.rest is not None:
            read += scan_task(news.rest, url, options, told).size
            raise Killed

    while True:
        try:
            scan([str(tmp_path / "ring")], str(tmp_path / "store"), executor=dying)
            break
        except Killed:
            kills += 1

    assert kills >= 5
    assert read <= sum(map(len, files)) + kills * stage
    assert rows(tmp_path) == undisturbed[FILES]
    scanned(tmp_path)
    assert len(kept(tmp_path)) == 1


@pytest.mark.parametrize("at_once", [1, 2])
def test_stages_give_the_rows_of_the_whole(
    tmp_path: Path,
    files: list[bytes],
    undisturbed: dict[int, list[dict[str, Any]]],
    monkeypatch: pytest.MonkeyPatch,
    at_once: int,
) -> None:
    monkeypatch.setattr(sets, "_STAGE_BYTES", at_once * len(files[0]))
    ring(tmp_path / "ring", files, range(FILES))
    summary = scanned(tmp_path)
    assert rows(tmp_path) == undisturbed[FILES]
    assert (summary.captures, summary.bytes) == (FILES, sum(map(len, files)))


def test_a_file_that_cannot_be_read_in_a_stage_is_left_out_of_it(
    tmp_path: Path, files: list[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sets, "_STAGE_BYTES", len(files[0]))
    ring(tmp_path / "ring", files, range(5))
    lost = tmp_path / "ring" / "eth0.pcap000"

    def late(tasks, url, options, done, told):  # type: ignore[no-untyped-def]
        lost.unlink()
        here(tasks, url, options, done, told)

    summary = scan([str(tmp_path / "ring")], str(tmp_path / "store"), executor=late)
    assert [one.name for one in summary.skipped] == [str(lost)]
    with session(Store.open(str(tmp_path / "store"))) as asked:
        (told,) = asked.rows("SELECT count(DISTINCT scan) AS scans, sum(segments)::BIGINT AS segments FROM flows")
        (captures,) = asked.rows("SELECT sum(tcp_segments)::BIGINT AS segments FROM captures WHERE exit_code = 0")
    assert told["segments"] == captures["segments"]


@pytest.mark.parametrize("lost", [0, 1])
def test_where_the_last_file_of_a_stage_is_gone_the_next_one_knows_of_the_gap(
    tmp_path: Path, files: list[bytes], monkeypatch: pytest.MonkeyPatch, lost: int
) -> None:
    monkeypatch.setattr(sets, "_STAGE_BYTES", sum(map(len, files[:2])))
    ring(tmp_path / "ring", files, range(5))
    gaps = []

    def late(tasks, url, options, done, told):  # type: ignore[no-untyped-def]
        (tmp_path / "ring" / f"eth0.pcap00{lost}").unlink()
        news = scan_task(next(iter(tasks)), url, options, told)
        assert news.rest is not None
        gaps.append(news.rest.sets[0].members[0].missing_before)
        done(news)
        here([news.rest], url, options, done, told)

    scan([str(tmp_path / "ring")], str(tmp_path / "store"), executor=late)
    assert gaps == [lost == 1]


def test_an_example_names_the_files_in_which_its_connection_began(tmp_path: Path, files: list[bytes]) -> None:
    for number in range(4):
        ring(tmp_path / "ring", files, range(number, number + 1))
        scanned(tmp_path)
    with session(Store.open(str(tmp_path / "store"))) as asked:
        (row,) = asked.rows("SELECT scan, flow FROM flows ORDER BY end_ns DESC LIMIT 1")
        [example] = examples(asked, [Wanted(row["scan"], row["flow"], 1)])
    assert example is not None
    assert [Path(name).name for name in example.captures] == [f"eth0.pcap{number:03}" for number in range(4)]


def test_what_is_forgotten_is_not_kept_there(tmp_path: Path, files: list[bytes]) -> None:
    ring(tmp_path / "ring", files, range(3))
    scanned(tmp_path)
    assert kept(tmp_path)
    with Store.writing(str(tmp_path / "store")) as store:
        forget(store, Which(before_ns=1))
        assert kept(tmp_path)
        forget(store, Which(network=ip_network("10.0.0.1")))
    assert not kept(tmp_path)
