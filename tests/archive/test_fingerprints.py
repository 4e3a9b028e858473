"""A fingerprint recognises a capture by its content, wherever it lies."""

import gzip
import os
from pathlib import Path

import pytest

from tcpstall.archive.captures.discovery import find, fingerprint
from tcpstall.errors import CannotOpen, ExitCode
from tests.archive.trees import pcap, tar, written


def test_a_fingerprint_follows_content_and_not_name(tmp_path: Path) -> None:
    small, large = os.urandom(5000), os.urandom(3 << 20)
    files = {"s": small, "l": large, "a.tar": tar({"s": small, "l": large}), "b.tar": gzip.compress(tar({"l": large}))}
    written(tmp_path, files)

    def of(name: str, size: int) -> str:
        return fingerprint(str(tmp_path / name), size)

    assert of("s", 5000) == of("a.tar!/s", 5000)
    assert of("l", 3 << 20) == of("a.tar!/l", 3 << 20) == of("b.tar!/l", 3 << 20)
    assert len({of("s", 5000), of("s", 4999), of("l", 3 << 20), of("l", 5000)}) == 4
    for place in (0, 2_500, 4_999):
        (tmp_path / "t").write_bytes(small[:place] + bytes([small[place] ^ 1]) + small[place + 1 :])
        assert of("t", 5000) != of("s", 5000)
    for place in (0, 65_535, (3 << 20) - 65_536, (3 << 20) - 1):
        (tmp_path / "t").write_bytes(large[:place] + bytes([large[place] ^ 1]) + large[place + 1 :])
        assert of("t", 3 << 20) != of("l", 3 << 20)
    with pytest.raises(CannotOpen):
        of("gone", 5)


def test_a_fingerprint_reads_a_megabyte_of_a_large_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with (tmp_path / "sparse").open("wb") as file:
        file.truncate(50 << 30)

    read: list[int] = []
    pread = os.pread

    def counting(file: int, size: int, at: int) -> bytes:
        piece = pread(file, size, at)
        read.append(len(piece))
        return piece

    monkeypatch.setattr(os, "pread", counting)
    fingerprint(str(tmp_path / "sparse"), 50 << 30)
    assert sum(read) == 1 << 20


def test_a_fingerprint_of_a_damaged_member_is_of_what_comes_before(tmp_path: Path) -> None:
    whole = gzip.compress(tar({"a.pcap": pcap() + os.urandom(2 << 20)}))
    written(tmp_path, {"cut.tar.gz": whole[: len(whole) // 2], "whole.tar.gz": whole})
    one, other, damage = sorted(find([str(tmp_path)]), key=lambda one: (one.error is not None, one.name))
    assert damage.exit_code == ExitCode.DAMAGED
    assert fingerprint(one.name, one.size) != fingerprint(other.name, other.size)
