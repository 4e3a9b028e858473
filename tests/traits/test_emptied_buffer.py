"""PSH on the segment that empties the send buffer, as 4.4BSD sets it: all that had been written had left."""

from tests.scene import Scene


def doubling(scene: Scene, *, marks: bool) -> list[float]:
    """Confidence in a congestion window where flights double; `marks`: what emptied the buffer has PSH."""
    scene.handshake(rtt_ms=40)
    scene.client_sends(147)
    sent = 0
    for count in (3, 6, 12, 24):
        for segment in range(count):
            scene.server_sends(1_448, tso=1, push=marks and segment == count - 1)
        for part in range(1, count + 1):
            scene.client_acks(upto=sent + 1_448 * part)
        sent += 1_448 * count
    scene.server_sends(1_448, tso=1)
    rows = [row for row in scene.flow("server")["stalls"] if row["duration_ns"] > 35e6 and row["sender"] == "server"]
    return [row["confidence"] for row in rows if row["cause"] == "cwnd-limited"]


def test_flights_whose_last_segment_emptied_the_buffer_show_no_sure_window(scene: Scene) -> None:
    assert max(doubling(scene, marks=True)[1:], default=0) < 0.8


def test_flights_that_double_within_a_write_show_the_window(scene: Scene) -> None:
    assert max(doubling(scene, marks=False)) > 0.8
