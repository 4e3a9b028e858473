"""`zero-window`: the receiver closed its window and the sender waited for it to reopen."""

import pytest

from tests.causes.triple import SYNS, causes, fires, look_alike, near_miss
from tests.scene import Reader, Scene, Stall, between
from tests.scene.network import Tap


@fires
def test_receiver_closes_its_window(scene: Scene) -> None:
    scene.handshake(rtt_ms=20)
    scene.client_sends(14_600)
    scene.server_acks(window=0)  # the stall starts here
    scene.wait_ms(800)
    scene.server_acks(window=65_535)  # and ends here
    scene.client_sends(14_600)
    assert Stall("zero-window", between(795, 845)) in scene.stalls("client", "client")


@fires
def test_a_reader_that_sleeps_closes_the_window_in_mid_transfer(scene: Scene, tap: Tap) -> None:
    scene.handshake(rtt_ms=20)
    scene.download(300_000, reader=Reader(buffer=65_536, pauses=((100_000, 800),)))
    assert scene.lost_ms("server", tap)["zero-window"] in between(700, 830)


@fires
def test_a_window_that_never_reopens_lasts_to_the_end(scene: Scene) -> None:
    scene.handshake(rtt_ms=20)
    scene.download(300_000, reader=Reader(buffer=65_536, pauses=((100_000, 60_000),)), until_ms=5_000)
    assert scene.stalls("server")[-1] == Stall("zero-window", ended=False)


@near_miss
def test_a_slow_reader_whose_window_stays_open_a_little_is_rwnd_limited(scene: Scene, tap: Tap) -> None:
    scene.handshake(rtt_ms=20, client_scale=0, client_window=8_688)
    scene.download(60_000, reader=Reader(buffer=8_688))
    assert scene.lost_ms("server", tap)["zero-window"] == 0


@look_alike
def test_a_window_that_closed_while_nothing_was_left_to_send_held_nobody(scene: Scene, tap: Tap) -> None:
    scene.handshake(rtt_ms=20)
    scene.download(10_000)
    scene.wait_ms(5)
    scene.client_acks(window=0)
    scene.wait_ms(300)
    scene.client_acks(window=65_536)
    scene.wait_ms(700)
    scene.download(5_000)
    assert causes(scene, tap) == ["app-limited"]


def shut_and_asked(scene: Scene, *, open_ms: float) -> None:
    """The window is shut for two seconds, probed three times, and data follows so long after it opened."""
    scene.handshake(rtt_ms=20)
    scene.client_sends(147)
    scene.server_sends(20 * 1_448)
    scene.client_acks(window=0)
    for _ in range(3):
        scene.wait_ms(500)
        scene.server_probes()
        scene.client_acks(window=0)
    scene.client_sends(40)
    scene.wait_ms(500)
    scene.client_acks(window=65_536)
    scene.wait_ms(open_ms)
    scene.server_sends(4_000)


@fires
def test_a_sender_that_probed_waited_for_the_window_although_the_peer_spoke_meanwhile(scene: Scene) -> None:
    shut_and_asked(scene, open_ms=20)
    (stall,) = scene.stalls("server", over_ms=1_000)
    assert stall.cause == "zero-window"


@near_miss
def test_a_pause_as_long_as_the_window_was_shut_is_the_applications(scene: Scene) -> None:
    shut_and_asked(scene, open_ms=1_500)
    assert "zero-window" not in {stall.cause for stall in scene.stalls("server", over_ms=1_000)}


@fires
def test_a_window_that_shuts_before_the_first_data_of_the_capture_makes_them_wait(scene: Scene) -> None:
    scene.handshake(rtt_ms=0.2, client_window=8_192)
    scene.request()
    scene.server_sends(8_000)
    scene.client_acks(window=0)
    scene.wait_ms(40)
    scene.client_acks(window=64_000)
    scene.server_sends(1_448)
    first = next(n for n, (_, p) in enumerate(scene.packets("client"), 1) if p.flags == 16 and p.window == 0)
    (stall,) = scene.stalls("server", "client", over_ms=5, drop=range(1, first))
    assert stall == Stall("zero-window", between(38, 43))


@near_miss
def test_a_window_below_a_segment_that_nobody_probes_is_a_full_one(scene: Scene, tap: Tap) -> None:
    """RFC 9293 §3.8.6.2.1: the sender waits until a segment fits."""
    scene.handshake(rtt_ms=20, client_scale=0)
    scene.client_sends(100)
    scene.server_sends(14_480)
    scene.client_acks(window=700)
    scene.wait_ms(500)
    scene.client_acks(window=65_535)
    scene.server_sends(14_480)
    assert causes(scene, tap)[-1] == "rwnd-limited"
    assert scene.lost_ms("server", tap)["zero-window"] == 0


