"""Signals: Ctrl-C while a pipe is read, and what else ends a run."""

import fcntl
import gzip
import os
import signal
import subprocess
import sys
import termios
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from tcpstall.cli import main
from tcpstall.cli.process.signals import Signals, draining
from tcpstall.errors import ExitCode
from tests.cli.conftest import environment

NOTICE = "tcpstall: interrupted: reading what the pipe still holds; Ctrl-C again stops at once"

WRITER = """
import fcntl, os, signal, sys, termios, time
with open(sys.argv[1], "rb") as file:
    whole = file.read()
half = len(whole) // 2
os.write(1, whole[:half])
while fcntl.ioctl(1, termios.FIONREAD, bytes(4)) != bytes(4):
    time.sleep(0.01)
signal.signal(signal.SIGINT, lambda *_: None)
os.killpg(0, signal.SIGINT)
os.write(1, whole[half:])
"""
"""Behaves as tcpdump does: at Ctrl-C, which reaches both processes, it hands over what it has and ends."""


def started(*arguments: object, **how: Any) -> "subprocess.Popen[bytes]":
    return subprocess.Popen(
        [sys.executable, "-m", "tcpstall", *map(str, arguments)],
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        **how,
    )


def feed(process: "subprocess.Popen[bytes]", some: bytes) -> None:
    """Hands over so much, and waits until it is read."""
    assert process.stdin is not None
    process.stdin.write(some)
    process.stdin.flush()
    while fcntl.ioctl(process.stdin, termios.FIONREAD, bytes(4)) != bytes(4):
        assert process.poll() is None
        time.sleep(0.01)


