"""What is found in folders as people keep them, and in such as nobody should."""

import bz2
import gzip
import io
import lzma
import os
import socket
import sys
import tarfile
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tcpstall import _core
from tcpstall.archive.discovery import Fingerprints, Input, Tally, find, fingerprint, opened
from tcpstall.archive.open_members import Opener
from tcpstall.archive.storage import at
from tcpstall.errors import CannotOpen, ExitCode

from .trees import FIRST_NS, pcap, tar, written

FIXTURES = Path(__file__).parents[2] / "fixtures"
NOISE = bytes(range(255, 0, -1)) * 20


def found(*roots: object, tally: Tally | None = None) -> dict[str, Input]:
    """By name below the only root; each name once."""
    inputs = list(find([str(root) for root in roots], tally=tally))
    names = [one.name.removeprefix(f"{roots[0]}/") for one in inputs]
    assert len(set(names)) == len(names)
    return dict(zip(names, inputs, strict=True))


def readable(inputs: dict[str, Input]) -> list[str]:
    return sorted(name for name, one in inputs.items() if one.error is None)


def failed(inputs: dict[str, Input]) -> dict[str, int]:
    return {name: one.exit_code for name, one in sorted(inputs.items()) if one.error is not None}


def test_captures_are_told_by_content_and_not_by_name(tmp_path: Path) -> None:
    tally = Tally()
    files = {"a.pcap": pcap(), "deep/er/photo.jpg": pcap(), "trace": pcap(), "notes.txt": b"hello", "x.log": NOISE}
    inputs = found(written(tmp_path, files), tally=tally)
    assert readable(inputs) == ["a.pcap", "deep/er/photo.jpg", "trace"]
    assert not failed(inputs)
    assert tally == Tally(others=2)
    about = (tmp_path / "trace").stat()
    assert inputs["trace"] == Input(
        str(tmp_path / "trace"), about.st_size, about.st_mtime_ns, format="pcap", first_ns=FIRST_NS
    )


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


@pytest.mark.parametrize("name", sorted(path.name for path in FIXTURES.glob("*.pcap")))
def test_fixtures_are_found(name: str) -> None:
    assert name in readable(found(FIXTURES))


def test_text_is_a_capture_only_where_it_is_named_itself() -> None:
    pastes = [path for path in FIXTURES.iterdir() if path.suffix == ".txt"]
    assert pastes
    assert not any(name.endswith(".txt") for name in found(FIXTURES))
    for paste in pastes:
        (one,) = find([str(paste)])
        assert one.format == "tcpdump-text"


def test_what_should_be_a_capture_says_why_it_is_none(tmp_path: Path) -> None:
    files = {
        "empty.pcap": b"",
        "noise.pcap": NOISE,
        "noise.pcapng.gz": gzip.compress(NOISE),
        "cut.pcap.gz": gzip.compress(NOISE * 50)[:60],
        "noise.pcap12": NOISE,
        "NOISE.CAP": NOISE,
        "noise.tar": NOISE,
        "noise.doc": NOISE,
        "good.pcap": pcap(),
    }
    inputs = found(written(tmp_path, files))
    assert readable(inputs) == ["good.pcap"]
    assert sorted(failed(inputs)) == sorted(set(files) - {"good.pcap", "noise.doc"})
    assert failed(inputs)["noise.pcap"] == ExitCode.NOT_A_CAPTURE
    assert all(one.error and "\n" not in one.error for one in inputs.values() if one.exit_code)


def test_a_file_named_itself_is_never_passed_over(tmp_path: Path) -> None:
    written(tmp_path, {"noise": NOISE})
    (one,) = find([str(tmp_path / "noise")])
    assert one.exit_code == ExitCode.NOT_A_CAPTURE


def test_a_root_that_is_not_there_is_an_error_at_once(tmp_path: Path) -> None:
    written(tmp_path, {"a.pcap": pcap()})
    for missing in ("gone", "*.pcapng", "a.pcap/x"):
        with pytest.raises(CannotOpen, match="cannot open"):
            find([str(tmp_path), str(tmp_path / missing)])


