"""`tcpstall live` as a user starts it, with a tcpdump that plays a capture."""

import json
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from tcpstall import analyze
from tcpstall.errors import ExitCode
from tests.live import tcpdumps

FULL = """
import signal, sys
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
from tcpstall.cli import main
sys.exit(main())
"""
"""A file that may not grow fails as a full disk does."""


def started(environment: Mapping[str, str], *options: str) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, "-m", "tcpstall", "live", "eth0", "--every", "100ms", *options],
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def until_read(process: "subprocess.Popen[str]", packets: int) -> list[dict[str, Any]]:
    """The lines up to the one that has so many packets."""
    assert process.stdout is not None
    lines: list[dict[str, Any]] = []
    while not lines or lines[-1]["packets"] < packets:
        lines.append(json.loads(process.stdout.readline()))
    return lines


def rest_of(process: "subprocess.Popen[str]") -> tuple[list[dict[str, Any]], list[str]]:
    output, errors = process.communicate(timeout=60)
    return [json.loads(line) for line in (output or "").splitlines()], errors.splitlines()


def test_without_a_terminal_each_interval_is_a_line_and_the_last_the_report(tmp_path: Path, many: Path) -> None:
    whole = analyze(str(many))
    process = started(tcpdumps.playing(tmp_path / "bin", many), "--filter", "tcp port 80", "--snaplen", "200")
    lines = until_read(process, whole.captures[0].packets)
    process.send_signal(signal.SIGINT)
    more, errors = rest_of(process)

    assert (process.returncode, errors) == (ExitCode.COMPLETE, [])
    assert {line["type"] for line in [*lines, *more[:-1]]} == {"interval"}
    report = more[-1]
    assert (report["schema"], report["type"], report["interface"]) == ("tcpstall.live/1", "report", "eth0")
    assert report["time_ns"] == whole.time_ns()
    assert (report["flows"], report["bytes"]) == (whole.total, whole.bytes)
    assert [flow["lost_ns"] for flow in report["worst_flows"]] == [whole[row].lost_ns for row in whole.ranked()]
    assert sum(one["lost_ns"] for one in report["services"]) == report["lost_ns"]
    assert report["findings"][0]["rank"] == 1
    assert [report[f"{what}_packets"] for what in ("captured", "received", "dropped")] == [9, 11, 2]
    given = tcpdumps.arguments(tmp_path / "bin")
    assert given[-1] == "tcp port 80"
    assert given[given.index("-s") + 1] == "200"


def test_it_ends_by_itself_after_the_time_that_was_asked_for(tmp_path: Path, many: Path) -> None:
    lines, errors = rest_of(started(tcpdumps.playing(tmp_path / "bin", many), "--for", "100ms"))

    assert lines[-1]["type"] == "report"
    assert not errors


def test_sigterm_ends_it_with_the_report_and_its_own_code(tmp_path: Path, many: Path) -> None:
    process = started(tcpdumps.playing(tmp_path / "bin", many))
    until_read(process, 1)
    process.send_signal(signal.SIGTERM)
    lines, errors = rest_of(process)

    assert process.returncode == ExitCode.TERMINATED
    assert lines[-1]["type"] == "report"
    assert len(errors) == 1


def test_an_interface_that_goes_away_is_told_behind_the_report(tmp_path: Path, many: Path) -> None:
    process = started(tcpdumps.playing(tmp_path / "bin", many, tcpdumps.FAILS))
    lines, errors = rest_of(process)

    assert process.returncode == ExitCode.CANNOT_CAPTURE
    assert lines[-1]["packets"] == analyze(str(many)).captures[0].packets
    assert errors == ["tcpstall: the capture on eth0 ended: pcap_loop: The interface disappeared"]


@pytest.mark.parametrize(
    ("words", "hint"),
    [
        ("tcpdump: eth0: No such device exists\n(No such device exists)\n", "tcpdump -D"),
        ("tcpdump: eth0: You don't have permission to capture on that device\n(socket: \x1b[31mno)\n", "run as root"),
        ("tcpdump: can't parse filter expression: syntax error\n", "pcap-filter(7)"),
        ("", "said nothing"),
    ],
)
def test_what_tcpdump_refuses_is_one_line_with_what_to_do(tmp_path: Path, words: str, hint: str) -> None:
    process = started(tcpdumps.refusing(tmp_path / "bin", words))
    lines, errors = rest_of(process)

    assert (process.returncode, lines) == (ExitCode.CANNOT_CAPTURE, [])
    [line] = errors
    assert line.startswith("tcpstall: cannot capture on eth0: ")
    assert hint in line
    assert (line.count("eth0"), line.count("No such device")) in {(1, 0), (1, 1)}
    assert "\x1b" not in line


def test_a_disk_that_is_full_ends_it_with_the_report_and_a_line(tmp_path: Path, many: Path) -> None:
    limited = 'ulimit -f 20; exec "$0" "$@"'
    environment = tcpdumps.playing(tmp_path / "bin", many)
    done = subprocess.run(
        ["bash", "-c", limited, sys.executable, "-c", FULL, "live", "eth0", "--ring", str(tmp_path / "ring")],
        env=environment,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )

    assert (done.returncode, len(done.stderr.splitlines())) == (ExitCode.DEFECT, 1)
    assert f"cannot write {tmp_path / 'ring'}: File too large" in done.stderr
    assert json.loads(done.stdout.splitlines()[-1])["type"] == "report"


@pytest.mark.parametrize(
    "options", [("--every", "1ms"), ("--snaplen", "3"), ("--ring-size", "1k"), ("--for", "soon")], ids=" ".join
)
def test_options_that_make_no_sense_are_refused(tmp_path: Path, many: Path, options: Sequence[str]) -> None:
    process = started(tcpdumps.playing(tmp_path / "bin", many), *options)
    process.communicate(timeout=60)

    assert process.returncode == ExitCode.USAGE
    assert not (tmp_path / "bin" / "arguments").exists()


def test_a_ring_that_cannot_be_written_is_one_line(tmp_path: Path, many: Path) -> None:
    (tmp_path / "file").touch()
    process = started(tcpdumps.playing(tmp_path / "bin", many), "--ring", str(tmp_path / "file" / "ring"))
    lines, errors = rest_of(process)

    assert (process.returncode, lines) == (ExitCode.DEFECT, [])
    assert len(errors) == 1
    assert "file" in errors[0]


def test_a_reader_that_goes_away_ends_it_quietly(tmp_path: Path, many: Path) -> None:
    process = started(tcpdumps.playing(tmp_path / "bin", many))
    assert process.stdout is not None
    process.stdout.readline()
    process.stdout.close()
    process.stdout = None
    assert rest_of(process) == ([], [])
    assert process.returncode == ExitCode.CLOSED_PIPE
