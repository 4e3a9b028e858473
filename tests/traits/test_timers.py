"""Retransmission timers: Linux adds 200 ms to the round trip, RFC 6298 §2.4 rounds up to a second from the last ACK."""

from tests.causes.triple import fires, look_alike, near_miss
from tests.scene import Scene
from tests.traits.exchanges import SEGMENT, acknowledged


def silence(scene: Scene, ms: float, *, lost: int, rtt_ms: float = 40) -> list[tuple[str, bool]]:
    """(cause, sure) of a silence so long after the last ACK, at a receiver that so many packets never reached."""
    edge = acknowledged(scene, rtt_ms=rtt_ms)
    scene.server_sends(3 * SEGMENT, tso=1)
    edge += 3 * SEGMENT
    if lost:
        scene.server_sends(lost * SEGMENT, tso=1, lost=True)
    scene.client_acks(upto=edge)
    scene.wait_ms(ms + rtt_ms / 2)
    scene.server_repeats(edge, SEGMENT)
    scene.client_acks(upto=edge + SEGMENT)
    scene.server_sends(SEGMENT)
    rows = [row for row in scene.flow("client")["stalls"] if row["sender"] == "server" and row["duration_ns"] > 150e6]
    return [(row["cause"], row["confidence"] >= 0.8) for row in rows]


@fires
def test_a_second_after_the_last_ack_is_a_timeout_that_was_rounded_up(scene: Scene) -> None:
    assert silence(scene, 1_000, lost=2) == [("retransmission", False)]


@fires
def test_a_round_trip_above_a_tick_tells_the_ack_from_the_write(scene: Scene) -> None:
    assert silence(scene, 1_000, lost=2, rtt_ms=10) == [("retransmission", False)]


@look_alike
def test_a_second_after_the_last_write_over_a_short_path_is_the_applications(scene: Scene) -> None:
    assert silence(scene, 990, lost=2, rtt_ms=10) == [("app-limited", False)]


@near_miss
def test_a_silence_that_fits_no_timer_is_the_applications(scene: Scene) -> None:
    assert silence(scene, 520, lost=2) == [("app-limited", False)]


@look_alike
def test_a_second_after_the_last_write_is_the_applications(scene: Scene) -> None:
    """The ACK came a round trip after the write."""
    assert silence(scene, 960, lost=2) == [("app-limited", False)]


@look_alike
def test_a_second_in_which_nothing_was_lost_is_the_applications(scene: Scene) -> None:
    assert [cause for cause, _ in silence(scene, 1_000, lost=0)] == ["app-limited"]


def repeated(scene: Scene, *, after_ms: float, acked: bool, times: int = 1) -> list[tuple[str, bool]]:
    """The client's data again, long after it was sent: the causes of its waits, and whether they are sure."""
    scene.handshake(rtt_ms=40)
    scene.client_sends(700)
    if acked:
        scene.server_acks()
    for _ in range(times):
        scene.wait_ms(after_ms)
        scene.client_repeats(0, 700)
        scene.server_acks()
    scene.wait_ms(200)
    scene.closes()
    rows = [row for row in scene.flow("client")["stalls"] if row["sender"] == "client" and row["cause"] != "handshake"]
    return [(row["cause"], row["confidence"] >= 0.8) for row in rows if row["duration_ns"] >= 250e6]


@fires
def test_data_that_nothing_acknowledges_is_sent_again_by_the_timer(scene: Scene) -> None:
    assert repeated(scene, after_ms=280, acked=False) == [("retransmission", True)]


@near_miss
def test_a_first_timer_of_half_a_minute_is_unsure(scene: Scene) -> None:
    assert repeated(scene, after_ms=30_000, acked=False) == [("retransmission", False)]


@look_alike
def test_data_that_was_acknowledged_half_a_minute_ago_is_no_repair(scene: Scene) -> None:
    assert repeated(scene, after_ms=30_000, acked=True, times=2) == []
