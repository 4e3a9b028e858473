"""Nagle's algorithm, learnt from the short ends of writes: Minshall's variant, or RFC 896's."""

from tests.causes.triple import causes, fires, look_alike, near_miss
from tests.scene import Scene
from tests.scene.network import Tap

WRITE = 6 * 1_448 + 500


@fires
def test_the_short_end_of_each_write_waits_until_nothing_is_out(scene: Scene, tap: Tap) -> None:
    scene.handshake(rtt_ms=20)
    scene.server_writes(*((120.0 * turn, WRITE) for turn in range(4)), tso=1, nagle="rfc896")
    assert causes(scene, tap) == ["nagle", *["app-limited", "nagle"] * 3]


@near_miss
def test_minshalls_variant_lets_the_short_end_go(scene: Scene, tap: Tap) -> None:
    scene.handshake(rtt_ms=20)
    scene.server_writes(*((120.0 * turn, WRITE) for turn in range(4)), tso=1)
    assert "nagle" not in causes(scene, tap)


@look_alike
def test_the_rest_beyond_a_full_congestion_window_is_the_windows(scene: Scene, tap: Tap) -> None:
    scene.handshake(rtt_ms=20)
    scene.download(10 * 1_448 + 500, tso=1)
    assert causes(scene, tap) == ["cwnd-limited"]
