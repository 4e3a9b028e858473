"""`tcpstall check`: exit codes, which flows are checked, and what shows a broken rule."""

import json
import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tcpstall.cli import main
from tcpstall.errors import ExitCode
from tests.check.flows import Told, large, lossy, played, refused, thinking, unreachable
from tests.cli.conftest import Run, capture, cut_capture, picture, run
from tests.documents import DOCS

__all__ = ["capture", "cut_capture", "picture", "run"]

DOCUMENTED = DOCS / "check.md"


@pytest.fixture
def pauses(tmp_path: Path) -> Path:
    """Three flows, the second of which waited longest for its server."""
    return played(tmp_path, thinking(100), thinking(100, 800), thinking(200))


def test_the_first_line_is_the_answer_and_each_rule_has_its_own(pauses: Path, told: Told) -> None:
    code, text = told.run(pauses, "--max", "app-limited=700ms", "--max", "lost=99%", "--forbid", "zero-window")
    lines = text.splitlines()
    assert (code, told.error) == (ExitCode.BROKEN, "")
    assert lines[:2] == ["1 of 3 rules is broken (3 flows)", ""]
    states = [line.split()[0] for line in lines if line[:1].isalpha() and line.split()[1] in ("max", "forbid")]
    assert states == ["broken", "holds", "holds"]
    assert told.run(pauses, "--max", "lost=99%")[0] == ExitCode.COMPLETE


def test_a_broken_rule_names_its_worst_flow_its_stall_and_a_command_that_shows_it(
    pauses: Path, told: Told, capfd: pytest.CaptureFixture[str]
) -> None:
    _, text = told.run(pauses, "--max", "app-limited=700ms")
    _, _, line, flow, stall, command, *_ = (part.strip() for part in text.splitlines())
    assert re.fullmatch(r"broken +max app-limited=700ms: \d{3}\.\d{3} ms in the worst of 3 flows", line)
    assert re.fullmatch(r"flow 1, 10\.0\.0\.1:40001 → 10\.0\.0\.2:80: \d{3}\.\d{3} ms", flow)
    number, numbers = re.fullmatch(
        r"stall (\d+): the server waited 8\d\d\.\d+ ms, app-limited \(think-time\), confidence \d\d %, packets (\S+)",
        stall,
    ).groups()  # type: ignore[union-attr]
    program, *arguments = shlex.split(command)
    assert program == "tcpstall"
    assert main(arguments) == 0
    shown = capfd.readouterr().out
    assert f"flow 1, stall {number}: 10.0.0.1:40001 ↔ 10.0.0.2:80" in shown
    assert {part for part in numbers.split("→") if part != "?"} <= set(re.findall(r"> (\d+)", shown))


@pytest.mark.parametrize("how", ["--since=+0s", "--link-rate=100Mbit", "--separate"])
def test_what_explain_cannot_read_is_shown_by_analyze_with_the_same_options(
    pauses: Path, told: Told, capfd: pytest.CaptureFixture[str], how: str
) -> None:
    (rule,) = told.report(pauses, "--max", "app-limited=700ms", how)["rules"]
    program, command, *arguments = shlex.split(rule["worst"]["command"])
    assert (program, command) == ("tcpstall", "analyze")
    assert main([command, *arguments, "--format", "json"]) == 0
    (flow,) = json.loads(capfd.readouterr().out)["flows"]
    assert flow["id"] == rule["worst"]["flow"] == 1
    assert flow["stalls"][-1]["number"] >= rule["worst"]["stall"]["number"]


def test_several_captures_are_checked_together_and_shown_together(
    tmp_path: Path, told: Told, capfd: pytest.CaptureFixture[str]
) -> None:
    paths = [
        played(tmp_path / name, thinking(pause), port=port) for name, pause, port in (("a", 9, 80), ("b", 700, 81))
    ]
    report = told.report(*paths, "--max", "app-limited=600ms")
    (rule,) = report["rules"]
    assert (report["flows"], rule["state"], rule["worst"]["server"]["port"]) == (2, "broken", 81)
    _, *arguments = shlex.split(rule["worst"]["command"])
    assert main([*arguments, "--format", "json"]) == 0
    (flow,) = json.loads(capfd.readouterr().out)["flows"]
    assert flow["server"]["port"] == 81


@pytest.mark.parametrize(
    ("service", "flows"), [((":80",), 2), (("10.0.0.2:81",), 1), ((":80", ":81"), 3), ((":http",), 2)]
)
def test_a_service_is_the_server_that_flows_have(
    tmp_path: Path, told: Told, service: tuple[str, ...], flows: int
) -> None:
    paths = played(tmp_path / "a", refused, large), played(tmp_path / "b", large, port=81)
    options = [option for one in service for option in ("--service", one)]
    assert told.report(*paths, "--max", "lost=100%", *options)["flows"] == flows


