"""Slow start away from the sender, where the path varies so much that no ACK seems to have let the data go."""

from itertools import cycle

from tests.causes.triple import NOT_A_STALL_MS, fires, near_miss
from tests.scene import Scene

SEGMENT = 1_460


def answer(scene: Scene, *rounds: int) -> list[str]:
    """The causes of the server's waits in an answer of so many segments in each round trip, over a path that varies."""
    scene.handshake(rtt_ms=60, client_window=3_000_000, timestamps=False)
    scene.request()
    for segments, rtt_ms in zip(rounds, cycle((60, 50, 78, 64, 44)), strict=False):
        scene.path(rtt_ms=rtt_ms)
        scene.server_sends(segments * SEGMENT, push=False)
        scene.client_acks()
    scene.server_sends(700)
    scene.client_acks()
    scene.request()
    scene.server_sends(900)
    scene.client_acks()
    return [stall.cause for stall in scene.stalls("server", "client", over_ms=NOT_A_STALL_MS)]


@fires
def test_flights_that_grow_by_a_segment_for_each_ack_are_a_congestion_windows(scene: Scene) -> None:
    causes = answer(scene, 2, 3, 4, 5, 6)
    assert causes.count("cwnd-limited") >= 5, causes


@near_miss
def test_flights_that_stand_behind_such_a_path_show_nothing(scene: Scene) -> None:
    causes = answer(scene, 3, 3, 3, 3, 3)
    assert "cwnd-limited" not in causes, causes


@near_miss
def test_three_that_grow_among_others_are_an_accident(scene: Scene) -> None:
    causes = answer(scene, 5, 3, 4, 6, 4)
    assert "cwnd-limited" not in causes, causes