def test_globs_and_file_urls(tmp_path: Path) -> None:
    written(tmp_path, {"a/x.pcap": pcap(), "b/y.pcap": pcap(), "b/noise": NOISE, "[1].pcap": pcap()})
    assert readable(found(tmp_path / "*" / "*")) == [str(tmp_path / "a" / "x.pcap"), str(tmp_path / "b" / "y.pcap")]
    assert len(found(tmp_path / "**" / "*.pcap")) == 3
    assert len(found(tmp_path / "[1].pcap")) == 1
    assert [one.name for one in find([f"file://{tmp_path}/a"])] == [f"{tmp_path}/a/x.pcap"]


def test_links_lead_to_files_once_and_never_in_circles(tmp_path: Path) -> None:
    tally = Tally()
    written(tmp_path, {"in/b/x.pcap": pcap(), "out/y.pcap": pcap(), "out/deep/z.pcap": pcap()})
    inside = tmp_path / "in"
    (inside / "latest.pcap").symlink_to("b/x.pcap")
    (inside / "a-latest.pcap").symlink_to("latest.pcap")
    (inside / "hard.pcap").hardlink_to(inside / "b" / "x.pcap")
    (inside / "b" / "up").symlink_to(inside)
    (inside / "self").symlink_to("self")
    (inside / "dangling").symlink_to("nothing")
    (inside / "y.pcap").symlink_to(tmp_path / "out" / "y.pcap")
    (inside / "deep").symlink_to(tmp_path / "out" / "deep")
    (tmp_path / "out" / "deep" / "back").symlink_to(inside)
    assert readable(found(inside, inside / "b", tally=tally)) == ["deep/z.pcap", "hard.pcap", "y.pcap"]
    assert tally.again == 6
    assert tally.others == 2


