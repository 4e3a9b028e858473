"""`--link-rate`: how much of the link a flow reached."""

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Run
from tests.scene import Scene


@pytest.fixture
def busy(tmp_path: Path) -> Path:
    """A download that fills 10 Mbit/s."""
    scene = Scene(tmp_path)
    scene.handshake(rtt_ms=20)
    scene.path(rtt_ms=20, server_mbit=10)
    scene.download(500_000)
    return scene.capture()


@pytest.mark.parametrize("rate", ["10Mbit", "10 mbit/s", "10Mbps", "0.01G", "10000k", "10000000bit"])
def test_a_rate_is_in_bits_with_decimal_units(here: Run, busy: Path, rate: str) -> None:
    report = json.loads(here("analyze", busy, "--format", "json", "--link-rate", rate).stdout)
    assert 0.9 < report["flows"][0]["directions"]["server"]["link_share"] < 1


def test_without_it_no_share_is_told(here: Run, busy: Path) -> None:
    report = json.loads(here("analyze", busy, "--format", "json").stdout)
    assert "link_share" not in report["flows"][0]["directions"]["server"]
    assert "of the link" not in here("analyze", busy, "--stalls").stdout


def test_the_answer_says_what_the_path_carried_and_that_more_window_buys_nothing(here: Run, busy: Path) -> None:
    text = " ".join(here("analyze", busy, "--stalls", "--link-rate", "100Mbit").stdout.split())
    assert "bandwidth-limited the path carried all it could of the server's data, 9.6 Mbit/s" in text
    assert "bytes in flight more window or buffer buys nothing" in text
    assert "the server reached 10 % of the link" in text


def test_a_flow_that_never_filled_the_path_says_its_mean(here: Run, capture: Path) -> None:
    text = " ".join(here("analyze", capture, "--stalls", "--link-rate", "1Gbit").stdout.split())
    assert "of the link" in text
    assert "bandwidth-limited" not in text


@pytest.mark.parametrize("rate", ["fast", "10MB", "0", "-1M", "10Mbyte/s", "", "100", "1.5", "2000000000Gbit"])
def test_what_is_no_rate_is_refused(here: Run, busy: Path, rate: str) -> None:
    done = here("analyze", busy, "--link-rate", rate)
    assert done.returncode == 2
    assert "is no rate" in done.stderr
