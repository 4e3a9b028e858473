"""Data that leaves at the sender long after the ACK that made room for it met no full congestion window."""

from tests.causes.triple import causes
from tests.scene import Scene


def after_room(scene: Scene, *, late_ms: float) -> list[str]:
    """Causes where an ACK makes room for six segments in a full window, and more leaves only so much later."""
    scene.handshake(rtt_ms=50)
    scene.client_sends(147)
    scene.server_sends(10 * 1_448, tso=1, push=False)
    scene.client_acks(upto=4 * 1_448)
    scene.server_sends(8 * 1_448, tso=1, push=False)
    scene.client_acks(upto=10 * 1_448)
    scene.wait_ms(25 + late_ms)
    scene.server_sends(12 * 1_448, tso=1, push=False)
    scene.client_acks()
    scene.server_sends(1_448)
    scene.client_acks()
    scene.client_sends(147)
    scene.server_sends(1_448)
    return causes(scene, "server")


def test_what_leaves_long_after_the_ack_that_made_room_waited_for_no_window(scene: Scene) -> None:
    assert after_room(scene, late_ms=20)[:3] == ["cwnd-limited", "pacing", "cwnd-limited"]


def test_what_leaves_at_the_ack_that_made_room_waited_for_the_window(scene: Scene) -> None:
    assert "pacing" not in after_room(scene, late_ms=0)


def with_most_acknowledged(scene: Scene, *, late_ms: float) -> list[str]:
    """Causes at the client: all but the last segment of a full window is acknowledged, and more leaves later."""
    scene.handshake(rtt_ms=30)
    scene.request()
    sent = 0
    for segments in (10, 20, 40):
        scene.server_sends(segments * 1_448, tso=1, push=False)
        sent += segments * 1_448
        scene.client_acks(upto=sent - (1_448 if segments == 40 else 0))
    scene.wait_ms(15 + late_ms)
    scene.server_sends(60 * 1_448, tso=1, push=False)
    return causes(scene, "client")


def test_away_from_the_sender_a_window_that_acks_opened_holds_nobody_for_longer_than_the_path(scene: Scene) -> None:
    assert with_most_acknowledged(scene, late_ms=110)[-1] == "app-limited"


def test_away_from_the_sender_the_path_may_make_data_late(scene: Scene) -> None:
    assert with_most_acknowledged(scene, late_ms=5) == ["cwnd-limited"]