def test_a_clients_port_is_no_service(tmp_path: Path, told: Told) -> None:
    path = played(tmp_path, large)
    for service in (":40000", "10.0.0.1:80", "[2001:db8::1]:80"):
        code, text = told.run(path, "--max", "lost=100%", "--service", service)
        assert (code, text) == (ExitCode.NOTHING_FITS, "")
        assert told.error == "tcpstall: no flow to check; without options `tcpstall analyze` lists the flows\n"


def test_no_flow_at_all_is_no_pass_and_writes_no_file(tmp_path: Path, told: Told, capture: Path) -> None:
    empty = tmp_path / "empty.pcap"
    empty.write_bytes(capture.read_bytes()[:24])
    assert told.run(empty, "--max", "lost=100%", "--junit", tmp_path / "x.xml") == (ExitCode.NOTHING_FITS, "")
    assert not (tmp_path / "x.xml").exists()


def test_nothing_to_measure_is_no_pass(tmp_path: Path, told: Told) -> None:
    path = played(tmp_path, unreachable)
    code, text = told.run(path, "--max", "p95-latency=1s", "--forbid", "zero-window")
    assert code == ExitCode.NOTHING_FITS
    assert text.splitlines()[0] == "1 of 2 rules has nothing to measure (1 flow)"
    assert "nothing  max p95-latency=1s: nothing to measure: no exchange was captured" in text
    assert told.run(path, "--max", "p95-latency=1s", "--forbid", "unreachable")[0] == ExitCode.BROKEN


def test_a_damaged_input_is_named_beside_the_rules_and_a_broken_rule_counts_more(told: Told, cut_capture: Path) -> None:
    code, text = told.run(cut_capture, "--max", "lost=90%")
    assert code == ExitCode.DAMAGED
    assert text.splitlines()[0] == "the rule holds (1 flow of what could be read)"
    assert "holds    max lost=90%" in text
    (line,) = told.error.splitlines()
    assert str(cut_capture) in line
    assert "cut.pcap: capture ends early, in packet 58" in text
    assert told.run(cut_capture, "--max", "lost=1%")[0] == ExitCode.BROKEN
    assert told.run(cut_capture, "--max", "lost=99%", "--service", ":81")[0] == ExitCode.NOTHING_FITS


def test_unreadable_inputs_have_their_codes_unless_a_rule_is_broken(told: Told, picture: Path, capture: Path) -> None:
    for path, code in ((Path("nowhere.pcap"), ExitCode.CANNOT_OPEN), (picture, ExitCode.NOT_A_CAPTURE)):
        assert told.run(path, "--max", "lost=1s") == (code, "")
        assert len(told.error.splitlines()) == 1
        assert told.run(path, capture, "--max", "lost=1s")[0] == code
        assert told.run(path, capture, "--max", "lost=1ms")[0] == ExitCode.BROKEN


def test_standard_input_is_checked(run: Run, capture: Path) -> None:
    done = run("check", "-", "--max", "cwnd-limited=1ms", stdin=capture.read_bytes())
    assert (done.returncode, done.stderr) == (ExitCode.BROKEN, "")
    assert "tcpstall analyze - --flow 0" in done.stdout


def test_pseudonyms_stand_for_addresses_and_names(told: Told, pauses: Path) -> None:
    code, text = told.run(pauses, "--max", "app-limited=700ms", "--service", ":80", "--anonymise")
    assert code == ExitCode.BROKEN
    assert "10.0.0" not in text
    assert str(pauses) not in text
    assert "tcpstall explain capture-1 --flow 1 --stall " in text
    assert told.run(pauses, "--max", "lost=1s", "--service", "10.0.0.2:80", "--anonymise")[0] == ExitCode.USAGE


def test_the_same_stall_is_named_whatever_form_is_asked_for(told: Told, tmp_path: Path) -> None:
    path = played(tmp_path, large, lossy)
    (rule,) = told.report(path, "--forbid", "retransmitted")["rules"]
    assert (rule["worst"]["flow"], rule["worst"]["amount"]) == (1, 1_448)
    assert rule["worst"]["stall"]["cause"] == "retransmission"
    _, text = told.run(path, "--forbid", "retransmitted")
    assert f"stall {rule['worst']['stall']['number']}: the server waited" in text
    assert "10.0.0.1:40001 → 10.0.0.2:80: 1.4 kB sent again" in text
    assert rule["sentence"] in text


def _keys(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        yield from value
        value = list(value.values())
    if isinstance(value, list):
        for inner in value:
            yield from _keys(inner)


def test_the_keys_of_the_json_and_what_can_be_limited_are_documented(told: Told, pauses: Path) -> None:
    from tcpstall.check import LATENCY, LOST, OUTCOMES, RETRANSMITTED

    documented = DOCUMENTED.read_text()
    report = told.report(pauses, "--max", "app-limited=700ms", "--baseline", pauses)
    assert report["schema"] == "tcpstall.check/1"
    assert not {key for key in _keys(report) if f"`{key}`" not in documented}
    assert not {name for name in (LATENCY, LOST, RETRANSMITTED, *OUTCOMES) if f"`{name}=" not in documented}
    assert "`--confidence` is 0.75 by default" in documented
    assert report["confidence"] == 0.75
