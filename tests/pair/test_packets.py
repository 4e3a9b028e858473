"""Fates of packets between two taps."""

import itertools
from dataclasses import replace

import pytest

from tcpstall.pair import Ends, Event, pair
from tests.pair.stage import Packets, captured, each, from_packet, without
from tests.scene import Scene


def both(scene: Scene) -> Ends:
    return pair(captured(scene, "client"), captured(scene, "server"))


def kinds(ends: Ends) -> list[tuple[str, str]]:
    return [(event.kind, event.sender) for event in ends.events]


def test_nothing_is_lost_where_nothing_was_though_one_frame_is_many_packets(scene: Scene) -> None:
    scene.handshake()
    scene.download(400_000)
    scene.closes()
    (flow,) = both(scene).flows
    for sender in ("client", "server"):
        way = flow.way(sender)
        assert way["matched_packets"] == way["seen_packets"]
        assert (way["lost_packets"], way["duplicated_packets"], way["reordered_packets"]) == (0, 0, 0)
        assert (way["outside_packets"], way["missed_by_receiving_tap"], way["missed_by_sending_tap"]) == (0, 0, 0)
        assert way["hops"] == 3
    assert flow.way("server")["sent_packets"] < flow.way("server")["seen_packets"]


def test_a_lost_packet_is_named_at_the_sender_and_its_repair_at_both(scene: Scene) -> None:
    scene.handshake()
    scene.client_sends(100)
    scene.server_sends(1_448, lost=True)
    scene.wait_ms(300)
    scene.server_repeats(0, 1_448)
    scene.client_acks()
    scene.closes()
    ends = both(scene)
    lost = [event for event in ends.events if event.kind == "lost"]
    assert [(event.sender, event.seq, event.bytes) for event in lost] == [("server", 1, 1_448)]
    numbers = {number: packet for number, (_, packet) in enumerate(scene.packets("server"), 1)}
    arrived = {number: packet for number, (_, packet) in enumerate(scene.packets("client"), 1)}
    (loss,) = lost
    assert loss.sent_packet is not None
    assert loss.repair_sent_packet is not None
    assert loss.repair_seen_packet is not None
    assert numbers[loss.sent_packet].payload == numbers[loss.repair_sent_packet].payload == 1_448
    assert loss.sent_packet < loss.repair_sent_packet
    assert arrived[loss.repair_seen_packet].payload == 1_448
    assert ends.flows[0].way("server")["lost_bytes"] == 1_448


def test_a_piece_of_a_frame_is_told_by_its_bytes(scene: Scene) -> None:
    scene.handshake()
    scene.client_sends(100)
    scene.server_transfers(200_000, lose=(30 * 1_448,))
    lost = [event for event in both(scene).events if event.kind == "lost"]
    assert [(event.seq, event.bytes) for event in lost] == [(1 + 30 * 1_448, 1_448)]


def test_a_lost_ack_is_told_too(scene: Scene) -> None:
    scene.handshake()
    scene.client_sends(5_000)
    scene.server_acks()
    scene.wait_ms(100)
    scene.client_sends(5_000)
    scene.server_acks()
    acks = [number for number, (_, packet) in enumerate(scene.packets("client"), 1) if packet.source.port == 80]
    ack = acks[1]  # after the SYN-ACK
    ends = pair(captured(scene, "client", without(ack)), captured(scene, "server"))
    (event,) = ends.events
    assert (event.kind, event.sender, event.bytes, event.repair_sent_packet) == ("lost", "server", 0, None)


def test_what_the_capture_missed_is_not_called_lost(scene: Scene) -> None:
    scene.handshake()
    scene.client_sends(30_000, tso=1)
    scene.server_acks()
    scene.wait_ms(100)
    scene.client_sends(100)
    scene.server_acks()
    ends = pair(captured(scene, "client"), captured(scene, "server", without(6)))
    assert kinds(ends) == [("missed", "client")]
    ends = pair(captured(scene, "client", without(6)), captured(scene, "server"))
    assert kinds(ends) == [("unsent", "client")]


