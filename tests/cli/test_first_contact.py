"""A newcomer's first commands: no arguments, closed streams, names of any bytes, options that nothing fits."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tcpstall.cli import main
from tcpstall.errors import ExitCode
from tests.cli.conftest import FIXTURES, Run, environment
from tests.cli.test_nonsense import BASE
from tests.live import tcpdumps

CAPTURE = FIXTURES / "slowstart-rtt7ms-512k.pcap"


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("stores") / "store"
    assert main(["scan", str(CAPTURE), "--store", str(folder), "--jobs", "1"]) == 0
    return folder


@pytest.mark.parametrize("group", [(), ("store",)], ids=["tcpstall", "store"])
def test_a_group_alone_prints_its_help_and_exits_2(here: Run, group: tuple[str, ...]) -> None:
    done = here(*group)
    assert (done.returncode, done.stdout) == (ExitCode.USAGE, "")
    assert done.stderr.splitlines()[0].startswith("Usage: tcpstall")
    assert "Commands:" in done.stderr
    assert "\\n" not in done.stderr
    assert done.stderr.strip() == here(*group, "--help").stdout.strip()


WRITES_NOTHING_THERE = {
    "report",
    "annotate",
    "wireshark",
    "extract",
    "convert",
    "man",
    "scan",
    "store prune",
    "store forget",
    "store compact",
    "store publish",
}
"""Their results go to files."""

TALKS_THERE = ("serve",)
"""On its input and output, see tests/serve."""


@pytest.mark.parametrize("name", [name for name in BASE if name not in ("store", *TALKS_THERE)])
def test_closed_streams_are_one_line_at_most_and_change_no_other_exit_code(
    name: str, store: Path, tmp_path: Path
) -> None:
    arguments = [part.format(capture=CAPTURE, store=store) for part in BASE[name]]
    if name == "query":
        arguments = ["SELECT 1", *arguments]
    command = [sys.executable, "-m", "tcpstall", *name.split(), *arguments]
    captures = tcpdumps.playing(tmp_path / "bin", CAPTURE, then=tcpdumps.ENDS)

    def run_with(closed: str) -> "subprocess.CompletedProcess[bytes]":
        return subprocess.run(
            ["/bin/sh", "-c", f'exec "$@" {closed}', "sh", *command],
            capture_output=True,
            env=environment(PATH=captures["PATH"]),
            cwd=tmp_path,
            timeout=60,
            check=False,
        )

    without_output = run_with(">&-")
    said = without_output.stderr.decode().splitlines()
    if name in WRITES_NOTHING_THERE:
        assert without_output.returncode == 0
    else:
        assert without_output.returncode == ExitCode.DEFECT
        assert said == ["tcpstall: cannot write standard output: Bad file descriptor"]
    assert run_with("2>&- <&-").returncode == 0
    assert run_with("2>/dev/full").returncode == 0


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (("analyze", "{capture}"), ExitCode.COMPLETE),
        (("analyze", "{capture}", "--flow", "7"), ExitCode.NOTHING_FITS),
        (("analyze", "nowhere.pcap"), ExitCode.CANNOT_OPEN),
        (("scan", "{capture}", "--store", "{store}"), ExitCode.COMPLETE),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_a_closed_standard_error_changes_no_exit_code(arguments: tuple[str, ...], code: ExitCode, store: Path) -> None:
    filled = [part.format(capture=CAPTURE, store=store) for part in arguments]
    command = ["/bin/sh", "-c", 'exec "$@" 2>&-', "sh", sys.executable, "-m", "tcpstall", *filled]
    assert subprocess.run(command, stdout=subprocess.DEVNULL, env=environment(), check=False).returncode == code


def test_help_on_a_closed_output_is_one_line() -> None:
    for arguments in ("--help", "analyze --help", "--version"):
        done = subprocess.run(
            ["/bin/sh", "-c", f"exec {sys.executable} -m tcpstall {arguments} >&-"],
            capture_output=True,
            env=environment(),
            check=False,
        )
        assert (done.returncode, done.stderr) == (
            ExitCode.DEFECT,
            b"tcpstall: cannot write standard output: Bad file descriptor\n",
        )


@pytest.mark.parametrize(
    "arguments",
    [
        ("analyze", "{capture}", "--port", "443"),
        ("analyze", "{capture}", "--flow", "7", "--format", "json"),
        ("analyze", "{capture}", "--host", "10.9.9.9", "--format", "csv"),
        ("analyze", "{capture}", "--since", "+1h", "--format", "markdown"),
        ("report", "{capture}", "--flow", "7", "-o", "x.html"),
        ("remedies", "{capture}", "--port", "443"),
        ("annotate", "{capture}", "--flow", "7", "-o", "x.pcapng"),
        ("extract", "{capture}", "--flow", "7", "-o", "x.pcap"),
        ("extract", "{capture}", "--stall", "99", "-o", "x.pcap"),
        ("plot", "{capture}", "--flow", "7", "-o", "x.svg"),
        ("plot", "{capture}", "--since", "+1h", "-o", "x.svg"),
        ("whatif", "{capture}", "--flow", "7"),
        ("whatif", "{capture}", "--service", "10.9.9.9:80"),
        ("check", "{capture}", "--max", "lost=1s", "--service", ":443", "--junit", "x.xml"),
    ],
    ids=" ".join,
)
def test_options_that_no_flow_fits_exit_7_from_every_command_and_write_no_file(
    arguments: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main([part.format(capture=CAPTURE) for part in arguments]) == ExitCode.NOTHING_FITS
    (line,) = capfd.readouterr().err.splitlines()
    assert line.startswith("tcpstall: ")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("since", "hint"),
    [
        ("1795228350800", "milliseconds, write 1795228350.800"),
        ("1795228350800123", "microseconds, write 1795228350.800123"),
        ("1795228350800123456", "nanoseconds, write 1795228350.800123456"),
    ],
)
def test_counts_of_parts_of_a_second_are_refused_with_what_to_write(here: Run, since: str, hint: str) -> None:
    done = here("analyze", CAPTURE, "--since", since)
    assert done.returncode == ExitCode.USAGE
    assert hint in done.stderr


def test_a_rate_without_a_unit_is_refused_with_what_to_write(here: Run) -> None:
    done = here("analyze", CAPTURE, "--link-rate", "100")
    assert done.returncode == ExitCode.USAGE
    assert "its unit is missing; write 100Mbit, or 100bit" in done.stderr


def test_a_damaged_catalog_is_one_line(here: Run, store: Path, tmp_path: Path) -> None:
    broken = tmp_path / "store"
    shutil.copytree(store, broken)
    (broken / "catalog.json").write_bytes(b'{"schema": ')
    for arguments in (("query", "SELECT 1"), ("top",), ("store", "info"), ("scan", CAPTURE)):
        done = here(*arguments, "--store", broken)
        assert done.returncode == ExitCode.CANNOT_OPEN
        (line,) = done.stderr.splitlines()
        assert "catalog.json is damaged" in line


def test_a_closed_input_cannot_be_opened() -> None:
    for command in ("analyze -", f"remedies {CAPTURE} --ss -"):
        done = subprocess.run(
            ["/bin/sh", "-c", f"exec {sys.executable} -m tcpstall {command} <&-"],
            capture_output=True,
            env=environment(),
            check=False,
        )
        assert done.returncode in (ExitCode.CANNOT_OPEN, ExitCode.NOT_A_CAPTURE)
        assert len(done.stderr.splitlines()) == 1


NAME = os.fsdecode(b"caf\xe9.pcap")
SHOWN = "caf\\xe9.pcap"


@pytest.fixture
def latin(tmp_path: Path) -> Path:
    """A capture whose name is Latin-1."""
    path = tmp_path / NAME
    try:
        shutil.copy(CAPTURE, path)
    except OSError:
        pytest.skip("this file system takes UTF-8 names only")
    return path


@pytest.mark.parametrize(
    "arguments",
    [
        ("analyze", "{latin}"),
        ("analyze", "{latin}", "--format", "json"),
        ("analyze", "{latin}", "--format", "ndjson", "--since", "+0s"),
        ("analyze", "{latin}", "--format", "markdown", "--plots", "{folder}"),
        ("report", "{latin}", "-o", "{folder}/x.html"),
        ("plot", "{latin}", "-o", "{folder}/x.svg"),
        ("annotate", "{latin}", "-o", "{folder}/x.pcapng"),
        ("wireshark", "{latin}", "-o", "{folder}/x.tcpstall"),
        ("extract", "{latin}", "-o", "{folder}/caf\udce9.pcap"),
        ("convert", "{latin}", "-o", "{folder}/caf\udce9.out"),
        ("analyze", "--merge", "{latin}", "{latin}", "--format", "json"),
        ("diff", "{latin}", "{latin}", "--format", "json"),
        ("check", "{latin}", "--max", "lost=1h", "--junit", "{folder}/x.xml", "--format", "json"),
        ("pair", "{latin}", "{latin}", "--format", "json"),
        ("remedies", "{latin}", "--format", "json"),
        ("whatif", "{latin}"),
    ],
    ids=lambda arguments: " ".join(arguments[:1] + arguments[2:]).replace("\udce9", "é"),
)
def test_a_name_of_any_bytes_is_read_and_shown_as_text(
    arguments: tuple[str, ...], latin: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "out"
    folder.mkdir()
    assert main([part.format(latin=latin, folder=folder) for part in arguments]) == 0
    shown = capfd.readouterr()
    together = shown.out + shown.err
    together.encode()
    if "json" in arguments:
        json.loads(shown.out)
        assert "\\udce9" not in shown.out
    if arguments[0] in ("analyze", "diff", "whatif"):
        assert SHOWN in together.replace("\\\\", "\\").replace("\n", "")
    for made in folder.iterdir():
        if made.suffix == ".html":
            assert SHOWN in made.read_text("utf-8")


def test_a_name_of_any_bytes_is_scanned_and_known_afterwards(
    latin: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    scan = ["scan", str(latin), "--store", str(tmp_path / "store"), "--jobs", "1"]
    assert main(scan) == 0
    assert main(scan) == 0
    assert "1 capture known already" in capfd.readouterr().err
    assert main(["query", "SELECT name FROM captures", "--store", str(tmp_path / "store"), "--format", "json"]) == 0
    (row,) = json.loads(capfd.readouterr().out)
    assert row["name"].endswith("caf%E9.pcap")


def test_a_missing_file_of_such_a_name_is_named_once(run: Run, tmp_path: Path) -> None:
    done = run("analyze", tmp_path / NAME)
    assert done.returncode == ExitCode.CANNOT_OPEN
    assert done.stderr == f"tcpstall: cannot open {tmp_path}/{SHOWN}: no such file\n"
