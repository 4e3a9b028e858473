"""`capture-gap`: the capture lacks the packets that would tell."""

import pytest

from tests.causes.triple import causes, fires, look_alike, near_miss
from tests.scene import Scene
from tests.scene.network import Tap


@fires
def test_data_that_was_acknowledged_but_never_seen_is_a_hole_in_the_capture(scene: Scene, tap: Tap) -> None:
    scene.handshake(rtt_ms=20)
    scene.client_sends(147)
    scene.server_sends(14_480)
    scene.client_acks()
    scene.server_sends(28_960, unseen=True)
    scene.client_acks()
    scene.server_sends(14_480)
    scene.client_acks()
    assert "capture-gap" in causes(scene, tap)


@fires
@pytest.mark.parametrize("missing", [20, 40])
def test_a_repair_whose_first_sending_is_missing_measures_no_round_trip(scene: Scene, missing: int) -> None:
    """It looks like new data, and ACKs on their way cover it microseconds later."""
    scene.handshake(rtt_ms=20)
    scene.download(200_000, lose=(60_000,))
    flow = scene.flow("server", drop=range(106, 106 + missing))
    assert flow["base_rtt_ns"] > 19e6
    assert "capture-gap" in {stall["cause"] for stall in flow["stalls"]} or flow["trust"]["level"] != "high"


@near_miss
def test_data_lost_before_the_tap_and_sent_again_is_a_repair(scene: Scene) -> None:
    scene.handshake(rtt_ms=20)
    scene.download(60_000, lose=tuple(range(14_480, 60_000, 1_448)))
    assert "capture-gap" not in causes(scene, "client")


@look_alike
def test_a_silence_that_lacks_nothing_is_an_idle_application(scene: Scene, tap: Tap) -> None:
    scene.handshake(rtt_ms=20)
    scene.download(10_000)
    scene.wait_ms(1_000)
    scene.download(10_000)
    assert causes(scene, tap) == ["app-limited"]
