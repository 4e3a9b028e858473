"""A window whose field counts in units of the scale moves its edge back by less than a unit (RFC 7323 §2.4)."""

from tests.causes.triple import causes
from tests.scene import Scene

SEGMENT = 1_460
ROUND = 3 * SEGMENT


def fills_each_window(scene: Scene, beyond: int) -> None:
    """Each burst fills the window of the middle ACK of the burst before, and sends so many bytes more."""
    scene.handshake(rtt_ms=20, server_scale=3, server_window=ROUND, timestamps=False)
    begin, left = scene.client.acts_ns(), scene.network.ways["client"].delay_ns
    for number in range(12):
        sent = number * (ROUND + beyond)
        for place in range(3):
            scene.client.now_ns = scene.client.heard_ns = begin + 20_000 * place
            scene.client_sends(SEGMENT + (beyond if place == 2 else 0), tso=2, push=False)
        for place in range(3):
            scene.server.now_ns = scene.server.heard_ns = begin + left + 20_000 * place + 8_000
            upto = SEGMENT * (place + 1) + (beyond if place == 2 else 0)
            scene.server_acks(upto=sent + upto, window=2 * ROUND + beyond - upto)
        begin += 20_050_000


def test_data_up_to_the_edge_of_an_earlier_ack_shows_no_distance(scene: Scene) -> None:
    """The last ACK's edge is 4 bytes before that of the one before it, which had let the whole burst go."""
    fills_each_window(scene, 0)
    assert scene.flow("server")["vantage"]["side"] == "server"
    assert causes(scene, "server", sender="client") == ["rwnd-limited"]


def test_data_beyond_by_more_than_a_unit_shows_that_a_later_ack_had_arrived(scene: Scene) -> None:
    fills_each_window(scene, 100)
    assert scene.flow("server")["vantage"]["side"] != "server"
