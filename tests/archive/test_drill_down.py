"""Each command that looks at flows opens what the scanner opens, by the same name, and says the same of it."""

import gzip
import json
import shlex
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest

from tcpstall.archive.captures import local_copies, open_members
from tcpstall.archive.captures.discovery import find
from tcpstall.cli import main
from tests.archive.trees import tar
from tests.conftest import FIXTURES
from tests.rotated.cutting import cut, of_many_flows

CONTENT = (FIXTURES / "slowstart-rtt7ms-512k.pcap").read_bytes()

TOLD = {
    "analyze": ["--stalls"],
    "analyze json": ["--format", "json"],
    "analyze markdown": ["--format", "markdown"],
    "whatif": ["--format", "json"],
    "remedies": ["--format", "json"],
    "explain": ["--stall", "1"],
}
"""Commands that print, with their options."""

WRITTEN = {"report": "x.html", "plot": "x.svg", "extract": "x.pcap", "annotate": "x.pcapng"}
"""Commands that write a file."""

Said = tuple[int, str, str]
Say = Callable[..., Said]


def _url(folder: str, name: str, content: bytes) -> str:
    import fsspec

    with fsspec.open(f"{folder}/{name}", "wb") as file:
        file.write(content)
    return f"{folder}/{name}"


def _file(folder: Path, name: str, content: bytes) -> str:
    (folder / name).write_bytes(content)
    return str(folder / name)


PLACES: dict[str, Callable[[Path, pytest.FixtureRequest], str]] = {
    "compressed": lambda folder, _: _file(folder, "a.pcap.gz", gzip.compress(CONTENT, mtime=0)),
    "member": lambda folder, _: _file(folder, "a.tar", tar({"b.pcap": b"x", "in/a.pcap": CONTENT})) + "!/in/a.pcap",
    "compressed archive": lambda folder, _: (
        _file(folder, "a.tgz", gzip.compress(tar({"in/a.pcap": CONTENT}), mtime=0)) + "!/in/a.pcap"
    ),
    "compressed member": lambda folder, _: (
        _file(folder, "a.tar", tar({"a.pcap.gz": gzip.compress(CONTENT, mtime=0)})) + "!/a.pcap.gz"
    ),
    "file": lambda folder, _: f"file://{_file(folder, 'a b.pcap', CONTENT).replace(' ', '%20')}",
    "memory": lambda folder, _: _url(f"memory:/{folder}", "a.pcap", CONTENT),
    "s3": lambda _, request: _url(request.getfixturevalue("bucket"), "in/a.pcap", CONTENT),
    "archive in s3": lambda _, request: (
        _url(request.getfixturevalue("bucket"), "a.tar", tar({"in/a.pcap": CONTENT})) + "!/in/a.pcap"
    ),
}


@pytest.fixture(params=PLACES)
def place(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if "s3" not in request.param:
        pytest.importorskip("fsspec", reason="fsspec is not installed")
    return PLACES[request.param](tmp_path, request)


@pytest.fixture
def plain(tmp_path: Path) -> str:
    return _file(tmp_path, "plain.pcap", CONTENT)


@pytest.fixture
def scratch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Folder for copies."""
    folder = tmp_path / "scratch"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


@pytest.fixture
def say(capfd: pytest.CaptureFixture[str], scratch: Path, monkeypatch: pytest.MonkeyPatch) -> Say:
    """`say("analyze", name)` → exit code, output, error output; no copy is left behind or named."""
    monkeypatch.setenv("COLUMNS", "1000")  # names of different lengths fold no line

    def _say(*arguments: object) -> Said:
        capfd.readouterr()
        code = main([str(argument) for argument in arguments])
        out, err = capfd.readouterr()
        assert not list(scratch.iterdir())
        assert str(scratch) not in out + err
        return code, out, err

    return _say


def _unnamed(text: str, name: str) -> str:
    """Without what is the input's own: its name and compression."""
    lines = text.replace(shlex.quote(name), "NAME").replace(name, "NAME").splitlines()
    return "\n".join(line.replace('"compression":"gzip",', "").replace(" in gzip,", ",") for line in lines)


@pytest.mark.parametrize("told", TOLD)
def test_a_capture_is_told_as_a_plain_file_is(say: Say, place: str, plain: str, told: str) -> None:
    command, options = told.split()[0], TOLD[told]
    code, out, err = say(command, place, *options)
    assert (code, err) == (0, "")
    assert _unnamed(out, place) == _unnamed(say(command, plain, *options)[1], plain)


@pytest.mark.parametrize("command", WRITTEN)
def test_a_file_is_written_as_of_a_plain_file(say: Say, place: str, plain: str, tmp_path: Path, command: str) -> None:
    made = tmp_path / "made"
    made.mkdir()
    output = made / WRITTEN[command]
    written = []
    for name in (place, plain):
        assert say(command, name, "-o", output)[0] == 0
        written.append(output.read_bytes())
    if command != "report":
        assert written[0] == written[1]
        return
    of_place, of_plain = (text.decode() for text in written)
    assert place in of_place
    assert str(tmp_path / "scratch") not in of_place
    assert abs(len(of_place) - len(of_plain)) < 8 * (len(place) + len(plain))
    assert of_place.count("<svg") == of_plain.count("<svg")


def test_the_scanner_finds_it_by_that_name(place: str) -> None:
    root = place.partition("!/")[0]
    assert place.replace("file://", "").replace("%20", " ") in [found.name for found in find([root])]


@pytest.mark.parametrize("command", [*TOLD, *WRITTEN])
@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("{}/a.tar!/nowhere.pcap", "no such file in this archive"),
        ("{}/a.tar!/a.tar.pcap", "not a"),
        ("memory:/{}/nowhere.pcap", "there is no such file"),
        ("nothing://x/y.pcap", "install a driver"),
        ("s3://u:p@x/y.pcap", "no passwords in URLs"),
        ("s3://x", "non key-like path"),
        ("http://127.0.0.1:0/x.pcap", "Cannot connect to host"),
    ],
)
def test_what_cannot_be_opened_is_one_line(say: Say, tmp_path: Path, command: str, name: str, reason: str) -> None:
    pytest.importorskip("fsspec", reason="fsspec is not installed")
    _file(tmp_path, "a.tar", tar({"a.tar.pcap": b"no capture" * 100}))
    name = name.format(tmp_path)
    output = ["-o", tmp_path / WRITTEN[command]] if command in WRITTEN else TOLD[command]
    code, _, err = say(command.split()[0], name, *output)
    assert code == (4 if reason == "not a" else 3), err
    assert reason in err
    assert err.count("\n") == 1
    assert err.count(name) <= 1
    assert not [path for path in tmp_path.iterdir() if path.name in WRITTEN.values()]


