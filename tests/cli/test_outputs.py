"""Every file that a command writes: whole or not at all, in the place of the one that was named and of no other."""

import os
import resource
import signal
import stat
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from tcpstall.cli import main
from tcpstall.errors import ExitCode
from tests.cli.conftest import FIXTURES, environment

CAPTURE = FIXTURES / "slowstart-rtt7ms-512k.pcap"
OLD = b"the old file"

Command = tuple[str, ...]

COMMANDS: dict[str, Command] = {
    "report": ("report", "{capture}", "-o", "{folder}/x.html"),
    "report of a store": ("report", "--store", "{store}", "-o", "{folder}/x.html"),
    "diff": ("diff", "{capture}", "{capture}", "-o", "{folder}/x.html"),
    "check": ("check", "{capture}", "--max", "lost=1h", "--junit", "{folder}/x.xml"),
    "annotate": ("annotate", "{capture}", "-o", "{folder}/x.pcapng"),
    "wireshark": ("wireshark", "{capture}", "-o", "{folder}/x.tcpstall"),
    "extract": ("extract", "{capture}", "-o", "{folder}/x.pcap"),
    "convert": ("convert", "{capture}", "-o", "{folder}/x.pcap"),
    "plot png": ("plot", "{capture}", "--kind", "rtt", "-o", "{folder}/x.png"),
    "plot svg": ("plot", "{capture}", "--kind", "timeline", "-o", "{folder}/x.svg"),
    "plot pdf": ("plot", "{capture}", "--kind", "rtt", "-o", "{folder}/x.pdf"),
    "analyze --plots": ("analyze", "{capture}", "--format", "text", "--plots", "{folder}", "--plot-format", "svg"),
    "query csv": ("query", "SELECT * FROM stalls", "--store", "{store}", "--format", "csv", "-o", "{folder}/x.csv"),
    "query json": ("query", "SELECT * FROM stalls", "--store", "{store}", "--format", "json", "-o", "{folder}/x.json"),
    "query parquet": ("query", "FROM stalls", "--store", "{store}", "--format", "parquet", "-o", "{folder}/x.parquet"),
    "top": ("top", "--store", "{store}", "--format", "csv", "-o", "{folder}/x.csv"),
    "trend": ("trend", "--store", "{store}", "--format", "parquet", "-o", "{folder}/x.parquet"),
    "metrics": ("metrics", "--store", "{store}", "-o", "{folder}/x.prom"),
    "scan --metrics": ("scan", "{capture}", "--store", "{store}", "--metrics", "{folder}/x.prom"),
}

