"""The options that choose which part of a capture is analysed."""

import re
from collections.abc import Mapping, Sequence
from typing import Any, TypedDict

import click

from tcpstall import _core
from tcpstall.cli.inputs import Inputs
from tcpstall.cli.options.flow_option import FLOW
from tcpstall.cli.options.quantities import MOMENT, Moment
from tcpstall.cli.options.together import together

__all__ = ["HOST", "PORTS", "Selection", "captures_argument", "chosen", "selection_options"]

_STANDARD_INPUT = "-"

_LAST_PORT = 65_535

_NAME = r"(?!\d+(\.\d+)*$)[a-z0-9*?_][a-z0-9*?_-]*(\.[a-z0-9*?_-]+)*"
"""A host's name, with * and ? for any characters; a name of digits alone is a mistyped address."""

_DIGITS = 10
"""Most digits of a port; Python refuses to convert thousands of digits."""


class Selection(TypedDict):
    """The selection that `_core` keeps; an empty one keeps all."""

    flows: Sequence[int]
    hosts: Sequence[str]
    ports: Sequence[int]
    since_ns: int | None
    until_ns: int | None


class _HostType(click.ParamType[str]):
    """An IP address, brackets allowed, a network such as 192.0.2.0/24, or a name that a capture gives a server."""

    name = "address"

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """The address without brackets, the network, or the name in lower case."""
        from ipaddress import ip_address, ip_network

        bare = value.strip().removeprefix("[").removesuffix("]")
        try:
            if "/" in bare:
                return str(ip_network(bare, strict=False))
            return str(ip_address(bare.partition("%")[0]))
        except ValueError:
            name = bare.lower().rstrip(".")
            if re.fullmatch(_NAME, name):
                return name
            self.fail(
                f"{value!r} is no IP address, no network such as 192.0.2.0/24 and no name such as *.example.org",
                param,
                ctx,
            )


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdecimal() and len(text) < _DIGITS


class _PortsType(click.ParamType[tuple[int, ...]]):
    """A port by number or service name, or a range of ports."""

    name = "ports"

    def convert(
        self, value: str | tuple[int, ...], param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[int, ...]:
        """Every port of the range."""
        if isinstance(value, tuple):
            return value
        first, dash, last = value.strip().partition("-")
        if dash and _is_number(first) and _is_number(last):
            low, high = int(first), int(last)
            if low <= high <= _LAST_PORT:
                return tuple(range(low, high + 1))
            self.fail(f"{value!r} is no range of ports: write it like 8000-8080, up to {_LAST_PORT}", param, ctx)
        if _is_number(value.strip()):
            if int(value) <= _LAST_PORT:
                return (int(value),)
            self.fail(f"{value!r} is no port: the last one is {_LAST_PORT}", param, ctx)
        from socket import getservbyname

        try:
            return (getservbyname(value.strip().lower(), "tcp"),)
        except (OSError, ValueError):
            self.fail(f"{value!r} is no port: write a number, 8000-8080 or a service's name", param, ctx)


HOST = _HostType()
PORTS = _PortsType()

captures_argument = click.argument("captures", nargs=-1, type=click.Path(allow_dash=True), metavar="CAPTURE...")


selection_options = together(
    click.option("--flow", "flows", type=FLOW, multiple=True, metavar="N",
                 help="Only the flow with this number, Wireshark's tcp.stream. May be repeated. With --store "
                 "SCAN/FLOW, the columns of `top` and `query`."),
    click.option("--host", "hosts", type=HOST, multiple=True, metavar="ADDRESS",
                 help="Only flows with this address, or one of this network (192.0.2.0/24), at either end, or "
                 "with the servers that TLS hellos and HTTP requests in the captures call so (*.example.org). "
                 "May be repeated."),
    click.option("--port", "ports", type=PORTS, multiple=True, metavar="PORT",
                 help="Only flows with this port at either end: 443, https, 8000-8080. May be repeated."),
    click.option("--since", type=MOMENT, metavar="TIME",
                 help="Only packets from then on: 2026-03-01T10:45:49.05 (UTC unless a zone follows), "
                 "10:45:49.05 (on the capture's first day), +1.5s (after its first packet) or seconds "
                 "since 1970."),
    click.option("--until", type=MOMENT, metavar="TIME",
                 help="Only packets before then; written like --since."),
)  # fmt: skip
"""Adds the options to a command."""


def chosen(
    captures: Inputs,
    *,
    hosts: Sequence[str],
    ports: Sequence[Sequence[int]],
    since: Moment | None,
    until: Moment | None,
) -> Selection:
    """The options as the core takes them; names and times that count from the captures' start cost a reading."""
    if captures.names.count(_STANDARD_INPUT) > 1:
        raise click.UsageError("standard input can be read only once: give '-' once")
    since_ns, until_ns = _resolved(captures, since, until)
    if since_ns is not None and until_ns is not None and until_ns <= since_ns:
        raise click.UsageError("--until must be later than --since")
    if names := [host for host in hosts if re.fullmatch(_NAME, host)]:
        hosts = [host for host in hosts if host not in names] + _called(captures, names)
    return Selection(
        flows=captures.flows,
        hosts=hosts,
        ports=[port for each in ports for port in each],
        since_ns=since_ns,
        until_ns=until_ns,
    )


def _resolved(captures: Inputs, *moments: Moment | None) -> tuple[int | None, ...]:
    first_ns = 0
    if any(moment and not moment.is_absolute for moment in moments):
        if _STANDARD_INPUT in captures.names:
            raise click.UsageError("standard input can be read only once: give --since and --until with a date")
        first_ns = _first_packet_ns(captures.files())
    return tuple(moment.resolve(first_ns) if moment else None for moment in moments)


def _called(captures: Inputs, names: Sequence[str]) -> list[str]:
    from tcpstall.cli.options.server_names import addresses

    if _STANDARD_INPUT in captures.names:
        raise click.UsageError("standard input can be read only once: give --host an address")
    return addresses(captures.files(), names)


def _first_packet_ns(captures: Sequence[str]) -> int:
    """The earliest timestamp of the captures; costs one reading of them, as the border has no shorter way to ask."""
    import json
    import os
    from pathlib import Path

    with Path(os.devnull).open("wb") as nowhere:
        written = _core.write(captures, nowhere.fileno(), format="csv", bursts=False)
    rows: list[Mapping[str, Any]] = [json.loads(status.json) for status in written.captures]
    return min((row["first_ns"] for row in rows if row.get("first_ns") is not None), default=0)
