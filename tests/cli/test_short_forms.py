"""What people type: a capture without a command, other words for causes, networks and ranges of ports."""

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Run
from tests.crowd.captures import all_kinds


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
    assert run("analyze", crowd, "--host", "192.0.2.0/24").returncode == 2
    assert run("analyze", crowd, "--port", "90-80").returncode == 2
