"""The tools' answers: the JSON report's names, the terminal's words, and only so many rows."""

import base64
import json
from pathlib import Path
from typing import Any

import pytest

from tcpstall.cli import main
from tests.rotated.cutting import cut, of_fixture
from tests.serve.conftest import CAPTURE, FIXTURES, Ask, asking
from tests.tools.bench.captures import short

FLOWS = 60


@pytest.fixture
def many(tmp_path: Path) -> Ask:
    """Of a folder with one capture of many flows, `many.pcap`."""
    with (tmp_path / "many.pcap").open("wb") as file:
        short(FLOWS).write(file, FLOWS * 12)
    return asking(tmp_path)


def _names(value: Any) -> set[str]:
    if isinstance(value, dict):
        return set(value).union(*map(_names, value.values()))
    return set().union(*map(_names, value)) if isinstance(value, list) else set()


def test_the_answer_is_in_the_words_of_the_terminal(
    ask: Ask, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "1000")
    main(["analyze", str(FIXTURES / CAPTURE)])
    shown = capsys.readouterr().out.splitlines()

    assert ask("analyze", captures=[CAPTURE]).answer["answer"] == shown[:2]


def test_names_are_those_of_the_json_report(ask: Ask, capfd: pytest.CaptureFixture[str]) -> None:
    main(["analyze", str(FIXTURES / CAPTURE), "--format", "json"])
    report = json.loads(capfd.readouterr().out)

    flow = ask("flow", captures=[CAPTURE], flow=0).answer["flow"]
    (finding, *_) = ask("findings", captures=[CAPTURE]).answer["findings"]
    analysed = ask("analyze", captures=[CAPTURE]).answer

    assert _names(flow) <= _names(report["flows"])
    assert _names(finding) <= _names(report["findings"])
    assert _names(analysed) - _names(report) == {"answer"}
    assert flow["time_ns"] == report["flows"][0]["time_ns"]
    by_length = sorted(report["flows"][0]["stalls"], key=lambda stall: -stall["duration_ns"])
    assert [stall["number"] for stall in flow["stalls"]] == [stall["number"] for stall in by_length]


def test_rows_that_are_left_out_are_counted_and_come_when_asked_for(many: Ask) -> None:
    whole = many("analyze", captures=["many.pcap"], limit=50).answer
    of = whole["flows_left_out"]["of"]
    assert whole["flows_left_out"] == {"count": of - 50, "of": of, "for_more": "ask again with offset=50"}

    ids: list[int] = []
    for offset in range(0, of, 25):
        page = many("analyze", captures=["many.pcap"], limit=25, offset=offset).answer
        ids += [flow["id"] for flow in page["flows"]]

    assert sorted(ids) == list(range(of))
    assert page["flows_left_out"]["for_more"] == "ask again with offset=0"


def test_an_answer_that_nobody_asked_to_be_long_is_short(many: Ask) -> None:
    assert len(json.dumps(many("analyze", captures=["many.pcap"]).answer)) < 12_000


def test_a_selection_narrows_what_is_analysed(many: Ask) -> None:
    whole = many("analyze", captures=["many.pcap"], limit=1, sort="start").answer
    (first,) = whole["flows"]
    client = first["client"]

    by_port = many("analyze", captures=["many.pcap"], ports=[client["port"]], hosts=[f"{client['address']}/32"]).answer
    earlier = many("analyze", captures=["many.pcap"], until_ns=first["start_ns"] + 1).answer

    assert {flow["client"]["port"] for flow in by_port["flows"]} == {client["port"]}
    assert len(earlier["flows"]) < whole["flows_left_out"]["of"]
    assert many("findings", captures=["many.pcap"], ports=[1]).error == (
        "no TCP flow of the captures fits what was asked for; ask with fewer filters"
    )


