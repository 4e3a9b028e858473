"""The laboratory itself, end to end, where it can run."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.tools.lab.network.namespaces import obstacle
from tests.tools.lab.run import run
from tests.tools.lab.scenario import BIG_WINDOW, Host, Rule, Scenario, talk
from tests.tools.lab.sets import drawn
from tests.tools.lab.truths.truth import write_truth

REPOSITORY = Path(__file__).parents[3]


@pytest.fixture(scope="module")
def ground() -> None:
    """Skips where there is no root, or where namespaces cannot be had."""
    if reason := obstacle():
        pytest.skip(reason)


def command(*arguments: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, "-m", "tests.tools.lab", *arguments],
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.usefixtures("ground")
def test_a_short_transfer_with_a_loss_leaves_captures_and_a_truth(tmp_path: Path) -> None:
    scenario = Scenario(
        "short",
        "a short transfer",
        (talk("write 120000\n", "read 120000\n", options="opt cc cubic\n"),),
        8000,
        receiver=Host(sysctl=BIG_WINDOW),
        rules=(Rule("drop", first=60_000, last=60_001, times=1),),
    )
    truth = write_truth(scenario, run(scenario, tmp_path / "short"))
    half = truth["connections"][0]["halves"][0]
    assert half["bytes"] == 120_000
    assert {"handshake", "cwnd"} <= {span["label"] for span in half["spans"]}
    assert [event["ev"] for event in truth["network_events"]] == ["drop"]
    for name in ("sender.pcap", "receiver.pcap", "middle.pcap"):
        assert (tmp_path / "short" / name).stat().st_size > 5_000


def test_the_list_needs_no_root() -> None:
    done = command("--list")
    assert done.returncode == 0
    assert "edge-14481" in done.stdout


def test_experiments_that_are_drawn_whole_are_the_same_from_one_seed_and_others_from_another() -> None:
    first, again, other = (drawn.scenarios(seed) for seed in (1, 1, 2))
    assert first == again
    assert len({scenario.one_way_us for scenario in [*first, *other]}) > drawn.COUNT


def test_experiments_are_drawn_only_from_a_seed() -> None:
    done = command("--set", "drawn", "--list")
    assert done.returncode == 2
    assert "--vary is needed" in done.stderr


@pytest.mark.parametrize(("chosen", "least"), [("unseen", 40), ("corners", 15)])
def test_a_set_is_large_and_has_no_double_names(chosen: str, least: int) -> None:
    names = [line.split()[0] for line in command("--set", chosen, "--list").stdout.splitlines()]
    assert len(names) == len(set(names)) >= least
