"""Data at a pace of unknown cause: replayed at that pace, told apart, and with intervals that reach beyond it."""

import pytest
from rich.padding import Padding

from tcpstall.report.html.foretold import foretold
from tcpstall.report.html.page import plain
from tcpstall.report.whatif.tables import render_whatif
from tcpstall.whatif import Forecast, WhatIf
from tests.scene import Scene
from tests.scene.network import Tap
from tests.whatif.played import played


def written_on_a_beat(scene: Scene) -> Scene:
    """Ten whole segments each millisecond: no segment is short, so nothing shows where a write ends."""
    scene.handshake(rtt_ms=10)
    scene.request()
    scene.server_writes(*((float(at), 10 * 1_448) for at in range(200)))
    scene.closes()
    return scene


@pytest.mark.parametrize("tap", ["client", "server"])
def test_data_that_come_at_a_pace_of_unknown_cause_come_at_that_pace_again(scene: Scene, tap: Tap) -> None:
    found = played(written_on_a_beat(scene), "initcwnd=100", tap=tap)
    assert found.replayed_ms == pytest.approx(found.captured_ms, rel=0.02)
    assert found.after_ms > 199, "no window makes a writer write sooner than its last write"


def test_a_replay_that_fits_at_a_fitted_pace_alone_shows_the_time_without_it(scene: Scene) -> None:
    found = played(written_on_a_beat(scene), "initcwnd=100", tap="client")
    assert found.forecast.without_pace is not None
    assert found.forecast.without_pace.transfer_ns / 1e6 < found.captured_ms - 10
    (screen,) = (text for text in shown(found.forecast) if "replayed unchanged" in text)
    assert "at a pace of unknown cause that was fitted to the capture; without that pace " in screen
    assert foretold(found.forecast).fidelity in screen


def test_a_replay_that_fits_by_itself_has_no_such_time(scene: Scene) -> None:
    scene.handshake(rtt_ms=20)
    scene.download(300_000)
    scene.closes()
    forecast = played(scene).forecast
    assert forecast.without_pace is None
    assert not [text for text in shown(forecast) if "fitted" in text]


def shown(forecast: Forecast) -> list[str]:
    return [plain(part) for part in render_whatif(WhatIf((), (forecast,)), width=1_000) if isinstance(part, Padding)]


def test_an_interval_reaches_from_the_change_without_the_fitted_pace_to_no_gain(scene: Scene) -> None:
    """The unknown limit may fall with the change, or take away the gain; no more is gained than its causes own."""
    found = played(written_on_a_beat(scene), "initcwnd=100", tap="client")
    transfer = found.outcome.transfer
    assert transfer.low_ns < transfer.expected_ns - 0.1 * found.captured_ms * 1e6
    assert transfer.low_ns > found.captured_ms * 1e6 - found.outcome.owned_ns - 0.05 * found.captured_ms * 1e6
    assert transfer.high_ns > found.captured_ms * 1e6, "the writer writes no sooner, whatever its window"


def test_a_change_without_a_cause_gains_nothing_without_the_fitted_pace_either(scene: Scene) -> None:
    useless = played(written_on_a_beat(scene), "nodelay=1", tap="client").outcome
    assert useless.owned_ns == 0
    assert useless.transfer.low_ns > 0.95 * useless.transfer.expected_ns


@pytest.mark.parametrize("text", ["rate=1Gbit", "rtt=1ms"])
def test_another_path_may_change_a_pace_of_unknown_cause(scene: Scene, text: str) -> None:
    (unpredicted,) = played(written_on_a_beat(scene), text, tap="client").forecast.unpredicted
    assert unpredicted.refused == "unknown-limit"
