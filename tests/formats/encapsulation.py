"""Prefixes of an IP packet: link layers and tunnels as scapy builds them."""

import struct
from collections.abc import Callable
from dataclasses import dataclass

from scapy.compat import raw
from scapy.contrib.erspan import ERSPAN_II, ERSPAN_III
from scapy.contrib.geneve import GENEVE
from scapy.contrib.gtp import GTP_U_Header
from scapy.contrib.mpls import MPLS, EoMCW
from scapy.layers.dot11 import Dot11, Dot11QoS, RadioTap
from scapy.layers.inet import IP, UDP
from scapy.layers.inet6 import IPv6, IPv6ExtHdrDestOpt, IPv6ExtHdrFragment, IPv6ExtHdrHopByHop, IPv6ExtHdrRouting
from scapy.layers.ipsec import AH
from scapy.layers.l2 import (
    GRE,
    GRE_PPTP,
    LLC,
    SNAP,
    CookedLinux,
    CookedLinuxV2,
    Dot1AD,
    Dot1Q,
    Dot3,
    Ether,
)
from scapy.layers.ppp import HDLC, PPP, PPPoE
from scapy.layers.vxlan import VXLAN
from scapy.packet import Packet, Raw

ETHERNET, PPP_LINK, FDDI, PPP_HDLC, PPP_ETHER, RAW, C_HDLC, WIRELESS, LOOP, SLL = (
    1,
    9,
    10,
    50,
    51,
    101,
    104,
    105,
    108,
    113,
)
RADIOTAP, PPI, IPV4, IPV6, NFLOG, SLL2, NULL, RAW_HOST, RAW_OPENBSD = 127, 192, 228, 229, 239, 276, 0, 12, 14
"""Numbers of tcpdump.org's LINKTYPE_ registry."""

FOUR, SIX = 4, 6
ENDS = "198.51.100.1", "198.51.100.2"
NAMED = f"{ENDS[0]} > {ENDS[1]}"
"""The outer path of every tunnel here, as reports name it."""
TCP_PROTOCOL = 6
PSEUDOWIRE = 18
"""The label that carries Ethernet: only its ends know which one does."""


@dataclass(frozen=True, slots=True)
class Wrapping:
    """`before(version, length)` is what precedes an IP packet of that version and length.

    `version` is the only one that fits, `tunnel` what a report says of the way.
    """

    link: int
    before: Callable[[int, int], bytes]
    version: int | None = None
    tunnel: str | None = None


def _type(version: int) -> int:
    return 0x0800 if version == FOUR else 0x86DD


def _ppp(version: int) -> int:
    return 0x0021 if version == FOUR else 0x0057


def _link(link: int, *layers: Callable[[int], Packet]) -> Wrapping:
    """Layers without lengths of their own, each made for an IP version."""
    return Wrapping(link, lambda version, _: b"".join(raw(layer(version)) for layer in layers))


def _outer(named: str, protocol: int, *layers: Callable[[int, int], Packet], version: int | None = None) -> Wrapping:
    """Layers in an IPv4 packet between the ends; each is told the version and the length of what it carries."""

    def before(inner_version: int, length: int) -> bytes:
        out = b""
        for layer in reversed(layers):
            out = raw(layer(inner_version, length + len(out))) + out
        head = IP(src=ENDS[0], dst=ENDS[1], proto=protocol, len=20 + len(out) + length, id=77)
        return bytes(raw(head)) + out

    return Wrapping(RAW, before, version, f"{named} {NAMED}")


def _udp(port: int) -> Callable[[int, int], Packet]:
    return lambda _, length: UDP(sport=49_999, dport=port, len=8 + length, chksum=0)


def _bridged(version: int, _: int) -> Packet:
    return Ether(src="02:00:00:00:00:03", dst="02:00:00:00:00:04", type=_type(version))


def _ether(kind: int) -> Packet:
    return Ether(src="02:00:00:00:00:01", dst="02:00:00:00:00:02", type=kind)


def _pppoe(version: int, length: int) -> bytes:
    return bytes(raw(_ether(0x8864) / PPPoE(sessionid=7, len=2 + length) / PPP(proto=_ppp(version))))


def _nflog(version: int, length: int) -> bytes:
    family = 2 if version == FOUR else 10
    prefix = struct.pack("<HH4s", 8, 10, b"ssh")
    return struct.pack("!BBH", family, 0, 0) + prefix + struct.pack("<HH", (4 + length) % 65_536, 9)


def _snap(version: int) -> Packet:
    return LLC(dsap=0xAA, ssap=0xAA, ctrl=3) / SNAP(OUI=0, code=_type(version))


