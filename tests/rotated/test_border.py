"""The core's part of a scanner: chunks, flows that go on, file objects, a look at the beginning."""

import gzip
import io
import tarfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any, cast

import pytest

from tcpstall import _core
from tests.formats.containers import COMPRESSIONS, pcap, zstd_of_zeros
from tests.rotated.cutting import CAPTURES, as_one, cut, flows, of_fixture, of_many_flows, write

MANY = of_many_flows()
PCAP = pcap(MANY, nanoseconds=True)


class Source(io.BytesIO):
    """A file object that knows what was asked of it."""

    def __init__(self, data: bytes, size: int | None = None) -> None:
        super().__init__(data)
        self.asked: list[int] = []
        if size is not None:
            self.size = size

    def read(self, size: int | None = -1) -> bytes:
        self.asked.append(size or 0)
        return super().read(size)


class Failing(io.RawIOBase):
    """Gives the beginning of a capture, then raises."""

    def __init__(self, error: BaseException, data: bytes = b"") -> None:
        self.left, self.error = data, error

    def read(self, size: int = -1) -> bytes:
        if not self.left:
            raise self.error
        given, self.left = self.left[:size], self.left[size:]
        return given


# Chunks


@pytest.mark.parametrize("chunk", [1, 10, 1_000_000])
def test_chunks_add_up_to_the_whole(tmp_path: Path, chunk: int) -> None:
    paths = cut(tmp_path, MANY, [len(MANY) // 2])
    chunks: list[_core.Report] = []

    rest = as_one(paths, each=chunks.append, chunk=chunk)

    kept = as_one(paths)
    by_id = sorted((text for part in chunks for text in flows(part)), key=flows(kept).index)
    assert by_id == flows(kept)
    for table in ("stalls", "exchanges", "bursts"):
        assert sum(len(getattr(part, table)) for part in chunks) == len(getattr(kept, table)) > 0
    assert all(part.flows.column("flow") == sorted(part.flows.column("flow")) for part in chunks)
    assert (len(rest), len(rest.captures)) == (0, 2)
    assert len(chunks) == (1 if chunk > 1_000 else len(kept) if chunk == 1 else len(chunks))


def test_what_the_receiver_of_chunks_raises_ends_the_run(tmp_path: Path) -> None:
    given: list[int] = []

    def each(report: _core.Report) -> None:
        given.append(len(report))
        raise LookupError("no room")

    with pytest.raises(LookupError, match="no room"):
        _core.analyze([write(tmp_path / "a", MANY)], each=each, chunk=1)
    assert given == [1]


# Flows that go on


def test_flows_that_were_open_at_the_end_say_so(tmp_path: Path) -> None:
    whole = write(tmp_path / "whole", MANY)
    half = write(tmp_path / "half", MANY[: len(MANY) // 2])

    assert _core.analyze([half]).flows.column("at_end") == [True] * len(_core.analyze([half]))
    assert "at_end" not in _core.analyze([whole]).flow_json(0)


def test_a_flow_that_was_over_long_before_the_end_does_not(tmp_path: Path) -> None:
    closed, other = of_fixture(CAPTURES[1]), of_fixture(CAPTURES[0])[0]
    a_day_later = replace(other, time_ns=closed[0].time_ns + 86_400 * 10**9)

    table = _core.analyze([write(tmp_path / "a", [*closed, a_day_later])]).flows

    assert table.column("at_end") == [False, True]


# File objects


@pytest.mark.parametrize("threads", [1, None])
@pytest.mark.parametrize("compress", [bytes, *COMPRESSIONS.values()], ids=["plain", *COMPRESSIONS])
def test_a_file_object_is_read_as_a_file_is(compress: Callable[[bytes], bytes], threads: int | None) -> None:
    packed = compress(PCAP)
    source = Source(packed, size=4_711)
    told: list[tuple[int, int | None]] = []

    read = _core.analyze(
        ["a name"], open=lambda name: source, threads=threads, progress=lambda *where: told.append(where)
    )

    assert len(read) == 4
    assert read.captures[0].path == "a name"
    assert read.captures[0].error is None
    assert source.closed
    assert min(source.asked) >= 2**20
    assert told[-1] == (len(packed), 4_711)


def test_names_that_are_files_are_opened_as_such(tmp_path: Path) -> None:
    path = write(tmp_path / "a", MANY)

    read = _core.analyze([path, "b"], open=lambda name: io.BytesIO(PCAP) if name == "b" else None)

    assert [status.exit_code for status in read.captures] == [0, 0]
    assert len(read) == 8


def test_file_objects_make_a_stream(tmp_path: Path) -> None:
    parts = {path: Path(path).read_bytes() for path in cut(tmp_path, MANY, [30, 60, 90], ["pcap", "pcap.gz"])}

    read = as_one([*parts], open=lambda name: io.BytesIO(parts[name]))

    assert flows(read) == flows(_core.analyze([write(tmp_path / "whole", MANY)]))


@pytest.mark.parametrize("data", [b"", PCAP[:5_000], gzip.compress(PCAP)[:5_000]], ids=["at once", "later", "packed"])
def test_what_reading_raises_is_the_inputs_error(tmp_path: Path, data: bytes) -> None:
    path = write(tmp_path / "a", MANY)
    failing = Failing(ConnectionError("the share\nwent away"), data)

    read = _core.analyze(["far", path], open=lambda name: failing if name == "far" else None)

    assert [status.exit_code for status in read.captures] == [5, 0]
    assert "the share went away" in (read.captures[0].error or "")
    assert "\n" not in (read.captures[0].error or "")
    assert sum(capture == 1 for capture in read.flows.column("capture")) == 4


def test_what_opening_raises_is_the_inputs_error() -> None:
    def refuse(name: str) -> None:
        raise PermissionError(f"no key for {name}")

    (status,) = _core.analyze(["far"], open=refuse).captures

    assert (status.exit_code, status.error) == (3, "cannot open far: no key for far")


def test_an_object_that_gives_no_bytes_is_an_error_of_the_input() -> None:
    (status,) = _core.analyze(["far"], open=lambda name: object()).captures

    assert status.exit_code == 5
    assert "read" in (status.error or "")


@pytest.mark.parametrize("ending", [KeyboardInterrupt(), SystemExit(3)], ids=["Ctrl-C", "exit"])
@pytest.mark.parametrize("data", [b"", PCAP[:5_000], gzip.compress(PCAP)[:5_000]], ids=["at once", "later", "packed"])
@pytest.mark.parametrize("sets", [[], [0, 0, 0]], ids=["apart", "as one"])
def test_an_interrupt_ends_the_run(tmp_path: Path, ending: BaseException, data: bytes, sets: list[int]) -> None:
    path = write(tmp_path / "a", MANY)
    opened: list[str] = []

    def source(name: str) -> Failing | None:
        opened.append(name)
        return Failing(ending, data) if name == "far" else None

    with pytest.raises(type(ending)):
        _core.analyze([path, "far", path], open=source, sets=sets)
    assert opened.count("far") <= 2


def test_an_interrupt_while_opening_ends_the_run() -> None:
    def refuse(name: str) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        _core.analyze(["far"], open=refuse)


# A look at the beginning


@pytest.mark.parametrize("compression", [None, *COMPRESSIONS])
def test_the_beginning_shows_what_a_capture_is(tmp_path: Path, compression: str | None) -> None:
    path = tmp_path / "a"
    path.write_bytes(COMPRESSIONS[compression](PCAP) if compression else PCAP)

    seen = _core.peek(str(path))

    assert (seen.format, seen.compression, seen.error, seen.exit_code) == ("pcap", compression, None, 0)
    assert (seen.first_ns, seen.link_types, seen.head) == (MANY[0].time_ns, ["EN10MB"], PCAP[:512])


@pytest.mark.parametrize("compress", [bytes, *COMPRESSIONS.values()], ids=["plain", *COMPRESSIONS])
def test_no_more_is_read_than_the_beginning(compress: Callable[[bytes], bytes]) -> None:
    data = bytearray(PCAP[:24])
    record = PCAP[24 : 24 + 16 + MANY[0].length]
    source = io.BytesIO(compress(bytes(data) + record * 30_000))
    given: list[int] = []

    class Counting(io.RawIOBase):
        def read(self, size: int = -1) -> bytes:
            part = source.read(min(size, 4096))
            given.append(len(part))
            return part

    seen = _core.peek("far", open=lambda name: Counting())

    assert seen.first_ns == MANY[0].time_ns
    assert sum(given) < 256 * 1024


def test_a_tar_archive_is_told_by_its_first_block() -> None:
    archive = io.BytesIO()
    with tarfile.open(fileobj=archive, mode="w") as tar:
        member = tarfile.TarInfo("a.pcap")
        member.size = len(PCAP)
        tar.addfile(member, io.BytesIO(PCAP))

    seen = _core.peek("a.tar.gz", open=lambda name: io.BytesIO(gzip.compress(archive.getvalue())))

    assert (seen.format, seen.compression, seen.exit_code, seen.head[257:262]) == (None, "gzip", 4, b"ustar")


def test_a_paste_is_told_by_its_format_and_its_first_packet_if_that_is_near(tmp_path: Path) -> None:
    line = "2024-01-01 00:00:01.000000 IP 10.0.0.1.5 > 10.0.0.2.80: Flags [.], ack 1, win 9, length 0\n"
    (tmp_path / "near.txt").write_text(line * 2)
    (tmp_path / "far.txt").write_text("a remark\n" * 100_000 + line)

    near, far = _core.peek(str(tmp_path / "near.txt")), _core.peek(str(tmp_path / "far.txt"))

    assert (near.format, near.first_ns) == ("tcpdump-text", 1_704_067_201 * 10**9)
    assert (far.format, far.first_ns, far.error) == ("tcpdump-text", None, None)


@pytest.mark.parametrize(
    ("data", "exit_code"),
    [(None, 3), (b"", 4), (b"\x7fELF" + bytes(99), 4), (gzip.compress(PCAP)[:50], 5)],
    ids=[
        "nothing",
        "empty",
        "a program",
        "cut",
    ],  # gzip says when it packed, and each process that tests would name another
)
def test_what_cannot_be_read_says_why(tmp_path: Path, data: bytes | None, exit_code: int) -> None:
    if data is not None:
        (tmp_path / "a").write_bytes(data)

    seen = _core.peek(str(tmp_path / "a"))

    assert seen.exit_code == exit_code
    assert seen.error
    assert seen.first_ns is None


def test_an_interrupt_ends_a_look() -> None:
    with pytest.raises(KeyboardInterrupt):
        _core.peek("far", open=lambda name: Failing(KeyboardInterrupt()))


# What is in a compressed file


@pytest.mark.parametrize("compression", COMPRESSIONS)
def test_unpacked_gives_what_was_packed(tmp_path: Path, compression: str) -> None:
    packed = COMPRESSIONS[compression](PCAP)
    (tmp_path / "a").write_bytes(packed)

    for source in (str(tmp_path / "a"), tmp_path / "a", io.BytesIO(packed)):
        unpacked = _core.Unpacked(source)
        parts = [unpacked.read(1_000), unpacked.read(7), unpacked.read(0), unpacked.read()]
        assert b"".join(parts) == PCAP
        assert [len(part) for part in parts[:3]] == [1_000, 7, 0]
        assert unpacked.read(5) == b""


def test_what_is_not_packed_is_given_as_it_is() -> None:
    assert _core.Unpacked(io.BytesIO(PCAP)).read() == PCAP


def test_members_of_a_packed_archive_are_read_as_a_stream() -> None:
    archive = io.BytesIO()
    with tarfile.open(fileobj=archive, mode="w:gz") as tar:
        for name in ("a", "b"):
            member = tarfile.TarInfo(name)
            member.size = len(PCAP)
            tar.addfile(member, io.BytesIO(PCAP))
    unpacked = _core.Unpacked(io.BytesIO(archive.getvalue()))

    with tarfile.open(fileobj=cast(Any, unpacked), mode="r|") as tar:
        for member in tar:
            file = tar.extractfile(member)
            assert file is not None
            assert file.read() == PCAP
        assert tar.getnames() == ["a", "b"]


@pytest.mark.parametrize("compression", COMPRESSIONS)
def test_damage_is_told_behind_what_comes_before_it(compression: str) -> None:
    data = Random(1).randbytes(2_000_000)
    packed = COMPRESSIONS[compression](data)
    unpacked = _core.Unpacked(io.BytesIO(packed[: len(packed) * 3 // 4]))

    assert unpacked.read(1_000) == data[:1_000]
    with pytest.raises(OSError, match=f"{compression} data ends early"):
        unpacked.read()


def test_a_bomb_is_cut_off() -> None:
    bomb = zstd_of_zeros(PCAP, size=(1 << 30) + (1 << 26))
    unpacked = _core.Unpacked(io.BytesIO(bomb), max_expansion=10)
    gigabyte = sum(len(unpacked.read(1 << 22)) for _ in range(1 << 8))

    assert gigabyte == 1 << 30  # so much may always be unpacked
    with pytest.raises(OSError, match="--max-expansion"):
        unpacked.read()


def test_closing_closes_the_source_and_ends_the_reading() -> None:
    source = io.BytesIO(gzip.compress(PCAP))
    unpacked = _core.Unpacked(source)
    unpacked.close()
    unpacked.close()

    assert source.closed
    with pytest.raises(OSError, match="closed"):
        unpacked.read(1)


def test_what_a_source_raises_comes_through() -> None:
    with pytest.raises(OSError, match="the share went away"):
        _core.Unpacked(Failing(ConnectionError("the share went away"), gzip.compress(PCAP)[:5_000])).read()
    with pytest.raises(KeyboardInterrupt):
        _core.Unpacked(Failing(KeyboardInterrupt(), gzip.compress(PCAP)[:5_000])).read()
    with pytest.raises(FileNotFoundError):
        _core.Unpacked("/nonexistent/file")
