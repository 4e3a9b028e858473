"""Half of the largest window is room for any segment, however large the MSS is."""

import pytest

from tests.scene import Scene


@pytest.mark.parametrize(("written", "limited"), [(293, False), (46_000, True)], ids=["messages", "a-full-window"])
def test_the_last_words_left_where_half_of_the_window_took_them(scene: Scene, written: int, limited: bool) -> None:
    """RFC 9293 §3.8.6.2.1, over a loopback whose segments are larger than the window; the client closes next."""
    scene.handshake(rtt_ms=0.02, mss=65_495, client_scale=7, server_scale=7, client_window=65_495, server_window=43_690)
    scene.client_sends(900)
    scene.server_acks(window=47_000)
    scene.server_sends(300)
    scene.client_acks()
    scene.client_sends(213)
    scene.client_sends(written)
    scene.wait_ms(9)
    scene.client_closes()
    causes = {stall["cause"] for stall in scene.flow("client")["stalls"] if stall["sender"] == "client"}
    assert ("rwnd-limited" in causes) == limited
