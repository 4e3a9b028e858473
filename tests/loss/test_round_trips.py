"""Round trips: the base as it was then, what a wait took beyond it and whose that was, and spikes."""

from typing import Any

import pytest

from tests.scene import Scene, between
from tests.scene.network import Side, Tap
from tests.scene.plan import Reader

SEGMENT = 1_448


def rows(scene: Scene, tap: Tap | None = None, sender: Side = "server") -> list[dict[str, Any]]:
    stalls = scene.flow(tap)["stalls"]
    return [row for row in stalls if row["sender"] == sender and row["cause"] != "handshake"]


def longer_route(scene: Scene) -> None:
    """A send buffer that is full for a whole round trip again and again, while the route grows from 20 to 60 ms."""
    scene.handshake(rtt_ms=20)
    scene.download(300_000, tso=1, send_buffer=20_000)
    scene.path(rtt_ms=60)
    scene.server_transfers(300_000, tso=1, send_buffer=20_000)
    scene.closes()


def test_a_longer_route_turns_no_wait_into_nonsense(scene: Scene, tap: Tap) -> None:
    longer_route(scene)
    found = {row["cause"] for row in rows(scene, tap)}
    assert found >= {"cwnd-limited", "sndbuf-limited", "retransmission"}, "the probe timer is too short once"
    assert found <= {"cwnd-limited", "sndbuf-limited", "retransmission", "unexplained"}, (
        "the rest of a transfer is one small flight"
    )


def test_the_base_is_the_routes_of_the_time(scene: Scene, tap: Tap) -> None:
    longer_route(scene)
    flow = scene.flow(tap)
    bases = [round(row["base_rtt_ns"] / 1e6) for row in flow["stalls"] if row["sender"] == "server"]
    assert set(bases) == {20, 60}
    assert bases == sorted(bases)
    assert flow["base_rtt_ns"] / 1e6 in between(19.9, 20.1), "the flow's own is the smallest"


def test_a_shorter_route_keeps_the_longer_one_for_the_time_before(scene: Scene) -> None:
    scene.handshake(rtt_ms=60)
    scene.download(300_000, tso=1, send_buffer=20_000)
    scene.path(rtt_ms=20)
    scene.server_transfers(300_000, tso=1, send_buffer=20_000)
    bases = [round(row["base_rtt_ns"] / 1e6) for row in rows(scene)]
    assert set(bases) == {20, 60}
    assert bases == sorted(bases, reverse=True)


def test_a_route_that_grew_longer_right_after_the_handshake_is_known_by_the_senders_clock(scene: Scene) -> None:
    scene.handshake(rtt_ms=13)
    scene.client_sends(147)
    scene.server_sends(1_448)
    scene.client_acks()
    scene.path(rtt_ms=53)
    scene.server_transfers(600_000, tso=1, send_buffer=20_000)
    assert round(rows(scene, "client")[-1]["base_rtt_ns"] / 1e6) == 53


def test_while_the_route_grows_longer_no_wait_is_the_applications(scene: Scene) -> None:
    scene.handshake(rtt_ms=20)
    scene.download(300_000, tso=1, send_buffer=20_000)
    for rtt_ms in range(22, 82, 4):
        scene.path(rtt_ms=rtt_ms)
        scene.server_transfers(20_000, tso=1, send_buffer=20_000)
    scene.server_transfers(300_000, tso=1, send_buffer=20_000)
    causes = [row["cause"] for row in rows(scene, "client") if row["duration_ns"] > 10e6]
    assert "app-limited" not in causes


def test_a_queue_of_its_own_is_no_longer_route(scene: Scene) -> None:
    scene.handshake(rtt_ms=20)
    scene.path(rtt_ms=20, server_mbit=10)
    scene.download(1_000_000)
    assert {round(row["base_rtt_ns"] / 1e6) for row in rows(scene)} == {20}


def test_an_application_that_pauses_as_long_every_time_is_no_longer_route(scene: Scene) -> None:
    scene.handshake(rtt_ms=20)
    scene.request()
    scene.server_writes(*((80 * chunk, 20_000) for chunk in range(20)))
    assert {round(row["base_rtt_ns"] / 1e6) for row in rows(scene, "client")} == {20}
    assert {row["cause"] for row in rows(scene, "client") if row["duration_ns"] > 30e6} == {"app-limited"}


