"""Members of archives are opened by name, in any order, and closed again."""

import gzip
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tcpstall.archive.captures.discovery import opened
from tcpstall.archive.captures.open_members import Opener
from tcpstall.errors import CannotOpen
from tests.archive.trees import pcap, tar, written


def test_plain_files_need_no_opener(tmp_path: Path) -> None:
    written(tmp_path, {"a!/b.pcap": pcap(), "c.pcap": pcap()})
    assert opened(str(tmp_path / "c.pcap")) is None
    assert opened(str(tmp_path / "a!" / "b.pcap")) is None
    assert opened(str(tmp_path / "gone.pcap")) is None


@pytest.mark.parametrize("compressed", [bytes, gzip.compress])
def test_members_open_in_any_order(tmp_path: Path, compressed: Any) -> None:
    contents = {f"{number}.pcap": pcap(number, packets=number) for number in range(30)}
    written(tmp_path, {"a.tar": compressed(tar(contents))})
    with closing(Opener()) as opener:
        for number in (3, 4, 29, 0, 15, 15):
            stream = opener(str(tmp_path / f"a.tar!/{number}.pcap"))
            assert stream is not None
            assert stream.read() == contents[f"{number}.pcap"]
        with pytest.raises(CannotOpen, match="no such file in this archive"):
            opener(str(tmp_path / "a.tar!/none.pcap"))


def test_an_archive_that_was_written_anew_is_read_anew(tmp_path: Path) -> None:
    path = tmp_path / "a.tar"
    for filler in (b"a" * 60, b"b" * 61):
        written(tmp_path, {"new": tar({"x.pcap": pcap(filler=filler)})})
        (tmp_path / "new").replace(path)
        stream = opened(f"{path}!/x.pcap")
        assert stream is not None
        with stream:
            assert stream.read() == pcap(filler=filler)


def test_many_archives_are_not_kept_open(tmp_path: Path) -> None:
    written(tmp_path, {f"{number}.tar": tar({"x.pcap": pcap()}) for number in range(20)})
    with closing(Opener()) as opener:
        streams = [opener(f"{tmp_path}/{number}.tar!/x.pcap") for number in range(20)]
        assert all(stream is not None and stream.read() == pcap() for stream in streams)
        before = len(list(Path("/proc/self/fd").iterdir()))
        for stream in streams[:10]:
            assert stream is not None
            stream.close()
        assert len(list(Path("/proc/self/fd").iterdir())) == before - 10