every_command = pytest.mark.parametrize("name", COMMANDS)


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store that has the capture already."""
    folder = tmp_path_factory.mktemp("stores") / "store"
    assert main(["scan", str(CAPTURE), "--store", str(folder), "--jobs", "1"]) == 0
    return folder


@pytest.fixture
def command(store: Path, tmp_path: Path) -> Callable[[str], tuple[list[str], Path]]:
    """Its arguments, and the file that it writes into an empty folder."""

    def _command(name: str) -> tuple[list[str], Path]:
        folder = tmp_path / "out"
        folder.mkdir()
        arguments = [part.format(capture=CAPTURE, store=store, folder=folder) for part in COMMANDS[name]]
        last = Path(arguments[-1])
        return arguments, last if last.parent == folder else folder / "flow-0.svg"

    return _command


Given = Callable[[str], tuple[list[str], Path]]


def only(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


@every_command
def test_a_link_stays_and_a_private_file_stays_private(command: Given, name: str, tmp_path: Path) -> None:
    arguments, target = command(name)
    real = tmp_path / "real"
    real.write_bytes(OLD)
    real.chmod(0o600)
    target.symlink_to(real)

    assert main(arguments) == 0

    assert target.is_symlink()
    assert target.readlink() == real
    assert stat.S_IMODE(real.stat().st_mode) == 0o600
    assert OLD not in real.read_bytes()
    assert only(target.parent) == [target.name]
    assert only(tmp_path) == ["out", "real"]


@pytest.mark.parametrize("name", ["report", "annotate", "query parquet", "scan --metrics"])
def test_a_private_file_without_a_link_stays_private_too(command: Given, name: str) -> None:
    arguments, target = command(name)
    target.write_bytes(OLD)
    target.chmod(0o600)

    assert main(arguments) == 0

    assert stat.S_IMODE(target.stat().st_mode) == 0o600
    assert target.read_bytes() != OLD


@every_command
def test_a_pipe_is_written_through_and_stays_a_pipe(command: Given, name: str) -> None:
    arguments, target = command(name)
    os.mkfifo(target)
    read: list[bytes] = []
    # It opens before anybody writes; metrics are written twice.
    keeper = os.open(target, os.O_RDWR)
    reader = threading.Thread(target=lambda: read.extend(iter(lambda: os.read(keeper, 1 << 16), b"end")))
    reader.start()

    code = main(arguments)
    os.write(keeper, b"end")
    _end(reader, keeper)

    assert code == 0
    assert sum(map(len, read)) > 100
    assert target.is_fifo()
    assert only(target.parent) == [target.name]


def _end(reader: threading.Thread, keeper: int) -> None:
    """The last word may come with others."""
    while reader.is_alive():
        reader.join(0.05)
        if reader.is_alive():
            os.write(keeper, b"end")
    os.close(keeper)


@every_command
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT], ids=lambda number: number.name)
def test_a_signal_leaves_the_old_file_and_no_other(
    command: Given, name: str, number: signal.Signals, monkeypatch: pytest.MonkeyPatch
) -> None:
    arguments, target = command(name)
    target.write_bytes(OLD)
    came = []

    def struck(descriptor: int) -> None:
        came.append(descriptor)
        signal.raise_signal(number)

    monkeypatch.setattr("tcpstall.output.os.fsync", struck)

    code = main(arguments)

    assert came
    assert code == 128 + number
    assert target.read_bytes() == OLD
    assert only(target.parent) == [target.name]


@pytest.mark.parametrize("name", [name for name in COMMANDS if not name.startswith("scan")])
def test_a_full_disk_is_one_line_and_leaves_the_old_file(
    command: Given, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments, target = command(name)
    if name == "metrics":
        main(arguments)  # writes the store's ledger, which would be too large first
    target.write_bytes(OLD)
    capsys.readouterr()
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (20, before[1]))
    try:
        code = main(arguments)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)

    said = capsys.readouterr().err.splitlines()
    assert code == ExitCode.DEFECT
    assert [line for line in said if "cannot write" in line and "too large" in line] == said
    assert len(said) == 1
    assert str(target) in said[0]
    assert target.read_bytes() == OLD
    assert only(target.parent) == [target.name]


@every_command
def test_nobody_can_put_a_link_where_a_name_can_be_foretold(command: Given, name: str, tmp_path: Path) -> None:
    arguments, target = command(name)
    victim = tmp_path / "victim"
    victim.write_bytes(b"precious")
    for shape in (".{}.{}", ".{}", "{}.tmp", "tmp_{}", ".{}.tmp", "{}~"):
        (target.parent / shape.format(target.name, os.getpid())).symlink_to(victim)
    planted = only(target.parent)

    assert main(arguments) == 0

    assert victim.read_bytes() == b"precious"
    assert only(target.parent) == sorted([*planted, target.name])


@every_command
def test_a_device_is_written_through_and_stays_a_device(command: Given, name: str) -> None:
    arguments, target = command(name)
    try:
        os.mknod(target, stat.S_IFCHR | 0o666, os.makedev(1, 3))
    except OSError:
        pytest.skip("only root makes devices")
    try:
        # Where the file system opens no devices this is refused; the device must stay all the same.
        assert main(arguments) in (0, ExitCode.DEFECT)
        assert stat.S_ISCHR(target.lstat().st_mode)
        assert only(target.parent) == [target.name]
    finally:
        target.unlink()


def _run(arguments: Sequence[str], **how: Any) -> "subprocess.CompletedProcess[bytes]":
    return subprocess.run(
        [sys.executable, "-m", "tcpstall", *arguments],
        env=environment(),
        timeout=60,
        check=False,
        stderr=subprocess.PIPE,
        **how,
    )


@pytest.mark.parametrize(
    ("form", "number"), [("csv", signal.SIGINT), ("json", signal.SIGINT), ("parquet", signal.SIGTERM)]
)
def test_an_answer_that_a_signal_ends_half_way_leaves_the_old_file_alone(
    store: Path, tmp_path: Path, form: str, number: signal.Signals
) -> None:
    (tmp_path / "old").write_bytes(OLD)
    many = "SELECT a.start_ns FROM " + ", ".join(f"stalls {name}" for name in "abcdefghij")
    process = subprocess.Popen(
        [sys.executable, "-m", "tcpstall", "query", many, "--store", store, "--format", form, "-o", tmp_path / "old"],
        env=environment(),
        stderr=subprocess.PIPE,
    )
    begun = time.monotonic()
    while sum(path.stat().st_size for path in tmp_path.rglob("*")) <= 20_000 and time.monotonic() < begun + 4:
        time.sleep(0.01)
    assert process.poll() is None
    process.send_signal(number)
    process.communicate(timeout=60)
    assert only(tmp_path) == ["old"]
    assert (tmp_path / "old").read_bytes() == OLD
    assert process.returncode == 128 + number


def test_standard_output_as_a_file_keeps_what_was_written_before(tmp_path: Path) -> None:
    page = tmp_path / "page"
    with page.open("wb") as file:
        file.write(b"before\n")
        file.flush()
        done = _run(["report", str(CAPTURE), "-o", "/dev/stdout"], stdout=file)
    assert (done.returncode, done.stderr) == (0, b"")
    assert page.read_bytes().startswith(b"before\n<!doctype html>")
    assert only(tmp_path) == ["page"]


def test_a_log_may_be_a_link_a_pipe_and_standard_output(store: Path, tmp_path: Path) -> None:
    real, link = tmp_path / "real.log", tmp_path / "link.log"
    real.write_text("before\n")
    real.chmod(0o600)
    link.symlink_to(real)
    scan = ["scan", str(CAPTURE), "--store", str(store), "--log"]
    assert main([*scan, str(link)]) == 0
    assert real.read_text().startswith('before\n{"time"')
    assert (link.is_symlink(), stat.S_IMODE(real.stat().st_mode)) == (True, 0o600)
    done = _run([*scan, "/dev/stdout"], stdout=subprocess.PIPE)
    assert done.stdout.startswith(b'{"time"')


def test_a_log_on_a_full_disk_is_one_line(store: Path) -> None:
    done = _run(["scan", str(CAPTURE), "--store", str(store), "--log", "/dev/full"])
    (line,) = done.stderr.decode().splitlines()
    assert done.returncode == ExitCode.DEFECT
    assert line == "tcpstall: cannot write the log: No space left on device"