def test_a_receiver_that_is_silent_and_then_acknowledges_everything_owns_the_excess(scene: Scene) -> None:
    scene.handshake(rtt_ms=20)
    scene.client_sends(147)
    for _ in range(4):
        scene.server_sends(10 * SEGMENT, tso=1)
        scene.client_acks()
    scene.server_sends(10 * SEGMENT, tso=1)
    scene.wait_ms(150)
    scene.client_acks(window=4 * SEGMENT)
    scene.server_sends(2 * SEGMENT)
    late = max(rows(scene), key=lambda row: row["duration_ns"])
    assert (late["excess_owner"], late["excess_ns"] / 1e6 in between(135, 165)) == ("receiver-silent", True)
    (spike,) = scene.flow()["rtt_spikes"]
    assert spike["rtt_ns"] / 1e6 in between(155, 175)
    assert (spike["sender"], spike["in_flight_bytes"]) == ("server", 10 * SEGMENT)
    assert spike["peer_window_bytes"] > 0


def test_a_plain_round_trip_has_no_excess(scene: Scene) -> None:
    scene.handshake(rtt_ms=20)
    scene.download(100_000)
    assert {row["excess_owner"] for row in rows(scene)} == {None}
    assert max(row["excess_ns"] for row in rows(scene) if row["excess_ns"] is not None) < 1e6
    assert scene.flow()["rtt_spikes"] == []


def test_a_round_trip_just_below_five_times_the_base_is_no_spike(scene: Scene) -> None:
    scene.handshake(rtt_ms=20)
    scene.client_sends(147)
    scene.server_sends(4 * SEGMENT, tso=1)
    scene.client_acks()
    scene.server_sends(4 * SEGMENT, tso=1)
    scene.wait_ms(75)
    scene.client_acks()
    scene.server_sends(SEGMENT)
    assert scene.flow()["rtt_spikes"] == []


def test_what_a_repair_acknowledges_late_is_no_spike(scene: Scene) -> None:
    scene.handshake(rtt_ms=20)
    scene.download(60_000, lose=(30_000, 30_000))
    assert scene.flow()["rtt_spikes"] == []
    assert {row["excess_owner"] for row in rows(scene) if row["cause"] == "retransmission"} == {"loss"}


def test_a_delayed_ack_owns_what_it_added(scene: Scene) -> None:
    scene.handshake(rtt_ms=20)
    for _ in range(3):
        scene.client_writes((0, 100), (0.1, 100), delayed_ack_ms=40)
        scene.server_sends(50)
    delayed = [row for row in rows(scene, "client", "client") if row["cause"] == "delayed-ack"]
    assert {row["excess_owner"] for row in delayed} == {"delayed-ack"}
    assert all(row["excess_ns"] / 1e6 in between(35, 45) for row in delayed)


def test_a_queue_owns_what_it_added(scene: Scene) -> None:
    scene.handshake(rtt_ms=20)
    scene.path(rtt_ms=20, server_mbit=4)
    scene.download(500_000, reader=Reader(buffer=60_000))
    owners = {row["excess_owner"] for row in rows(scene) if (row["excess_ns"] or 0) > 10e6}
    assert owners <= {"queue"}


def polled(scene: Scene, *, timestamps: bool) -> dict[str, Any]:
    """A server asked once a second, in a capture without the handshake in which each ACK comes with payload."""
    scene.handshake(rtt_ms=2, timestamps=timestamps)
    for _ in range(12):
        scene.client_sends(18)
        scene.server_sends(292)
        scene.wait_ms(1_000)
    return scene.flow("server", drop=range(1, 4))


@pytest.mark.parametrize("timestamps", [False, True])
def test_an_ack_that_waits_for_its_applications_next_words_measures_no_path(scene: Scene, timestamps: bool) -> None:
    """A host delays no ACK for longer than 500 ms: the bare ACKs before are missing, and the second is the client's."""
    flow = polled(scene, timestamps=timestamps)
    assert (flow["base_rtt_ns"] or 0) < 100e6
    assert flow["time_ns"].get("in-transit", 0) < 0.1 * sum(flow["time_ns"].values())
