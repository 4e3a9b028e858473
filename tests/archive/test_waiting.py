"""A scan that waits for another one: for whom, until when, and what ends the waiting."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tcpstall.archive.scanning.progress import Summary
from tcpstall.archive.storing.store import Store
from tcpstall.cli.process import scan_progress
from tcpstall.errors import ExitCode, StoreInUse
from tests.archive.conftest import single
from tests.archive.contents import counted
from tests.cli.conftest import environment


@pytest.fixture
def store(tmp_path: Path) -> str:
    return str(tmp_path / "store")


@pytest.fixture
def capture(tmp_path: Path) -> Path:
    file = tmp_path / "a.pcap"
    file.write_bytes(single(0, packets=60))
    return file


def waiting(capture: Path, store: str) -> "subprocess.Popen[str]":
    """A scan that has said that it waits for this process."""
    command = [sys.executable, "-m", "tcpstall", "scan", str(capture), "--store", store, "--jobs", "1", "--wait"]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, env=environment(), text=True)
    assert process.stderr is not None
    said = process.stderr.readline()
    assert said == f"tcpstall: waiting for process {os.getpid()} of this machine, which is writing into {store}\n"
    return process


@pytest.mark.parametrize(
    ("number", "code", "said"),
    [
        (signal.SIGINT, ExitCode.INTERRUPTED, "tcpstall: interrupted\n"),
        (signal.SIGTERM, ExitCode.TERMINATED, "tcpstall: ended by SIGTERM\n"),
    ],
)
def test_a_signal_ends_the_waiting_with_its_code(
    capture: Path, store: str, number: signal.Signals, code: ExitCode, said: str
) -> None:
    with Store.writing(store):
        process = waiting(capture, store)
        process.send_signal(number)
        assert process.communicate(timeout=60)[1] == said
    assert process.returncode == code


def test_a_scan_that_waits_begins_when_the_other_has_ended(capture: Path, store: str) -> None:
    with Store.writing(store):
        process = waiting(capture, store)
        assert counted(store)["captures"] == 0
    _, said = process.communicate(timeout=60)
    assert (process.returncode, said.count("\n")) == (ExitCode.COMPLETE, 1)
    assert counted(store)["captures"] == 1


def test_each_writer_is_named_once(
    store: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    owners = iter(["process 1 of here", "process 1 of here", "process 2 of \x1bthere"])

    def once() -> Summary:
        for owner in owners:
            raise StoreInUse("it is in use", owner)
        return Summary(captures=7)

    monkeypatch.setattr(scan_progress, "_LOOK_S", 0)
    assert scan_progress.waiting(once, store).captures == 7
    assert capsys.readouterr().err.splitlines() == [
        f"tcpstall: waiting for process 1 of here, which is writing into {store}",
        f"tcpstall: waiting for process 2 of \\x1bthere, which is writing into {store}",
    ]


def test_without_waiting_a_scan_is_refused_and_told_by_whom(store: str) -> None:
    with (
        Store.writing(store),
        pytest.raises(StoreInUse, match=rf"\(process {os.getpid()} of this machine\)"),
        Store.writing(store),
    ):
        pass
