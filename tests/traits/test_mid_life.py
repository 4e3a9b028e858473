"""What a capture that begins in the middle of a connection shows of the data and the waits before it."""

from typing import Any

import pytest

from tests.causes.triple import NOT_A_STALL_MS, SYNS, causes, fires, look_alike, near_miss
from tests.scene import Scene

SEGMENT = 1_448


def begun_after(scene: Scene, ms: float, packets: int = 0) -> range:
    """Packets at the server that a capture lacks which begins so many milliseconds, and packets, after the scene."""
    passed = sum(time < scene.start_ns + ms * 1_000_000 for time, _ in scene.packets("server"))
    return range(1, passed + packets + 1)


def waits(scene: Scene, **how: Any) -> list[dict[str, Any]]:
    """The server's stalls, at its own tap."""
    rows = scene.flow("server", **how)["stalls"]
    return [row for row in rows if row["sender"] == "server" and row["duration_ns"] > NOT_A_STALL_MS * 1e6]


@fires
@pytest.mark.parametrize("begins_with", [8, 9], ids=["ack", "data"])
def test_data_that_left_before_the_capture_began_is_in_flight_and_not_missing(scene: Scene, begins_with: int) -> None:
    scene.handshake(rtt_ms=20)
    scene.download(600_000)
    # The third round of slow start is under way: some of its ACKs and frames have passed.
    begun = begun_after(scene, 60, begins_with)
    first, *_ = waits(scene, drop=begun)
    assert (first["cause"], first["detail"]) == ("cwnd-limited", "slow-start")
    assert first["evidence"]["in_flight_segments"] == 40
    assert scene.flow("server", drop=begun)["trust"]["unseen_bytes"] == 0


@look_alike
def test_what_is_missing_of_an_answer_to_a_request_in_the_capture_did_not_leave_before_it(scene: Scene) -> None:
    scene.handshake(rtt_ms=20)
    scene.request()
    asked = len(scene.packets("server"))
    scene.server_sends(8 * SEGMENT)
    scene.client_acks()
    scene.server_sends(8 * SEGMENT)
    scene.client_acks()
    lacking = [*SYNS, *range(asked + 1, asked + 3)]
    assert scene.flow("server", drop=lacking)["trust"]["unseen_bytes"] > 0


def beats(scene: Scene, **how: Any) -> set[str]:
    """Causes of the waits of a server that writes at each beat, at its own tap; at the end the connection is closed."""
    scene.handshake(rtt_ms=10)
    scene.server_writes(*((50 * beat, 10_000) for beat in range(20)))
    scene.wait_ms(50)
    scene.server_closes()
    scene.client_closes()
    scene.server_acks()
    return set(causes(scene, "server", **how))


@fires
def test_the_ack_of_the_last_fin_shows_that_the_tap_was_at_the_sender_all_the_time(scene: Scene) -> None:
    assert beats(scene, drop=SYNS) == {"app-limited"}


@near_miss
def test_a_beat_alone_does_not_show_where_the_tap_is(scene: Scene) -> None:
    scene.handshake(rtt_ms=10)
    scene.server_writes(*((50 * beat, 10_000) for beat in range(20)))
    assert set(causes(scene, "server", drop=SYNS)) != {"app-limited"}


def reads_in_steps(scene: Scene) -> list[dict[str, Any]]:
    """Waits for a slow reader's window without a scale: at the first the capture holds none yet, then one of 0."""
    scene.handshake(rtt_ms=10, client_scale=None, client_window=5 * SEGMENT)
    scene.server_sends(5 * SEGMENT, push=False)
    scene.client_acks(window=0)
    scene.wait_ms(2)
    for segments in (5, 6, 6, 5, 6, 6):
        scene.client_acks(window=segments * SEGMENT)
        scene.server_sends(segments * SEGMENT, push=False)
        scene.wait_ms(50)
    return waits(scene, drop=SYNS)


@fires
def test_before_the_first_window_in_the_capture_no_flight_exceeds_it(scene: Scene) -> None:
    assert {row["cause"] for row in reads_in_steps(scene)} == {"rwnd-limited"}


@pytest.mark.parametrize(("ms", "packets"), [(1_000, 0), (60, 8)], ids=["idle", "under way"])
def test_a_climb_that_the_capture_begins_with_may_follow_an_idle_period(scene: Scene, ms: int, packets: int) -> None:
    """Before it the window may have been larger."""
    scene.handshake(rtt_ms=20)
    scene.download(600_000)
    if not packets:
        scene.wait_ms(1_500)
        scene.download(600_000)
    rows = waits(scene, drop=begun_after(scene, ms, packets))
    confidences = [row["confidence"] for row in rows if row["cause"] == "cwnd-limited"]
    assert confidences
    assert max(confidences) < 0.8
    assert max(row["confidence"] for row in waits(scene) if row["cause"] == "cwnd-limited") > 0.9