def test_packets_before_the_other_capture_began_prove_nothing(scene: Scene) -> None:
    scene.handshake()
    scene.download(100_000)
    scene.closes()
    ends = pair(captured(scene, "client"), captured(scene, "server", from_packet(6)))
    (flow,) = ends.flows
    assert flow.row["matched_by"] == "packets"
    assert not ends.events
    assert sum(flow.way(sender)["outside_packets"] for sender in ("client", "server")) >= 4
    assert flow.way("server")["delay"]["least_ns"] == pytest.approx(10_000_000, abs=200_000)


def test_a_packet_that_others_overtook_is_late_by_so_much(scene: Scene) -> None:
    scene.handshake()
    scene.client_sends(1_448, tso=1, late_ms=5)
    scene.client_sends(2_896, tso=1)
    scene.wait_ms(50)
    scene.server_acks()
    ends = both(scene)
    (event,) = ends.events
    assert (event.kind, event.sender, event.seq) == ("reordered", "client", 1)
    assert event.late_ns == pytest.approx(5_000_000, abs=100_000)


def test_a_packet_that_comes_twice_is_told_and_one_stored_twice_is_not_lost(scene: Scene) -> None:
    scene.handshake()
    scene.client_sends(1_448)
    scene.server_acks()
    client, server = scene.packets("client"), scene.packets("server")

    def again(packets: Packets, at: int) -> Packets:
        time, packet = packets[at]
        return sorted([*packets, (time + 20_000, packet)], key=lambda pair: pair[0])

    data = next(number for number, (_, packet) in enumerate(server) if packet.payload)
    ends = pair(captured(scene, "client"), captured(scene, "server", lambda packets: again(packets, data)))
    assert kinds(ends) == [("duplicated", "client")]
    data = next(number for number, (_, packet) in enumerate(client) if packet.payload)
    ends = pair(captured(scene, "client", lambda packets: again(packets, data)), captured(scene, "server"))
    assert not ends.events
    assert ends.flows[0].way("client")["copied_by_capture"] == 1


def test_what_was_rewritten_in_between_is_told(scene: Scene) -> None:
    scene.handshake()
    scene.download(20_000)

    ends = pair(
        captured(scene, "client"),
        captured(
            scene,
            "server",
            each(lambda packet: replace(packet, mss=1_200) if packet.mss and packet.source.port == 40_000 else packet),
            each(lambda packet: replace(packet, ip_id=packet.ip_id + 7) if packet.source.port == 40_000 else packet),
        ),
    )
    way = ends.flows[0].way("client")
    assert way["syn_changes"] == [{"field": "mss", "sent": 1_460, "seen": 1_200}]
    assert way["ip_ids_rewritten"] == way["matched_packets"]
    assert way["lost_packets"] == 0
    assert not ends.flows[0].way("server")["syn_changes"]


def test_stripped_timestamps_are_told_and_cost_no_match(scene: Scene) -> None:
    scene.handshake()
    scene.download(60_000)
    ends = pair(
        captured(scene, "client"), captured(scene, "server", each(lambda packet: replace(packet, timestamps=None)))
    )
    (flow,) = ends.flows
    assert flow.way("client")["timestamps_stripped"]
    assert {"field": "timestamps", "sent": 1, "seen": None} in flow.way("client")["syn_changes"]
    assert flow.way("client")["matched_packets"] == flow.way("client")["seen_packets"]
    assert not ends.events


def test_events_are_numbered_by_their_flow(scene: Scene) -> None:
    other = Scene(scene.folder, client_port=50_000)
    other.client.isn, other.server.isn = 555, 777
    for one in (scene, other):
        one.handshake()
        one.client_sends(1_000, lost=one is other)
        one.wait_ms(300)
        one.client_repeats(0, 1_000)
        one.server_acks()
    ends = pair(captured(scene, "client", beside=[other]), captured(scene, "server", beside=[other]))
    by_port = {flow.end("client").port: flow.id for flow in ends.flows}
    lost: list[Event] = [event for event in ends.events if event.kind == "lost"]
    assert [event.flow for event in lost] == [by_port[50_000]]
    assert list(itertools.chain(ends.unmatched)) == [0, 0]
