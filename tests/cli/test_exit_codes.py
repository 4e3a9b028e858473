"""Each exit code, with the one line that comes with it."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import IO

import pytest

from tcpstall.archive.storing.store import Store
from tcpstall.cli import main
from tcpstall.cli.process import exits
from tcpstall.errors import ExitCode
from tests.cli.conftest import Run, environment


def _lines(text: str) -> list[str]:
    return text.splitlines()


def test_a_complete_report_exits_0(run: Run, capture: Path) -> None:
    done = run("analyze", capture)
    assert (done.returncode, done.stderr) == (ExitCode.COMPLETE, "")


def test_a_warning_does_not_change_the_exit_code(run: Run, paste: Path) -> None:
    done = run("analyze", paste)
    assert done.returncode == ExitCode.COMPLETE
    assert "1970-01-01" in done.stdout


def test_an_unexpected_exception_exits_1_and_asks_for_a_report(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def broken(*_: object) -> int:
        raise RuntimeError("the model\nis wrong")

    monkeypatch.setattr(exits, "_run", broken)
    assert main(["explain"]) == ExitCode.DEFECT
    (line,) = _lines(capsys.readouterr().err)
    assert line.startswith(
        "tcpstall: this is a defect in tcpstall, please report it: RuntimeError: the model\\nis wrong"
    )
    assert "TCPSTALL_TRACEBACK=1" in line


def test_a_defect_shows_its_traceback_when_asked(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def broken(*_: object) -> int:
        raise RuntimeError

    monkeypatch.setattr(exits, "_run", broken)
    monkeypatch.setenv("TCPSTALL_TRACEBACK", "1")
    assert main(["explain"]) == ExitCode.DEFECT
    assert "Traceback" in capsys.readouterr().err


@pytest.mark.parametrize("form", ["table", "json", "ndjson", "csv"])
def test_a_full_disk_exits_1_with_one_line(capture: Path, form: str) -> None:
    with Path("/dev/full").open("wb") as full:
        done = _started("analyze", capture, "--format", form, stdout=full)
        _, error = done.communicate(timeout=60)
    (line,) = _lines(error.decode())
    assert done.returncode == ExitCode.DEFECT
    assert "cannot write" in line
    assert line.endswith("No space left on device")


@pytest.mark.parametrize(
    "arguments",
    [
        (),
        ("frobnicate",),
        ("analyze",),
        ("analyze", "{capture}", "--format", "xml"),
        ("analyze", "{capture}", "--host", "example.org:80"),
        ("analyze", "{capture}", "--port", "65536"),
        ("analyze", "{capture}", "--since", "25:00:00"),
        ("analyze", "{capture}", "--since", "+2s", "--until", "+1s"),
        ("analyze", "{capture}", "--min-stall", "5"),
        ("analyze", "{capture}", "--top", "0"),
        ("analyze", "-", "-"),
        ("analyze", "-", "--since", "10:45:49"),
        ("explain", "bad-weather"),
        ("plot", "{capture}"),
        ("plot", "{capture}", "-o", "x.gif"),
        ("convert", "{capture}"),
    ],
    ids=" ".join,
)
def test_a_command_line_that_makes_no_sense_exits_2(here: Run, capture: Path, arguments: tuple[str, ...]) -> None:
    done = here(*(argument.format(capture=capture) for argument in arguments))
    assert done.returncode == ExitCode.USAGE
    assert done.stdout == ""
    assert "Traceback" not in done.stderr


def test_a_missing_file_exits_3(run: Run, tmp_path: Path) -> None:
    done = run("analyze", tmp_path / "nowhere.pcap")
    assert done.returncode == ExitCode.CANNOT_OPEN
    (line,) = _lines(done.stderr)
    assert "nowhere.pcap" in line
    assert done.stdout == ""


def test_a_directory_exits_3(run: Run, tmp_path: Path) -> None:
    done = run("analyze", tmp_path)
    assert done.returncode == ExitCode.CANNOT_OPEN
    assert len(_lines(done.stderr)) == 1


def test_a_missing_file_exits_3_from_every_command_that_reads(here: Run, tmp_path: Path) -> None:
    missing = tmp_path / "nowhere.pcap"
    for arguments in (("plot", missing, "-o", tmp_path / "x.png"), ("convert", missing, "-o", tmp_path / "x.pcap")):
        done = here(*arguments)
        assert done.returncode == ExitCode.CANNOT_OPEN, arguments
        assert len(_lines(done.stderr)) == 1


def test_a_picture_exits_4(run: Run, picture: Path) -> None:
    done = run("analyze", picture)
    assert done.returncode == ExitCode.NOT_A_CAPTURE
    (line,) = _lines(done.stderr)
    assert "cat.jpeg" in line


def test_an_empty_file_exits_4(run: Run, tmp_path: Path) -> None:
    empty = tmp_path / "empty.pcap"
    empty.touch()
    done = run("analyze", empty)
    assert done.returncode == ExitCode.NOT_A_CAPTURE
    assert len(_lines(done.stderr)) == 1


def test_a_file_name_with_control_characters_stays_on_one_line(run: Run, tmp_path: Path) -> None:
    done = run("analyze", tmp_path / "a\n\x1b[31mb.pcap")
    assert len(_lines(done.stderr)) == 1
    assert "\x1b" not in done.stderr


def test_a_file_name_that_is_no_text_exits_3(run: Run, tmp_path: Path) -> None:
    done = run("analyze", tmp_path / os.fsdecode(b"\xff.pcap"))
    assert done.returncode == ExitCode.CANNOT_OPEN
    assert len(_lines(done.stderr)) == 1


def test_a_cut_capture_exits_5_and_reports_what_was_whole(run: Run, cut_capture: Path) -> None:
    done = run("analyze", cut_capture)
    assert done.returncode == ExitCode.DAMAGED
    assert "524,583 bytes" in done.stdout
    (line,) = _lines(done.stderr)
    assert "cut.pcap" in line


@pytest.mark.parametrize("form", ["table", "json", "ndjson", "csv"])
def test_of_several_inputs_the_highest_code_counts_and_each_readable_one_is_reported(
    here: Run, form: str, capture: Path, cut_capture: Path, picture: Path, tmp_path: Path
) -> None:
    missing = tmp_path / "nowhere.pcap"
    assert here("analyze", missing, capture, "--format", form).returncode == ExitCode.CANNOT_OPEN
    assert here("analyze", picture, missing, capture, "--format", form).returncode == ExitCode.NOT_A_CAPTURE
    done = here("analyze", cut_capture, picture, missing, capture, "--format", form)
    assert done.returncode == ExitCode.DAMAGED
    assert ("receive window full" if form == "table" else "rwnd-limited") in done.stdout
    for name in ("cut.pcap", "cat.jpeg", "nowhere.pcap"):
        assert len([line for line in _lines(done.stderr) if name in line and line.startswith("tcpstall: ")]) == 1


def test_a_signal_exits_128_and_its_number_with_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for number, code in (
        (signal.SIGINT, ExitCode.INTERRUPTED),
        (signal.SIGTERM, ExitCode.TERMINATED),
        (signal.SIGHUP, ExitCode.HUNG_UP),
    ):
        monkeypatch.setattr(exits, "_run", lambda *_, number=number: signal.raise_signal(number))
        assert main(["explain"]) == code == 128 + number
        assert len(_lines(capsys.readouterr().err)) == 1


@pytest.mark.parametrize("arguments", [("--help",), ("explain",), ("analyze", "{capture}")], ids=" ".join)
@pytest.mark.parametrize("form", ["table", "json", "ndjson", "csv"])
def test_a_closed_pipe_exits_141_without_a_word(capture: Path, arguments: tuple[str, ...], form: str) -> None:
    if arguments[0] != "analyze" and form != "table":
        pytest.skip("has no formats")
    options = ("--format", form) if arguments[0] == "analyze" else ()
    read_end, write_end = os.pipe()
    os.close(read_end)
    process = _started(*(part.format(capture=capture) for part in arguments), *options, stdout=write_end)
    os.close(write_end)
    _, error = process.communicate(timeout=60)
    assert (process.returncode, error) == (ExitCode.CLOSED_PIPE, b"")


def test_a_store_that_another_scan_writes_into_exits_6(run: Run, capture: Path, tmp_path: Path) -> None:
    with Store.writing(str(tmp_path / "store")):
        done = run("scan", capture, "--store", tmp_path / "store")
    (line,) = _lines(done.stderr)
    assert (done.returncode, "another scan is writing" in line) == (ExitCode.IN_USE, True)


def test_a_flow_that_is_not_there_exits_7(run: Run, capture: Path) -> None:
    done = run("analyze", capture, "--flow", "99")
    (line,) = _lines(done.stderr)
    assert (done.returncode, "no flow fits" in line) == (ExitCode.NOTHING_FITS, True)


def test_a_broken_rule_exits_8_and_is_no_error(run: Run, capture: Path) -> None:
    done = run("check", capture, "--max", "lost=1ms")
    assert (done.returncode, done.stderr) == (ExitCode.BROKEN, "")
    assert run("check", capture, "--max", "lost=1h").returncode == ExitCode.COMPLETE


def test_an_interface_that_nobody_can_capture_on_exits_9(run: Run, tmp_path: Path) -> None:
    done = run("live", "eth0", PATH=str(tmp_path))
    (line,) = _lines(done.stderr)
    assert (done.returncode, "there is no tcpdump" in line, done.stdout) == (ExitCode.CANNOT_CAPTURE, True, "")


def test_every_exit_code_has_a_test_here() -> None:
    tests: list[Callable[..., None]] = [value for name, value in globals().items() if name.startswith("test_")]
    tested = {name for test in tests for name in test.__code__.co_names}
    assert {code.name for code in ExitCode} <= tested


def _started(
    *arguments: object, stdout: int | IO[bytes] = subprocess.PIPE, stdin: int | None = None
) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-m", "tcpstall", *map(str, arguments)],
        stdin=stdin,
        stdout=stdout,
        stderr=subprocess.PIPE,
        env=environment(),
    )
