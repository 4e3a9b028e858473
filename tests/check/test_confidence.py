"""Labels that are unsure fail no build, and the rule says so."""

from pathlib import Path

import pytest

from tests.check.flows import Told, lossy, played
from tests.scene import Scene


@pytest.fixture
def unsure(scene: Scene) -> Path:
    """A capture that begins in mid-life: whose three seconds the first answer took is not certain."""
    scene.handshake(rtt_ms=20)
    scene.request()
    scene.wait_ms(3_000)
    scene.server_sends(1_000)
    path = scene.capture("server", drop=range(1, 4))
    (stall,) = [row for row in scene.flow("server", drop=range(1, 4))["stalls"] if row["duration_ns"] > 1e9]
    assert stall["cause"] == "app-limited"
    assert 0.3 < stall["confidence"] < 0.75
    return path


@pytest.fixture
def unexplained(scene: Scene) -> Path:
    """A pause across lines that a paste leaves out."""
    scene.handshake(rtt_ms=20)
    scene.client_sends(1_000)
    scene.server_acks()
    scene.wait_ms(2_000)
    scene.client_sends(1_000)
    scene.server_acks()
    path = scene.capture("client", kind="text")
    lines = path.read_text().splitlines(keepends=True)
    path.write_text("".join([*lines[:5], "......\n", *lines[5:]]))
    return path


def test_a_rule_that_only_an_unsure_label_would_break_holds_with_a_word(unsure: Path, told: Told) -> None:
    code, text = told.run(unsure, "--max", "app-limited=1s", "--forbid", "app-limited")
    assert code == 0
    assert text.splitlines()[0] == "all 2 rules hold (1 flow)"
    assert "unsure   max app-limited=1s: holds by sure labels; with those below 75 %: 3.0" in text
    assert "unsure   forbid app-limited: holds by sure labels; with those below 75 %: 1 of 1 flow" in text


def test_the_confidence_decides_from_which_one_on_a_label_counts(unsure: Path, told: Told) -> None:
    limit = ("--max", "app-limited=1s")
    assert told.state(unsure, *limit, "--confidence", "0.3") == "broken"
    assert told.state(unsure, *limit, "--confidence", "30%") == "broken"
    assert told.state(unsure, *limit, "--confidence", "0.75") == told.state(unsure, *limit) == "unsure"
    assert told.state(unsure, "--max", "app-limited=1h") == "holds"


def test_lost_time_is_lost_whatever_its_label_unless_causes_are_named(unsure: Path, told: Told) -> None:
    assert told.state(unsure, "--max", "lost=1s") == "broken"
    assert told.state(unsure, "--max", "lost=1s", "--cause", "app-limited") == "unsure"


def test_what_the_capture_lacks_may_have_been_no_wait(unexplained: Path, told: Told) -> None:
    assert told.state(unexplained, "--max", "lost=1s") == "unsure"


def test_a_label_that_states_a_lack_of_evidence_needs_no_confidence(unexplained: Path, told: Told) -> None:
    assert told.state(unexplained, "--max", "capture-gap=1s", "--confidence", "1") == "broken"


@pytest.mark.parametrize("number", ["1.1", "-0.1", "nan", "120%", "", "high"])
def test_what_is_no_confidence_is_refused(unsure: Path, told: Told, number: str) -> None:
    code, _ = told.run(unsure, "--max", "lost=1s", f"--confidence={number}")
    assert code == 2
    assert "is no confidence: write a number from 0 to 1" in told.error


def test_a_fast_repair_of_a_loss_is_sure_enough(tmp_path: Path, told: Told) -> None:
    path = played(tmp_path, lossy)
    assert told.state(path, "--forbid", "retransmission") == "broken"
    assert told.state(path, "--forbid", "retransmission", "--confidence", "0.76") == "unsure"
