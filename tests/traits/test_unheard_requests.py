"""What a sender acknowledges shows whether it had received the request when its data left."""

from typing import Any

import pytest

from tests.scene import Scene


def crosses(scene: Scene, *, heard: bool, copy: bool = False) -> list[dict[str, Any]]:
    """The server's waits of over 10 ms; its message, or a copy, comes late and had left before the request arrived."""
    scene.handshake(rtt_ms=20, timestamps=False)
    for _ in range(3):
        scene.client_sends(200)
        scene.server_sends(1_000)
        scene.client_acks()
    scene.wait_ms(3_000)
    before, place = scene.server.rcv_nxt, scene.server.nxt - scene.server.isn - 1
    scene.client_sends(200)
    state = scene.server.heard_ns, scene.server.rcv_nxt
    if not heard:
        scene.server.rcv_nxt = before
    if copy:
        scene.wait_ms(900)
        scene.server_repeats(place - 1_000, 1_000)
        scene.client_acks(sack=((place - 1_000, place),))
    else:
        scene.server_sends(300, late_ms=90)
    scene.server.heard_ns, scene.server.rcv_nxt = state
    scene.wait_ms(200)
    scene.server_sends(500)
    scene.client_acks()
    rows = scene.flow("client")["stalls"]
    return [row for row in rows if row["sender"] == "server" and row["duration_ns"] > 10e6]


@pytest.mark.parametrize("heard", [True, False])
def test_a_message_that_acknowledges_no_request_answers_none(scene: Scene, heard: bool) -> None:
    """The request passed the tap over a round trip before, and the message left before the request arrived."""
    waits = [row for row in crosses(scene, heard=heard) if 90e6 < row["duration_ns"] < 2e9]
    sure = [row["detail"] for row in waits if row["confidence"] >= 0.8]
    assert ("think-time" in sure) == heard


@pytest.mark.parametrize("heard", [True, False])
def test_a_copy_that_acknowledges_no_request_shows_the_request_on_its_way(scene: Scene, heard: bool) -> None:
    thought = [row["duration_ns"] for row in crosses(scene, heard=heard, copy=True) if row["detail"] == "think-time"]
    assert (max(thought, default=0) > 500e6) == heard
