"""`tcpstall scan` as a command: its line, its exit code, `--metrics`, `--log`, `--watch`, and what it refuses."""

import json
import os
import shutil
import time
from pathlib import Path
from typing import Any

import pytest

from tcpstall.archive.captures.input import Input
from tcpstall.archive.captures.watch import complete
from tcpstall.archive.planning.plan import Plan, planned
from tcpstall.archive.scanning import scan as scanning
from tcpstall.archive.scanning.metrics import Metrics
from tcpstall.archive.scanning.scan import scan
from tcpstall.archive.scanning.task import Done
from tcpstall.archive.storing.store import Commit, Store
from tcpstall.errors import CannotOpen
from tests.archive.conftest import command, in_turn
from tests.archive.contents import counted, rows
from tests.archive.here import here


def test_what_a_scan_came_to_is_told_in_its_exit_code_and_one_line(made: Path, tmp_path: Path) -> None:
    done = command(made, tmp_path / "store")
    _, said = done.communicate()
    assert done.returncode == 5
    assert said.decode().count("\n") == 1
    again = command(made, tmp_path / "store")
    _, said = again.communicate()
    assert again.returncode == 0
    assert b"0 captures scanned" in said


def test_metrics_and_log_say_the_same_as_the_store(made: Path, tmp_path: Path) -> None:
    metrics, log = tmp_path / "scan.prom", tmp_path / "scan.log"
    command(made, tmp_path / "store", "--metrics", str(metrics), "--log", str(log)).communicate()
    held = counted(tmp_path / "store")
    lines = dict(line.rsplit(" ", 1) for line in metrics.read_text().splitlines() if not line.startswith("#"))
    assert int(lines["tcpstall_scan_captures_total"]) == held["captures"]
    assert int(lines["tcpstall_scan_flows_total"]) == held["flows"]
    errors = sum(int(value) for name, value in lines.items() if name.startswith("tcpstall_scan_errors_total"))
    assert errors == held["errors"]
    assert int(lines["tcpstall_scan_pending_bytes"]) == 0
    events = [json.loads(line) for line in log.read_text().splitlines()]
    assert [event["event"] for event in events][:1] == ["planned"]
    assert sum(event["event"] == "failed" for event in events) == held["errors"]
    assert events[-1]["event"] == "finished"
    assert events[-1]["flows"] == held["flows"]


def test_what_is_planned_folder_by_folder_is_the_same_and_copies_count_once(
    made: Path, undisturbed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scanning, "_AT_ONCE", 1)
    pieces: list[bool] = []

    def counting(*arguments: Any, **options: Any) -> Plan:
        pieces.append(bool(arguments[0]))
        return planned(*arguments, **options)

    monkeypatch.setattr(scanning, "planned", counting)
    scan([str(made)], str(tmp_path / "store"), executor=here)
    assert rows(tmp_path / "store") == rows(undisturbed)
    assert sum(pieces) > 2
    (tmp_path / "twice" / "copies").mkdir(parents=True)
    for name in ("x.pcap", "copies/x.pcap"):
        shutil.copy(made / "single" / "a.pcap", tmp_path / "twice" / name)
    summary = scan([str(tmp_path / "twice")], str(tmp_path / "other"), executor=here)
    assert (summary.captures, summary.known) == (2, 1)
    assert counted(tmp_path / "other")["flows"] == summary.flows


def test_metrics_of_a_round_that_is_planned_while_it_is_scanned(tmp_path: Path) -> None:
    metrics = Metrics(tmp_path / "scan.prom", str(tmp_path / "store"))
    for _ in range(2):  # the first ends before it is planned
        metrics.begun()
        metrics.done(Done(Commit(captures=[{"exit_code": 0}] * 3), 30, 1, 1, 0))
    metrics.planned(10, 100, 0)
    said = (tmp_path / "scan.prom").read_text()
    assert "tcpstall_scan_pending_captures 7\n" in said
    assert "tcpstall_scan_pending_bytes 70\n" in said


def test_a_root_that_does_not_exist_is_told_at_once(tmp_path: Path) -> None:
    with pytest.raises(CannotOpen, match="nowhere"):
        scan([str(tmp_path / "nowhere")], str(tmp_path / "store"))


def test_a_second_scan_into_the_same_store_is_refused(made: Path, tmp_path: Path) -> None:
    with Store.writing(str(tmp_path / "store")):
        done = command(made, tmp_path / "store")
        _, said = done.communicate()
    assert done.returncode == 6
    assert b"another scan is writing" in said


def test_memory_that_is_too_little_is_refused(made: Path, tmp_path: Path) -> None:
    done = command(made, tmp_path / "store", "--max-memory", "100M")
    _, said = done.communicate()
    assert done.returncode == 2
    assert b"at least" in said


def _scanned(log: Path) -> int:
    if not log.exists():
        return 0
    events = [json.loads(line) for line in log.read_text().splitlines() if line.endswith("}")]
    return sum(event["captures"] for event in events if event["event"] == "scanned")


def test_a_file_that_grew_after_it_was_found_is_not_complete_although_nobody_writes_it_any_more(tmp_path: Path) -> None:
    file = tmp_path / "growing.pcap"
    file.write_bytes(b"half")
    found = Input(str(file), file.stat().st_size, file.stat().st_mtime_ns)
    assert complete([found]) == [found]
    file.write_bytes(b"the whole")
    os.utime(file, ns=(found.changed_ns or 0, found.changed_ns or 0))  # within one tick of the file system's clock
    assert complete([found]) == []


def test_watching_takes_in_what_is_complete_and_ends_with_sigterm(made: Path, tmp_path: Path) -> None:
    growing, store, log = tmp_path / "growing", tmp_path / "store", tmp_path / "log"
    growing.mkdir()
    running = command(growing, store, "--watch", "--every", "50ms", "--log", str(log))
    for file in in_turn(made / "web")[:3]:
        content = file.read_bytes()
        with (growing / file.name).open("wb") as writing:
            writing.write(content[: len(content) // 2])
            writing.flush()
            time.sleep(0.3)
            writing.write(content[len(content) // 2 :])
    waited_until = time.monotonic() + 60
    while time.monotonic() < waited_until and _scanned(log) < 3:
        time.sleep(0.1)
    running.terminate()
    _, said = running.communicate()
    assert running.returncode == 0, said
    assert not rows(store)["errors"]
    other = tmp_path / "other"
    scan([str(growing)], str(other), executor=here)
    ours, others = rows(store), rows(other)
    for table in ("flows", "stalls", "exchanges", "findings"):
        assert sorted(map(repr, (row[3:] for row in ours[table]))) == sorted(
            map(repr, (row[3:] for row in others[table]))
        )
