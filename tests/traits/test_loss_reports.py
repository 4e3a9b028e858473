"""A wait that ends with the report of a loss: until then its sender did not know of the loss."""

import pytest

from tests.causes.triple import NOT_A_STALL_MS, causes, fires, look_alike, near_miss
from tests.scene import Scene, Stall, between
from tests.scene.network import Tap

SEGMENT = 1_448
WINDOW = 10 * SEGMENT
"""The initial window of RFC 6928."""


def loses_the_first_of_a_window(scene: Scene) -> None:
    scene.handshake(rtt_ms=40)
    scene.request()
    scene.server_sends(SEGMENT, lost=True, push=False)
    scene.server_sends(WINDOW - SEGMENT, push=False)


def reports(scene: Scene) -> None:
    for segments in (4, 6, 8, 10):
        scene.client_acks(upto=0, sack=((SEGMENT, segments * SEGMENT),))


@fires
def test_a_full_window_made_the_sender_wait_until_the_first_report(scene: Scene) -> None:
    loses_the_first_of_a_window(scene)
    reports(scene)
    scene.server_repeats(0, SEGMENT)
    scene.server_sends(2 * SEGMENT)
    (stall,) = scene.stalls("server", over_ms=NOT_A_STALL_MS)
    assert stall.cause == "cwnd-limited"
    (row,) = (row for row in scene.flow()["stalls"] if row["cause"] == "cwnd-limited")
    assert row["confidence"] <= 0.75
    assert row["also"][0] == "retransmission"


@fires
def test_until_the_report_the_window_held_a_sender_that_goes_on_some_duplicates_later(scene: Scene) -> None:
    """Each further duplicate ACK lets a segment go (RFC 5681 §3.2); 3 of the 43 ms are no wait of their own."""
    loses_the_first_of_a_window(scene)
    reports(scene)
    scene.server_repeats(0, SEGMENT)
    scene.wait_ms(3)
    scene.server_sends(2 * SEGMENT)
    assert causes(scene, "server") == ["cwnd-limited"]


def repairs(scene: Scene) -> None:
    scene.server_repeats(0, SEGMENT)
    scene.client_acks()
    scene.server_sends(2 * SEGMENT)


@fires
@pytest.mark.parametrize("tap", ["server", "between"])
def test_a_sender_that_waits_for_the_repair_as_well_waits_for_the_loss_from_the_report_on(
    scene: Scene, tap: Tap
) -> None:
    loses_the_first_of_a_window(scene)
    reports(scene)
    repairs(scene)
    waits = [Stall("cwnd-limited", between(38, 42)), Stall("retransmission", between(38, 44))]
    assert scene.stalls("server", tap, over_ms=NOT_A_STALL_MS) == waits
    *_, window, repair = scene.flow(tap)["stalls"]
    assert window["confidence"] <= 0.75
    assert "retransmissions" not in window["evidence"]
    assert repair["evidence"]["retransmissions"] == 1


@near_miss
def test_a_wait_that_begins_after_the_first_report_is_for_the_loss_alone(scene: Scene) -> None:
    loses_the_first_of_a_window(scene)
    for segments in (2, 3):
        scene.client_acks(upto=0, sack=((SEGMENT, segments * SEGMENT),))
    scene.server_sends(SEGMENT)
    reports(scene)
    repairs(scene)
    waits = [Stall("cwnd-limited", between(38, 42)), Stall("retransmission", between(78, 84))]
    assert scene.stalls("server", over_ms=NOT_A_STALL_MS) == waits


@near_miss
def test_no_window_held_a_sender_without_more_data_until_the_report(scene: Scene) -> None:
    scene.handshake(rtt_ms=40)
    scene.request()
    scene.server_sends(SEGMENT, lost=True, push=False)
    scene.server_sends(3 * SEGMENT)
    for segments in (2, 3, 4):
        scene.client_acks(upto=0, sack=((SEGMENT, segments * SEGMENT),))
    repairs(scene)
    assert causes(scene) == ["retransmission"]


@look_alike
def test_a_timer_that_no_report_came_before_is_a_wait_for_the_loss(scene: Scene) -> None:
    scene.handshake(rtt_ms=40)
    scene.request()
    scene.server_sends(WINDOW, lost=True, push=False)
    scene.wait_ms(300)
    scene.server_repeats(0, SEGMENT)
    scene.server_sends(SEGMENT)
    assert causes(scene) == ["retransmission"]


def goes_on_for_a_round_trip(scene: Scene, *, repairs_first: bool) -> None:
    """The 18th of 20 segments is lost, and the ACKs of the first 17, then two reports, let 34 more go; the reports of
    these let two go, and only then the lost one is repeated."""
    scene.handshake(rtt_ms=40, client_window=3_000_000)
    scene.request()
    scene.server_sends(WINDOW, tso=1, push=False)
    scene.client_acks()
    scene.server_sends(17 * SEGMENT, tso=1, push=False)
    scene.server_sends(SEGMENT, lost=True, push=False)
    scene.server_sends(2 * SEGMENT, tso=1, push=False)
    lost = WINDOW + 17 * SEGMENT
    scene.client_acks(upto=lost)
    for last in (2, 3):
        scene.client_acks(upto=lost, sack=((lost + SEGMENT, lost + last * SEGMENT),))
    if repairs_first:
        scene.server_repeats(lost, SEGMENT)
    scene.server_sends(34 * SEGMENT, tso=1, push=False)
    for last in (5, 9, 37):
        scene.client_acks(upto=lost, sack=((lost + SEGMENT, lost + last * SEGMENT),))
    scene.server_sends(2 * SEGMENT, tso=1, push=False)
    if not repairs_first:
        scene.server_repeats(lost, SEGMENT)
    scene.client_acks()
    scene.server_sends(SEGMENT)


