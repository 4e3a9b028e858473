"""Captures found in compressed files and in archives, cut and hostile ones among them."""

import bz2
import gzip
import lzma
import os
import tarfile
from pathlib import Path
from typing import Any

import pytest

from tcpstall.archive.captures.discovery import find, fingerprint, opened
from tcpstall.errors import ExitCode
from tests.archive.found import failed, found, readable
from tests.archive.trees import pcap, tar, written


@pytest.mark.parametrize(
    ("name", "compressed"), [("gzip", gzip.compress), ("bzip2", bz2.compress), ("xz", lzma.compress)]
)
def test_compressed_captures_and_archives_are_looked_into(tmp_path: Path, name: str, compressed: Any) -> None:
    files = {"a": compressed(pcap()), "b": compressed(tar({"in/c.pcap": pcap(), "in/readme": b"x", "in/d": pcap()}))}
    inputs = found(written(tmp_path, files))
    assert readable(inputs) == ["a", "b!/in/c.pcap", "b!/in/d"]
    assert inputs["a"].compression == name
    assert inputs["a"].size == len(files["a"])
    assert inputs["b!/in/d"].size == len(pcap())
    assert inputs["b!/in/d"].changed_ns == (tmp_path / "b").stat().st_mtime_ns


def test_a_member_may_be_compressed_itself(tmp_path: Path) -> None:
    inputs = found(written(tmp_path, {"a.tar": tar({"c.pcap.gz": gzip.compress(pcap())})}))
    assert inputs["a.tar!/c.pcap.gz"].compression == "gzip"


def test_archives_with_hostile_names_are_only_read(tmp_path: Path) -> None:
    members = {"/etc/passwd.pcap": pcap(), "../../up.pcap": pcap(), "a\n\x1b[2J.pcap": pcap(), "x!/y.pcap": pcap()}
    written(tmp_path, {"a.tar": tar(members)})
    before = sorted(tmp_path.rglob("*"))
    inputs = found(tmp_path)
    assert readable(inputs) == sorted(f"a.tar!/{name}" for name in members)
    for one in inputs.values():
        stream = opened(one.name)
        assert stream is not None
        with stream:
            assert stream.read() == pcap()
    assert sorted(tmp_path.rglob("*")) == before


def test_an_archive_in_an_archive_says_so(tmp_path: Path) -> None:
    written(tmp_path, {"a.tar": tar({"b.tar": tar({"c.pcap": pcap()}), "d.pcap": pcap()})})
    inputs = found(tmp_path)
    assert readable(inputs) == ["a.tar!/d.pcap"]
    assert "within an archive" in str(inputs["a.tar!/b.tar"].error)


@pytest.mark.parametrize("compressed", [bytes, gzip.compress])
def test_a_cut_archive_gives_what_is_before_the_cut_and_an_error(tmp_path: Path, compressed: Any) -> None:
    whole = tar({"a.pcap": pcap(), "b.pcap": pcap(packets=100), "c.pcap": pcap()})
    written(tmp_path, {"a.tar": compressed(whole[:3000])})
    inputs = found(tmp_path)
    assert readable(inputs) == ["a.tar!/a.pcap", "a.tar!/b.pcap"]
    assert failed(inputs) == {"a.tar": ExitCode.DAMAGED}


def test_a_cut_decompression_is_an_error_of_the_archive(tmp_path: Path) -> None:
    whole = gzip.compress(tar({"a.pcap": pcap(), "b.bin": os.urandom(2 << 20), "c.pcap": pcap()}))
    written(tmp_path, {"a.tar.gz": whole[: len(whole) // 2]})
    inputs = found(tmp_path)
    assert readable(inputs) == ["a.tar.gz!/a.pcap"]
    assert failed(inputs) == {"a.tar.gz": ExitCode.DAMAGED}


@pytest.mark.parametrize("form", [tarfile.GNU_FORMAT, tarfile.PAX_FORMAT])
def test_names_in_archives_may_be_any_bytes(tmp_path: Path, form: int) -> None:
    names = [b"caf\xe9.pcap", b"a\nb.pcap", b"\xff" * 120, b"#%?!.pcap"]
    held = tar({os.fsdecode(name): pcap() for name in names}, form)
    written(tmp_path / os.fsdecode(b"\xff"), {"a!.tar": held, "b.tar.gz": gzip.compress(held)})
    inputs = list(find([str(tmp_path)]))
    assert len({fingerprint(one.name, one.size) for one in inputs}) == 1
    assert sum(one.name.encode() != b"" and one.error is None for one in inputs) == 8
