"""A repair was needless: one sender takes its window back (RFC 4015), another keeps what the repair lowered."""

from tests.causes.triple import causes, fires, look_alike
from tests.scene import Scene

SEGMENT = 1_448


def after_a_needless_repair(scene: Scene, *flights: int) -> list[str]:
    """Causes of the waits, at the server, in flights of so many segments after 40, one of which was sent twice."""
    scene.handshake(rtt_ms=40, client_window=3_000_000)
    scene.request()
    for segments in (10, 20):
        scene.server_sends(segments * SEGMENT, tso=1, push=False)
        scene.client_acks()
    late = 30 * SEGMENT
    scene.server_sends(40 * SEGMENT, tso=1, push=False)
    for segments in (2, 3, 4):
        scene.client_acks(upto=late, sack=((late + SEGMENT, late + segments * SEGMENT),))
    scene.server_repeats(late, SEGMENT)
    scene.client_acks(sack=((late, late + SEGMENT),))
    for segments in flights:
        scene.server_sends(segments * SEGMENT, tso=1, push=False)
        scene.client_acks()
    return causes(scene, "server")


@fires
def test_smaller_flights_show_that_the_window_stayed_low(scene: Scene) -> None:
    assert "sndbuf-limited" not in after_a_needless_repair(scene, 28, 28, 28)


@look_alike
def test_flights_as_large_as_before_show_that_it_came_back(scene: Scene) -> None:
    assert "sndbuf-limited" in after_a_needless_repair(scene, *[40] * 6)
