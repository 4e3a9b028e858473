"""What people type: a capture without a command, other words for causes, networks and ranges of ports."""

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


def test_a_capture_without_a_command_is_analysed(run: Run, capture: Path) -> None:
    assert run(capture).stdout == run("analyze", capture).stdout


def test_near_names_are_suggested(run: Run) -> None:
    assert "did you mean analyze" in run("analyse").stderr
    assert "did you mean retransmission" in run("explain", "retransmision").stderr
    assert run("explain", "rto").stdout == run("explain", "retransmission").stdout
    assert run("explain", "zerowindow").stdout == run("explain", "zero-window").stdout
    assert run("explain", "cwnd").stdout == run("explain", "cwnd-limited").stdout


def test_networks_and_ranges_of_ports_select_flows(run: Run, crowd: Path) -> None:
    def flows(*options: str) -> int:
        return len(json.loads(run("analyze", crowd, "--format", "json", *options).stdout)["flows"])

    everything = flows()
    assert flows("--host", "10.0.0.0/8") == flows("--host", "10.0.0.1/32") == everything
    assert flows("--port", "80-82") == everything
    assert 0 < flows("--port", "http") == flows("--port", "80") < everything
    assert run("analyze", crowd, "--host", "192.0.2.0/24").returncode == 7
    assert run("analyze", crowd, "--port", "90-80").returncode == 2


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
def test_a_name_in_the_capture_selects_the_flows_of_its_server(run: Run, asked: list[Path], name: str) -> None:
    (flow,) = json.loads(run("analyze", *asked, "--host", name, "--format", "json").stdout)["flows"]
    assert flow["server"]["address"] == "10.0.0.2"


def test_a_name_that_nobody_asks_for_is_told_with_those_that_are_asked_for(run: Run, asked: list[Path]) -> None:
    done = run("analyze", *asked, "--host", "www.example.org")
    assert (done.returncode, done.stdout) == (7, "")
    assert done.stderr == ("tcpstall: no connection asks for www.example.org; they ask for reports.example.org\n")
    assert "give an address" in run("analyze", asked[1], "--host", "www.example.org").stderr


def test_names_need_a_file_and_what_is_no_name_is_refused(run: Run, asked: list[Path]) -> None:
    assert run("analyze", "-", "--host", "www.example.org").returncode == 2
    for host in ("10.0.0", "10.0.0.256", "a b", "-", "exa$mple.org"):
        assert run("analyze", *asked, "--host", host).returncode == 2, host


def test_a_name_beside_a_file_that_cannot_be_read_is_not_to_blame(run: Run, tmp_path: Path) -> None:
    done = run("analyze", tmp_path / "nowhere.pcap", "--host", "www.example.org")
    assert done.returncode == 3
    assert "nowhere.pcap" in done.stderr


def test_a_name_selects_in_a_damaged_capture_too(run: Run, asked: list[Path], tmp_path: Path) -> None:
    cut = tmp_path / "cut.pcap"
    cut.write_bytes(asked[0].read_bytes()[:-10])
    done = run("analyze", cut, "--host", "reports.example.org")
    assert (done.returncode, "10.0.0.2" in done.stdout) == (5, True)
    done = run("analyze", cut, "--host", "www.example.org")
    assert (done.returncode, done.stdout) == (7, "")
