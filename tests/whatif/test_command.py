"""`tcpstall whatif` as a user calls it."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Run, capture, cut_capture, here, picture
from tests.documents import DOCS

__all__ = ["capture", "cut_capture", "here", "picture"]


def test_the_replay_stands_before_the_prediction(here: Run, capture: Path) -> None:
    done = here("whatif", capture, "--set", "initcwnd=100", COLUMNS="120")
    assert done.returncode == 0, done.stderr
    before, _, after = done.stdout.partition("initcwnd=100")
    assert "replayed unchanged" in before
    assert "the model is off by" in before
    assert " ms" in after
    (row,) = [line for line in done.stdout.splitlines() if line.startswith("initcwnd=100")]
    assert "–" in row


def test_json_is_one_object_with_every_figure(here: Run, capture: Path) -> None:
    report = json.loads(here("whatif", capture, "--set", "rtt=100ms", "--format", "json").stdout)
    assert report["schema"] == "tcpstall.whatif/1"
    (flow,) = report["flows"]
    (outcome,) = flow["outcomes"]
    assert outcome["set"] == ["rtt=100ms"]
    transfer = outcome["transfer"]
    assert transfer["low_ns"] <= transfer["expected_ns"] <= transfer["high_ns"]
    assert flow["error_ns"] == flow["replayed"]["transfer_ns"] - flow["captured"]["transfer_ns"]
    assert report["totals"]["flows"] == 1


def test_where_losses_decide_only_the_interval_is_a_prediction(here: Run, capture: Path) -> None:
    shown = here("whatif", capture, "--set", "loss=3%", COLUMNS="1000").stdout
    (row,) = (line for line in shown.splitlines() if line.startswith("loss=3%  "))
    assert " median " in row
    assert " by chance" in row
    assert "which packets are lost decides" in shown
    report = json.loads(here("whatif", capture, "--set", "loss=3%", "--format", "json").stdout)
    outcomes = [report["flows"][0]["outcomes"][0], report["totals"]["outcomes"][0]]
    for outcome in outcomes:
        span = outcome["transfer"]
        assert outcome["by_chance"]
        assert (span["expected_ns"], outcome["saved_ns"]) == (None, None)
        assert span["low_ns"] < span["median_ns"] < span["high_ns"]


def test_a_loss_that_hardly_ever_matters_leaves_a_prediction(here: Run, capture: Path) -> None:
    report = json.loads(here("whatif", capture, "--set", "loss=0.001%", "--format", "json").stdout)
    (outcome,) = report["flows"][0]["outcomes"]
    assert not outcome["by_chance"]
    assert outcome["transfer"]["expected_ns"] is not None


def test_a_service_is_all_its_flows(here: Run, capture: Path) -> None:
    one = json.loads(here("whatif", capture, "--format", "json").stdout)["flows"][0]
    service = f"{one['server']['address']}:{one['server']['port']}"
    found = json.loads(here("whatif", capture, "--service", service, "--format", "json").stdout)
    assert [flow["flow"] for flow in found["flows"]] == [one["flow"]]


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("--set", "foo=1"), "nothing that can be changed"),
        (("--set", "rtt=soon"), "rtt=VALUE"),
        (("--service", "here"), "ADDRESS:PORT"),
    ],
)
def test_what_cannot_be_understood_is_one_line_and_code_2(
    here: Run, capture: Path, arguments: tuple[str, ...], says: str
) -> None:
    done = here("whatif", capture, *arguments)
    assert done.returncode == 2
    assert says in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("arguments", [("--flow", "99"), ("--service", "192.0.2.1:80")])
def test_a_flow_that_is_not_there_is_one_line_and_code_7(here: Run, capture: Path, arguments: tuple[str, ...]) -> None:
    done = here("whatif", capture, *arguments)
    assert done.returncode == 7
    assert "holds no such flow" in done.stderr


def test_standard_input_is_refused(here: Run) -> None:
    assert here("whatif", "-").returncode == 2


def test_a_picture_is_no_capture(here: Run, picture: Path) -> None:
    done = here("whatif", picture)
    assert done.returncode == 4
    assert "Traceback" not in done.stderr


def test_a_cut_capture_is_told_and_used(here: Run, cut_capture: Path) -> None:
    done = here("whatif", cut_capture, "--set", "initcwnd=40")
    assert done.returncode == 5
    assert "initcwnd=40" in done.stdout


def _keys(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        for key, inner in value.items():
            yield key
            yield from _keys(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _keys(inner)


def test_each_key_of_the_json_is_described(here: Run, capture: Path) -> None:
    described = (DOCS / "whatif.md").read_text()
    report = json.loads(here("whatif", capture, "--format", "json").stdout)
    assert not [key for key in _keys(report) if f"`{key}`" not in described]
