"""The core and the slow tracker must count alike."""

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import dpkt
import pytest
from hypothesis import given

from tcpstall import _core
from tests.oracle.tracker import Direction, Flow, Ranges, track
from tests.scene import Scene
from tests.scene.gallery import EVERYTHING
from tests.scene.network import Tap
from tests.scene.strategies import acts
from tests.scene.verdict import flows_of

MICROSECONDS_S = 2e-6


def expect_agreement(path: Path, tap: Tap | None = "server") -> None:
    ours = track(path)
    theirs = flows_of(path)
    assert len(theirs) == len(ours)
    for flow in theirs:
        expect_flow(flow, ours[flow["client"]["port"], flow["server"]["port"]], tap)


def expect_flow(flow: dict[str, Any], truth: Flow, tap: Tap | None) -> None:
    assert flow["segments"] == truth.packets
    if (duration := truth.handshake_s()) is not None:
        assert flow["handshake"]["complete"]
        assert flow["handshake"]["duration_ns"] / 1e9 == pytest.approx(duration, abs=MICROSECONDS_S)
    for side, direction in (("client", truth.client), ("server", truth.server)):
        expect_direction(flow["directions"][side], direction, at_sender=side == tap)


def expect_direction(row: dict[str, Any], truth: Direction, *, at_sender: bool) -> None:
    assert row["bytes"] == truth.seen.size()
    assert row["segments"] == truth.segments
    assert row["retransmitted_bytes"] == truth.retransmitted_bytes
    # The core judges flight as the sender saw it; a tap further away sees data late and ACKs early, so less of it. What
    # is sent again counts once more (RFC 6675 pipe), which the tracker leaves out.
    least = truth.max_in_flight_bytes
    most = least + truth.retransmitted_bytes if at_sender else row["bytes"]
    assert least <= row["max_in_flight_bytes"] <= most


def played(act: Callable[[Scene], None], folder: str | Path, tap: Tap = "server") -> Path:
    scene = Scene(Path(folder), tap=tap)
    act(scene)
    return scene.capture()


@pytest.mark.parametrize("name", EVERYTHING)
def test_they_agree_on_every_named_scene(name: str, tmp_path: Path) -> None:
    expect_agreement(played(EVERYTHING[name], tmp_path))


@given(act=acts())
def test_they_agree_on_random_scenes_at_either_end(act: Callable[[Scene], None]) -> None:
    taps: tuple[Tap, ...] = ("client", "server", "between")
    with tempfile.TemporaryDirectory() as folder:
        for tap in taps:
            expect_agreement(played(act, folder, tap), tap)


@given(act=acts(lossy=True))
def test_they_agree_on_random_scenes_with_loss_at_the_tap_of_the_server(act: Callable[[Scene], None]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = played(act, folder)
        ours = track(path)
        for flow in flows_of(path):
            truth = ours[flow["client"]["port"], flow["server"]["port"]]
            assert flow["segments"] == truth.packets
            expect_direction(flow["directions"]["server"], truth.server, at_sender=True)


def test_the_tracker_itself_counts_a_known_scene(tmp_path: Path) -> None:
    scene = Scene(tmp_path)
    scene.handshake(rtt_ms=20)
    scene.download(60_000, lose=(30_000,))
    flow = track(scene.capture("server"))[40_000, 80]
    assert flow.server.seen.size() == 60_000
    assert flow.server.retransmitted_bytes == 1_448
    assert flow.client.seen.size() == 147
    assert flow.handshake_s() == pytest.approx(0.02, abs=1e-4)
    assert flow.server.max_in_flight_bytes == 60_000 - 28_960 - 1_448 + 1_448


def test_ranges_tell_what_was_there_before() -> None:
    ranges = Ranges()
    assert ranges.add(0, 10) == 0
    assert ranges.add(20, 30) == 0
    assert ranges.add(5, 25) == 10
    assert ranges.ranges == [(0, 30)]


def is_whole_ethernet_pcap(path: Path) -> bool:
    if path.suffix != ".pcap" or _core.analyze([str(path)]).captures[0].exit_code:
        return False
    with path.open("rb") as file:
        return bool(dpkt.pcap.Reader(file).datalink() == dpkt.pcap.DLT_EN10MB)


def test_they_agree_on_the_fixtures(fixture_capture: Path) -> None:
    if not is_whole_ethernet_pcap(fixture_capture):
        pytest.skip("the tracker reads whole pcap files of Ethernet only")
    expect_agreement(fixture_capture, tap=None)
