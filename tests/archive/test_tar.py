"""Archives by their headers: what tarfile and tar write, and what hostile hands leave of it."""

import io
import shutil
import subprocess
import tarfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tcpstall.archive.captures.tar import BLOCK, Archive, DamagedArchive, Readable, Tape, is_tar
from tests.archive.trees import tar

LONG = "a/" * 200 + "cap.pcap"


class Dripping:
    """Gives at most 100 bytes at once, cannot be sought in, and counts what was read."""

    def __init__(self, content: bytes, count: list[int]) -> None:
        self._file = io.BytesIO(content)
        self._count = count

    def read(self, size: int, /) -> bytes:
        piece = self._file.read(min(size, 100))
        self._count[-1] += len(piece)
        return piece


def sought(content: bytes) -> Archive:
    return Archive(Tape(lambda: io.BytesIO(content), length=len(content)))


def forward(content: bytes, count: list[int] | None = None) -> Archive:
    counts = [] if count is None else count

    def opened() -> Readable:
        counts.append(0)
        return Dripping(content, counts)

    return Archive(Tape(opened))


either = pytest.mark.parametrize("opened", [sought, forward])


@either
@pytest.mark.parametrize("form", [tarfile.USTAR_FORMAT, tarfile.GNU_FORMAT, tarfile.PAX_FORMAT])
def test_every_format_of_tarfile_is_read(opened: Callable[[bytes], Archive], form: int) -> None:
    long = "a/" * 60 + "cap.pcap" if form == tarfile.USTAR_FORMAT else LONG
    held = {"x.pcap": b"one", long: b"two" * 1000, "empty": b"", "./here.pcap": b"three", "/abs/../up": b"four"}
    archive = opened(tar(held, form))
    names = {name.removeprefix("./"): content for name, content in held.items()}
    assert {member.name: archive.window(member).read() for member in archive} == names


@pytest.mark.skipif(not shutil.which("tar"), reason="tar is not installed")
@pytest.mark.parametrize("form", ["gnu", "oldgnu", "pax", "posix", "ustar"])
def test_what_tar_writes_is_read(tmp_path: Path, form: str) -> None:
    inside = tmp_path / "in"
    (inside / "sub").mkdir(parents=True)
    (inside / "sub" / "é.pcap").write_bytes(b"x" * 5000)
    (inside / ("n" * 120 if form != "ustar" else "n" * 90)).write_bytes(b"long")
    (inside / "link").symlink_to("sub/é.pcap")
    (inside / "same").hardlink_to(inside / "sub" / "é.pcap")
    subprocess.run(["tar", "-C", inside, f"--format={form}", "-cf", tmp_path / "a.tar", "."], check=True)
    archive = sought((tmp_path / "a.tar").read_bytes())
    found = {member.name: archive.window(member).read() for member in archive}
    assert sorted(len(content) for content in found.values()) == [4, 5000]


@pytest.mark.skipif(not shutil.which("tar"), reason="tar is not installed")
@pytest.mark.parametrize("form", ["gnu", "pax"])
def test_a_sparse_file_says_why_it_is_not_read(tmp_path: Path, form: str) -> None:
    for number in range(12):
        with (tmp_path / f"{number}.pcap").open("wb") as file:
            for hole in range(1, 30 if number == 5 else 2):
                file.seek(hole << 20)
                file.write(b"x" * 4096)
    subprocess.run(
        ["tar", "-C", tmp_path, f"--format={form}", "-Scf", tmp_path / "a.tar", "5.pcap", "1.pcap"], check=True
    )
    members = list(sought((tmp_path / "a.tar").read_bytes()))
    assert [bool(member.problem) for member in members] == [True, True]


def test_a_large_number_is_not_octal() -> None:
    about = tarfile.TarInfo("huge.pcap")
    about.size = 20 << 30
    header = about.tobuf(tarfile.GNU_FORMAT)
    with pytest.raises(DamagedArchive, match="cut before offset 21474836992"):
        list(sought(header))
    archive = sought(header)
    member = archive.member("huge.pcap")
    assert member is not None
    assert member.size == 20 << 30


