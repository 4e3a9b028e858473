"""A capture full of names: addresses wherever packets hold them, and words that must not leave the house."""

import struct

from scapy.compat import raw
from scapy.contrib.geneve import GENEVE
from scapy.contrib.gtp import GTP_U_Header
from scapy.contrib.mpls import MPLS
from scapy.layers.dns import DNS, DNSQR
from scapy.layers.inet import ICMP, IP, TCP, UDP, IPOption_RR
from scapy.layers.inet6 import (
    ICMPv6EchoRequest,
    ICMPv6ND_NS,
    ICMPv6NDOptSrcLLAddr,
    ICMPv6PacketTooBig,
    IPv6,
    IPv6ExtHdrDestOpt,
    IPv6ExtHdrRouting,
    PadN,
)
from scapy.layers.l2 import ARP, GRE, LLC, SNAP, CookedLinux, Dot1Q, Dot3, Ether
from scapy.layers.vxlan import VXLAN
from scapy.packet import Packet, Raw

from tests.formats.containers import block, option, section

SECRET = b"s3cr3t"
"""Stands in every text."""

V4 = ("203.0.113.77", "198.51.100.99", "192.0.2.155", "100.70.80.90")
V6 = ("2001:db8:aaaa:bbbb::77", "2001:db8:cccc:dddd::99", "2001:db8:eeee::55")
MACS = ("00:1b:21:aa:bb:cc", "3c:22:fb:dd:ee:ff")

REQUEST = b"GET /s3cr3t?token=s3cr3t HTTP/1.1\r\nHost: s3cr3t.example\r\nUser-Agent: s3cr3t\r\n\r\n"


def _ether(packet: Packet, kind: int | None = None) -> Packet:
    return Ether(src=MACS[0], dst=MACS[1], **({} if kind is None else {"type": kind})) / packet


def _four(packet: Packet, **fields: object) -> Packet:
    return IP(src=V4[0], dst=V4[1], **fields) / packet


def _six(packet: Packet) -> Packet:
    return IPv6(src=V6[0], dst=V6[1]) / packet


def _tcp(payload: bytes = b"", *, flags: str = "A", options: list[tuple[object, object]] | None = None) -> Packet:
    # The payload is the peer's business: a checksum with it is right although it is not kept.
    return TCP(sport=40_000, dport=80, seq=7, ack=9, flags=flags, options=options or []) / Raw(payload)


def with_checksums() -> dict[str, Packet]:
    """Ethernet frames whose checksums cover nothing but headers, so that they can be checked after."""
    cookie: list[tuple[object, object]] = [("MSS", 1460), (34, SECRET + b"cook"), (30, b"\x00\x81" + SECRET)]
    quoted4 = raw(IP(src=V4[1], dst=V4[0]) / TCP(sport=80, dport=40_000))
    quoted6 = raw(IPv6(src=V6[1], dst=V6[0]) / TCP(sport=80, dport=40_000))
    return {
        "SYN": _ether(_four(_tcp(flags="S"))),
        "SYN with cookies and keys": _ether(_four(_tcp(flags="S", options=cookie))),
        "record route": _ether(_four(_tcp(), options=[IPOption_RR(routers=[V4[2], V4[3]])])),
        "IPv6": _ether(_six(_tcp())),
        "VLAN": _ether(Dot1Q(vlan=7) / _four(_tcp())),
        "unreachable": _ether(IP(src=V4[2], dst=V4[0]) / ICMP(type=3, code=4, nexthopmtu=1400) / Raw(quoted4)),
        "redirect": _ether(IP(src=V4[2], dst=V4[0]) / ICMP(type=5, code=1, gw=V4[3]) / Raw(quoted4)),
        "too big": _ether(IPv6(src=V6[2], dst=V6[0]) / ICMPv6PacketTooBig(mtu=1400) / Raw(quoted6)),
        "GRE": _ether(IP(src=V4[2], dst=V4[3]) / GRE(chksum_present=1) / _four(_tcp())),
        "VXLAN": _ether(IP(src=V4[2], dst=V4[3]) / UDP(sport=5, dport=4789) / VXLAN(vni=42) / _ether(_four(_tcp()))),
        "IPIP": _ether(IP(src=V4[2], dst=V4[3]) / _four(_tcp())),
        "6in4": _ether(IP(src=V4[2], dst=V4[3]) / _six(_tcp())),
        "GTP-U": _ether(IP(src=V4[2], dst=V4[3]) / UDP(sport=5, dport=2152) / GTP_U_Header(teid=9) / _four(_tcp())),
    }


