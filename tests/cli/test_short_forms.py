"""Short forms that people type: a capture without a command, other words for causes, networks and ranges of ports."""

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Run
from tests.crowd.captures import all_kinds
from tests.scene import Scene
from tests.test_labels import REQUEST


@pytest.fixture(scope="module")
def crowd(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return all_kinds(tmp_path_factory.mktemp("crowd") / "all")


def test_a_capture_without_a_command_is_analysed(here: Run, capture: Path) -> None:
    assert here(capture).stdout == here("analyze", capture).stdout


@pytest.mark.parametrize("option", ["--stalls", "--format=json"])
def test_options_before_a_capture_without_a_command_are_those_of_analyze(here: Run, capture: Path, option: str) -> None:
    assert here(option, capture).stdout == here("analyze", option, capture).stdout
    assert "no such option '--stalls'" in here("--stalls").stderr.lower()
    assert here("--version").stdout.startswith("tcpstall ")


@pytest.mark.parametrize(
    ("typed", "hint"),
    [
        ("report x.pcap", "add -o FILE: tcpstall report CAPTURE... -o FILE"),
        ("scan captures", "add --store DIR|URL: tcpstall scan PATH|URL... --store DIR|URL"),
        ("serve", "add --root DIR: tcpstall serve --root DIR"),
        ("analyze --json x.pcap", "no option --json; did you mean --format json?"),
        ("x.pcap --csv", "no option --csv; did you mean --format csv?"),
        ("plot --sequence x.pcap", "no option --sequence; did you mean --kind sequence?"),
    ],
)
def test_what_is_missing_or_unknown_is_answered_with_what_to_type(here: Run, typed: str, hint: str) -> None:
    done = here(*typed.split(), TCPSTALL_STORE="")
    assert (done.returncode, done.stderr.splitlines()[-1]) == (2, f"Error: {hint}")


def test_near_names_are_suggested(here: Run) -> None:
    assert "did you mean analyze" in here("analyse").stderr
    assert "did you mean retransmission" in here("explain", "retransmision").stderr
    assert here("explain", "rto").stdout == here("explain", "retransmission").stdout
    assert here("explain", "zerowindow").stdout == here("explain", "zero-window").stdout
    assert here("explain", "cwnd").stdout == here("explain", "cwnd-limited").stdout


def test_networks_and_ranges_of_ports_select_flows(here: Run, crowd: Path) -> None:
    def flows(*options: str) -> int:
        return len(json.loads(here("analyze", crowd, "--format", "json", *options).stdout)["flows"])

    everything = flows()
    assert flows("--host", "10.0.0.0/8") == flows("--host", "10.0.0.1/32") == everything
    assert flows("--port", "80-82") == everything
    assert 0 < flows("--port", "http") == flows("--port", "80") < everything
    assert here("analyze", crowd, "--host", "192.0.2.0/24").returncode == 7
    assert here("analyze", crowd, "--port", "90-80").returncode == 2


@pytest.fixture
def asked(tmp_path: Path) -> list[Path]:
    """A request for reports.example.org, and one for nobody at another address."""
    captures = []
    for content, ipv6 in ((REQUEST, False), (b"\0" * 100, True)):
        folder = tmp_path / f"ipv6-{ipv6}"
        folder.mkdir()
        scene = Scene(folder)
        scene.handshake(rtt_ms=20)
        scene.client_sends(len(content), content=content)
        scene.server_acks()
        scene.server_transfers(5_000)
        captures.append(scene.capture(ipv6=ipv6))
    return captures


@pytest.mark.parametrize("name", ["reports.example.org", "REPORTS.example.org.", "*.example.org"])
def test_a_name_in_the_capture_selects_the_flows_of_its_server(here: Run, asked: list[Path], name: str) -> None:
    (flow,) = json.loads(here("analyze", *asked, "--host", name, "--format", "json").stdout)["flows"]
    assert flow["server"]["address"] == "10.0.0.2"


def test_a_name_that_nobody_asks_for_is_told_with_those_that_are_asked_for(here: Run, asked: list[Path]) -> None:
    done = here("analyze", *asked, "--host", "www.example.org")
    assert (done.returncode, done.stdout) == (7, "")
    assert done.stderr == ("tcpstall: no connection asks for www.example.org; they ask for reports.example.org\n")
    assert "give an address" in here("analyze", asked[1], "--host", "www.example.org").stderr


def test_names_need_a_file_and_what_is_no_name_is_refused(here: Run, asked: list[Path]) -> None:
    assert here("analyze", "-", "--host", "www.example.org").returncode == 2
    for host in ("10.0.0", "10.0.0.256", "a b", "-", "exa$mple.org"):
        assert here("analyze", *asked, "--host", host).returncode == 2, host


def test_a_name_beside_a_file_that_cannot_be_read_is_not_to_blame(here: Run, tmp_path: Path) -> None:
    done = here("analyze", tmp_path / "nowhere.pcap", "--host", "www.example.org")
    assert done.returncode == 3
    assert "nowhere.pcap" in done.stderr


def test_a_name_selects_in_a_damaged_capture_too(here: Run, asked: list[Path], tmp_path: Path) -> None:
    cut = tmp_path / "cut.pcap"
    cut.write_bytes(asked[0].read_bytes()[:-10])
    done = here("analyze", cut, "--host", "reports.example.org")
    assert (done.returncode, "10.0.0.2" in done.stdout) == (5, True)
    done = here("analyze", cut, "--host", "www.example.org")
    assert (done.returncode, done.stdout) == (7, "")
