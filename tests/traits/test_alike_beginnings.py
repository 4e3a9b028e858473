"""Answers that begin with as many whole segments each, as a congestion window does after an idle period."""

from tests.scene import Scene


def answers(scene: Scene, *bursts: int) -> list[float]:
    """Confidence in a buffer where six answers leave in such bursts of whole segments, each at an ACK."""
    scene.handshake(rtt_ms=80)
    for _ in range(6):
        scene.client_sends(147)
        for at, burst in enumerate(bursts):
            for segment in range(burst):
                last = at == len(bursts) - 1 and segment == burst - 1
                scene.server_sends(1_000 if last else 1_448, tso=1, push=last)
            scene.client_acks()
        scene.wait_ms(300)
    rows = scene.flow("server")["stalls"]
    return [row["confidence"] for row in rows if row["cause"] == "sndbuf-limited"]


def test_first_bursts_alike_are_no_sure_buffer(scene: Scene) -> None:
    assert max(answers(scene, 4, 3), default=0) < 0.8


def test_bursts_alike_within_each_answer_are_a_buffer_s(scene: Scene) -> None:
    assert max(answers(scene, 4, 4, 4, 4, 4, 3), default=0) >= 0.8
