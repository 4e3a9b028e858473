"""Flows that share a line are replayed together, and refused where that replay is not what was captured."""

import gzip
import json
import struct
from pathlib import Path
from typing import Any

import pytest

from tcpstall import _core
from tcpstall.lines import lines_of
from tcpstall.model import Endpoint, analyze
from tcpstall.whatif import Forecast, whatif
from tests.whatif.lines import told
from tests.whatif.played import changes

LINES = Path(__file__).parents[2] / "fixtures" / "lines"
DEEP, SHALLOW = LINES / "two-deep", LINES / "three-shallow"


def real(folder: Path) -> dict[str, Any]:
    values: dict[str, Any] = json.loads((folder / "real.json").read_text())
    return values


def asked(folder: Path, *texts: str, flows: tuple[int, ...], tap: str = "sender") -> tuple[Forecast, ...]:
    return whatif(folder / f"{tap}.pcap.gz", flows=flows, changes=[changes(*texts)]).forecasts


CASES = [(folder, made["set"]) for folder in (DEEP, SHALLOW) for made in real(folder)["changes"][1:]]


@pytest.mark.parametrize("tap", ["sender", "receiver"])
@pytest.mark.parametrize(("folder", "text"), CASES, ids=[f"{folder.name}-{text}" for folder, text in CASES])
def test_a_change_of_all_flows_takes_as_long_as_it_really_did(folder: Path, text: str, tap: str) -> None:
    made = next(made for made in real(folder)["changes"] if made["set"] == text)
    one = told(folder / f"{tap}.pcap.gz", real(folder), made)
    assert one.whole, one.refused
    assert one.sum_right, one


def test_one_flow_is_changed_and_the_others_compete() -> None:
    """The line is full: what one flow gains, it takes from the other."""
    (alone,) = asked(DEEP, "cc=bbr", flows=(0,))
    assert alone.refused is None
    assert [outcome.changes for outcome in alone.outcomes] == [tuple(changes("cc=bbr"))]


def test_a_host_of_flows_that_are_not_changed_stays_as_it_is() -> None:
    (one,) = asked(DEEP, "rcvbuf=16K", flows=(0,))
    (other,) = asked(DEEP, "rcvbuf=16K", flows=(1,))
    both = asked(DEEP, "rcvbuf=16K", flows=(0, 1))
    slow = [forecast.outcomes[0].transfer.expected_ns for forecast in (one, other, *both)]
    unchanged = [forecast.replayed.transfer_ns for forecast in both if forecast.replayed]
    assert slow[0] > unchanged[0]
    assert slow[1] > unchanged[1]
    assert slow[2:] != unchanged


def without_handshake(capture: Path, port: int, folder: Path) -> Path:
    """The capture without the SYN and the SYN-ACK of the flow to this port."""
    data = gzip.decompress(capture.read_bytes())
    kept, at = [data[:24]], 24
    while at < len(data):
        size = 16 + struct.unpack_from("<I", data, at + 8)[0]
        tcp = at + 16 + 34
        if not (port in struct.unpack_from(">HH", data, tcp) and data[tcp + 13] & 2):
            kept.append(data[at : at + size])
        at += size
    cut = folder / "cut.pcap"
    cut.write_bytes(b"".join(kept))
    return cut


def test_beside_a_flow_that_cannot_be_replayed_there_is_no_prediction(tmp_path: Path) -> None:
    capture = without_handshake(DEEP / "sender.pcap.gz", 5002, tmp_path)
    found = whatif(capture, changes=[changes("rate=30Mbit")], flows=(0, 1))
    assert {one.flow.server.port: one.refused for one in found.forecasts} == {5001: "shared-line", 5002: "no-handshake"}


def test_a_service_is_the_flows_to_its_port() -> None:
    server = analyze(DEEP / "sender.pcap.gz")[0].server
    found = whatif(
        DEEP / "sender.pcap.gz", service=Endpoint(server.address, server.port), changes=[changes("rate=30Mbit")]
    )
    assert [forecast.refused for forecast in found.forecasts] == [None]
    assert found.totals


def test_a_connection_on_a_shared_line_is_not_replaced() -> None:
    for forecast in asked(DEEP, "reuse-connection=1", flows=(0, 1)):
        assert [one.refused for one in forecast.unpredicted] == ["shared-line"]


def test_without_a_change_remedies_are_suggested() -> None:
    found = whatif(DEEP / "sender.pcap.gz", flows=(0,))
    assert any(outcome.changes[0].name == "rate" for outcome in found.forecasts[0].outcomes)
    assert all(outcome.suggested and outcome.saved_ns > 0 for outcome in found.forecasts[0].outcomes)


def test_flows_are_of_one_line_while_they_are_open() -> None:
    whole = analyze(SHALLOW / "sender.pcap.gz")
    assert lines_of(whole, {1}) == [[0, 1, 2]]
    assert lines_of(whole, {9}) == []


def test_a_flow_keeps_its_own_replay_where_the_line_has_none(monkeypatch: pytest.MonkeyPatch) -> None:
    refused = {"refused": "shared-line", "captured": None, "replayed": None, "error_ns": None, "rtt_ns": None}
    nothing: dict[str, Any] = {
        "outcomes": [],
        "sizing": [],
        "unpredicted": [],
        "without_pace": None,
        "exchanges_left_out": 0,
    }
    text = json.dumps(refused | nothing)

    def together(_: object, lines: list[list[tuple[int, bool]]], *__: object, **___: object) -> list[list[str | None]]:
        return [[text if changed else None for _, changed in line] for line in lines]

    monkeypatch.setattr(_core, "whatif_together", together)
    (forecast,) = asked(SHALLOW, "initcwnd=20", flows=(1,))
    assert forecast.refused == "shared-line"
    assert forecast.replayed is not None


def test_the_captures_are_read_once_for_all_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every line in one call, and a flow that a second reading does not find has no prediction of the whole line."""
    calls: list[list[list[tuple[int, bool]]]] = []

    def together(_: object, lines: list[list[tuple[int, bool]]], *__: object, **___: object) -> list[list[str | None]]:
        calls.append(lines)
        return [[None for _ in line] for line in lines]

    monkeypatch.setattr(_core, "whatif_together", together)
    monkeypatch.setattr("tcpstall.whatif.lines_of", lambda *_: [[0], [1, 2]])
    found = asked(SHALLOW, "initcwnd=20", flows=(0, 1))
    assert calls == [[[(0, True)], [(1, True), (2, False)]]]
    assert [one.flow.id for one in found] == [0, 1]


def test_each_line_is_answered_in_its_place() -> None:
    path, made = str(DEEP / "sender.pcap.gz"), [[("rate", 30_000_000)]]
    (first,), (second, absent) = _core.whatif_together([path], [[(0, True)], [(1, True), (99, True)]], made)
    assert first is not None
    assert second is not None
    assert first != second
    assert absent is None
    assert _core.whatif_together([path], [[(0, False), (1, True)]], made)[0][0] is None
