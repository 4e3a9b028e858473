"""Properties of hosts and path that the capture shows away from the end that has them, and that decide the replay."""

from tests.scene import Scene
from tests.scene.plan import Reader
from tests.whatif.played import played
from tests.whatif.test_replay import fits


def test_a_response_whose_first_segment_was_overtaken(scene: Scene) -> None:
    scene.handshake(rtt_ms=20)
    scene.client_sends(147)
    scene.server_sends(1_448, late_ms=1)
    scene.server_sends(1_000)
    scene.wait_ms(30)
    scene.client_sends(147)
    scene.server_sends(5_000)
    scene.closes()
    assert fits(scene, "client", 2)


def test_small_segments_too_close_for_nagles_rule_show_at_the_receiver_that_it_is_off(scene: Scene) -> None:
    """The acknowledgement of the first of them had not reached their sender."""
    scene.handshake(rtt_ms=20)
    for _ in range(4):
        scene.client_sends(147)
        for size in (500, 1_448, 300):
            scene.server_sends(size)
            scene.wait_ms(1)
        scene.client_acks()
    scene.closes()
    assert fits(scene, "client", 2)


def halves(scene: Scene, acks_after_ms: float) -> Scene:
    """Each response in two small segments, the second one sent when the first one was acknowledged."""
    scene.handshake(rtt_ms=20)
    for _ in range(4):
        scene.client_sends(147)
        for size in (500, 300):
            scene.server_sends(size)
            scene.wait_ms(acks_after_ms)
            scene.client_acks()
    scene.closes()
    return scene


def test_a_receiver_that_never_delays_an_acknowledgement_does_not_in_the_replay_either(scene: Scene) -> None:
    found = played(halves(scene, 0), "nodelay=1", tap="client")
    assert abs(found.replayed_ms - found.captured_ms) < 2
    assert found.outcome.saved_ns > 50_000_000, "small segments a round trip apart may have waited for Nagle's rule"


def test_a_receiver_that_delays_the_acknowledgement_of_a_first_lone_segment_does_so_again(scene: Scene) -> None:
    """Stacks other than Linux do, without having answered anything (RFC 1122 4.2.3.2)."""
    scene.handshake(rtt_ms=2)
    scene.client_sends(300)
    scene.wait_ms(200)
    scene.server_acks()
    scene.client_sends(100)
    scene.server_sends(50)
    scene.closes()
    assert fits(scene, "client", 5)


def test_a_handshake_that_took_long_without_a_loss_takes_long_again(scene: Scene) -> None:
    scene.path(rtt_ms=150)
    scene.handshake()
    scene.path(rtt_ms=20)
    scene.download(30_000)
    scene.closes()
    assert fits(scene, "client", 5)
    assert played(scene, "loss=0", tap="client").after_ms > 150, "nothing was lost"


def test_a_lost_syn_takes_as_long_as_its_senders_timeout(scene: Scene) -> None:
    """Three seconds on older stacks (RFC 1122 4.2.3.1)."""
    scene.handshake(rtt_ms=20, answered=False)
    scene.wait_ms(3_000)
    scene.handshake()
    scene.download(30_000)
    scene.closes()
    assert fits(scene, "client", 5)
    assert played(scene, "loss=0", tap="client").after_ms < 100


def test_a_request_that_came_twice_had_arrived_with_its_first_transmission(scene: Scene) -> None:
    """Its receiver reports that (RFC 2883): the server thought from then on, and no timeout comes first."""
    scene.handshake(rtt_ms=1)
    scene.client_sends(147)
    scene.wait_ms(207)
    scene.client_repeats(0, 147)
    scene.server_acks(sack=((0, 147),))
    scene.wait_ms(400)
    scene.server_sends(20_000)
    scene.closes()
    assert fits(scene, "client", 5)


def test_a_reader_is_no_slower_than_the_whole_transfer(scene: Scene) -> None:
    """It lagged during the first response only."""
    scene.handshake(rtt_ms=5)
    scene.download(300_000, reader=Reader(buffer=65_536, bytes_per_ms=1_000))
    scene.download(3_000_000, reader=Reader(buffer=65_536))
    scene.closes()
    found = played(scene, tap="server")
    assert found.replayed_ms < 1.1 * found.captured_ms


def test_a_fast_link_spaces_segments_by_itself(scene: Scene) -> None:
    """The windows of a round trip are sent in much less than a round trip elsewhere."""
    scene.path(rtt_ms=0.1, server_mbit=4_000)
    scene.handshake(client_window=4_000_000)
    for _ in range(20):
        scene.download(300_000, tso=1)
    scene.closes()
    found = played(scene, tap="client")
    assert found.forecast.without_pace is None, "no pace of unknown cause is needed"
    assert abs(found.replayed_ms - found.captured_ms) < 0.1 * found.captured_ms
