"""Copies of data that had arrived: a timer's, or perhaps the path's."""

import pytest

from tests.scene import Scene, Stall, between


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
