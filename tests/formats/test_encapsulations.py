"""One fixture in every link layer and tunnel says the same, and dpkt finds the same segments."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import dpkt
import pytest

from tcpstall import analyze
from tests.formats.encapsulation import EXTENSIONS, FOUR, LINKS, SIX, TUNNELS, Wrapping, extended
from tests.formats.fixture import CHOSEN, Datagram, datagrams, fragments, plain, told, wrapped
from tests.properties.frames import write_frames
from tests.scene.verdict import flows_of

fixtures = pytest.mark.parametrize("name", CHOSEN)


def _fitting(wrappings: dict[str, Wrapping]) -> list[tuple[str, int]]:
    """Each with the IP versions that it can carry."""
    return [
        (name, version)
        for name, each in wrappings.items()
        for version in (FOUR, SIX)
        if each.version in (None, version)
    ]


def expect_the_same(name: str, folder: Path, wrapping: Wrapping, version: int) -> None:
    frames = wrapped(datagrams(name, version=version), wrapping)
    (flow,) = flows_of(write_frames(folder / "wrapped.pcap", frames))
    expected = plain(name, folder, version=version)
    assert told(flow) == told(expected)
    assert (flow["client"], flow["server"]) == (expected["client"], expected["server"])
    assert flow.get("tunnel") == wrapping.tunnel


@fixtures
@pytest.mark.parametrize(("link", "version"), _fitting(LINKS))
def test_every_link_layer_gives_the_same_stalls(name: str, link: str, version: int, tmp_path: Path) -> None:
    expect_the_same(name, tmp_path, LINKS[link], version)


@fixtures
@pytest.mark.parametrize(("tunnel", "version"), _fitting(TUNNELS))
def test_every_tunnel_gives_the_same_stalls_and_is_named(name: str, tunnel: str, version: int, tmp_path: Path) -> None:
    expect_the_same(name, tmp_path, TUNNELS[tunnel], version)


@fixtures
def test_a_tunnel_in_a_tunnel_behind_a_tag_names_both(name: str, tmp_path: Path) -> None:
    vlan, gre, vxlan = LINKS["VLAN"], TUNNELS["GRE"], TUNNELS["VXLAN"]

    def before(version: int, length: int) -> bytes:
        inner = vxlan.before(version, length)
        middle = gre.before(FOUR, length + len(inner))
        return vlan.before(FOUR, length + len(inner) + len(middle)) + middle + inner

    both = f"{vxlan.tunnel} in {gre.tunnel}"
    expect_the_same(name, tmp_path, Wrapping(vlan.link, before, tunnel=both), SIX)


@fixtures
def test_ipv6_gives_the_stalls_of_ipv4(name: str, tmp_path: Path) -> None:
    assert told(plain(name, tmp_path, version=SIX)) == told(plain(name, tmp_path))


@fixtures
@pytest.mark.parametrize("chain", EXTENSIONS)
def test_ipv6_extension_headers_change_nothing(name: str, chain: str, tmp_path: Path) -> None:
    longer = [_extended(packet, chain) for packet in datagrams(name, version=SIX)]
    (flow,) = flows_of(write_frames(tmp_path / "extended.pcap", wrapped(longer, LINKS["Ethernet"])))
    assert told(flow) == told(plain(name, tmp_path, version=SIX))


def _extended(packet: Datagram, chain: str) -> Datagram:
    data = extended(packet.data, EXTENSIONS[chain])
    return replace(packet, data=data, length=packet.length + len(data) - len(packet.data))


@fixtures
@pytest.mark.parametrize("version", [FOUR, SIX])
def test_fragments_are_the_whole_segment_again(name: str, version: int, tmp_path: Path) -> None:
    whole = datagrams(name, version=version)
    parts = [part for packet in whole for part in (fragments(packet, 1_200) if packet.length > 1_240 else [packet])]
    path = write_frames(tmp_path / "fragments.pcap", wrapped(parts, LINKS["Ethernet"]))
    analysis = analyze(path)
    (capture,) = analysis.captures
    assert (capture.packets, capture.tcp_segments) == (len(parts), len(whole))
    assert capture.skipped["ip_fragment"] == len(parts) - len(whole) > 10
    (flow,) = flows_of(path)
    expected = plain(name, tmp_path, version=version)
    for side in ("client", "server"):
        assert flow["directions"][side]["bytes"] == expected["directions"][side]["bytes"]
    assert flow["trust"]["unseen_bytes"] == expected["trust"]["unseen_bytes"]
    assert told(flow) == told(expected)


def _by_dpkt(link: int, data: bytes) -> dpkt.tcp.TCP | None:
    """The innermost TCP segment that dpkt finds."""
    readers = {
        0: dpkt.loopback.Loopback,
        1: dpkt.ethernet.Ethernet,
        101: dpkt.ip.IP if data[0] >> 4 == FOUR else dpkt.ip6.IP6,
        113: dpkt.sll.SLL,
        276: dpkt.sll2.SLL2,
    }
    found = None
    for layer in _layers(readers[link](data)):
        if isinstance(layer, dpkt.tcp.TCP):
            found = layer
    return found


def _layers(layer: object) -> Iterator[object]:
    while isinstance(layer, dpkt.Packet):
        yield layer
        layer = layer.data


DPKT_READS = (
    *("Ethernet", "VLAN", "QinQ", "three tags", "802.3 LLC/SNAP", "MPLS", "MPLS pseudowire", "PPPoE"),
    *("SLL", "SLL2", "NULL", "raw IP", "IPIP", "6in4", "IPIP behind an authentication header"),
    *("GRE", "GRE with checksum, key and sequence number", "GRE with bridged Ethernet"),
)
"""Of the others it stops before the TCP segment."""


@pytest.mark.parametrize("kind", DPKT_READS)
def test_dpkt_finds_the_same_segment(kind: str, tmp_path: Path) -> None:
    wrapping = (LINKS | TUNNELS)[kind]
    version = wrapping.version or FOUR
    packets = datagrams(CHOSEN[0], version=version)
    bare = [dpkt.ip.IP(p.data) if version == FOUR else dpkt.ip6.IP6(p.data) for p in packets]
    theirs = [_by_dpkt(wrapping.link, frame.data) for frame in wrapped(packets, wrapping)]
    assert [segment and (segment.seq, segment.ack, segment.flags) for segment in theirs] == [
        (ip.data.seq, ip.data.ack, ip.data.flags) for ip in bare
    ]


@pytest.mark.parametrize(("kind", "version"), _fitting(LINKS | TUNNELS))
def test_frames_cut_in_their_headers_are_counted_and_never_a_flow(kind: str, version: int, tmp_path: Path) -> None:
    wrapping = (LINKS | TUNNELS)[kind]
    (frame, *_) = wrapped(datagrams(CHOSEN[1], version=version), wrapping)
    header = len(frame.data) - len(datagrams(CHOSEN[1], version=version)[0].data) + (20 if version == FOUR else 40)
    for kept in range(1, header + 20, 3):
        path = write_frames(tmp_path / "cut.pcap", [replace(frame, data=frame.data[:kept])])
        assert flows_of(path) == []
