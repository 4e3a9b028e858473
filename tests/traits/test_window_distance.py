"""Data beyond the window shows which ACK its sender had, and so how far the sender is from the tap."""

import pytest

from tests.causes.triple import causes
from tests.scene import Reader, Scene


@pytest.mark.parametrize("cwnd", [10, 22])
def test_a_sender_that_scales_the_window_of_the_syn_is_no_nearer_for_that(scene: Scene, cwnd: int) -> None:
    """More than the SYN-ACK's 8,192 bytes arrive in a row, whose first segments are acknowledged meanwhile."""
    scene.handshake(rtt_ms=20, server_scale=2, server_window=8_192, timestamps=False)
    scene.client.peer_window = scene.server.window = 32_768
    scene.client.congestion.cwnd = cwnd
    scene.client_transfers(300_000, tso=1, reader=Reader(buffer=32_768))
    assert scene.flow("server")["vantage"]["side"] == "server"
    assert "app-limited" not in causes(scene, "server", sender="client")


def filled_again(scene: Scene, *, answer_ms: float, later_ms: float) -> str:
    """Place of a tap at a server that answers the SYN after so many ms, and each ACK with the window's data."""
    scene.handshake(rtt_ms=10, client_scale=0, client_window=1_460, timestamps=False, answer_ms=answer_ms)
    for _ in range(40):
        scene.wait_ms(later_ms)
        scene.server_sends(1_460, push=False)
        scene.client_acks(window=1_460)
    return str(scene.flow("server")["vantage"]["side"])


def test_a_host_that_took_longer_for_the_syn_answers_at_the_window(scene: Scene) -> None:
    """A proxy connects to its own server before it answers a SYN."""
    assert filled_again(scene, answer_ms=2.5, later_ms=0.4) == "server"
