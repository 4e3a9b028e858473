"""Senders whose host runs late, milliseconds after the ACK that lets whole segments go."""

from tests.scene import Scene


def whole_flights(scene: Scene, late_ms: float) -> list[float]:
    """Confidence in an idle application where the ACK of whole segments lets twice as many go that late."""
    scene.handshake(rtt_ms=40)
    scene.client_sends(147)
    for count in (3, 6, 12):
        for _ in range(count):
            scene.server_sends(1_448, tso=1, push=False)
        scene.client_acks()
        scene.server.now_ns = scene.server.acts_ns() + round(late_ms * 1e6)
    scene.server_sends(1_448, tso=1)
    rows = [row for row in scene.flow("server")["stalls"] if row["duration_ns"] > 35e6 and row["sender"] == "server"]
    return [row["confidence"] for row in rows if row["cause"] == "app-limited"]


def test_whole_segments_a_little_after_their_ack_may_be_a_busy_host_s(scene: Scene) -> None:
    assert max(whole_flights(scene, 8), default=0) < 0.8


def test_whole_segments_long_after_their_ack_are_an_application_s(scene: Scene) -> None:
    assert max(whole_flights(scene, 120), default=0) > 0.9


def late_flight(scene: Scene, late_us: int) -> str:
    """Slow start over 0.8 ms from 10 segments to 20 and 40; the flight after those 40 comes later by so much. Returns
    the cause of the wait before it at the receiver."""
    scene.handshake(rtt_ms=0.8)
    late = tuple((1_448 * segment, late_us) for segment in range(70, 150))
    scene.download(1_448 * 400, late=late)
    waits = [row for row in scene.flow("client")["stalls"] if row["evidence"]["in_flight_segments"] == 40]
    return str(waits[0]["cause"])


def test_a_window_that_slow_start_had_grown_was_full_although_a_host_answered_late(scene: Scene) -> None:
    assert late_flight(scene, 1_200) == "cwnd-limited"


def test_a_silence_longer_than_a_tick_after_a_full_window_is_no_host_s(scene: Scene) -> None:
    assert late_flight(scene, 8_000) != "cwnd-limited"
