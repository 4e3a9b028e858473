"""`bandwidth-limited`: the path carried all it could."""

from tests.causes.triple import causes, fires, look_alike, near_miss, share
from tests.scene import Scene
from tests.scene.network import Tap


@fires
def test_acks_at_an_even_rate_and_a_growing_round_trip_are_a_full_path(scene: Scene) -> None:
    scene.handshake(rtt_ms=20)
    scene.path(rtt_ms=20, server_mbit=1)
    scene.download(200_000, ack_every=1)
    assert share(scene, "bandwidth-limited") > 0.6


@near_miss
def test_a_path_that_carries_the_flight_in_a_fraction_of_the_round_trip_is_not_full(scene: Scene, tap: Tap) -> None:
    scene.handshake(rtt_ms=20)
    scene.path(rtt_ms=20, server_mbit=200)
    scene.download(100_000)
    assert causes(scene, tap) == ["cwnd-limited"]


@look_alike
def test_a_sender_that_paces_itself_does_not_fill_the_path(scene: Scene, tap: Tap) -> None:
    scene.handshake(rtt_ms=20)
    scene.download(120_000, pace=155_000.0)
    assert "bandwidth-limited" not in causes(scene, tap)
