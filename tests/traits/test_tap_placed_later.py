"""Where the tap is, learnt from the packet that ends a wait, in captures that begin after the handshake."""

from typing import Any

from tests.causes.triple import NOT_A_STALL_MS, SYNS, causes, fires, near_miss
from tests.scene import Scene, Stall, between


@fires
def test_waits_of_a_slow_start_before_the_distance_is_known_are_none_of_the_applications(scene: Scene) -> None:
    scene.handshake(rtt_ms=20)
    scene.client_transfers(300_000, tso=1)
    causes = [stall.cause for stall in scene.stalls("client", "server", drop=SYNS, over_ms=NOT_A_STALL_MS)]
    assert set(causes) == {"cwnd-limited"}, causes


@fires
def test_acks_that_were_under_way_when_a_burst_ended_count_for_its_wait(scene: Scene) -> None:
    scene.handshake(rtt_ms=20)
    # The last odd segment of each burst is acknowledged with the next burst.
    scene.client_transfers(300_000, tso=1, initial_window=5, delayed_ack_ms=100)
    waits = [stall for stall in scene.flow("server", drop=SYNS)["stalls"] if stall["sender"] == "client"]
    assert {wait["cause"] for wait in waits} == {"cwnd-limited"}
    assert [wait["evidence"]["in_flight_segments"] for wait in waits] == [5, 9, 17, 33, 65]


@fires
def test_a_pause_that_outlasts_the_soonest_answer_twice_is_the_applications(scene: Scene) -> None:
    scene.handshake(rtt_ms=20)
    scene.client_writes(*((at, 10_000 + at) for at in (0, 60, 85, 175, 375, 445)), tso=1)
    waits = scene.stalls("client", "server", drop=SYNS, over_ms=NOT_A_STALL_MS)
    known = [wait for wait in waits if wait.cause != "unexplained"]
    assert known == [Stall("app-limited", between(ms - 1, ms + 1)) for ms in (60, 90, 200, 70)]


@near_miss
def test_a_pause_as_long_as_the_soonest_answer_may_be_a_round_trip(scene: Scene) -> None:
    scene.handshake(rtt_ms=20)
    scene.client_writes(*((at, 10_000 + at) for at in (0, 60, 120, 180)), tso=1)
    waits = scene.stalls("client", "server", drop=SYNS, over_ms=NOT_A_STALL_MS)
    assert {wait.cause for wait in waits} == {"unexplained"}


@near_miss
def test_a_probe_of_a_closed_window_is_no_round_trip(scene: Scene) -> None:
    scene.handshake(rtt_ms=20)
    scene.server_sends(1_000)
    scene.client_acks(window=0)
    for ms in (3_400, 6_800, 13_600):
        scene.wait_ms(ms)
        scene.server_probes()
        scene.client_acks(window=0)
    flow = scene.flow("client", drop=SYNS)
    assert [stall["cause"] for stall in flow["stalls"]] == ["zero-window"]
    assert (flow["base_rtt_ns"] or 0) < 1e9


def small_buffer(scene: Scene, rtt_ms: float, **lost: Any) -> set[str]:
    """Causes of a server's waits, at the client: its buffer holds two segments, and SYNs or SYN-ACKs were lost."""
    scene.handshake(rtt_ms=rtt_ms, timestamps=False, **lost)
    for at in range(20):
        for _ in range(2):
            scene.server_sends(1_460, tso=1, push=False)
        scene.client_acks(upto=at * 2_920 + 1_460)
        scene.client_acks()
    return set(causes(scene, "client"))


@fires
def test_the_answer_to_a_second_syn_measures_the_distance(scene: Scene) -> None:
    """One answer, and soon after the last of two SYNs: the first one was lost."""
    assert small_buffer(scene, 30, lost_syns=1) == {"sndbuf-limited"}


@near_miss
def test_an_answer_that_may_be_to_the_first_syn_measures_nothing(scene: Scene) -> None:
    assert "sndbuf-limited" not in small_buffer(scene, 400, lost_syns=1)


def buffer_at_server(scene: Scene, rtt_ms: float) -> set[str]:
    """Causes of a client's waits, at the server: its buffer holds two segments, and the first SYN-ACK was lost."""
    scene.handshake(rtt_ms=rtt_ms, timestamps=False, lost_syn_acks=1)
    for at in range(20):
        for _ in range(2):
            scene.client_sends(1_460, tso=1, push=False)
        scene.server_acks(upto=at * 2_920 + 1_460)
        scene.server_acks()
    return set(causes(scene, "server", sender="client"))


@fires
def test_the_ack_of_a_second_syn_ack_measures_the_distance(scene: Scene) -> None:
    assert buffer_at_server(scene, 30) == {"sndbuf-limited"}


@near_miss
def test_an_ack_that_may_be_of_the_first_syn_ack_measures_nothing(scene: Scene) -> None:
    assert "sndbuf-limited" not in buffer_at_server(scene, 400)