def others() -> dict[str, Packet]:
    """Ethernet frames that carry words, or what has no checksum to check."""
    geneve = GENEVE(vni=5, proto=0x6558, optionlen=3, options=Raw(b"\x01\x02\x03\x02" + SECRET + b"xx"))
    return {
        "request": _ether(_four(_tcp(REQUEST, flags="PA"))),
        "IPv6 request": _ether(_six(_tcp(REQUEST, flags="PA"))),
        "DNS": _ether(_four(UDP(sport=5353, dport=53) / DNS(qd=DNSQR(qname="s3cr3t.example")))),
        "echo": _ether(_four(ICMP() / Raw(SECRET))),
        "IPv6 echo": _ether(_six(ICMPv6EchoRequest(data=SECRET))),
        "neighbour": _ether(
            IPv6(src=V6[0], dst="ff02::1:ff00:99") / ICMPv6ND_NS(tgt=V6[1]) / ICMPv6NDOptSrcLLAddr(lladdr=MACS[0])
        ),
        "ARP": _ether(ARP(hwsrc=MACS[0], psrc=V4[0], hwdst=MACS[1], pdst=V4[1], op=2)),
        "IGMP": _ether(_four(Raw(b"\x16\0\0\0" + SECRET), proto=2)),
        "ESP": _ether(_four(Raw(SECRET * 4), proto=50)),
        "SCTP": _ether(_four(Raw(SECRET * 4), proto=132)),
        "later fragment": _ether(_four(Raw(SECRET * 4), proto=6, frag=100)),
        "LLDP": _ether(Raw(SECRET * 4), 0x88CC),
        "STP": Dot3(src=MACS[0], dst=MACS[1]) / LLC() / Raw(SECRET),
        "SNAP": Dot3(src=MACS[0], dst=MACS[1]) / LLC() / SNAP(code=0x800) / _four(_tcp(REQUEST)),
        "routing header": _ether(
            IPv6(src=V6[0], dst=V6[1]) / IPv6ExtHdrRouting(addresses=[V6[2]], segleft=0) / _tcp(REQUEST)
        ),
        "destination option": _ether(
            IPv6(src=V6[0], dst=V6[1]) / IPv6ExtHdrDestOpt(options=[PadN(optdata=SECRET)]) / _tcp(REQUEST)
        ),
        "pseudowire": _ether(MPLS(label=5, s=1) / Raw(bytes(4)) / _ether(_four(_tcp(REQUEST))), 0x8847),
        "Geneve": _ether(IP(src=V4[2], dst=V4[3]) / UDP(sport=5, dport=6081) / geneve / _ether(_four(_tcp(REQUEST)))),
        "padding": _ether(_four(_tcp())) / Raw(SECRET),
        "of no length": _ether(_four(_tcp(REQUEST), len=0)),
        "two tags and nothing": _ether(Dot1Q(vlan=7) / Dot1Q(vlan=8, type=0x1234) / Raw(SECRET)),
    }


def cooked() -> Packet:
    """A packet of Linux's cooked capture, which names its sender."""
    return CookedLinux(src=bytes.fromhex(MACS[0].replace(":", "")) + bytes(2)) / _four(
        TCP(sport=40_001, dport=80, seq=7, flags="PA") / Raw(REQUEST)
    )


def capture() -> bytes:
    """All of it as pcapng, with every block and option that can hold a name."""
    said = option("<", 1, SECRET)
    hardware = said + option("<", 2, SECRET) + option("<", 3, SECRET) + option("<", 4, SECRET) + option("<", 0, b"")
    head = block("<", 0x0A0D0D0A, struct.pack("<IHHq", 0x1A2B3C4D, 1, 0, -1) + hardware)
    name = (
        said + option("<", 2, SECRET) + option("<", 3, SECRET) + option("<", 4, bytes([203, 0, 113, 77, 255, 0, 0, 0]))
    )
    name += option("<", 6, bytes.fromhex("001b21aabbcc")) + option("<", 11, b"\0host s3cr3t") + option("<", 12, SECRET)
    head += b"".join(block("<", 1, struct.pack("<HHI", link, 0, 0) + name + option("<", 0, b"")) for link in (1, 113))
    head += block("<", 4, struct.pack("<HH4s", 1, 14, bytes([203, 0, 113, 77])) + b"s3cr3t.ex\0" + bytes(6))
    head += block("<", 10, struct.pack("<II", 0x544C534B, 6) + SECRET) + block("<", 0xBAD, bytes(4) + SECRET)
    head += block("<", 0x80000123, SECRET) + block("<", 9, SECRET)
    frames = [*map(raw, [*with_checksums().values(), *others().values()])]
    out = [head, *(_enhanced(frame, at) for at, frame in enumerate(frames))]
    out.append(_enhanced(raw(cooked()), len(frames), number=1))
    out.append(
        block("<", 5, struct.pack("<III", 0, 0, 0) + said + option("<", 5, struct.pack("<Q", 3)) + option("<", 0, b""))
    )
    return b"".join(out)


def _enhanced(frame: bytes, second: int, *, number: int = 0) -> bytes:
    ticks = (1_700_000_000 + second) * 10**6
    words = struct.pack("<IIIII", number, ticks >> 32, ticks & 0xFFFFFFFF, len(frame), len(frame))
    options = option("<", 1, SECRET) + option("<", 2, bytes(4)) + option("<", 0xBAC, SECRET) + option("<", 0, b"")
    return block("<", 6, words + frame + bytes(-len(frame) % 4) + options)


__all__ = ["MACS", "REQUEST", "SECRET", "V4", "V6", "capture", "cooked", "others", "section", "with_checksums"]