@near_miss
def test_data_that_a_window_below_a_segment_let_through_ends_the_closed_window(scene: Scene, tap: Tap) -> None:
    """1,000 bytes fill each window of 1,000; the window is 0 for the last 10 ms of each 60."""
    scene.handshake(rtt_ms=20, client_scale=0)
    scene.client_sends(100)
    scene.server_sends(4_344)
    scene.client_acks(window=0)
    for _ in range(6):
        scene.wait_ms(10)
        scene.client_acks(window=1_000)
        scene.server_sends(1_000)
        scene.wait_ms(30)
        scene.client_acks(window=0)
    scene.wait_ms(10)
    scene.client_acks(window=65_535)
    scene.server_sends(4_344)
    lost = scene.lost_ms("server", tap)
    assert lost["rwnd-limited"] > lost["zero-window"]


@fires
def test_a_busy_host_that_goes_on_four_milliseconds_after_the_window_opened_waited_for_the_window(scene: Scene) -> None:
    """The window of 8,192 bytes is filled and shut for 80 ms, again and again."""
    scene.handshake(rtt_ms=4, client_scale=0, client_window=8_192)
    scene.request()
    for _ in range(8):
        scene.server_sends(8_192)
        scene.client_acks(window=0)
        scene.wait_ms(80)
        scene.client_acks(window=8_192)
        scene.wait_ms(4)
    scene.server_sends(8_192)
    lost = scene.lost_ms("server", "server")
    assert lost["zero-window"] > 6 * 80
    assert lost["app-limited"] < 100


@look_alike
@pytest.mark.parametrize("handshake", [True, False])
def test_a_probe_in_vain_under_a_full_window_repaired_nothing(scene: Scene, handshake: bool) -> None:
    """The ACK that closes the window acknowledges all that the window had allowed, and the probe's copy."""
    size = 20 * 1_448
    scene.handshake(rtt_ms=20)
    scene.client_sends(147)
    scene.client_acks(window=28 << 10)
    scene.server_sends((28 << 10) - 10 * 1_448)
    scene.client_acks(window=size)
    sent = (28 << 10) - 10 * 1_448
    scene.server_sends(size)
    scene.wait_ms(60)
    scene.server_repeats(sent + size - 1_448, 1_448)
    scene.client_acks(window=0, sack=((sent + size - 1_448, sent + size),))
    scene.wait_ms(800)
    scene.client_acks(window=size)
    scene.server_sends(size)
    found = causes(scene, "server", drop=() if handshake else SYNS)
    assert "retransmission" not in found
    assert found[-2:] == ["rwnd-limited", "zero-window"]


@fires
def test_a_probe_that_meets_the_update_on_its_way_answers_nothing(scene: Scene) -> None:
    """A timer sends a byte beyond a shut window (RFC 9293 §3.8.6.1): that byte shows no distance of the sender."""
    scene.handshake(rtt_ms=80, timestamps=False)
    scene.client_sends(100)
    for _ in range(4):
        scene.server_sends(8 * 1024)
        scene.client_acks(window=0)
        scene.wait_ms(20)
        unheard = scene.server.heard_ns
        scene.client_acks(window=8 * 1024)
        heard, scene.server.heard_ns = scene.server.heard_ns, unheard
        scene.server.now_ns -= 19_000_000
        scene.server_probes(payload=1)
        scene.server.heard_ns = heard
        for _ in range(3):
            scene.server_sends(8 * 1024)
            scene.client_acks(window=8 * 1024)
    assert causes(scene, "client") == ["rwnd-limited"]


@fires
def test_data_sent_again_beyond_a_window_that_shrank_answers_nothing(scene: Scene) -> None:
    """A timer repeats it (RFC 1122 §4.2.2.16), here while the window update is still on its way."""
    scene.handshake(rtt_ms=80, timestamps=False)
    scene.client_sends(100)
    for turn in range(4):
        begin = turn * 32 * 1024
        scene.server_sends(8 * 1024)
        scene.client_acks(upto=begin + 7 * 1024, window=0)
        scene.wait_ms(300)
        unheard = scene.server.heard_ns
        scene.client_acks(upto=begin + 7 * 1024, window=8 * 1024)
        heard, scene.server.heard_ns = scene.server.heard_ns, unheard
        scene.server.now_ns -= 19_000_000
        scene.server_repeats(begin + 7 * 1024, 1024)
        scene.server.heard_ns = heard
        for _ in range(3):
            scene.client_acks(window=8 * 1024)
            scene.server_sends(8 * 1024)
        scene.client_acks(window=8 * 1024)
    assert "app-limited" not in causes(scene, "client")
