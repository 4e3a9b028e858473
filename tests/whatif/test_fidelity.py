"""Real transfers played again: within a round trip or a tenth of what they took."""

from pathlib import Path

import pytest

from tcpstall.whatif import Change, whatif
from tests.whatif import real_flows
from tests.whatif.fidelity import render, replays

FIXTURES = Path(__file__).parents[2] / "fixtures"
LAB = FIXTURES / "lab"

MISSES = {"wmem-default"}
"""A TSO sender whose first writes a small buffer cuts up: one round trip more."""


def test_the_labs_own_scenarios_fit_but_for_those_that_are_known_not_to() -> None:
    found = list(replays(LAB))
    assert {one.scenario for one in found if one.counts and not one.fits} <= MISSES
    assert len(found) >= 15


def test_the_table_counts_what_fits() -> None:
    found = list(replays(LAB))
    fitting = sum(one.fits for one in found)
    assert render(found).splitlines()[-1].startswith(f"{fitting} of {len(found)} scenarios")


@pytest.mark.parametrize("situation", ["sb-16k-20ms", "sb-32k-100ms-up", "many-sndbuf-new-20ms"])
def test_writers_with_a_small_buffer_for_large_frames_are_woken_as_the_kernel_wakes_them(situation: str) -> None:
    capture = FIXTURES / "pairs" / situation / "before.pcap.gz"
    forecasts = whatif(capture, changes=[[Change("think", 10**15)]]).forecasts
    for one in forecasts:
        assert one.captured
        assert one.replayed
        assert one.replayed.transfer_ns == pytest.approx(one.captured.transfer_ns, rel=0.02)


def test_flows_of_captures_without_a_truth_are_counted_too(tmp_path: Path) -> None:
    """A file that is no capture is left out."""
    (tmp_path / "notes.txt").write_text("no capture", encoding="ascii")
    captures = [tmp_path / "notes.txt", *sorted((FIXTURES / "pairs").glob("iw-*-5ms/before.pcap.gz"))]
    flows = list(real_flows.replayed(captures))
    assert [one.fits and one.by_itself for one in flows] == [True, True]
    missed = real_flows.Replayed("a.pcap", 3, fits=False, by_itself=False, refused="no-data")
    lines = real_flows.render([*flows, missed]).splitlines()
    assert lines[0] == "a.pcap flow 3: no-data"
    assert lines[1].startswith(
        "2 of 3 flows with a handshake and 20 segments fit: 66.7%; 2 (66.7%) by the model itself"
    )
    assert lines[2] == "refused 1: no-data"
