"""One figure for one thing: what a flow lost is the same in text, JSON, tickets, pages and pictures."""

import html
import json
import re
from pathlib import Path

import pytest

from tcpstall import analyze
from tcpstall.causes import Cause
from tcpstall.cli import main
from tcpstall.findings import findings
from tcpstall.findings.finding import read
from tcpstall.units import duration
from tests.crowd.captures import all_kinds
from tests.headline.captures import KINDS
from tests.scene import Scene

_SPAN = r"\d[\d,.]* (?:ns|µs|ms|s|min|h)(?: \d\d (?:s|min))?"
_LOST = re.compile(rf"\blost ({_SPAN})")
_FORMS = ("table", "markdown", "jira", "text")


def told(capfd: pytest.CaptureFixture[str], *arguments: object) -> str:
    capfd.readouterr()
    assert main([str(argument) for argument in arguments]) in (0, 5, 7)  # 7: no data, and so no picture
    return capfd.readouterr().out


def figures(text: str) -> set[str]:
    """Time that is said to be lost."""
    plain = html.unescape(re.sub(r"<[^>]+>", " ", text))
    return set(_LOST.findall(re.sub(r"\s+", " ", plain)))


@pytest.fixture(autouse=True)
def wide(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is dropped for want of room."""
    monkeypatch.setenv("COLUMNS", "200")


@pytest.fixture(scope="module")
def crowd(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return all_kinds(tmp_path_factory.mktemp("crowd") / "all")


@pytest.mark.parametrize("kind", KINDS)
def test_a_flow_lost_the_same_wherever_it_is_told(
    kind: str, scene: Scene, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    KINDS[kind][0](scene)
    capture = scene.capture("client")
    flow = json.loads(told(capfd, "analyze", capture, "--format", "json"))["flows"][0]
    lost = sum(flow["time_ns"].get(cause.value, 0) for cause in Cause)
    assert sum(flow["time_ns"].values()) == flow["end_ns"] - flow["start_ns"]
    told(capfd, "report", capture, "-o", tmp_path / "page.html")
    told(capfd, "plot", capture, "--flow", flow["id"], "--output", tmp_path / "one.svg")
    told(capfd, "plot", capture, "--kind", "timeline", "--output", tmp_path / "all.svg")
    texts = {form: told(capfd, "analyze", capture, "--format", form) for form in _FORMS}
    texts |= {path.name: path.read_text("utf-8") for path in tmp_path.iterdir() if path.suffix in (".html", ".svg")}
    said = {where: figures(text) for where, text in texts.items()}
    assert {where: spans for where, spans in said.items() if spans - {duration(lost)}} == {}
    assert [where for where in ("text", "one.svg", "all.svg") if where in said and not said[where] and lost] == []


def test_sums_of_many_flows_are_those_of_the_flows(crowd: Path, capfd: pytest.CaptureFixture[str]) -> None:
    report = json.loads(told(capfd, "analyze", crowd, "--format", "json"))
    lost = sum(sum(flow["time_ns"].get(cause.value, 0) for cause in Cause) for flow in report["flows"])
    back = sum(one["recoverable_ns"] or 0 for one in report["findings"])
    text = " ".join(told(capfd, "analyze", crowd).split())
    assert f"lost {duration(lost)} " in text
    assert f"up to {duration(back)} can be saved" in text
    assert back <= lost


@pytest.mark.parametrize("kind", [*KINDS, "all"])
def test_findings_never_give_back_more_than_was_lost(
    kind: str, scene: Scene, crowd: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    if kind != "all":
        KINDS[kind][0](scene)
    analysis = analyze(crowd if kind == "all" else scene.capture("client"))
    lost = sum(flow.lost_ns for flow in analysis)
    whole = sum(flow.duration_ns for flow in analysis)
    for found in (read(analysis.findings_facts), findings(analysis)):
        assert sum(one.recoverable_ns or 0 for one in found) <= lost
        assert sum(one.time_ns for one in found) <= whole
        assert all((one.recoverable_ns or 0) <= one.time_ns and one.worst_ns <= one.time_ns for one in found)


def test_the_details_of_a_finding_sum_up_to_no_more_than_its_time(scene: Scene) -> None:
    """Both ends wait for their timers at once: the time is in the ledger once."""
    scene.handshake(rtt_ms=20)
    scene.request(1_000)
    scene.server_sends(1_000)
    scene.client_acks()
    scene.server_sends(1_000)
    scene.client_acks(lost=True)
    scene.client_sends(1_000, lost=True)
    scene.wait_ms(300)
    scene.client_repeats(1_000, 1_000)
    scene.server_repeats(1_000, 1_000)
    scene.client_acks()
    scene.server_acks()
    scene.client_sends(1_000)
    scene.server_sends(1_000)
    rows = [row for row in findings(analyze(scene.capture("client"))) if row.kind == "loss"]
    assert len(rows) == 2
    for row in rows:
        assert 0 < sum(span for _, span in row.details) <= row.time_ns


def test_no_answer_of_a_slow_server_took_longer_than_all_of_them(scene: Scene) -> None:
    """The client waited for the ACK of its first request while the server thought: that time is the loss's."""
    scene.handshake(rtt_ms=40)
    scene.client_sends(427)
    scene.wait_ms(1_000)
    scene.client_repeats(0, 427)
    scene.wait_ms(3_000)
    scene.server_sends(445)
    for _ in range(2):
        scene.wait_ms(300)
        scene.client_sends(398)
        scene.wait_ms(200)
        scene.server_sends(487)
    scene.client_acks()
    scene.closes()
    slow = next(row for row in findings(analyze(scene.capture("client"))) if row.kind == "server-slow")
    assert slow.counted == 3
    assert 0 < slow.median_ns <= slow.worst_ns <= slow.time_ns
