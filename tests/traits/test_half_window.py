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


def test_a_server_that_waits_for_a_request_does_not_wait_for_the_window(scene: Scene) -> None:
    """The next answer is longer than the room, but half of the window would have taken its first segment."""
    scene.handshake(rtt_ms=0.02, mss=65_495, client_scale=7, server_scale=7, client_window=65_495, server_window=65_483)
    scene.client_sends(319)
    scene.server_acks(window=65_536)
    scene.server_sends(468, tso=1)
    scene.client_acks(window=65_152)
    scene.wait_ms(300)
    scene.client.window = 65_536
    scene.client_sends(280)
    scene.server_acks(window=65_536)
    for _ in range(2):
        scene.server_sends(32_768, tso=1)
    scene.client_acks(window=15_744)
    rows = [row for row in scene.flow("server")["stalls"] if row["sender"] == "server"]
    assert [row["cause"] for row in rows if row["duration_ns"] > 200e6] == ["app-limited"]
