"""Hosts as people type them on the command line: an address, or a network of them."""

from ipaddress import IPv4Network, IPv6Network, ip_network

import click

__all__ = ["NETWORK", "Network"]

Network = IPv4Network | IPv6Network


class _NetworkType(click.ParamType[Network]):
    """An address is a network of one; bits of a host behind the prefix are left out."""

    name = "network"

    def convert(self, value: str | Network, param: click.Parameter | None, ctx: click.Context | None) -> Network:
        """The network."""
        if isinstance(value, Network):
            return value
        try:
            return ip_network(value.strip(), strict=False)
        except ValueError:
            self.fail(
                f"{value!r} is no address and no network: write 192.0.2.7, 192.0.2.0/24 or 2001:db8::/32", param, ctx
            )


NETWORK = _NetworkType()
