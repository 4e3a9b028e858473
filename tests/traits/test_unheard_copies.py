"""A copy holds a sender only until the peer is heard; what nothing held had nothing to send."""

import pytest

from tests.scene import Scene, between


@pytest.mark.parametrize(
    ("copies", "heard", "cause"),
    [(1, False, "app-limited"), (1, True, "retransmission"), (2, False, "retransmission")],
    ids=["unheard", "heard", "again"],
)
def test_a_sender_that_goes_on_before_it_is_heard_was_not_held_by_its_copy(
    scene: Scene, copies: int, heard: bool, cause: str
) -> None:
    """A terminal prints a line, sends it again, and prints the next one before any ACK comes, or just after it."""
    scene.handshake(rtt_ms=4)
    scene.request()
    scene.server_sends(228)
    scene.client_acks()
    scene.wait_ms(500)
    place = scene.server.nxt - scene.server.isn - 1
    scene.server_sends(68, lost=True)
    for copy in range(copies):
        scene.wait_ms(210 << copy)
        scene.server_repeats(place, 68)
    if heard:
        scene.client_acks()
    else:
        scene.server.now_ns = scene.server.acts_ns() + 90_000_000
    scene.server_sends(68)
    scene.client_acks()
    assert scene.stalls("server", "server")[-1].cause == cause


def test_an_ack_that_came_before_the_distance_was_known_ends_a_repair_when_it_passes(scene: Scene) -> None:
    """The capture begins in the middle; the client's first answer that it holds is an ACK delayed by 43 ms."""
    scene.handshake(rtt_ms=26, timestamps=False)
    scene.client_sends(1)
    scene.server_acks()
    scene.wait_ms(20_000)
    first = scene.client.nxt - scene.client.isn - 1
    scene.client_sends(5_600, tso=1, lost=True)
    scene.client_sends(241)
    end = first + 5_841
    scene.server_acks(upto=first, sack=((end - 241, end),))
    scene.wait_ms(40)
    for place in range(first, end, 1_460):
        scene.client_repeats(place, min(1_460, end - place))
    scene.server_acks()
    scene.server_sends(39)
    scene.wait_ms(43)
    scene.client_acks()
    scene.wait_ms(400)
    scene.server_sends(900)
    scene.client_acks()
    scene.client_sends(74)
    scene.server_acks()
    scene.server_sends(300)
    scene.client_acks()
    # The round trip until the first report is not part of it.
    assert scene.lost_ms("client", "client", drop=(1, 2, 3))["retransmission"] in between(75 - 26, 83 - 26)