def output(process: "subprocess.Popen[bytes]") -> tuple[int, str, list[str]]:
    shown, said = process.communicate(timeout=60)
    return process.returncode, shown.decode(), said.decode().splitlines()


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("analyze", "-"), "524,583 bytes"),
        (("analyze", "-", "--format", "json"), '"packets":58'),
        (("analyze", "-", "--format", "markdown"), "524,583 bytes"),
        (("analyze", "/dev/stdin", "--format", "csv"), "rwnd-limited"),
        (("remedies", "-"), "cwnd-limited"),
        (("check", "-", "--max", "lost=1h"), "holds"),
        (("diff", "{capture}", "-"), "nothing changed beyond"),
        (("convert", "-", "-o", "{folder}/out.pcap"), ""),
        (("report", "-", "-o", "/dev/stdout"), "rwnd-limited"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_ctrl_c_for_both_processes_of_a_pipe_reports_all_that_the_writer_hands_over(
    arguments: tuple[str, ...], told: str, capture: Path, tmp_path: Path
) -> None:
    writer = subprocess.Popen(
        [sys.executable, "-c", WRITER, capture], stdout=subprocess.PIPE, env=environment(), process_group=0
    )
    filled = [part.format(capture=capture, folder=tmp_path) for part in arguments]
    reader = started(*filled, stdin=writer.stdout, process_group=writer.pid)
    assert writer.stdout is not None
    writer.stdout.close()

    code, shown, said = output(reader)

    assert writer.wait(timeout=60) == 0
    assert (code, said[0]) == (ExitCode.COMPLETE, NOTICE)
    assert told in shown
    assert said[1:] == ([f"tcpstall: 58 packets written to {filled[-1]}"] if arguments[0] == "convert" else [])


def test_a_second_ctrl_c_leaves_a_writer_that_goes_on(capture: Path) -> None:
    process = started("analyze", "-", stdin=subprocess.PIPE)
    assert process.stdin is not None
    assert process.stderr is not None
    feed(process, capture.read_bytes()[:1000])
    process.send_signal(signal.SIGINT)
    assert process.stderr.readline().decode().rstrip("\n") == NOTICE
    process.send_signal(signal.SIGINT)
    code = process.wait(timeout=60)
    assert (code, process.stderr.read()) == (ExitCode.INTERRUPTED, b"tcpstall: interrupted\n")
    for stream in (process.stdin, process.stdout, process.stderr):
        assert stream is not None
        stream.close()


@pytest.mark.parametrize("form", ["text", "json"])
def test_an_interrupted_pipe_that_held_nothing_is_no_empty_file(form: str, tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    process = started("analyze", pipe, "--format", form)
    assert process.stderr is not None
    with pipe.open("wb"):  # waits for the reader
        process.send_signal(signal.SIGINT)
        assert process.stderr.readline().decode().rstrip("\n") == NOTICE
    code, _, said = output(process)
    assert (code, said) == (ExitCode.INTERRUPTED, [f"tcpstall: {pipe}: interrupted before the pipe held anything"])


def test_a_compressed_pipe_is_drained_too(capture: Path) -> None:
    process = started("analyze", "-", stdin=subprocess.PIPE)
    assert process.stderr is not None
    packed = gzip.compress(capture.read_bytes())
    feed(process, packed[:2000])
    process.send_signal(signal.SIGINT)
    assert process.stderr.readline().decode().rstrip("\n") == NOTICE
    code, shown = process.communicate(packed[2000:], timeout=60)[0], process
    assert b"524,583 bytes" in code
    assert shown.returncode == ExitCode.COMPLETE


def test_a_writer_that_ends_within_a_packet_leaves_a_damaged_capture(capture: Path) -> None:
    process = started("analyze", "-", stdin=subprocess.PIPE)
    whole = capture.read_bytes()
    feed(process, whole[: len(whole) // 2])
    process.send_signal(signal.SIGINT)
    shown, said = process.communicate(whole[len(whole) // 2 : -20], timeout=60)
    assert process.returncode == ExitCode.DAMAGED
    assert b"524,583 bytes" in shown
    assert len(said.decode().splitlines()) == 2


@pytest.mark.parametrize(
    ("number", "code", "said"),
    [
        (signal.SIGTERM, ExitCode.TERMINATED, "tcpstall: ended by SIGTERM"),
        (signal.SIGHUP, ExitCode.HUNG_UP, "tcpstall: ended because the terminal went away (SIGHUP)"),
    ],
    ids=["SIGTERM", "SIGHUP"],
)
def test_sigterm_and_sighup_end_a_run_at_once_with_their_own_codes(
    number: signal.Signals, code: ExitCode, said: str, capture: Path
) -> None:
    process = started("analyze", "-", stdin=subprocess.PIPE)
    feed(process, capture.read_bytes()[:1000])
    process.send_signal(number)
    assert process.wait(timeout=60) == code
    assert output(process)[2] == [said]


def test_what_the_caller_ignores_stays_ignored(capture: Path) -> None:
    """As `nohup` starts it."""
    process = started(
        "analyze",
        "-",
        stdin=subprocess.PIPE,
        preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN),
    )
    feed(process, capture.read_bytes()[:1000])
    process.send_signal(signal.SIGHUP)
    shown, _ = process.communicate(capture.read_bytes()[1000:], timeout=60)
    assert (process.returncode, b"524,583 bytes" in shown) == (0, True)


def test_a_file_is_not_drained(capture: Path) -> None:
    with draining([str(capture)]):
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_handlers_are_given_back(capture: Path) -> None:
    before = [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)]
    assert main(["analyze", str(capture)]) == 0
    read_end, write_end = os.pipe()
    with Signals(), draining([f"/dev/fd/{read_end}"]):
        assert signal.getsignal(signal.SIGINT) is not before[0]
    os.close(read_end)
    os.close(write_end)
    assert [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)] == before


@pytest.mark.parametrize("early", [0, 2], ids=["in-time", "too-early"])
@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_while_something_is_destroyed_is_not_lost(
    number: signal.Signals, code: int, early: int, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    class Closing:
        def __del__(self) -> None:
            signal.raise_signal(number)

    left = early

    class Timer(threading.Timer):
        def start(self) -> None:
            nonlocal left
            left -= 1
            if left >= 0:
                raise KeyboardInterrupt
            super().start()

    monkeypatch.setattr(threading, "Timer", Timer)
    hook = sys.unraisablehook
    with Signals() as signals:
        with pytest.raises(KeyboardInterrupt):  # noqa: PT012 - the second one comes while this waits
            Closing()
            threading.Event().wait(10)
        assert signals.exit_code == code
    assert sys.unraisablehook is hook
    assert capsys.readouterr().err == ""
