"""Growth of the congestion window, learnt from the flights: by what was acknowledged, or by a segment an ACK."""

from tests.causes.triple import causes, fires, look_alike, near_miss, share
from tests.scene import Plan, Scene
from tests.scene.network import Tap
from tests.scene.transfer import transfer


@fires
def test_a_sender_that_grows_by_a_segment_an_ack_waits_for_its_congestion_window(scene: Scene, tap: Tap) -> None:
    scene.handshake(rtt_ms=20)
    scene.download(400_000, tso=1, growth="per-ack")
    assert causes(scene, tap) == ["cwnd-limited"]
    rows = [row for row in scene.flow(tap)["stalls"] if row["sender"] == "server" and row["cause"] == "cwnd-limited"]
    assert all(row["confidence"] >= 0.8 for row in rows[:4])


@near_miss
def test_two_flights_alike_show_no_growth(scene: Scene, tap: Tap) -> None:
    scene.handshake(rtt_ms=20)
    scene.download(12 * 1_448, tso=1, growth="per-ack", grow=False, initial_window=4)
    rows = scene.flow(tap)["stalls"]
    assert not [row for row in rows if row["cause"] == "cwnd-limited" and row["confidence"] >= 0.8]


@look_alike
def test_a_send_buffer_that_stands_is_not_misread_as_growth(scene: Scene, tap: Tap) -> None:
    scene.handshake(rtt_ms=20)
    scene.download(300_000, tso=1, send_buffer=20_000)
    assert causes(scene, tap)[-1] == "sndbuf-limited"
    assert scene.lost_ms("server", tap)["cwnd-limited"] < 60


def test_growth_shows_the_window_in_a_capture_without_its_syns(scene: Scene, tap: Tap) -> None:
    scene.handshake(rtt_ms=20)
    transfer(scene.server, scene.client, Plan(writes=((0, 400_000),), tso=1, growth="per-ack"))
    assert share(scene, "cwnd-limited", tap, drop=range(1, 4)) > 0.6


@look_alike
def test_a_flight_that_grows_by_the_same_segment_again_and_again_does_not_grow(scene: Scene) -> None:
    """Two whole segments, and at their ACK a short one: a buffer of 4,096 bytes, emptied and filled."""
    scene.handshake(rtt_ms=20)
    scene.request()
    for _ in range(12):
        scene.server_sends(2 * 1_448)
        scene.client_acks()
        scene.server_sends(1_200)
        scene.wait_ms(200)
        scene.client_acks()
    assert scene.lost_ms("server", "server")["cwnd-limited"] < 25
