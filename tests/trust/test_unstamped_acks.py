"""Without timestamps, a capture that lacks packets may lack the ACK that ended a wait."""

import pytest

from tests.scene import Scene


def surest(scene: Scene, *, lacks: bool, timestamps: bool) -> float:
    """Highest confidence in `app-limited` of a server that writes again half a round trip after it wrote 300 bytes."""
    scene.handshake(rtt_ms=40, timestamps=timestamps)
    scene.request()
    for number in range(8):
        scene.server_sends(1_448, unseen=lacks and number == 3)
    scene.client_acks()
    scene.wait_ms(100)
    for _ in range(3):
        scene.server_sends(300)
        scene.server.now_ns += 15_000_000
    scene.client_acks()
    rows = [
        row for row in scene.flow("server")["stalls"] if row["duration_ns"] < 16e6 and row["cause"] == "app-limited"
    ]
    assert rows
    return max(float(row["confidence"]) for row in rows)


def test_where_packets_are_missing_an_ack_may_be_among_them(scene: Scene) -> None:
    assert surest(scene, lacks=True, timestamps=False) <= 0.75


@pytest.mark.parametrize(("lacks", "timestamps"), [(False, False), (True, True)], ids=["whole", "stamped"])
def test_in_a_whole_capture_or_a_stamped_flow_a_wait_without_an_ack_is_one(
    scene: Scene, lacks: bool, timestamps: bool
) -> None:
    assert surest(scene, lacks=lacks, timestamps=timestamps) > 0.8
