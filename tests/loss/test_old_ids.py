"""A sender may keep the IP-ID of a packet that it sends again (RFC 1122 §3.2.1.5); a copy by the network has it too."""

from dataclasses import replace
from typing import Any

import pytest

from tests.scene import Scene
from tests.scene.files import write
from tests.scene.network import Tap
from tests.scene.packet import Packet
from tests.scene.verdict import flows_of

MS = 1_000_000
SEGMENT = 1_448


def numbered_anew(scene: Scene, tap: Tap) -> list[tuple[int, Packet]]:
    """The tap's packets, from a server that gives data the IP-ID that it had first and counts on for new data."""
    ids: dict[int, int] = {}
    first: dict[int, int] = {}
    again = 0
    for _, packet in scene.packets("server"):
        if packet.source == scene.server.endpoint:
            if packet.payload and packet.seq in first:
                again += 1
                ids[packet.ip_id] = first[packet.seq]
            else:
                ids[packet.ip_id] = first[packet.seq] = packet.ip_id - again
    server = scene.server.endpoint
    packets = scene.packets(tap)
    return [(time, replace(own, ip_id=ids[own.ip_id]) if own.source == server else own) for time, own in packets]


def read(scene: Scene, packets: list[tuple[int, Packet]]) -> dict[str, Any]:
    path = scene.folder / "old-ids.pcap"
    write(path, sorted(packets, key=lambda pair: pair[0]))
    (flow,) = flows_of(path)
    return flow


def longest(flow: dict[str, Any]) -> tuple[str, str]:
    row = max((row for row in flow["stalls"] if row["sender"] == "server"), key=lambda row: row["duration_ns"])
    return row["cause"], row["detail"]


def loses(scene: Scene, *, stamps: bool, after_ms: float) -> None:
    """The server's fifth segment is lost; the server sends it again `after_ms` after three duplicate ACKs."""
    size = SEGMENT if stamps else SEGMENT + 12
    scene.handshake(rtt_ms=20, timestamps=stamps)
    scene.request()
    for _ in range(4):
        scene.server_sends(size, tso=1)
        scene.client_acks()
    scene.server_sends(size, tso=1, lost=True)
    for end in (6, 7, 8):
        scene.server_sends(size, tso=1)
        scene.client_acks(upto=4 * size, sack=[(5 * size, end * size)])
    scene.server.now_ns = scene.server.heard_ns + round(after_ms * MS)
    scene.server_repeats(4 * size, size)
    scene.client_acks(upto=8 * size)
    scene.server_sends(2 * size, tso=1)
    scene.client_acks()


@pytest.mark.parametrize("stamps", [True, False])
@pytest.mark.parametrize("tap", ["server", "client"])
@pytest.mark.parametrize("after_ms", [1, 400])
def test_data_that_is_sent_again_with_its_ip_id_is_a_retransmission(
    scene: Scene, tap: Tap, after_ms: float, *, stamps: bool
) -> None:
    loses(scene, stamps=stamps, after_ms=after_ms)
    flow = read(scene, numbered_anew(scene, tap))
    assert flow["directions"]["server"]["retransmitted_bytes"] == (SEGMENT if stamps else SEGMENT + 12)
    assert flow["trust"]["duplicates_removed"] == 0
    if after_ms > 20:
        assert longest(flow)[0] == "retransmission"


def test_a_copy_of_data_that_is_not_acknowledged_yet_is_none(scene: Scene) -> None:
    """The network repeats a packet, stamp and all, when three quarters of the round trip have passed."""
    scene.handshake(rtt_ms=200)
    scene.request()
    for _ in range(4):
        scene.server_sends(SEGMENT)
        scene.client_acks()
    scene.server_sends(SEGMENT)
    packets = scene.packets("server")
    again = [(time + 150 * MS, packet) for time, packet in packets[-1:]]
    scene.client_acks()
    flow = read(scene, scene.packets("server") + again)
    assert flow["directions"]["server"]["retransmitted_bytes"] == 0
    assert flow["trust"]["duplicates_removed"] == 1


def test_data_that_was_overtaken_by_data_with_its_stamp_was_late(scene: Scene) -> None:
    scene.handshake(rtt_ms=20)
    scene.server.tick_ns = 1_000 * MS
    scene.request()
    for _ in range(4):
        scene.server_sends(SEGMENT)
        scene.client_acks()
    scene.server_sends(SEGMENT, late_ms=300)
    for _ in range(3):
        scene.server_sends(SEGMENT)
        scene.client_acks(upto=4 * SEGMENT, sack=[(5 * SEGMENT, 6 * SEGMENT)])
    scene.wait_ms(320)
    scene.client_acks()
    flow = read(scene, scene.packets("client"))
    assert flow["directions"]["server"]["retransmitted_bytes"] == 0
