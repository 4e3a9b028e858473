"""Hosts of a store's connections as SQL: addresses, networks and names."""

from collections.abc import Iterator, Sequence
from ipaddress import IPv4Network, IPv6Network, ip_network

from tcpstall.archive.storing.literals import listed, literal

__all__ = ["host_is"]

_ENDS = ("client_address", "server_address")
_NAMES = ("server_name", "http_host")

_OCTET_BITS = 8
_LAST_OCTET = 3
_DIGIT_BITS = 4


def host_is(hosts: Sequence[str]) -> str:
    """A condition: either end is one of these addresses or in one of these networks, or the server has such a name.

    A name may hold the wildcards `*` and `?`; it is compared with the name in the TLS hello and with the HTTP Host.
    """
    return f"coalesce({' OR '.join(_conditions(hosts))}, false)"


def _conditions(hosts: Sequence[str]) -> Iterator[str]:
    addresses = []
    for host in hosts:
        try:
            network = ip_network(host)
        except ValueError:
            yield from (f"{name} GLOB {literal(host)}" for name in _NAMES)
            continue
        if network.num_addresses == 1:
            addresses.append(str(network.network_address))
        elif isinstance(network, IPv4Network):
            yield from (f"regexp_matches({end}, {literal(_begin_of(network))})" for end in _ENDS)
        else:
            yield from (f"{end} IN ({_addresses_in(network)})" for end in _ENDS)
    if addresses:
        yield from (f"{end} IN ({listed(addresses)})" for end in _ENDS)


def _begin_of(network: IPv4Network) -> str:
    """The pattern of its addresses: octets that the prefix covers, then those that fit the rest of the prefix."""
    whole, rest = divmod(network.prefixlen, _OCTET_BITS)
    octets = str(network.network_address).split(".")
    first = int(octets[whole])
    fitting = "|".join(str(first + step) for step in range(1 << (_OCTET_BITS - rest))) if rest else "[0-9]+"
    return f"^{''.join(f'{octet}[.]' for octet in octets[:whole])}({fitting}){'$' if whole == _LAST_OCTET else '[.]'}"


def _addresses_in(network: IPv6Network) -> str:
    """A query for the addresses in it: as text they lack zeros, so each is compared with all its digits."""
    whole, rest = divmod(network.prefixlen, _DIGIT_BITS)
    digits = network.network_address.exploded.replace(":", "")
    first = int(digits[whole], 16)
    fitting = "".join(f"{first + step:x}" for step in range(1 << (_DIGIT_BITS - rest))) if rest else ""
    pattern = literal(f"^{digits[:whole]}{f'[{fitting}]' if rest else ''}")
    left, right = (f"list_filter(string_split(split_part(a, '::', {side}), ':'), lambda g: g <> '')" for side in (1, 2))
    zeros = "list_resize([]::VARCHAR[], 8 - len(l) - len(r), '0')"
    full = f"array_to_string(list_transform(l || {zeros} || r, lambda g: lpad(g, 4, '0')), '')"
    return (
        f"SELECT a FROM (SELECT a, {left} AS l, {right} AS r "
        f"FROM (SELECT DISTINCT unnest([{', '.join(_ENDS)}]) AS a FROM flows) WHERE contains(a, ':')) "
        f"WHERE regexp_matches({full}, {pattern})"
    )
