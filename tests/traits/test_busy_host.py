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
