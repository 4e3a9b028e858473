"""Copies of data that had arrived: a timer's, or perhaps the path's."""

import pytest

from tests.scene import Scene, Stall, between
from tests.scene.network import Tap


@pytest.mark.parametrize(("after_ms", "waits"), [(0.4, 0), (320, 1)], ids=["sooner-than-any-timer", "by-a-timer"])
def test_a_needless_copy_of_the_last_data_holds_nobody_unless_a_timer_sent_it(
    scene: Scene, after_ms: float, waits: int
) -> None:
    scene.handshake(rtt_ms=40)
    scene.download(5_000)
    scene.wait_ms(500)
    scene.client_sends(200)
    scene.server_sends(800)
    scene.wait_ms(after_ms)
    scene.server_repeats(5_000, 800)
    scene.client_acks(sack=((5_000, 5_800),))
    scene.closes()
    rows = [row for row in scene.flow("client")["stalls"] if row["detail"] == "spurious"]
    assert [row["confidence"] >= 0.8 for row in rows] == [True] * waits


def test_a_needless_copy_right_behind_its_original_may_be_the_paths(scene: Scene) -> None:
    scene.handshake(rtt_ms=40)
    scene.request()
    scene.server_sends(1_448, push=False)
    scene.server.now_ns += 400_000
    scene.server_repeats(0, 1_448)
    scene.client_acks(sack=((0, 1_448),))
    scene.server_sends(1_448)
    scene.client_acks()
    rows = [row for row in scene.flow("server")["stalls"] if row["detail"] == "spurious"]
    assert [row["confidence"] >= 0.8 for row in rows] == [False]


def without_stamps(scene: Scene, *, sack: bool = False, rtt_ms: float = 60) -> None:
    scene.client.sack = scene.server.sack = sack
    scene.handshake(rtt_ms=rtt_ms, timestamps=False)
    scene.request()


@pytest.mark.parametrize(("after_ms", "repaired"), [(200, False), (40, True)], ids=["met-it", "lost"])
def test_a_copy_that_met_the_late_ack_of_the_last_data_on_its_way_repairs_nothing(
    scene: Scene, after_ms: float, repaired: bool
) -> None:
    """At the client's tap the ACK passes before the copy; the server had not received it when the timer fired."""
    without_stamps(scene)
    scene.server_sends(800)
    scene.client.now_ns = scene.client.acts_ns() + round(after_ms * 1e6)
    scene.client_acks(lost=True)
    scene.server.now_ns += 254_000_000
    scene.server_repeats(0, 800)
    scene.client_acks()
    scene.wait_ms(5_000)
    scene.request()
    scene.server_sends(800)
    scene.client_acks()
    causes = [stall.cause for stall in scene.stalls("server", "client", over_ms=100)]
    assert ("retransmission" in causes) == repaired


@pytest.mark.parametrize(
    ("tap", "sack", "answer_ms", "needless"),
    [("client", False, 0, True), ("client", True, 0, False), ("client", False, 60, False), ("server", False, 0, False)],
    ids=["beside-the-receiver", "with-sack", "acknowledged-late", "at-the-sender"],
)
def test_a_receiver_acknowledges_at_once_what_it_has_already(
    scene: Scene, tap: Tap, sack: bool, answer_ms: float, needless: bool
) -> None:
    """The receiver had held its ACK of a last small segment for longer than its sender's timer."""
    without_stamps(scene, sack=sack, rtt_ms=20)
    scene.server_sends(16)
    scene.server.now_ns += 110_000_000
    scene.server_repeats(0, 16)
    scene.client.now_ns = scene.client.acts_ns() + round(answer_ms * 1e6)
    scene.client_acks()
    scene.closes()
    details = [row["detail"] for row in scene.flow(tap)["stalls"] if row["cause"] == "retransmission"]
    assert details == ["spurious" if needless else "tail-loss"]