def test_files_of_a_rotation_are_one_capture(tmp_path: Path) -> None:
    frames = of_fixture(CAPTURE)
    for number, part in enumerate(cut(tmp_path, frames, [len(frames) // 2])):
        Path(part).rename(tmp_path / f"ring.pcap{number}")

    told = asking(tmp_path)("analyze", captures=["ring.pcap1", "ring.pcap0"]).answer

    assert [flow["lost_ns"] for flow in told["flows"]] == [49_357_000]


def test_a_stall_is_proved(ask: Ask) -> None:
    told = ask("explain_stall", captures=[CAPTURE], flow=0, stall=2).answer

    assert told["stall"]["number"] == 2
    assert told["proof"]["seen"] == "slow start from 10 segments, 1 round trip"
    assert {"the rule", "it read", "it would not hold if", "in Wireshark"} <= told["proof"].keys()
    evidence = told["stall"]["evidence"]
    assert {evidence["last_packet"], evidence["next_packet"]} <= {row["packet"] for row in told["packets"]}


def test_a_picture_of_any_kind_is_a_png(ask: Ask) -> None:
    from tcpstall.plot import KINDS
    from tcpstall.serve.asked import Plot

    assert set(Plot.model_json_schema()["properties"]["kind"]["enum"]) == set(KINDS)
    drawn = ask("plot", captures=[CAPTURE], kind="timeline")
    assert base64.b64decode(drawn.png or "").startswith(b"\x89PNG")
    assert drawn.answer == {"kind": "timeline", "flows": 1}


def test_an_input_that_cannot_be_read_stands_beside_those_that_can(tmp_path: Path) -> None:
    (tmp_path / "good.pcap").write_bytes((FIXTURES / CAPTURE).read_bytes())
    (tmp_path / "cat.jpeg").write_bytes(b"\xff\xd8\xff\xe0" + bytes(range(256)))
    ask = asking(tmp_path)

    told = ask("analyze", captures=["good.pcap", "cat.jpeg"]).answer

    assert [("error" in capture) for capture in told["captures"]] == [True, False]
    assert "cat.jpeg" in (ask("analyze", captures=["cat.jpeg"]).error or "")


@pytest.mark.parametrize(
    ("tool", "arguments", "told"),
    [
        ("frobnicate", {}, "there is no tool frobnicate; there are analyze, "),
        ("analyze", {}, "analyze: captures: Field required; the tool's schema says what it takes"),
        ("analyze", {"captures": []}, "analyze: captures: "),
        ("analyze", {"captures": [CAPTURE], "host": "x"}, "analyze: host: Extra inputs are not permitted; "),
        ("analyze", {"captures": [CAPTURE], "hosts": ["300.1.1.1"]}, "analyze: hosts.0: "),
        ("analyze", {"captures": [CAPTURE], "limit": 10**30, "sort": 1}, "analyze: sort: "),
        ("flow", {"captures": [CAPTURE], "flow": 7}, "the captures hold no flow 7; the tool analyze lists the flows"),
        ("flow", {"captures": ["ss/sndbuf-16k/sender.ss"], "flow": 0}, "/"),
        ("explain_stall", {"captures": [CAPTURE], "flow": 0, "stall": 99}, "flow 0 has no stall 99; the tool flow "),
        ("plot", {"captures": [CAPTURE], "kind": "pie"}, "plot: kind: "),
        ("query", {"store": ".", "sql": "SELECT 1"}, "/"),
    ],
)
def test_a_failure_is_one_line(ask: Ask, tool: str, arguments: dict[str, Any], told: str) -> None:
    assert (ask(tool, **arguments).error or "").startswith(told)


def test_a_defect_is_one_line_too(ask: Ask, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(_path: object) -> str:
        raise RuntimeError("the model\nis wrong")

    monkeypatch.setattr("tcpstall.serve.reading.Source.reading", lambda _self, captures: broken(captures))

    assert ask("analyze", captures=[CAPTURE]).error == (
        "analyze: this is a defect in tcpstall, please report it: RuntimeError: the model\\nis wrong"
    )
