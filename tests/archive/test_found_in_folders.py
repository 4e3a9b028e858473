"""Captures found in folders as people keep them, and in folders that nobody should have."""

import gzip
import os
import socket
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from tcpstall import _core
from tcpstall.archive.captures.discovery import Input, Tally, find, fingerprint
from tcpstall.errors import CannotOpen, ExitCode
from tests.archive.found import NOISE, failed, found, readable
from tests.archive.trees import FIRST_NS, pcap, tar, written

FIXTURES = Path(__file__).parents[2] / "fixtures"


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
    true = _core.folder

    def folder(path: str) -> Any:
        if path.endswith("/a"):
            raise OSError(5, "Input/output error")
        return true(path)

    monkeypatch.setattr(_core, "folder", folder)
    inputs = found(tmp_path)
    assert failed(inputs) == {"a": ExitCode.CANNOT_OPEN}
    assert readable(inputs) == ["b/y.pcap"]


def test_a_folder_that_is_none_any_more_is_told_with_the_words_of_the_system(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="No such file or directory") as raised:
        _core.folder(str(tmp_path / "gone"))
    assert raised.value.strerror == "No such file or directory"
    (tmp_path / "file").touch()
    with pytest.raises(NotADirectoryError):
        _core.folder(str(tmp_path / "file"))


def test_a_store_is_not_descended_into(tmp_path: Path) -> None:
    about = b'{"schema": "tcpstall.store/1"}'
    written(tmp_path, {"s/store.json": about, "s/unfinished/x.pcap": pcap(), "t/store.json": b"{}", "t/y.pcap": pcap()})
    tally = Tally()
    assert readable(found(tmp_path, tally=tally)) == ["t/y.pcap"]
    assert tally.stores == 1


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


def test_ten_thousand_files_cost_one_look_each(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    content = pcap()
    for folder in range(100):
        written(tmp_path, {f"{folder}/{number}.pcap": content for number in range(100)})
    calls: dict[str, int] = {"peek": 0, "folder": 0, "stat": 0, "lstat": 0}

    def counted(module: Any, name: str) -> None:
        true = getattr(module, name)

        def call(*arguments: Any, **named: Any) -> Any:
            calls[name] += 1
            return true(*arguments, **named)

        monkeypatch.setattr(module, name, call)

    counted(_core, "peek")
    counted(_core, "folder")
    counted(Path, "stat")
    counted(os, "lstat")
    assert len(found(tmp_path)) == 10_000
    assert calls["peek"] == 10_000
    assert calls["folder"] == 101
    assert calls["stat"] + calls["lstat"] < 200


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
