"""Writes of one size come at times of their own: how much of a wait was Nagle's algorithm is unsure between them."""

from tests.scene import Scene


def held(scene: Scene, *sizes: int) -> list[float]:
    """Confidence that Nagle's algorithm held short writes, each of which leaves at the ACK of the one before."""
    scene.handshake(rtt_ms=30)
    for size in sizes:
        scene.client_sends(size)
        scene.server_acks()
    return [row["confidence"] for row in scene.flow("client")["stalls"] if row["cause"] == "nagle"]


def test_writes_of_one_size_may_have_come_late_in_the_wait(scene: Scene) -> None:
    """An application that writes every 20 ms: some of each wait is its own."""
    found = held(scene, 300, 300, 600, 300, 300)
    assert found
    assert all(confidence < 0.8 for confidence in found)


def test_a_header_and_its_body_are_no_writes_on_a_beat(scene: Scene) -> None:
    assert max(held(scene, 100, 777, 100, 777)) >= 0.8
