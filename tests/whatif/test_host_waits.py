"""Waits of a host that has nothing outstanding: nothing in TCP holds its data, so the replay waits as its host did."""

from collections.abc import Sequence

import pytest

from tests.scene import Scene
from tests.scene.network import Tap
from tests.whatif.played import played

SEGMENT = 1_448
BEAT_MS = 0.55
"""Longer than the round trip, and too short to show at once that the application had nothing to send."""


def writes(scene: Scene, segments: Sequence[int], first: int = 40) -> Scene:
    """Writes of whole segments, on a beat: nothing shows where a write ends."""
    scene.handshake(rtt_ms=0.3)
    scene.request()
    beats = ((1.2 + at * BEAT_MS, size * SEGMENT) for at, size in enumerate(segments))
    scene.server_writes((0.0, first * SEGMENT), *beats)
    scene.closes()
    return scene


CAUSES = [
    pytest.param([4, 5, 6] * 13, "unexplained", id="of no known cause"),
    pytest.param([12] * 39, "sndbuf-limited", id="taken for waits for the send buffer"),
    pytest.param([12, 8] * 20, "sndbuf-limited", id="of both kinds by turns"),
]


@pytest.mark.parametrize("tap", ["client", "server"])
@pytest.mark.parametrize(("segments", "cause"), CAUSES)
def test_a_sender_with_nothing_outstanding_waits_as_its_host_did(
    scene: Scene, tap: Tap, segments: Sequence[int], cause: str
) -> None:
    found = played(writes(scene, segments), tap=tap)
    assert scene.lost_ms("server", tap)[cause] > 5
    assert found.replayed_ms == pytest.approx(found.captured_ms, rel=0.05)
    assert found.forecast.without_pace is None, "no pace is fitted"


def test_a_gain_from_waits_of_the_host_is_not_promised(scene: Scene) -> None:
    """The writer writes on its beat, whatever its buffer."""
    (unpredicted,) = played(writes(scene, [12] * 39), "sndbuf=auto", tap="client").forecast.unpredicted
    assert unpredicted.refused == "unknown-limit"


def test_a_host_that_goes_on_at_once_gains_what_its_buffer_costs(scene: Scene) -> None:
    scene.handshake(rtt_ms=20)
    scene.download(300_000, send_buffer=30_000)
    scene.closes()
    found = played(scene, "sndbuf=auto")
    assert found.after_ms < 0.6 * found.replayed_ms