@pytest.mark.parametrize(("after_ms", "repaired"), [(20, False), (61, True)], ids=["too-soon", "a-round-trip-later"])
def test_no_answer_to_a_copy_comes_sooner_than_a_round_trip(scene: Scene, after_ms: float, repaired: bool) -> None:
    """The timer fires while the ACK of the original is on its way; the answer follows it."""
    without_stamps(scene)
    scene.server_sends(800)
    heard = scene.client.heard_ns
    scene.server.now_ns += 254_000_000
    scene.server_repeats(0, 800)
    scene.client.heard_ns = heard
    scene.client.now_ns = scene.server.now_ns + round((after_ms - 30) * 1e6)
    scene.client_acks()
    scene.wait_ms(5_000)
    scene.request()
    scene.server_sends(800)
    scene.client_acks()
    rows = [row for row in scene.flow("server")["stalls"] if row["sender"] == "server" and row["duration_ns"] > 1e8]
    assert ("retransmission" in {row["cause"] for row in rows}) == repaired


def repeats_unheard(scene: Scene, timeouts: int, then_ms: float) -> None:
    """All ACKs of a flight are lost on the way; the timer sends its first segment again until one comes through."""
    scene.handshake(rtt_ms=60)
    scene.request()
    scene.server_sends(14_480)
    scene.client_acks(lost=True)
    for timeout in range(timeouts):
        scene.wait_ms(260 << timeout)
        scene.server_repeats(0, 1_448)
        scene.client_acks(sack=((0, 1_448),), lost=timeout + 1 < timeouts)
    scene.wait_ms(then_ms)
    scene.server_sends(14_480)
    scene.client_acks()
    scene.closes()


def test_a_timer_that_fires_again_shows_that_the_acks_at_the_receiver_never_reached_its_sender(scene: Scene) -> None:
    repeats_unheard(scene, 4, then_ms=1)
    assert Stall("retransmission", between(3_700, 4_300), "spurious") in scene.stalls("server", "client")


def test_a_silence_long_after_the_last_copy_is_the_application_s(scene: Scene) -> None:
    repeats_unheard(scene, 2, then_ms=60_000)
    assert Stall("app-limited", between(58_000, 60_500)) in scene.stalls("server", "client")


def test_one_needless_copy_shows_no_lost_ack(scene: Scene) -> None:
    repeats_unheard(scene, 1, then_ms=2_000)
    assert "retransmission" not in {stall.cause for stall in scene.stalls("server", "client")}


@pytest.mark.parametrize("window", [None, 0])
def test_a_window_that_shuts_after_the_acknowledged_fin_holds_nobody(scene: Scene, window: int | None) -> None:
    scene.handshake(rtt_ms=60)
    scene.request()
    scene.server_sends(800)
    scene.server.now_ns += 330_000_000
    scene.server_repeats(0, 800)
    scene.client_acks(sack=((0, 800),))
    scene.wait_ms(2_500)
    scene.server_closes()
    scene.client_acks(window=window)
    scene.wait_ms(10)
    scene.client_closes()
    assert scene.stalls("server", "client") == [Stall("retransmission", between(380, 400), "spurious")]


@pytest.mark.parametrize(
    ("rtt_ms", "sack", "lone", "after_ms", "sure"),
    [
        (0.2, False, True, 100, False),
        (0.2, False, True, 300, False),
        (0.2, False, True, 900, True),
        (0.2, False, False, 300, True),
        (0.2, True, True, 300, True),
        (20, False, True, 300, True),
    ],
    ids=["a-nat-s-timer", "a-timeout", "later-than-any-delayed-ack", "several-segments", "sack", "a-longer-path"],
)
def test_the_lone_segment_of_a_short_path_may_only_have_met_a_delayed_ack(
    scene: Scene, rtt_ms: float, sack: bool, lone: bool, after_ms: float, sure: bool
) -> None:
    """Without SACK the receiver's ACK of the copy does not show whether the original had arrived."""
    without_stamps(scene, sack=sack, rtt_ms=rtt_ms)
    size = 170 if lone else 4 * 1_460
    scene.server_sends(2_920)
    scene.client_acks()
    scene.server_sends(size)
    scene.wait_ms(after_ms)
    scene.server_repeats(2_920, min(size, 1_460))
    scene.client_acks()
    scene.server_sends(1_460)
    scene.client_acks()
    rows = [row for row in scene.flow("server")["stalls"] if row["cause"] == "retransmission"]
    assert [row["confidence"] >= 0.8 for row in rows] == [sure]