def _extended(*headers: Packet) -> Callable[[int, int], bytes]:
    """Extension headers go behind the IPv6 header: see `extend`."""
    return lambda _, __: b"".join(raw(header) for header in headers)


def _labels(_: int) -> Packet:
    return MPLS(label=16, s=0, ttl=9) / MPLS(label=17, s=1, ttl=9)


LINKS: dict[str, Wrapping] = {
    "Ethernet": _link(ETHERNET, lambda v: _ether(_type(v))),
    "VLAN": _link(ETHERNET, lambda _: _ether(0x8100), lambda v: Dot1Q(vlan=42, type=_type(v))),
    "QinQ": _link(
        ETHERNET,
        lambda _: _ether(0x88A8),
        lambda _: Dot1AD(vlan=7, type=0x8100),
        lambda v: Dot1Q(vlan=8, type=_type(v)),
    ),
    "three tags": _link(
        ETHERNET,
        lambda _: _ether(0x9100),
        lambda _: Dot1Q(vlan=1, type=0x9100),
        lambda _: Dot1Q(vlan=2, type=0x8100),
        lambda v: Dot1Q(vlan=3, type=_type(v)),
    ),
    "802.3 LLC/SNAP": Wrapping(
        ETHERNET, lambda v, n: raw(Dot3(dst="02:00:00:00:00:02", len=min(n + 8, 1_500))) + raw(_snap(v))
    ),
    "MPLS": _link(ETHERNET, lambda _: _ether(0x8847), _labels),
    "MPLS pseudowire": _link(
        ETHERNET,
        lambda _: _ether(0x8847),
        lambda _: MPLS(label=PSEUDOWIRE, s=1, ttl=9),
        lambda _: EoMCW(seq=1),
        lambda v: _bridged(v, 0),
    ),
    "PPPoE": Wrapping(ETHERNET, _pppoe),
    "PPPoE alone": Wrapping(PPP_ETHER, lambda v, n: _pppoe(v, n)[14:]),
    "PPP": _link(PPP_LINK, lambda v: HDLC() / PPP(proto=_ppp(v))),
    "PPP without HDLC framing": _link(PPP_HDLC, lambda v: PPP(proto=_ppp(v))),
    "Cisco HDLC": _link(C_HDLC, lambda v: Raw(struct.pack("!BBH", 0x0F, 0, _type(v)))),
    "FDDI": _link(FDDI, lambda _: Raw(b"\x50" + bytes(12)), _snap),
    "SLL": _link(SLL, lambda v: CookedLinux(proto=_type(v))),
    "SLL2": _link(SLL2, lambda v: CookedLinuxV2(proto=_type(v))),
    "NULL": _link(NULL, lambda v: Raw(struct.pack("<I", 2 if v == FOUR else 24))),
    "LOOP": _link(LOOP, lambda v: Raw(struct.pack("!I", 2 if v == FOUR else 24))),
    "raw IP": _link(RAW),
    "raw IP, number 12": _link(RAW_HOST),
    "raw IP, number 14": _link(RAW_OPENBSD),
    "raw IPv4": Wrapping(IPV4, lambda _, __: b"", FOUR),
    "raw IPv6": Wrapping(IPV6, lambda _, __: b"", SIX),
    "802.11": _link(WIRELESS, lambda _: Dot11(type=2, subtype=0, FCfield=2), _snap),
    "802.11 QoS with radiotap": _link(
        RADIOTAP,
        lambda _: RadioTap(present="TSFT+Flags+Rate", mac_timestamp=9, Flags=0, Rate=12),
        lambda _: Dot11(type=2, subtype=8, FCfield=1),
        lambda _: Dot11QoS(),
        _snap,
    ),
    "PPI": _link(PPI, lambda v: Raw(struct.pack("<BBHI", 0, 0, 8, ETHERNET)) / _ether(_type(v))),
    "NFLOG": Wrapping(NFLOG, _nflog),
}
"""Link layers, with what they may hold before IP."""

