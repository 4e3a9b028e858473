"""A second scan reads what is new or changed, and comes to what a first one would have."""

import shutil
from pathlib import Path

from tcpstall.archive.scanning.scan import scan
from tests.archive.conftest import in_turn, single
from tests.archive.contents import counted, rows
from tests.archive.here import here


def test_nothing_is_done_twice(archive: Path, tmp_path: Path) -> None:
    first = scan([str(archive)], str(tmp_path / "store"), executor=here)
    before = rows(tmp_path / "store")
    again = scan([str(archive)], str(tmp_path / "store"), executor=here)
    assert (again.captures, again.bytes) == (0, 0)
    assert again.known == first.captures
    assert rows(tmp_path / "store") == before


def test_a_changed_file_replaces_its_rows(archive: Path, tmp_path: Path) -> None:
    """One that grew by connections, and one of which a half was cut off."""
    scan([str(archive)], str(tmp_path / "store"), executor=here)
    longer, cut = archive / "single" / "a.pcap", archive / "single" / "b.pcap"
    longer.write_bytes(single(0, packets=2_600))
    cut.write_bytes(cut.read_bytes()[: cut.stat().st_size // 2])
    scan([str(archive)], str(tmp_path / "store"), executor=here)
    scan([str(archive)], str(tmp_path / "other"), executor=here)
    assert rows(tmp_path / "store") == rows(tmp_path / "other")


def test_a_moved_file_is_only_renamed(archive: Path, tmp_path: Path) -> None:
    scan([str(archive)], str(tmp_path / "store"), executor=here)
    before = counted(tmp_path / "store")
    (archive / "single" / "a.pcap").rename(archive / "moved.pcap")
    again = scan([str(archive)], str(tmp_path / "store"), executor=here)
    assert (again.captures, again.failed, again.bytes) == (0, 0, 0)
    assert counted(tmp_path / "store") == before
    names = {row[3] for row in rows(tmp_path / "store")["captures"]}
    assert str(archive / "moved.pcap") in names
    assert str(archive / "single" / "a.pcap") not in names


def test_a_folder_that_is_scanned_by_another_name_has_no_new_captures(archive: Path, tmp_path: Path) -> None:
    first = scan([str(archive / "web")], str(tmp_path / "store"), executor=here)
    (tmp_path / "link").symlink_to(archive)
    again = scan([str(tmp_path / "link" / "web")], str(tmp_path / "store"), executor=here)
    assert (again.captures, again.known) == (0, first.captures)


def test_a_set_scanned_file_by_file_as_it_grows_is_the_set_scanned_at_once(made: Path, tmp_path: Path) -> None:
    """Connections that cross files included: they are told anew when more of them is known."""
    growing = tmp_path / "growing"
    growing.mkdir()
    for file in in_turn(made / "web"):
        shutil.copy2(file, growing)
        scan([str(growing)], str(tmp_path / "store"), executor=here)
    whole = Path(shutil.copytree(made / "web", tmp_path / "whole"))
    scan([str(whole)], str(tmp_path / "other"), executor=here)
    ours, others = rows(tmp_path / "store"), rows(tmp_path / "other")
    for table in ("flows", "stalls", "exchanges", "findings"):
        # Scan and flow number differ, and the name of the folder.
        assert sorted(map(repr, (row[3:] for row in ours[table]))) == sorted(
            map(repr, (row[3:] for row in others[table]))
        ), table
