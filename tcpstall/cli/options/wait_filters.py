"""Options that select waits of a store."""

from typing import TYPE_CHECKING, TypedDict

import click

from tcpstall.causes import Cause
from tcpstall.cli.options.quantities import MOMENT, Moment
from tcpstall.cli.options.selection import HOST, PORTS
from tcpstall.cli.options.together import together
from tcpstall.lost_time import Span
from tcpstall.model import Endpoint

if TYPE_CHECKING:
    from tcpstall.archive.asking.where import Chosen

__all__ = [
    "SERVICE",
    "TIMES",
    "Which",
    "cause_option",
    "chosen",
    "filter_options",
    "page_options",
    "sensor_option",
    "which_options",
    "within_option",
]


class Which(TypedDict, total=False):
    """The options as click hands them over; what is absent selects all."""

    causes: tuple[str, ...]
    services: tuple[Endpoint, ...]
    hosts: tuple[str, ...]
    ports: tuple[tuple[int, ...], ...]
    captures: tuple[str, ...]
    sensors: tuple[str, ...]
    since: Moment | None
    until: Moment | None


class _ServiceType(click.ParamType[Endpoint]):
    """An address and a port."""

    name = "service"

    def convert(self, value: str | Endpoint, param: click.Parameter | None, ctx: click.Context | None) -> Endpoint:
        """`192.0.2.1:80`, `[2001:db8::1]:80`."""
        from ipaddress import ip_address

        if isinstance(value, Endpoint):
            return value
        address, _, port = value.strip().rpartition(":")
        try:
            end = Endpoint(str(ip_address(address.removeprefix("[").removesuffix("]"))), int(port))
        except ValueError:
            end = None
        if end is None or not 0 <= end.port <= 65_535 or (":" in end.address) != address.startswith("["):
            self.fail(f"{value!r} is no address with a port: write 192.0.2.1:80 or [2001:db8::1]:80", param, ctx)
        return end


SERVICE = _ServiceType()


class _NameType(click.ParamType[str]):
    """Text that a store can hold."""

    name = "name"

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Refuses names of files that are not UTF-8."""
        try:
            value.encode()
        except UnicodeEncodeError:
            self.fail(f"{value!r} is not UTF-8", param, ctx)
        return value


class _TimesType(click.ParamType[Span]):
    """A time from its start to its end."""

    name = "times"

    def convert(self, value: str | Span, param: click.Parameter | None, ctx: click.Context | None) -> Span:
        """`2026-03-01..2026-03-02`."""
        if isinstance(value, Span):
            return value
        ends = [MOMENT.convert(end, param, ctx) for end in value.split("..")]
        if len(ends) != 2 or not all(end.is_absolute for end in ends) or ends[0].ns >= ends[1].ns:
            self.fail(f"{value!r} is no time from its start to its end: write 2026-03-01..2026-03-02T12:00", param, ctx)
        return Span(ends[0].ns, ends[1].ns)


TIMES = _TimesType()

cause_option = click.option(
    "--cause",
    "causes",
    type=click.Choice([cause.value for cause in Cause]),
    multiple=True,
    metavar="CAUSE",
    help="Only what was lost to this cause. May be repeated.",
)


filter_options = together(
    cause_option,
    click.option("--service", "services", type=SERVICE, multiple=True, metavar="ADDRESS:PORT",
                 help="Only what was lost at this service. May be repeated."),
    click.option("--host", "hosts", type=HOST, multiple=True, metavar="ADDRESS",
                 help="Only connections with this address, or one of this network (192.0.2.0/24), at either "
                 "end, or with this name in the TLS hello or the HTTP request (*.example.org). May be "
                 "repeated."),
    click.option("--port", "ports", type=PORTS, multiple=True, metavar="PORT",
                 help="Only connections with this port at either end: 443, https, 8000-8080. May be repeated."),
    click.option("--capture", "captures", type=_NameType(), multiple=True, metavar="NAME|GLOB",
                 help="Only connections that began in this capture, such as 'db3-*': one host or folder. "
                 "Compared with the last part of names, or with all of them if it has a slash. May be repeated."),
    click.option("--sensor", "sensors", type=_NameType(), multiple=True, metavar="NAME|GLOB",
                 help="Only what this sensor saw: a name that `scan --sensor` gave, such as 'db3' or 'berlin-*'. May "
                 "be repeated."),
)  # fmt: skip
"""Adds the options of `Which`, but for the time."""

within_option = click.option(
    "--capture",
    "within",
    type=_NameType(),
    multiple=True,
    metavar="NAME|GLOB",
    help="With --store: only connections that began in this capture, such as 'db3-*': one host or folder. May be "
    "repeated.",
)

sensor_option = click.option(
    "--sensor",
    "sensors",
    type=_NameType(),
    multiple=True,
    metavar="NAME|GLOB",
    help="With --store: only what this sensor saw, such as 'db3' or 'berlin-*'. May be repeated.",
)

page_options = together(
    click.option("--service", "services", type=SERVICE, multiple=True, metavar="ADDRESS:PORT",
                 help="With --store: only what was lost at this service. May be repeated."),
    within_option,
    sensor_option,
)  # fmt: skip
"""Adds those options of `Which` that `report` has for stores alone; the captures are `within`."""

which_options = together(
    filter_options,
    click.option("--since", type=MOMENT, metavar="TIME",
                 help="Only waits that began from then on: 2026-03-01T10:45 (UTC unless a zone follows) or "
                 "seconds since 1970."),
    click.option("--until", type=MOMENT, metavar="TIME",
                 help="Only waits that began before then; written like --since."),
)  # fmt: skip
"""Adds the options of `Which`."""


def chosen(which: Which) -> "Chosen":
    """The selected waits. Times must be absolute, because a store has no first packet."""
    from tcpstall.archive.asking.where import Chosen

    since, until = _absolute(which.get("since")), _absolute(which.get("until"))
    if since is not None and until is not None and until <= since:
        raise click.UsageError("--until must be later than --since")
    return Chosen(
        causes=[Cause(name) for name in which.get("causes", ())],
        services=which.get("services", ()),
        hosts=which.get("hosts", ()),
        ports=[port for ports in which.get("ports", ()) for port in ports],
        captures=which.get("captures", ()),
        sensors=which.get("sensors", ()),
        since_ns=since,
        until_ns=until,
    )


def _absolute(moment: Moment | None) -> int | None:
    if moment is None:
        return None
    if not moment.is_absolute:
        raise click.UsageError("a store covers many days: give --since and --until with a date")
    return moment.resolve(0)
