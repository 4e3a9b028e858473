"""The window of a sender of messages shorter than a segment grows by whole segments."""

from tests.causes.triple import causes
from tests.scene import Scene


def flights_of_messages(scene: Scene, *flights: int) -> list[str]:
    """Causes of the waits after flights of so many messages of 1,000 bytes, each acknowledged as a whole."""
    scene.handshake(rtt_ms=20, timestamps=False)
    scene.request()
    for flight in flights:
        for _ in range(flight):
            scene.server_sends(1_000, tso=1)
        scene.client_acks()
    scene.server_sends(1_000)
    return causes(scene, "server")


def test_flights_of_messages_that_grow_by_one_each_round_trip_fill_a_window(scene: Scene) -> None:
    assert "sndbuf-limited" not in flights_of_messages(scene, 10, 20, 26, 27, 28, 29, 30, 31, 32)


def test_a_window_that_doubles_holds_two_messages_then_six(scene: Scene) -> None:
    """The window grows by whole segments, of which a message fills two thirds: 2.9, 5.8, 11.7 and 23.4 kB."""
    assert flights_of_messages(scene, 2, 5, 11, 23, 46) == ["cwnd-limited"]


def test_flights_of_messages_that_stand_are_no_growing_window(scene: Scene) -> None:
    assert "cwnd-limited" not in flights_of_messages(scene, 10, 20, 26, 26, 26, 26, 26, 26, 26)[1:]
