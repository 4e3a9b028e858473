"""Limits of the model are refused with their reason, and a change that slows is not told as a gain."""

import json
from pathlib import Path

import pytest

from tcpstall.report.whatif.words import REFUSALS, written
from tcpstall.whatif import Change, whatif
from tests.cli.conftest import Run, here
from tests.scene import Scene
from tests.scene.plan import Reader
from tests.whatif.played import changes, played

__all__ = ["here"]

MSS = 1_448


def beside(scene: Scene, later_ms: int) -> Scene:
    return Scene(scene.folder, client_port=40_001, start_ns=scene.start_ns + later_ms * 1_000_000)


def reason(scene: Scene, *texts: str) -> str | None:
    """Reason why these changes have no prediction, of a flow that otherwise has one."""
    forecast = played(scene, *texts).forecast
    assert forecast.refused is None
    return forecast.unpredicted[0].refused if forecast.unpredicted else None


def started(scene: Scene, gain: float, *, size: int = 50_000) -> str | None:
    """The refusal of a sender that, after its first flight, paces at `gain` times the rate of that flight for good."""
    scene.handshake(rtt_ms=30)
    scene.download(size, pace=gain * 10 * MSS / 0.03)
    scene.closes()
    return played(scene, "initcwnd=40").forecast.refused


@pytest.mark.parametrize("gain", [1.5, 4.0])
def test_another_pace_is_replayed(scene: Scene, gain: float) -> None:
    assert started(scene, gain) is None


def test_a_pace_that_never_changes_is_replayed(scene: Scene) -> None:
    assert started(scene, 2.85, size=400_000) is None


def two_on_a_line(scene: Scene, later_ms: int) -> Path:
    scenes = (scene, beside(scene, later_ms))
    for each in scenes:
        each.path(rtt_ms=20, server_mbit=10)
        each.handshake()
        each.download(600_000)
        each.closes()
    return scenes[0].capture("server", beside=scenes[1:])


def test_flows_at_the_same_time_share_a_line_of_both_their_rates(scene: Scene) -> None:
    found = whatif(two_on_a_line(scene, 5), flows=(0, 1), changes=[changes("rate=20Mbit")])
    for forecast in found.forecasts:
        assert forecast.refused is None
        assert forecast.replayed is not None
        assert abs(forecast.outcomes[0].transfer.expected_ns / forecast.replayed.transfer_ns - 1) < 0.1


def test_flows_that_use_a_line_one_after_the_other_are_predicted(scene: Scene) -> None:
    found = whatif(two_on_a_line(scene, 5_000), flows=(0, 1), changes=[changes("rate=100Mbit")])
    assert [forecast.refused for forecast in found.forecasts] == [None] * 2


def test_a_small_send_buffer_that_the_flow_never_had_is_refused(scene: Scene) -> None:
    scene.handshake(rtt_ms=20)
    scene.download(500_000)
    scene.closes()
    assert reason(scene, "sndbuf=16K") == "hidden-limit"
    assert reason(scene, "sndbuf=4M") is None


def test_nodelay_under_a_full_send_buffer_is_refused(scene: Scene) -> None:
    scene.handshake(rtt_ms=20)
    scene.download(400_000, tso=1, send_buffer=20_000)
    scene.closes()
    assert reason(scene, "nodelay=1") == "hidden-limit"
    (forecast,) = whatif(scene.capture()).forecasts
    assert "nodelay=1" not in {written(one) for outcome in forecast.outcomes for one in outcome.changes}


def exchanges(scene: Scene, count: int) -> Scene:
    scene.handshake(rtt_ms=20)
    for _ in range(count):
        scene.download(3_000)
    scene.closes()
    return scene


def test_a_connection_is_not_split(scene: Scene) -> None:
    assert reason(exchanges(scene, 3), "reuse-connection=0") == "new-connections"


def test_one_exchange_needs_no_split(scene: Scene) -> None:
    assert reason(exchanges(scene, 1), "reuse-connection=0") is None


def test_a_service_adds_up_the_flows_with_a_prediction(here: Run, scene: Scene) -> None:
    other = exchanges(beside(scene, 5_000), 1)
    capture = exchanges(scene, 3).capture(beside=[other])
    done = here("whatif", capture, "--service", "10.0.0.2:80", "--set", "reuse-connection=0", "--format", "json")
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert report["totals"]["flows"] == 1
    assert len(report["totals"]["outcomes"]) == 1
    (missing,) = report["flows"][0]["unpredicted"]
    assert missing == {
        "set": ["reuse-connection=0"],
        "refused": "new-connections",
        "reason": REFUSALS["new-connections"],
    }
    shown = here("whatif", capture, "--service", "10.0.0.2:80", "--set", "reuse-connection=0", COLUMNS="1000").stdout
    assert f"no prediction of reuse-connection=0: {REFUSALS['new-connections']}" in shown


def test_a_larger_window_under_a_buffer_of_large_frames_is_refused(scene: Scene) -> None:
    scene.handshake(rtt_ms=20)
    scene.download(600_000, tso=16, send_buffer=40_000)
    scene.wait_ms(800)
    scene.download(600_000, tso=16, send_buffer=40_000)
    scene.closes()
    forecasts = whatif(scene.capture("server"), changes=[changes("initcwnd=40"), changes("sndbuf=auto")]).forecasts
    assert [one.refused for one in forecasts[0].unpredicted] == ["hidden-limit"]
    assert [made.changes for made in forecasts[0].outcomes] == [(Change("sndbuf", None),)]