def test_what_is_no_file_is_not_opened(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.pcap")
    tally = Tally()
    with socket.socket(socket.AF_UNIX) as end:
        end.bind(str(tmp_path / "s"))
        assert not found(tmp_path, tally=tally)
    assert tally == Tally(special=2)
    (one,) = find([str(tmp_path / "pipe.pcap")])
    assert one.exit_code == ExitCode.NOT_A_CAPTURE
    (device,) = find(["/dev/zero"])
    assert device.exit_code == ExitCode.NOT_A_CAPTURE


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_closed_folder_is_an_error_and_not_the_end_by_permission(tmp_path: Path) -> None:
    written(tmp_path, {"a/x.pcap": pcap(), "b/y.pcap": pcap(), "c.pcap": pcap()})
    (tmp_path / "a").chmod(0)
    (tmp_path / "c.pcap").chmod(0)
    inputs = found(tmp_path)
    assert failed(inputs) == {"a": ExitCode.CANNOT_OPEN, "c.pcap": ExitCode.CANNOT_OPEN}
    assert readable(inputs) == ["b/y.pcap"]


def test_a_folder_that_cannot_be_listed_is_an_error_and_not_the_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written(tmp_path, {"a/x.pcap": pcap(), "b/y.pcap": pcap()})
    true = os.scandir

    def scandir(path: str) -> Any:
        if path.endswith("/a"):
            raise OSError(5, "Input/output error")
        return true(path)

    monkeypatch.setattr(os, "scandir", scandir)
    inputs = found(tmp_path)
    assert failed(inputs) == {"a": ExitCode.CANNOT_OPEN}
    assert readable(inputs) == ["b/y.pcap"]


def test_a_store_is_not_descended_into(tmp_path: Path) -> None:
    about = b'{"schema": "tcpstall.store/1"}'
    written(tmp_path, {"s/store.json": about, "s/unfinished/x.pcap": pcap(), "t/store.json": b"{}", "t/y.pcap": pcap()})
    tally = Tally()
    assert readable(found(tmp_path, tally=tally)) == ["t/y.pcap"]
    assert tally.stores == 1


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


@pytest.mark.skipif(sys.platform != "linux", reason="names are bytes on Linux alone")
def test_names_may_be_any_bytes(tmp_path: Path) -> None:
    names = [
        b"a\nb.pcap",
        b"\x1b[31mred.pcap",
        b"caf\xe9.pcap",
        "↵é.pcap".encode(),
        b" .pcap",
        b"-rf.pcap",
        b"#{}*?.pcap",
    ]
    for name in names:
        Path(os.fsdecode(os.fsencode(tmp_path) + b"/" + name)).write_bytes(pcap())
    inputs = found(tmp_path)
    assert readable(inputs) == sorted(
        f"file://{tmp_path}/caf%E9.pcap" if name.startswith(b"caf") else name.decode() for name in names
    )
    assert all(one.first_ns == FIRST_NS and fingerprint(one.name, one.size) for one in inputs.values())


@pytest.mark.parametrize("form", [tarfile.GNU_FORMAT, tarfile.PAX_FORMAT])
def test_names_in_archives_may_be_any_bytes(tmp_path: Path, form: int) -> None:
    names = [b"caf\xe9.pcap", b"a\nb.pcap", b"\xff" * 120, b"#%?!.pcap"]
    held = tar({os.fsdecode(name): pcap() for name in names}, form)
    written(tmp_path / os.fsdecode(b"\xff"), {"a!.tar": held, "b.tar.gz": gzip.compress(held)})
    inputs = list(find([str(tmp_path)]))
    assert len({fingerprint(one.name, one.size) for one in inputs}) == 1
    assert sum(one.name.encode() != b"" and one.error is None for one in inputs) == 8


def test_ten_thousand_files_cost_one_look_each(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    content = pcap()
    for folder in range(100):
        written(tmp_path, {f"{folder}/{number}.pcap": content for number in range(100)})
    calls: dict[str, int] = {"peek": 0, "scandir": 0, "stat": 0}

    def counted(module: Any, name: str) -> None:
        true = getattr(module, name)

        def call(*arguments: Any, **named: Any) -> Any:
            calls[name] += 1
            return true(*arguments, **named)

        monkeypatch.setattr(module, name, call)

    counted(_core, "peek")
    counted(os, "scandir")
    counted(Path, "stat")
    assert len(found(tmp_path)) == 10_000
    assert calls["peek"] == 10_000
    assert calls["scandir"] == 101
    assert calls["stat"] < 100


def test_what_is_remembered_is_not_read_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    written(tmp_path, {"a.pcap": pcap(), "b.tar": tar({"c.pcap": pcap()})})
    earlier: dict[tuple[str, int, int | None], list[Input]] = {}
    for file in tmp_path.iterdir():
        about = file.stat()
        earlier[str(file), about.st_size, about.st_mtime_ns] = list(find([str(file)]))

    def remembered(name: str, size: int, changed_ns: int | None) -> Sequence[Input] | None:
        return earlier.get((name, size, changed_ns))

    first = sorted(find([str(tmp_path)]), key=lambda one: one.name)
    monkeypatch.setattr(_core, "peek", None)
    assert sorted(find([str(tmp_path)], remembered=remembered), key=lambda one: one.name) == first


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

    class Counting(io.FileIO):
        read_bytes = 0

        def read(self, size: int | None = -1, /) -> bytes:
            piece = super().read(size)
            Counting.read_bytes += len(piece)
            return piece

    monkeypatch.setattr(Opener, "reading", lambda _, name: Counting(name))
    fingerprint(str(tmp_path / "sparse"), 50 << 30)
    assert Counting.read_bytes == 1 << 20


@pytest.fixture(params=["memory", "s3"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "memory":
        return f"memory:/{tmp_path}"
    return f"{request.getfixturevalue('bucket')}/captures"


def test_urls_are_searched_like_folders(url: str) -> None:
    files = {
        "a.pcap": pcap(),
        "b/c.pcap.gz": gzip.compress(pcap()),
        "b/d.tar": tar({"e.pcap": pcap(), "big.pcap": pcap(packets=5000, filler=os.urandom(1400))}),
        "b/f.tar.gz": gzip.compress(tar({"g.pcap": pcap()})),
        "notes": b"hello",
        "noise.pcap": NOISE,
        "store/store.json": b'{"schema": "tcpstall.store/1"}',
        "store/x.pcap": pcap(),
    } | {f"many/{number}": pcap(number) for number in range(40)}
    place = at(url)
    for name, content in files.items():
        place.put(name, content)
    tally = Tally()
    inputs = found(url, tally=tally)
    many = [name for name in files if name.startswith("many")]
    names = ["a.pcap", "b/c.pcap.gz", "b/d.tar!/big.pcap", "b/d.tar!/e.pcap", "b/f.tar.gz!/g.pcap", *many]
    assert readable(inputs) == sorted(names)
    assert [inputs[f"many/{number}"].first_ns for number in range(40)] == [n * 1_000_000_000 for n in range(40)]
    assert failed(inputs) == {"noise.pcap": ExitCode.NOT_A_CAPTURE}
    assert tally == Tally(others=1, stores=1)
    assert all(one.changed_ns and one.size for one in inputs.values())
    for name in ("a.pcap", "b/d.tar!/big.pcap", "b/f.tar.gz!/g.pcap"):
        one = inputs[name]
        stream = opened(one.name)
        assert stream is not None
        with stream:
            assert len(stream.read()) == one.size
        assert fingerprint(one.name, one.size)
    assert [one.name for one in find([f"{url}/many/1*"])] == [f"{url}/many/{n}" for n in (1, *range(10, 20))]
    assert [one.name for one in find([f"{url}/notes"])] == [f"{url}/notes"]
    with pytest.raises(CannotOpen, match="nothing is there"):
        find([f"{url}/gone"])


def test_a_large_file_behind_a_url_is_read_in_ranges(bucket: str) -> None:
    content = os.urandom(13 << 20)
    at(bucket).put("large", content)
    stream = opened(f"{bucket}/large")
    assert stream is not None
    with stream:
        pieces = iter(lambda: stream.read(1 << 18), b"")
        assert b"".join(pieces) == content
    assert fingerprint(f"{bucket}/large", len(content)) != fingerprint(f"{bucket}/large", len(content) - 1)


def test_a_fingerprint_of_a_damaged_member_is_of_what_comes_before(tmp_path: Path) -> None:
    whole = gzip.compress(tar({"a.pcap": pcap() + os.urandom(2 << 20)}))
    written(tmp_path, {"cut.tar.gz": whole[: len(whole) // 2], "whole.tar.gz": whole})
    one, other, damage = sorted(find([str(tmp_path)]), key=lambda one: (one.error is not None, one.name))
    assert damage.exit_code == ExitCode.DAMAGED
    assert fingerprint(one.name, one.size) != fingerprint(other.name, other.size)


def test_fingerprints_asked_for_in_any_order_are_the_same(url: str, tmp_path: Path) -> None:
    place = at(url)
    contents = {f"{number:02}": os.urandom(number * 100_000 + 1) for number in range(20)}
    for name, content in contents.items():
        place.put(name, content)
    written(tmp_path / "here", contents)
    wanted = [(f"{url}/{name}", len(content)) for name, content in contents.items()]
    here = [fingerprint(str(tmp_path / "here" / name), len(content)) for name, content in contents.items()]
    for order in (range(20), range(19, -1, -1), (0, 1, 7, 8, 9, 3, 3, 19)):
        with Fingerprints(wanted) as fingerprints:
            assert [fingerprints(*wanted[number]) for number in order] == [here[number] for number in order]
            with pytest.raises(CannotOpen, match="no such file"):
                fingerprints(f"{url}/gone", 5)