TUNNELS: dict[str, Wrapping] = {
    "IPIP": _outer("IPIP", 4, version=FOUR),
    "6in4": _outer("6in4", 41, version=SIX),
    "GRE": _outer("GRE", 47, lambda v, _: GRE(proto=_type(v))),
    "GRE with checksum, key and sequence number": _outer(
        "GRE 99",
        47,
        lambda v, _: GRE(proto=_type(v), chksum_present=1, key_present=1, seqnum_present=1, key=99, chksum=0),
    ),
    "GRE with bridged Ethernet": _outer("GRE 5", 47, lambda *_: GRE(proto=0x6558, key_present=1, key=5), _bridged),
    "PPTP": _outer(
        "PPTP 6",
        47,
        lambda _, n: GRE_PPTP(call_id=6, payload_len=n % 65_536, seqnum_present=1, acknum_present=1),
        lambda v, _: PPP(proto=_ppp(v)),
    ),
    "ERSPAN type I": _outer("ERSPAN", 47, lambda *_: GRE(proto=0x88BE), _bridged),
    "ERSPAN type II": _outer(
        "ERSPAN 3",
        47,
        lambda *_: GRE(proto=0x88BE, seqnum_present=1, sequence_number=1),
        lambda *_: ERSPAN_II(session_id=3),
        _bridged,
    ),
    "ERSPAN type III": _outer(
        "ERSPAN 4",
        47,
        lambda *_: GRE(proto=0x22EB, seqnum_present=1, sequence_number=1),
        lambda *_: ERSPAN_III(session_id=4),
        _bridged,
    ),
    "VXLAN": _outer("VXLAN 42", 17, _udp(4789), lambda *_: VXLAN(flags="Instance", vni=42), _bridged),
    "VXLAN on Linux's old port": _outer(
        "VXLAN 43", 17, _udp(8472), lambda *_: VXLAN(flags="Instance", vni=43), _bridged
    ),
    "Geneve": _outer("Geneve 44", 17, _udp(6081), lambda *_: GENEVE(vni=44, proto=0x6558), _bridged),
    "GTP-U": _outer("GTP-U 45", 17, _udp(2152), lambda _, n: GTP_U_Header(teid=45, length=n % 65_536, gtp_type=255)),
    "Ethernet in IP": _outer("EtherIP", 97, lambda *_: Raw(b"\x30\x00"), _bridged),
    "MPLS in IP": _outer("MPLS", 137, lambda v, _: _labels(v)),
    "MPLS in UDP": _outer("MPLS", 17, _udp(6635), lambda v, _: _labels(v)),
    "IPIP behind an authentication header": _outer(
        "IPIP", 51, lambda *_: AH(nh=4, payloadlen=4, spi=1, seq=1, icv=bytes(12)), version=FOUR
    ),
}
"""IP in IP, each from one of the ends to the other."""

EXTENSIONS: dict[str, list[Packet]] = {
    "hop-by-hop options": [IPv6ExtHdrHopByHop(nh=TCP_PROTOCOL)],
    "routing header": [IPv6ExtHdrRouting(nh=TCP_PROTOCOL, addresses=["fd00::9"], segleft=0)],
    "destination options": [IPv6ExtHdrDestOpt(nh=TCP_PROTOCOL)],
    "atomic fragment": [IPv6ExtHdrFragment(nh=TCP_PROTOCOL, offset=0, m=0, id=5)],
    "authentication header": [AH(nh=TCP_PROTOCOL, payloadlen=4, spi=1, seq=1, icv=bytes(12))],
    "several": [
        IPv6ExtHdrHopByHop(nh=43),
        IPv6ExtHdrRouting(nh=60, addresses=["fd00::9"], segleft=0),
        IPv6ExtHdrDestOpt(nh=44),
        IPv6ExtHdrFragment(nh=TCP_PROTOCOL, offset=0, m=0, id=5),
    ],
}
"""IPv6 extension headers, each naming the next."""

_FIRST_NUMBER = {IPv6ExtHdrHopByHop: 0, IPv6ExtHdrRouting: 43, IPv6ExtHdrFragment: 44, AH: 51, IPv6ExtHdrDestOpt: 60}


def extended(packet: bytes, headers: list[Packet]) -> bytes:
    """An IPv6 packet with extension headers behind its fixed header."""
    between = b"".join(raw(header) for header in headers)
    length = struct.unpack_from("!H", packet, 4)[0] + len(between)
    first = _FIRST_NUMBER[type(headers[0])]
    return packet[:4] + struct.pack("!HB", length % 65_536, first) + packet[7:40] + between + packet[40:]


def as_ipv6(packet: bytes) -> bytes:
    """An IPv4 packet as the IPv6 packet with the same payload, which may be cut."""
    header = (packet[0] & 15) * 4
    length = struct.unpack_from("!H", packet, 2)[0] - header
    source, destination = (f"fd77::{packet[at : at + 2].hex()}:{packet[at + 2 : at + 4].hex()}" for at in (12, 16))
    fixed = IPv6(src=source, dst=destination, nh=TCP_PROTOCOL, plen=length, hlim=packet[8])
    return bytes(raw(fixed)) + packet[header:]
