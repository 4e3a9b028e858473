"""Data that was sent again without need, or by no timer, and what its sender waited for."""

from tests.causes.triple import causes
from tests.scene import Scene


def test_who_waits_for_the_next_request_waits_for_no_needless_copy(scene: Scene) -> None:
    scene.handshake(rtt_ms=200)
    scene.request()
    scene.server_sends(500)
    scene.server.now_ns += 150_000_000
    scene.server_repeats(0, 500)
    scene.client_sends(300)
    scene.client_acks(sack=[(0, 500)])
    scene.server_sends(500)
    assert causes(scene, "server") == ["app-limited"]


def test_a_needless_copy_during_a_repair_is_not_what_the_sender_waits_for(scene: Scene) -> None:
    scene.handshake(rtt_ms=100)
    scene.request()
    scene.server_sends(1_448)
    scene.server_sends(1_448, lost=True)
    scene.server_sends(4 * 1_448)
    for end in range(3, 7):
        scene.client_acks(upto=1_448, sack=[(2 * 1_448, end * 1_448)])
    scene.server_repeats(1_448, 1_448)
    scene.server_sends(1_448)
    scene.server.now_ns += 90_000_000
    scene.server_repeats(1_448, 1_448)
    scene.client_acks(upto=7 * 1_448)
    scene.client_acks(upto=7 * 1_448, sack=[(1_448, 2 * 1_448)])
    scene.server_sends(2 * 1_448)
    details = [stall.detail for stall in scene.stalls("server", "server") if stall.cause == "retransmission"]
    assert details[-1] == "recovery"


def test_what_fills_a_hole_within_a_round_trip_was_sent_by_no_timer(scene: Scene) -> None:
    scene.handshake(rtt_ms=20)
    scene.download(100_000, tso=1, late=((30_000, 9),))
    stalls = scene.stalls("server", "client", ipv6=True)
    assert "timeout" not in [stall.detail for stall in stalls]