def test_a_service_goes_on_past_a_replay_that_never_ends(here: Run) -> None:
    """Its reader pauses, and below its window there is no room for what woke it in the capture."""
    capture = Path(__file__).parents[2] / "fixtures" / "lab" / "zero-window-6s" / "sender.pcap"
    (flow,) = whatif(capture, changes=[changes("rcvbuf=16K")]).forecasts
    assert [one.refused for one in flow.unpredicted] == ["endless"]
    done = here("whatif", str(capture), "--service", str(flow.flow.server), "--set", "rcvbuf=16K", COLUMNS="1000")
    assert done.returncode == 0, done.stderr
    assert f"no prediction of rcvbuf=16K: {REFUSALS['endless']}" in done.stdout


def test_a_small_receive_buffer_slows_and_ends(scene: Scene) -> None:
    scene.handshake(rtt_ms=20)
    scene.download(300_000, reader=Reader(pauses=((100_000, 60),)))
    scene.closes()
    found = played(scene, "rcvbuf=8K")
    assert found.after_ms > 3 * found.captured_ms


def test_nagle_holds_writes_that_left_at_once(scene: Scene) -> None:
    """The first write alone waits for a delayed ACK, although two together were always acknowledged at once."""
    scene.handshake(rtt_ms=20)
    for _ in range(4):
        scene.client_sends(100)
        scene.client_sends(150)
        scene.server_acks()
        scene.server_sends(200)
        scene.client_acks()
        scene.wait_ms(5)
    scene.closes()
    found = played(scene, "nodelay=0", tap="client")
    assert found.outcome.saved_ns == pytest.approx(-(20 + 3 * 60) * 1e6, rel=0.1)
    assert played(scene, "nodelay=1", tap="client").outcome.saved_ns == 0


def test_nagle_holds_the_second_write_of_a_new_connection(scene: Scene) -> None:
    scene.handshake(rtt_ms=20)
    scene.client_sends(200)
    scene.client_sends(300)
    scene.server_acks()
    scene.server_sends(400)
    scene.client_acks()
    scene.closes()
    assert played(scene, "nodelay=0", tap="client").outcome.saved_ns == pytest.approx(-20e6, rel=0.1)


def test_the_peers_own_delay_of_acknowledgements_is_replayed(scene: Scene) -> None:
    scene.handshake(rtt_ms=10)
    for _ in range(6):
        scene.client_sends(100)
        scene.wait_ms(200)
        scene.server_acks()
        scene.client_sends(100)
        scene.server_sends(200)
        scene.client_acks()
    scene.closes()
    found = played(scene, tap="client")
    assert found.replayed_ms == pytest.approx(found.captured_ms, rel=0.25)


def test_no_initial_window_beyond_the_peers_first_window_is_suggested(scene: Scene) -> None:
    scene.handshake(rtt_ms=20, client_window=40_000)
    scene.download(300_000)
    scene.closes()
    (forecast,) = whatif(scene.capture()).forecasts
    (suggested,) = [one.value for made in forecast.outcomes for one in made.changes if one.name == "initcwnd"]
    assert suggested == 40_000 // MSS


def test_a_prediction_of_a_lossy_transfer_covers_one_without_a_loss(scene: Scene) -> None:
    scene.handshake(rtt_ms=20)
    scene.download(300_000, lose=(60_000, 200_000))
    scene.closes()
    transfer = played(scene, "initcwnd=40", tap="server").outcome.transfer
    lucky = played(scene, "initcwnd=40", "loss=0", tap="server").after_ms
    assert transfer.low_ns / 1e6 <= lucky <= transfer.high_ns / 1e6


def test_where_losses_fall_decides_more_than_a_small_change(scene: Scene) -> None:
    """A lost end costs a timeout; a larger initial window saves round trips alone."""
    scene.handshake(rtt_ms=20)
    scene.download(200_000, lose=(199_000,) * 3)
    scene.closes()
    assert played(scene, "loss=0", tap="server").outcome.saved_ns > 100e6
    (forecast,) = whatif(scene.capture("server"), changes=[changes("initcwnd=40")]).forecasts
    assert [one.refused for one in forecast.unpredicted] == ["luck"]
    (useless,) = whatif(scene.capture("server"), changes=[changes("nodelay=1")]).forecasts
    assert [outcome.saved_ns for outcome in useless.outcomes] == [0]


def test_where_the_flow_that_lost_most_is_refused_another_is_predicted(scene: Scene) -> None:
    other = beside(scene, 5_000)
    for each, size in ((scene, 500_000), (other, 100_000)):
        each.handshake(rtt_ms=100)
        each.download(size)
        each.closes()
    capture = scene.capture(drop=(1,), beside=[other])
    found = whatif(capture, changes=[changes("initcwnd=40")])
    assert [forecast.refused for forecast in found.forecasts] == ["no-handshake", None]
    assert found.totals == found.forecasts[1].outcomes


def test_a_change_that_is_made_twice_is_a_mistake(here: Run, scene: Scene) -> None:
    done = here("whatif", exchanges(scene, 1).capture(), "--set", "initcwnd=20", "--set", "initcwnd=40")
    assert done.returncode == 2
    assert "initcwnd is set twice" in done.stderr
