"""Silences at the receiver in which packets were lost on their way: their sender had sent more."""

from tests.causes.triple import fires, look_alike, near_miss
from tests.scene import Scene
from tests.traits.exchanges import SEGMENT


def acquainted(scene: Scene, *, rest_ms: float) -> None:
    """Three answers of two segments, with a rest after each."""
    scene.handshake(rtt_ms=20)
    for _ in range(3):
        scene.request()
        scene.server_sends(2 * SEGMENT)
        scene.client_acks()
        scene.wait_ms(rest_ms)


def broken_off(scene: Scene, after_ack_ms: float, *, push: bool = False) -> list[str]:
    """Causes at the receiver of a silence in the middle of a write, so long after the ACK came, that a segment ends."""
    scene.server.ip_ids = "zero"
    acquainted(scene, rest_ms=60)
    scene.request()
    scene.server_sends(5 * SEGMENT, tso=1, push=push)
    scene.client_acks()
    scene.wait_ms(after_ack_ms + 10)
    scene.server_sends(SEGMENT, push=False)
    scene.client_acks()
    scene.server_sends(2 * SEGMENT)
    rows = [row for row in scene.flow("client")["stalls"] if row["sender"] == "server" and row["duration_ns"] > 150e6]
    return [row["cause"] for row in rows]


@fires
def test_a_timer_whose_whole_length_has_a_floor_of_200_ms_ends_a_silence_in_mid_write(scene: Scene) -> None:
    """Linux adds the floor to the round trip, RFC 6298 §2.4 has it for the whole."""
    assert broken_off(scene, 201)[-1:] == ["retransmission"]


@near_miss
def test_no_timer_ends_a_shorter_one(scene: Scene) -> None:
    assert "retransmission" not in broken_off(scene, 180)


@look_alike
def test_after_the_end_of_a_write_the_silence_is_the_applications(scene: Scene) -> None:
    assert broken_off(scene, 201, push=True)[-1:] == ["app-limited"]


def unfinished(scene: Scene, *, lost: bool, push: bool = False) -> str:
    """Cause at the receiver of 291 ms, no Linux timer's, that a whole segment ends; the sender numbers its packets."""
    acquainted(scene, rest_ms=60)
    scene.request()
    scene.server_sends(5 * SEGMENT, tso=1, push=push)
    if lost:
        scene.server_sends(SEGMENT, lost=True, push=False)
    scene.client_acks()
    scene.wait_ms(301)
    if lost:
        scene.server_repeats(11 * SEGMENT, SEGMENT)
    else:
        scene.server_sends(SEGMENT)
    scene.client_acks()
    scene.server_sends(2 * SEGMENT)
    rows = [row for row in scene.flow("client")["stalls"] if row["sender"] == "server" and row["duration_ns"] > 150e6]
    return str(rows[-1]["cause"])


@fires
def test_a_number_that_never_came_in_mid_write_was_the_segment_that_a_timer_sent_again(scene: Scene) -> None:
    """Stacks that count in ticks of 500 or 10 ms add those to a timer, and four deviations."""
    assert unfinished(scene, lost=True) == "retransmission"


@near_miss
def test_where_no_number_is_missing_nothing_was_lost(scene: Scene) -> None:
    assert unfinished(scene, lost=False) != "retransmission"


@look_alike
def test_behind_the_end_of_a_write_nothing_shows_that_more_was_queued(scene: Scene) -> None:
    assert unfinished(scene, lost=True, push=True) == "app-limited"


def answered(scene: Scene, lost: int) -> list[bool]:
    """Sureness of the server's thought before an answer of which the first segments never reached the receiver."""
    acquainted(scene, rest_ms=50)
    scene.request()
    scene.wait_ms(70)
    if lost:
        scene.server_sends(lost * SEGMENT, lost=True)
    scene.server_sends(SEGMENT)
    rows = [
        row for row in scene.flow("client")["stalls"] if row["sender"] == "server" and row["cause"] == "app-limited"
    ]
    return [row["confidence"] >= 0.8 for row in rows[-1:]]


@near_miss
def test_thought_before_an_answer_whose_start_was_lost_is_unsure(scene: Scene) -> None:
    assert True not in answered(scene, 2)


@fires
def test_thought_before_a_whole_answer_is_sure(scene: Scene) -> None:
    assert answered(scene, 0) == [True]


def loses_the_end_of_a_flight(scene: Scene, lost: int) -> list[str]:
    """Causes at the receiver of a round trip of slow start, at whose beginning the last segments of 20 were lost."""
    scene.handshake(rtt_ms=40)
    scene.request()
    scene.server_sends(10 * SEGMENT, push=False)
    scene.client_acks()
    scene.server_sends((20 - lost) * SEGMENT, push=False)
    heard = scene.client.heard_ns
    if lost:
        scene.server_sends(lost * SEGMENT, lost=True, push=False)
    scene.client.heard_ns = heard
    scene.client_acks()
    scene.server_sends(10 * SEGMENT, push=False)
    rows = [row for row in scene.flow("client")["stalls"] if row["sender"] == "server" and row["duration_ns"] > 30e6]
    return [row["cause"] for row in rows if row["confidence"] >= 0.6]


@fires
def test_what_was_lost_before_the_tap_filled_the_window_of_slow_start(scene: Scene) -> None:
    assert loses_the_end_of_a_flight(scene, 6)[-1] == "cwnd-limited"


@look_alike
def test_no_buffer_explains_a_flight_of_which_the_tap_missed_a_part(scene: Scene) -> None:
    scene.server.ip_ids = "zero"
    assert "sndbuf-limited" not in loses_the_end_of_a_flight(scene, 9)


def answers_late(scene: Scene, *, lost: bool, late_ms: float = 211) -> list[tuple[str, str, int]]:
    """Requests every 2 s, seen by the client: the answer to the fourth comes late, its first copy lost or not."""
    scene.handshake(rtt_ms=10)
    for number in range(5):
        scene.request()
        if number == 3:
            if lost:
                scene.server_sends(200, lost=True)
            scene.wait_ms(late_ms)
        if number == 3 and lost:
            scene.server_repeats(3 * 200, 200)
        else:
            scene.server_sends(200)
        scene.client_acks()
        scene.wait_ms(2_000)
    rows = [row for row in scene.flow("client")["stalls"] if row["sender"] == "server"][1:]
    return [(row["cause"], row["detail"], round(row["duration_ns"] / 1e8)) for row in rows]


def test_a_lost_answer_is_repaired_from_the_request_on(scene: Scene) -> None:
    """The server had nothing to send until the client asked: that time is no part of the repair."""
    told = answers_late(scene, lost=True)
    at = next(at for at, (cause, _, _) in enumerate(told) if cause == "retransmission")
    assert told[at - 1 : at + 1] == [("app-limited", "awaiting-peer", 20), ("retransmission", "timeout", 2)]


def test_a_late_answer_whose_number_is_the_next_is_no_repair(scene: Scene) -> None:
    assert {cause for cause, _, _ in answers_late(scene, lost=False)} == {"app-limited"}
