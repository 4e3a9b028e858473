"""The scene language itself: its frames are what scapy would build, its files are what dpkt reads."""

from pathlib import Path
from typing import Any, get_args

import dpkt
import pytest
from scapy.compat import raw
from scapy.layers.inet import IP, TCP
from scapy.layers.inet6 import IPv6
from scapy.layers.l2 import CookedLinux, Dot1Q, Ether

from tests.scene import Scene
from tests.scene.files import text_line
from tests.scene.packet import Link, Packet, as_ipv6, frame

LOSSY = (20_000, 40_000, 59_999)


@pytest.fixture
def lossy(scene: Scene) -> Scene:
    scene.handshake(rtt_ms=20)
    scene.download(60_000, lose=LOSSY)
    scene.closes()
    return scene


def scapy_options(packet: Packet) -> list[tuple[str, Any]]:
    blank: tuple[str, Any] = ("NOP", None)
    options: list[tuple[str, Any]] = []
    if packet.mss is not None:
        options += [("MSS", packet.mss)]
    if packet.sack_permitted:
        options += [("SAckOK", b"")]
    if packet.timestamps:
        options += [] if packet.sack_permitted else [blank, blank]
        options += [("Timestamp", packet.timestamps)]
    if packet.window_scale is not None:
        options += [blank, ("WScale", packet.window_scale)]
    if packet.sack:
        options += [blank, blank, ("SAck", tuple(edge for block in packet.sack for edge in block))]
    return options


def by_scapy(packet: Packet, link: Link) -> bytes:
    tcp = TCP(
        sport=packet.source.port,
        dport=packet.destination.port,
        seq=packet.seq,
        ack=packet.ack,
        flags=packet.flags,
        window=packet.window,
        options=scapy_options(packet),
    )
    six = ":" in packet.source.address
    ends = {"src": packet.source.address, "dst": packet.destination.address}
    ip = IPv6(hlim=packet.ttl, **ends) if six else IP(id=packet.ip_id, flags="DF", ttl=packet.ttl, **ends)
    macs = {"dst": "02:00:00:00:00:02", "src": "02:02:00:00:00:01"}
    head = {
        "ethernet": Ether(**macs),
        "vlan": Ether(**macs) / Dot1Q(vlan=42),
        "qinq": Ether(**macs, type=0x88A8) / Dot1Q(vlan=7) / Dot1Q(vlan=42),
        "sll": CookedLinux(lladdrtype=1, src=b"\x02\x02\x00\x00\x00\x01", lladdrlen=6),
        "raw": None,
    }[link]
    inner = ip / tcp / bytes(packet.payload)
    return bytes(raw(inner if head is None else head / inner))


@pytest.mark.parametrize("link", ["ethernet", "vlan", "qinq", "sll", "raw"])
@pytest.mark.parametrize("six", [False, True])
def test_frames_are_what_scapy_builds(lossy: Scene, link: Link, six: bool) -> None:
    packets = [packet for _, packet in lossy.packets("client")]
    sacks = [packet for packet in packets if packet.sack]
    assert sacks
    for packet in [*packets[:8], *sacks[:4], packets[-1]]:
        version = as_ipv6(packet) if six else packet
        assert frame(version, link) == by_scapy(version, link)


@pytest.mark.parametrize("kind", ["pcap", "pcap-ns", "pcapng"])
def test_dpkt_reads_the_files_back(lossy: Scene, kind: Any) -> None:
    path = lossy.capture(kind=kind, snap=96)
    with path.open("rb") as file:
        read = list(dpkt.pcapng.Reader(file) if kind == "pcapng" else dpkt.pcap.Reader(file))
    expected = lossy.packets()
    assert [len(kept) for _, kept in read] == [min(96, len(frame(packet))) for _, packet in expected]
    for (read_s, _), (time_ns, _) in zip(read, expected, strict=True):
        assert abs(float(read_s) - time_ns / 1e9) < 2e-6


@pytest.mark.parametrize("tap", ["client", "server", "between"])
def test_a_tap_sees_time_in_order_and_each_direction_in_its_order(lossy: Scene, tap: Any) -> None:
    packets = lossy.packets(tap)
    assert [time for time, _ in packets] == sorted(time for time, _ in packets)
    identities = [packet.ip_id for _, packet in packets if packet.source.port == 80]
    assert identities == sorted(set(identities))


def test_a_lost_packet_is_seen_before_the_loss_but_not_behind_it(lossy: Scene) -> None:
    def payload(tap: Any) -> int:
        return sum(packet.payload for _, packet in lossy.packets(tap) if packet.source.port == 80)

    assert payload("server") > payload("client") == 60_000


def test_the_text_is_tcpdumps(scene: Scene) -> None:
    scene.handshake(rtt_ms=20)
    scene.client_sends(147)
    lines = [text_line(time, packet) for time, packet in scene.packets()]
    assert lines[0] == (
        "2023-11-14 22:13:20.010005 IP 10.0.0.1.40000 > 10.0.0.2.80: Flags [S], seq 1000000, win 64240, "
        "options [mss 1460,sackOK,TS val 70000 ecr 0,nop,wscale 10], length 0"
    )
    assert "Flags [P.], seq 1000001:1000148, ack 9000001, win 62, options [nop,nop,TS val 70020 ecr" in lines[3]


def test_every_link_type_has_a_number() -> None:
    from tests.scene.packet import LINK_TYPES

    assert set(LINK_TYPES) == set(get_args(Link))


def test_the_files_of_a_scene_do_not_overwrite_each_other(lossy: Scene, tmp_path: Path) -> None:
    assert lossy.capture().parent == tmp_path
    assert lossy.capture() != lossy.capture()