@fires
def test_a_sender_to_which_reports_show_no_loss_yet_waits_for_its_window(scene: Scene) -> None:
    """An ACK that changes the window is no duplicate (RFC 5681 §2): not each sender counts reports beside."""
    goes_on_for_a_round_trip(scene, repairs_first=False)
    waits = [stall.cause for stall in scene.stalls("server", "server", over_ms=NOT_A_STALL_MS)]
    assert waits == ["cwnd-limited"] * 3 + ["retransmission"]


@near_miss
def test_a_sender_that_has_begun_the_repair_waits_for_the_repair(scene: Scene) -> None:
    goes_on_for_a_round_trip(scene, repairs_first=True)
    assert "retransmission" in causes(scene, "server")


def loses_again_after_a_recovery(scene: Scene, after_ms: float) -> list[str]:
    """The server sends on while it recovers; the ACK of its repair comes so long before the report of another loss."""
    loses_the_first_of_a_window(scene)
    reports(scene)
    scene.server_repeats(0, SEGMENT)
    repaired = scene.client.heard_ns
    scene.server.now_ns += round(after_ms * 1e6)
    scene.server_sends(SEGMENT, lost=True, push=False)
    scene.server_sends(3 * SEGMENT, push=False)
    later, scene.client.heard_ns = scene.client.heard_ns, repaired
    scene.client_acks(upto=WINDOW)
    scene.client.heard_ns = later
    for segments in (2, 3, 4):
        scene.client_acks(upto=WINDOW, sack=((WINDOW + SEGMENT, WINDOW + segments * SEGMENT),))
    scene.server_repeats(WINDOW, SEGMENT)
    scene.server_sends(2 * SEGMENT)
    return [stall.cause for stall in scene.stalls("server", over_ms=NOT_A_STALL_MS)]


@fires
def test_between_two_recoveries_the_lowered_window_holds_the_sender(scene: Scene) -> None:
    assert loses_again_after_a_recovery(scene, 20)[-1] != "retransmission"


@look_alike
def test_a_report_as_soon_as_the_recovery_ends_leaves_no_wait_between(scene: Scene) -> None:
    assert loses_again_after_a_recovery(scene, 1)[-1] == "retransmission"


def loses_the_copy_too(scene: Scene, segments: int) -> list[str]:
    """The first copy is lost before the tap. Reports of the loss let `segments` go, and theirs the second copy."""
    loses_the_first_of_a_window(scene)
    reports(scene)
    scene.server_repeats(0, SEGMENT, lost=True)
    scene.server_sends(segments * SEGMENT, push=False)
    for more in range(1, segments + 1):
        scene.client_acks(upto=0, sack=((SEGMENT, WINDOW + more * SEGMENT),))
    scene.server_repeats(0, SEGMENT)
    scene.server_sends(2 * SEGMENT)
    return causes(scene, "client")


@fires
@pytest.mark.parametrize("segments", [4, 10, 14])
def test_a_loss_that_was_known_before_the_wait_held_the_sender(scene: Scene, segments: int) -> None:
    assert loses_the_copy_too(scene, segments)[-1] == "retransmission"


@look_alike
def test_a_segment_at_each_report_is_no_pace(scene: Scene) -> None:
    """Each duplicate ACK lets a segment go (RFC 3042, RFC 6675 §5): even intervals are those of the reports."""
    scene.handshake(rtt_ms=2, client_window=3_000_000)
    scene.request()
    scene.server_sends(SEGMENT, lost=True, push=False)
    scene.server_sends(WINDOW - SEGMENT, tso=1, push=False)
    for last in range(2, 30):
        scene.wait_ms(1)
        scene.client_acks(upto=0, sack=((SEGMENT, last * SEGMENT),))
        scene.server_sends(SEGMENT, push=False)
    scene.server_repeats(0, SEGMENT)
    scene.client_acks()
    scene.server_sends(SEGMENT)
    _first, *others = (row for row in scene.flow("server")["stalls"] if row["sender"] == "server")
    assert {row["cause"] for row in others} <= {"cwnd-limited", "retransmission"}
    assert all(row["confidence"] <= 0.75 for row in others)


def kind_of_repair(scene: Scene, *, duplicates: int) -> tuple[str, float]:
    """Detail and confidence without SACK: duplicate ACKs, data that earlier ACKs had let go, and the repair."""
    scene.client.sack = scene.server.sack = False
    scene.handshake(rtt_ms=40, timestamps=False)
    scene.request()
    scene.server_sends(3 * 1_460, tso=1, push=False)
    scene.server_sends(1_460, lost=True, push=False)
    scene.server_sends(6 * 1_460, tso=1, push=False)
    for segments in (1, 2, 3, *[3] * duplicates):
        scene.client_acks(upto=segments * 1_460)
    scene.server_sends(6 * 1_460, tso=1, push=False)
    scene.server_repeats(3 * 1_460, 1_460)
    scene.client_acks()
    scene.server_sends(8 * 1_460, tso=1)
    scene.client_acks()
    rows = [row for row in scene.flow("server")["stalls"] if row["cause"] == "retransmission"]
    return rows[0]["detail"], rows[0]["confidence"]


@fires
def test_duplicate_acks_report_a_loss_whatever_left_before_the_repair(scene: Scene) -> None:
    """A host that takes ACKs in by batches sends what the first of them let go, and then the repair (RFC 5681 §3.2)."""
    assert kind_of_repair(scene, duplicates=3) == ("fast-retransmit", 0.75)


@near_miss
def test_two_duplicate_acks_report_none(scene: Scene) -> None:
    assert kind_of_repair(scene, duplicates=2) == ("recovery", 0.6)