def test_a_folder_without_permission_is_told(say: Say, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    name = _file(tmp_path, "a.tar", tar({"a.pcap": CONTENT}))

    def refused(path: str, *rest: object) -> object:
        if path == name:
            raise PermissionError(13, "Permission denied")
        return open(path, *rest)  # type: ignore[call-overload]  # noqa: PTH123

    monkeypatch.setattr(open_members, "open", refused, raising=False)
    for command in (["analyze"], ["analyze", "--format", "json"], ["extract", "-o", tmp_path / "x.pcap"]):
        code, _, err = say(*command, f"{name}!/a.pcap")
        assert code == 3
        assert err.startswith(f"tcpstall: cannot open {name}")
        assert err.endswith(": Permission denied\n")


def test_a_full_disk_says_where_copies_go(say: Say, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    name = _file(tmp_path, "a.tar", tar({"a.pcap": CONTENT})) + "!/a.pcap"
    monkeypatch.setattr(local_copies, "_new", lambda *_: Path("/dev/full").open("wb"))  # noqa: SIM115
    code, _, err = say("plot", name, "-o", tmp_path / "x.png")
    assert code == 3
    assert "No space left on device; TMPDIR can name a folder with more room" in err
    assert err.count("\n") == 1


def test_one_that_cannot_be_opened_is_in_the_report_with_its_reason(say: Say, tmp_path: Path, plain: str) -> None:
    name = _file(tmp_path, "a.tar", tar({"a.pcap": CONTENT}))
    code, out, err = say("analyze", f"{name}!/b.pcap", plain, f"{name}!/a.pcap", "--format", "json")
    missing, *others = json.loads(out)["captures"]
    assert code == 3
    assert missing["path"] == f"{name}!/b.pcap"
    assert missing["error"] in err
    assert "no such file in this archive" in missing["error"]
    assert [each["path"] for each in others] == [plain, f"{name}!/a.pcap"]
    assert [each["packets"] for each in others] == [58, 58]


def test_a_damaged_member_is_reported_as_far_as_it_goes(say: Say, tmp_path: Path) -> None:
    whole = gzip.compress(tar({"a.pcap": CONTENT * 800}), mtime=0)
    name = _file(tmp_path, "a.tgz", whole[: len(whole) // 2]) + "!/a.pcap"
    for options in ([], ["--format", "json"]):
        code, out, err = say("analyze", name, *options)
        assert code == 5
        assert "192.168.247.129" in out
        assert name in err


def test_a_copy_is_removed_where_the_command_is_interrupted(
    say: Say, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = _file(tmp_path, "a.tar", tar({"a.pcap": CONTENT})) + "!/a.pcap"
    made: list[Path] = []

    def interrupted(source: str, target: Path, _: object) -> None:
        made.append(target)
        target.write_bytes(b"half")
        raise KeyboardInterrupt

    monkeypatch.setattr(local_copies, "copied", interrupted)
    assert say("plot", name, "-o", tmp_path / "x.png")[0] == 130
    assert len(made) == 1


def test_rotated_files_behind_urls_are_one_capture(say: Say, tmp_path: Path) -> None:
    pytest.importorskip("fsspec", reason="fsspec is not installed")
    files = cut(tmp_path, of_many_flows(), [100, 200])
    urls = [_url(f"memory:/{tmp_path}", Path(file).name, Path(file).read_bytes()) for file in files]
    streamed, of_files = (say("analyze", *names)[1].splitlines() for names in (urls, files))
    assert streamed[:2] == of_files[:2]
    assert "3 files read as one" in streamed[2]
    in_urls, in_files = (say("analyze", *names, "--format", "json")[1] for names in (urls, files))
    assert in_urls.replace("memory://", "/") == in_files


def test_a_closed_pipe_ends_a_report_of_copies(tmp_path: Path) -> None:
    import subprocess
    import sys

    name = _file(tmp_path, "a.tar", tar({"a.pcap": CONTENT})) + "!/a.pcap"
    command = [sys.executable, "-m", "tcpstall", "analyze", *[name] * 40, "--format", "json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as running:
        assert running.stdout is not None
        running.stdout.close()
        _, err = running.communicate(timeout=60)
    assert (running.returncode, err) == (141, b"")


def test_a_plain_capture_needs_neither_archive_nor_store(plain: str) -> None:
    import subprocess
    import sys

    program = (
        "import sys; from tcpstall.cli import main; main(sys.argv[1:]); "
        "print(sorted(m for m in sys.modules if m.startswith(('fsspec', 'duckdb', 'tcpstall.archive'))))"
    )
    done = subprocess.run([sys.executable, "-c", program, "analyze", plain], capture_output=True, text=True, check=True)
    assert done.stdout.endswith("\n[]\n")
