"""`tcpstall whatif`: predicted gain of a change."""

from typing import TYPE_CHECKING, Unpack

import click

from tcpstall.cli.inputs import inputs
from tcpstall.cli.options.capture_options import outcome
from tcpstall.cli.options.flow_option import FLOW, InStore
from tcpstall.cli.options.numbers import LARGEST
from tcpstall.cli.options.output_format import table_or_json
from tcpstall.cli.process.exits import writing
from tcpstall.cli.process.progress import Bar
from tcpstall.cli.whatif_store import Filters, over_store, store_filters, whatif_store_option
from tcpstall.errors import UNREAD, ExitCode, NothingToShow

if TYPE_CHECKING:
    from tcpstall.model import Endpoint
    from tcpstall.whatif import Change

__all__ = ["command"]


@click.command("whatif")
@click.argument("capture", type=click.Path(), metavar="CAPTURE", required=False)
@click.option(
    "--flow",
    "flows",
    type=FLOW,
    multiple=True,
    metavar="N",
    help="Number of the flow. May be repeated. With --store SCAN/FLOW.  [default: the one that lost most time]",
)
@whatif_store_option
@click.option(
    "--service",
    "services",
    multiple=True,
    metavar="ADDRESS:PORT",
    help="All flows to this server, one by one and added up. With --store it may be repeated.",
)
@store_filters
@click.option(
    "--set",
    "changes",
    multiple=True,
    metavar="NAME=VALUE",
    help="The change, e.g. initcwnd=40, sndbuf=256K or auto, rcvbuf=1M or auto, slow-start-after-idle=0, "
    "rtt=100ms, rate=100Mbit, queue=64K, queue-packets=100, nodelay=1, delayed-ack=0, reuse-connection=1, loss=0, "
    "loss=1%, think=0, cc=reno. At one end: server.initcwnd=40, client.rcvbuf=1M. Several are made together.  "
    "[default: each remedy that the causes call for, alone, the best first]",
)
@table_or_json("Tables")
def command(
    capture: str | None,
    flows: tuple[int | InStore, ...],
    store: str | None,
    services: tuple[str, ...],
    changes: tuple[str, ...],
    form: str,
    **filters: Unpack[Filters],
) -> ExitCode:
    """Say what a change would buy, before anybody makes it.

    The flow's own applications, its path and its limits are recovered from CAPTURE and played again, unchanged and with
    the change. CAPTURE is read more than once, so it cannot be standard input; URLs and members of archives
    are copied first.
    """  # fmt: skip
    if capture == "-":
        raise click.BadParameter("a file is needed, not standard input", param_hint="CAPTURE")
    together = _changes(changes)
    ends = [_service(service) for service in services]
    if store is not None and capture is None and not flows:
        return over_store(store, ends, together, filters, form)
    if any(value for value in filters.values()):
        raise click.UsageError(
            "--host, --port, --capture, --sensor, --since, --until and --by select flows of a --store"
        )
    if len(ends) > 1:
        raise click.BadParameter("give one service of a capture", param_hint="--service")
    from tcpstall.whatif import whatif

    read_of = inputs([capture] if capture else [], flows, store)
    files = read_of.files()
    with Bar() as bar:
        found = whatif(
            read_of.names,
            flows=read_of.flows,
            service=ends[0] if ends else None,
            changes=[together] if together else (),
            strict=False,
            progress=bar,
            **read_of.streams,
            open=read_of.open,
            files=files,
        )
    code = outcome(found.captures)
    if not found.forecasts:
        if code in UNREAD:
            return code
        raise NothingToShow(f"{read_of.name} holds no such flow; `tcpstall analyze` lists the flows")
    with writing("standard output"):
        if form == "json":
            from tcpstall.report.whatif.as_json import whatif_json

            click.echo(whatif_json(found))
        else:
            from tcpstall.cli.process.terminal import console, show
            from tcpstall.report.whatif.tables import render_whatif

            screen = console()
            for part in render_whatif(found, width=screen.width):
                show(part, screen)
    return code


def _changes(texts: tuple[str, ...]) -> "list[Change]":
    from tcpstall.whatif import change

    try:
        changes = [change(text) for text in texts]
    except ValueError as error:
        raise click.BadParameter(str(error), param_hint="--set") from error
    for text, made in zip(texts, changes, strict=True):
        if sum(_overlap(made, other) for other in changes) > 1:
            raise click.BadParameter(f"{made.key} is set twice: give it one value", param_hint="--set")
        if made.value is not None and made.value > LARGEST:
            raise click.BadParameter(f"{text!r} is larger than any value here", param_hint="--set")
    return changes


def _overlap(one: "Change", other: "Change") -> bool:
    """Both set the same at the same end; a queue has one depth, in bytes or in packets."""
    same = one.name.removesuffix("-packets") == other.name.removesuffix("-packets")
    return same and (one.end == other.end or None in (one.end, other.end))


def _service(text: str) -> "Endpoint":
    from ipaddress import ip_address

    from tcpstall.model import Endpoint

    host, _, port = text.strip().rpartition(":")
    try:
        return Endpoint(str(ip_address(host.removeprefix("[").removesuffix("]"))), int(port))
    except ValueError as error:
        raise click.BadParameter(f"{text!r}: write ADDRESS:PORT", param_hint="--service") from error
