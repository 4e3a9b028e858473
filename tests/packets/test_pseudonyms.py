"""Pseudonyms preserve prefixes and kinds, and no two addresses have the same."""

import struct
import tempfile
from ipaddress import IPv4Address, IPv6Address, ip_address
from itertools import combinations
from pathlib import Path
from typing import TypeAlias

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tcpstall import analyze

Address: TypeAlias = IPv4Address | IPv6Address
KEY = b"a key that everybody may know"


def syn(address: Address) -> bytes:
    """A raw IP packet from that address."""
    tcp = struct.pack("!HHIIBBHHH", 40_000, 80, 1, 0, 5 << 4, 2, 65_535, 0, 0)
    if isinstance(address, IPv4Address):
        return struct.pack("!BBHHHBBH", 0x45, 0, 40, 0, 0, 64, 6, 0) + address.packed + bytes([203, 0, 113, 1]) + tcp
    return struct.pack("!IHBB", 6 << 28, 20, 6, 64) + address.packed + IPv6Address("2001:db8::99").packed + tcp


def pseudonyms(addresses: list[Address], key: bytes = KEY) -> list[Address]:
    """Of each address, as a report shows them: a flow for each, in their order."""
    out = [struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65_535, 101)]
    for second, address in enumerate(addresses, 1):
        packet = syn(address)
        out.append(struct.pack("<IIII", second, 0, len(packet), len(packet)) + packet)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "in.pcap"
        path.write_bytes(b"".join(out))
        return [ip_address(flow.client.address) for flow in analyze(path, anonymise=key)]


def alike(one: Address, other: Address) -> int:
    """Number of leading bits that both share."""
    return one.max_prefixlen - (int(one) ^ int(other)).bit_length()


def near(addresses: st.SearchStrategy[Address], bits: int) -> st.SearchStrategy[list[Address]]:
    """Some of them, and for each another that differs from one bit on."""
    pairs = st.lists(st.tuples(addresses, st.integers(0, bits - 1)), min_size=1, max_size=6)
    return pairs.map(lambda drawn: [each for one, bit in drawn for each in (one, type(one)(int(one) ^ 1 << bit))])


@given(near(st.ip_addresses(v=4), 32))
@example([IPv4Address("10.0.0.0"), IPv4Address("11.0.0.0"), IPv4Address("8.8.8.8"), IPv4Address("10.255.255.255")])
@example([IPv4Address("192.168.0.1"), IPv4Address("192.169.0.1"), IPv4Address("224.0.0.1"), IPv4Address("224.0.1.1")])
def test_ipv4_addresses_share_as_many_bits_as_before(addresses: list[Address]) -> None:
    expect_prefixes_preserved(addresses)


@given(near(st.ip_addresses(v=6), 128))
@example([IPv6Address("fe80::1"), IPv6Address("fe80:1::1"), IPv6Address("ff02::1"), IPv6Address("ff02::1:ff00:1")])
@example([IPv6Address("::1"), IPv6Address("::2"), IPv6Address("2001:db8::1"), IPv6Address("fd00::1")])
def test_ipv6_addresses_share_as_many_bits_as_before(addresses: list[Address]) -> None:
    # Mapped ones are IPv4 addresses here.
    expect_prefixes_preserved([each for each in addresses if not (isinstance(each, IPv6Address) and each.ipv4_mapped)])


def expect_prefixes_preserved(addresses: list[Address]) -> None:
    distinct = list(dict.fromkeys(addresses))
    for (one, its), (other, others) in combinations(zip(distinct, pseudonyms(distinct), strict=True), 2):
        assert alike(its, others) == alike(one, other)


@given(st.ip_addresses(v=4))
def test_a_private_address_stays_private_and_no_other_becomes_so(address: IPv4Address) -> None:
    (its,) = pseudonyms([address])
    assert isinstance(its, IPv4Address)
    private = [f"10.{address.packed[1]}.0.0", "172.16.0.0", "192.168.0.0", "127.0.0.0", "169.254.0.0", "224.0.0.0"]
    for start, length in zip(private, (8, 12, 16, 8, 16, 4), strict=True):
        first = IPv4Address(start)
        assert (alike(address, first) >= length) == (alike(its, first) >= length)


@pytest.mark.parametrize("address", ["127.0.0.53", "255.255.255.255", "224.0.0.251", "::1", "ff02::fb"])
def test_what_is_the_same_everywhere_stays(address: str) -> None:
    assert pseudonyms([ip_address(address)]) == [ip_address(address)]


@pytest.mark.parametrize(("address", "least"), [("8.8.8.8", 7), ("192.169.0.1", 16), ("52.1.2.3", 3), ("140.1.2.3", 3)])
def test_near_a_special_range_so_many_bits_are_given_away(address: str, least: int) -> None:
    """Those that the threat model states: no key turns them, and some key turns the next."""
    names = [pseudonyms([ip_address(address)], KEY + bytes([n]))[0] for n in range(40)]
    assert min(alike(ip_address(address), name) for name in names) == least


def test_a_key_gives_the_same_pseudonyms_and_another_key_others() -> None:
    addresses: list[Address] = [IPv4Address(f"203.0.113.{last}") for last in range(20)]
    assert pseudonyms(addresses) == pseudonyms(addresses)
    assert pseudonyms(addresses) == pseudonyms(addresses[::-1])[::-1]
    assert pseudonyms(addresses) != pseudonyms(addresses, KEY + b"!")
