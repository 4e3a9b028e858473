"""Packets that reach the tap once more, by a mirror or a loop of the network, are no repairs of their sender."""

from dataclasses import replace
from typing import Any

import pytest

from tests.scene import Scene
from tests.scene.files import write
from tests.scene.packet import Packet
from tests.scene.verdict import flows_of

MS = 1_000_000


def asked_twice(scene: Scene, later_ms: float, *, renumbered: bool = False) -> dict[str, Any]:
    """A flow of two requests; the tap sees the packets of the first again, with their own IP-IDs or new ones."""
    scene.handshake(rtt_ms=20)
    scene.client_sends(1_121)
    scene.server_sends(144)
    scene.client_acks()
    scene.wait_ms(7_000)
    scene.client_sends(198)
    scene.server_acks()
    packets = scene.packets("client")
    again = [(time + round(later_ms * MS), packet) for time, packet in packets[3:6]]
    if renumbered:
        again = [(time, replace(packet, ip_id=packet.ip_id + 100)) for time, packet in again]
    return _read(scene, packets + again)


@pytest.mark.parametrize("later_ms", [0.5, 4.6, 50, 900])
def test_the_same_ip_id_once_more_is_a_copy_however_late(scene: Scene, later_ms: float) -> None:
    flow = asked_twice(scene, later_ms)
    assert flow["directions"]["client"]["retransmitted_bytes"] == 0
    assert flow["trust"]["duplicates_removed"] >= 1
    assert {row["cause"] for row in flow["stalls"] if row["duration_ns"] > 1e9} == {"app-limited"}


def test_a_new_ip_id_is_sent_again(scene: Scene) -> None:
    assert asked_twice(scene, 50, renumbered=True)["directions"]["client"]["retransmitted_bytes"] == 1_121


def test_a_number_that_no_later_packet_had_is_a_copys_where_numbers_count(scene: Scene) -> None:
    packets = _headers_and_bodies(scene)
    again = [(time + 8 * MS, packet) for time, packet in packets if packet.payload == 198]
    flow = _read(scene, packets + again)
    assert flow["directions"]["client"]["retransmitted_bytes"] == 0
    assert "retransmission" not in {row["cause"] for row in flow["stalls"]}


def test_copies_show_how_late_a_capture_may_be(scene: Scene) -> None:
    packets = _headers_and_bodies(scene)
    again = [(time + 2 * MS, packet) for time, packet in packets if packet.payload == 198]
    assert _causes_of_held(_read(scene, packets)) == {"app-limited"}
    assert _causes_of_held(_read(scene, packets + again)) == {"delayed-ack"}


def _causes_of_held(flow: dict[str, Any]) -> set[str]:
    held = [row for row in flow["stalls"] if row["sender"] == "client" and 50 * MS < row["duration_ns"] < 100 * MS]
    return {row["cause"] for row in held}


def _headers_and_bodies(scene: Scene) -> list[tuple[int, Packet]]:
    """Each body waits for the delayed ACK of its headers; the tap stores it 1.5 ms late."""
    scene.handshake(rtt_ms=3)
    for _ in range(4):
        scene.client_sends(198)
        scene.wait_ms(60)
        scene.server_acks()
        scene.wait_ms(3)
        scene.client_sends(1_090)
        scene.server_acks()
        scene.server_sends(144)
        scene.client_acks()
        scene.wait_ms(3_000)
    return scene.packets("client")


def _read(scene: Scene, packets: list[tuple[int, Packet]]) -> dict[str, Any]:
    path = scene.folder / "again.pcap"
    write(path, sorted(packets, key=lambda pair: pair[0]))
    (flow,) = flows_of(path)
    return flow