@either
def test_members_of_one_name_are_told_apart(opened: Callable[[bytes], Archive]) -> None:
    archive = opened(tar([("a.pcap", b"1"), ("a.pcap (2)", b"2"), ("a.pcap", b"3")]))
    assert [(one.name, archive.window(one).read()) for one in archive] == [
        ("a.pcap", b"1"),
        ("a.pcap (2)", b"2"),
        ("a.pcap (3)", b"3"),
    ]


def test_reading_in_order_is_one_pass_and_going_back_one_more() -> None:
    names = [f"{number}.pcap" for number in range(50)]
    content = tar({name: name.encode() * 500 for name in names})
    count: list[int] = []
    archive = forward(content, count)
    for name in names:
        member = archive.member(name)
        assert member is not None
        assert archive.window(member).read() == name.encode() * 500
    assert len(count) == 1
    assert count[0] <= len(content)
    first, last = archive.member(names[0]), archive.member(names[-1])
    assert first is not None
    assert last is not None
    assert archive.window(first).read(6) == b"0.pcap"
    assert archive.window(last).read(7) == b"49.pcap"
    assert len(count) == 2


def test_two_windows_may_be_read_in_turns() -> None:
    archive = forward(tar({"a": b"abcdef", "b": b"ABCDEF"}))
    one, other = (archive.window(member) for member in archive)
    assert [one.read(2), other.read(2), one.read(2), other.read(9), one.read(9), one.read(1)] == [
        b"ab",
        b"AB",
        b"cd",
        b"CDEF",
        b"ef",
        b"",
    ]


@either
def test_a_cut_archive_gives_what_is_before_the_cut(opened: Callable[[bytes], Archive]) -> None:
    whole = tar({"a": b"x" * 700, "b": b"y" * 700})
    for cut in range(0, len(whole), 97):
        found = []
        archive = opened(whole[:cut])
        try:
            found = [member.name for member in archive]
            complete = True
        except DamagedArchive:
            complete = False
        if complete:
            assert found in ([], ["a"], ["a", "b"])
            assert cut == 0 or cut >= BLOCK * 3
    with pytest.raises(DamagedArchive, match="in the middle of a file"):
        list(opened(whole[: BLOCK * 4 + 100]))
    with pytest.raises(DamagedArchive, match="in the middle of a header"):
        list(opened(whole[: BLOCK * 3 + 100]))


def test_a_header_that_was_changed_is_damage() -> None:
    content = bytearray(tar({"a": b"x" * 700, "b": b"y"}))
    content[BLOCK * 3 + 5] ^= 1
    archive = sought(bytes(content))
    members = iter(archive)
    assert next(members).name == "a"
    with pytest.raises(DamagedArchive, match="offset 1536"):
        next(members)


@pytest.mark.parametrize("kind", [b"x", b"L"])
def test_a_name_that_takes_gigabytes_is_refused_unread(kind: bytes) -> None:
    about = tarfile.TarInfo("a")
    about.type = kind
    about.size = 1 << 33
    with pytest.raises(DamagedArchive, match="at most"):
        list(sought(about.tobuf(tarfile.GNU_FORMAT) + b"\0" * 1024))


@given(st.binary(max_size=600), st.integers(0, 3), st.randoms())
def test_no_bytes_break_it(noise: bytes, form: int, chance: object) -> None:
    content = bytearray(tar({"a/" * 70 + "a": b"x" * 700, "b": b"y"}, form % 3))
    for byte in noise:
        content[chance.randrange(len(content))] = byte  # type: ignore[attr-defined]
    for archive in (sought(bytes(content)), forward(bytes(content))):
        with suppress(DamagedArchive):
            for member in archive:
                assert len(archive.window(member).read()) <= member.size


@given(st.binary(max_size=2000))
def test_noise_is_no_archive(noise: bytes) -> None:
    assert not is_tar(noise)
