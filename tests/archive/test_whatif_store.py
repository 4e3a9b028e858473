"""`tcpstall whatif --store S --set …` opens the flows of a store and adds a change up over services or hosts."""

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tcpstall.archive.scanning.scan import scan
from tcpstall.cli import main
from tcpstall.report.whatif.words import REFUSALS, UNOPENED
from tests.archive.here import here
from tests.rotated.cutting import cut, of_many_flows
from tests.scene import Scene

pytest.importorskip("duckdb", reason="duckdb is not installed")

SET = ("--set", "initcwnd=100")

Say = Callable[..., tuple[int, str, str]]


@pytest.fixture
def say(capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Say:
    monkeypatch.setenv("COLUMNS", "1000")
    monkeypatch.delenv("TCPSTALL_STORE", raising=False)

    def _say(*arguments: object) -> tuple[int, str, str]:
        capfd.readouterr()
        code = main([str(argument) for argument in arguments])
        return code, *capfd.readouterr()

    return _say


def download(folder: Path, size: int, *, port: int, at_s: int = 0, lacks_syn: bool = False) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    scene = Scene(folder, client_port=port, start_ns=1_700_000_000_000_000_000 + at_s * 1_000_000_000)
    scene.handshake(rtt_ms=20)
    scene.download(size)
    scene.closes()
    return scene.capture(drop=(1,) if lacks_syn else ())


@pytest.fixture
def captures(tmp_path: Path) -> list[Path]:
    """Three downloads from one server, of the last one the SYN is missing."""
    return [
        download(tmp_path / "in" / "a", 300_000, port=40_001),
        download(tmp_path / "in" / "b", 100_000, port=40_002, at_s=100),
        download(tmp_path / "in" / "c", 100_000, port=40_003, at_s=200, lacks_syn=True),
    ]


def scanned(tmp_path: Path) -> str:
    scan([str(tmp_path / "in")], str(tmp_path / "store"), executor=here)
    return str(tmp_path / "store")


def parts(say: Say, *arguments: object) -> list[dict[str, Any]]:
    code, out, err = say("whatif", *arguments, "--format", "json")
    assert (code, err) == (0, "")
    report = json.loads(out)
    assert report["schema"] == "tcpstall.whatif-store/1"
    found: list[dict[str, Any]] = report["parts"]
    return found


def alone(say: Say, capture: Path) -> dict[str, Any]:
    code, out, err = say("whatif", capture, *SET, "--format", "json")
    assert (code, err) == (0, "")
    totals: dict[str, Any] = json.loads(out)["totals"]
    return totals


def test_the_flows_of_several_captures_are_added_up(say: Say, tmp_path: Path, captures: list[Path]) -> None:
    (part,) = parts(say, "--store", scanned(tmp_path), *SET)
    each = [alone(say, capture) for capture in captures[:2]]
    (outcome,) = part["totals"]["outcomes"]
    assert part["name"] == "10.0.0.2:80"
    assert (part["flows"], part["totals"]["flows"]) == (3, 2)
    assert outcome["saved_ns"] == sum(one["outcomes"][0]["saved_ns"] for one in each) > 0
    assert part["totals"]["requests"]["replayed"]["p95_ns"] == max(one["replayed_exchanges_ns"] for one in each)
    assert part["totals"]["not_predicted"] == [
        {"refused": "no-handshake", "reason": REFUSALS["no-handshake"], "flows": 1}
    ]


def test_a_capture_that_is_gone_or_changed_is_counted_and_the_others_are_replayed(
    say: Say, tmp_path: Path, captures: list[Path]
) -> None:
    store = scanned(tmp_path)
    captures[0].unlink()
    captures[2].write_bytes(captures[1].read_bytes())
    (part,) = parts(say, "--store", store, *SET)
    assert (part["flows"], part["totals"]["flows"]) == (3, 1)
    assert part["totals"]["not_predicted"] == [
        {"refused": "capture-changed", "reason": UNOPENED["capture-changed"], "flows": 2}
    ]
    assert part["totals"]["outcomes"][0]["saved_ns"] == alone(say, captures[1])["outcomes"][0]["saved_ns"]
    shown = say("whatif", "--store", store, *SET)[1]
    assert "10.0.0.2:80: 1 of 3 flows together" in shown
    assert f"without a prediction: 2 flows, {UNOPENED['capture-changed']}" in shown


def test_filters_choose_the_flows(say: Say, tmp_path: Path, captures: list[Path]) -> None:
    store = scanned(tmp_path)
    (part,) = parts(say, "--store", store, "--port", 40_002, *SET)
    assert part["flows"] == 1
    (part,) = parts(say, "--store", store, "--service", "10.0.0.2:80", "--until", 1_700_000_150, *SET)
    assert part["flows"] == 2
    (part,) = parts(say, "--store", store, "--capture", captures[0].name, "--by", "host", *SET)
    assert part["name"] == "10.0.0.2"
    assert say("whatif", "--store", store, "--host", "192.0.2.77", *SET)[0] == 7


def test_rotated_files_are_replayed_as_one_capture(say: Say, tmp_path: Path) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    files = cut(folder, of_many_flows(), [60, 130, 200, 300, 420, 600], ["pcap", "pcap.gz"])
    whole = tmp_path / "whole"
    whole.mkdir()
    (one,) = cut(whole, of_many_flows(), [], ["pcap"])
    found = parts(say, "--store", scanned(tmp_path), *SET)
    assert len(files) > 1
    for part in found:
        report = json.loads(say("whatif", one, "--service", part["name"], *SET, "--format", "json")[1])
        assert part["flows"] == len(report["flows"])
        assert part["totals"] == report["totals"]
    assert any(part["totals"]["flows"] for part in found)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ((), "give --set"),
        (("--set", "reuse-connection=1"), "needs all connections of a capture"),
    ],
)
def test_a_store_needs_a_change_that_it_can_add_up(
    say: Say, tmp_path: Path, captures: list[Path], arguments: tuple[str, ...], says: str
) -> None:
    code, _, err = say("whatif", "--store", scanned(tmp_path), *arguments)
    assert code == 2
    assert says in err


def test_a_name_that_no_store_can_hold_is_refused_as_everywhere(say: Say, tmp_path: Path, captures: list[Path]) -> None:
    code, _, err = say("whatif", "--store", scanned(tmp_path), "--capture", os.fsdecode(b"\xff"), *SET)
    assert (code, "--capture" in err, "is not UTF-8" in err) == (2, True, True)


def test_filters_of_stores_are_refused_with_a_capture(say: Say, captures: list[Path]) -> None:
    code, _, err = say("whatif", captures[0], "--host", "10.0.0.2", *SET)
    assert code == 2
    assert "select flows of a --store" in err
