"""A window counted in bytes cuts segments short, and PSH, which marks the end of data, is not on them."""

from tests.causes.triple import causes, fires, look_alike, near_miss
from tests.scene import Scene
from tests.scene.network import Tap

SEGMENT = 1_448
FLIGHTS = (5_300, 5_420, 5_390, 5_460, 5_480, 5_500)


def flights(scene: Scene, sizes: tuple[int, ...] = FLIGHTS, *, push: bool, rest_ms: float = 0) -> None:
    """Flights of about one size that end within a segment; the writer may rest after each. The last data has PSH."""
    scene.handshake(rtt_ms=20)
    scene.request(200)
    for size in sizes:
        scene.server_sends(size, tso=1, push=push)
        scene.client_acks()
        scene.wait_ms(rest_ms)
    scene.server_sends(SEGMENT + 500, tso=1)
    scene.client_acks()
    scene.request(200)
    scene.server_sends(SEGMENT + 300, tso=1)
    scene.client_acks()


@fires
def test_a_flight_that_ends_within_a_segment_without_push_met_a_congestion_window(scene: Scene, tap: Tap) -> None:
    flights(scene, push=False)
    assert causes(scene, tap) == ["cwnd-limited"]


@near_miss
def test_flights_that_end_with_push_were_all_that_their_sender_had(scene: Scene, tap: Tap) -> None:
    flights(scene, push=True)
    assert "cwnd-limited" not in causes(scene, tap)


@look_alike
def test_a_sender_that_rests_after_data_without_push_does_not_mark_the_end(scene: Scene, tap: Tap) -> None:
    flights(scene, push=False, rest_ms=100)
    assert "cwnd-limited" not in causes(scene, tap)


@look_alike
def test_flights_alike_to_the_byte_fill_a_buffer_in_the_middle_of_a_write(scene: Scene) -> None:
    flights(scene, (5_300,) * 8, push=False)
    assert causes(scene) == ["sndbuf-limited"]


@near_miss
def test_three_flights_alike_to_the_byte_may_still_be_a_windows(scene: Scene) -> None:
    flights(scene, (5_200, 5_240, 5_300, 5_300, 5_300, 5_360), push=False)
    assert "cwnd-limited" in causes(scene)
