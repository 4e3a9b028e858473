"""`capture-gap`: the capture lacks the packets that would tell."""

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
