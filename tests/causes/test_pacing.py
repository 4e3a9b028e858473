"""`pacing`: the sender spaced its segments out on purpose."""

from tests.causes.triple import causes, fires, look_alike, near_miss, share
from tests.scene import Scene
from tests.scene.network import Tap


@fires
def test_a_rate_below_two_segments_a_round_trip_leaves_even_gaps(scene: Scene, tap: Tap) -> None:
    scene.handshake(rtt_ms=20)
    scene.download(120_000, pace=155_000.0)
    assert share(scene, "pacing", tap) > 0.8


@near_miss
def test_gaps_far_below_the_round_trip_are_no_stalls(scene: Scene, tap: Tap) -> None:
    scene.handshake(rtt_ms=20)
    scene.download(120_000, pace=2_000_000.0)
    assert "pacing" not in causes(scene, tap)


@look_alike
def test_an_application_that_writes_small_pieces_evenly_is_not_paced(scene: Scene, tap: Tap) -> None:
    scene.handshake(rtt_ms=20)
    scene.client_sends(147)
    scene.server_acks()
    scene.server_writes(*((30.0 * i, 2_000) for i in range(15)))
    assert share(scene, "app-limited", tap) > 0.8
