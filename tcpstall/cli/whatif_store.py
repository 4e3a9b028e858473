"""`tcpstall whatif --store`: a change over the flows of a store."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal, TypedDict

import click

from tcpstall.cli.inputs import Inputs
from tcpstall.cli.options.capture_sets import streams
from tcpstall.cli.options.quantities import MOMENT, Moment
from tcpstall.cli.options.selection import HOST, PORTS
from tcpstall.cli.options.together import together
from tcpstall.cli.options.wait_filters import chosen, sensor_option, within_option
from tcpstall.cli.process.exits import writing
from tcpstall.errors import ExitCode, NothingToShow

if TYPE_CHECKING:
    from tcpstall.archive.asking.stored_flow import StoredFlow
    from tcpstall.model import Endpoint
    from tcpstall.whatif import Change, Forecast

__all__ = ["Filters", "over_store", "store_filters", "whatif_store_option"]


class Filters(TypedDict):
    """The options that select flows of a store, and what these are added up by."""

    hosts: tuple[str, ...]
    ports: tuple[tuple[int, ...], ...]
    within: tuple[str, ...]
    sensors: tuple[str, ...]
    since: Moment | None
    until: Moment | None
    by: Literal["service", "host"] | None


whatif_store_option = click.option(
    "--store",
    envvar="TCPSTALL_STORE",
    metavar="DIR|URL",
    help="Instead of CAPTURE: the store that --flow SCAN/FLOW is in, or whose flows are added up.  "
    "[env var: TCPSTALL_STORE]",
)

store_filters = together(
    click.option("--host", "hosts", type=HOST, multiple=True, metavar="ADDRESS",
                 help="With --store: only connections with this address, network or name at either end. May be "
                 "repeated."),
    click.option("--port", "ports", type=PORTS, multiple=True, metavar="PORT",
                 help="With --store: only connections with this port at either end. May be repeated."),
    within_option,
    sensor_option,
    click.option("--since", type=MOMENT, metavar="TIME", help="With --store: only connections open from then on."),
    click.option("--until", type=MOMENT, metavar="TIME", help="With --store: only connections begun before then."),
    click.option("--by", type=click.Choice(("service", "host")),
                 help="With --store: what flows are added up by.  [default: service]"),
)  # fmt: skip
"""Adds the options of `Filters`."""


def over_store(
    store: str, services: Sequence["Endpoint"], together: Sequence["Change"], filters: Filters, form: str
) -> ExitCode:
    """Prints the change over the flows that were chosen."""
    if not together:
        raise click.UsageError("the flows of a store are added up for one change: give --set")
    if any(change.name == "reuse-connection" for change in together):
        raise click.UsageError(
            "reuse-connection needs all connections of a capture: give CAPTURE and --service instead of --store"
        )
    from tcpstall.archive.asking.predicting import predicted
    from tcpstall.cli.store_query import Form, asked

    meant = chosen(
        {
            "services": tuple(services),
            "hosts": filters["hosts"],
            "ports": filters["ports"],
            "captures": filters["within"],
            "sensors": filters["sensors"],
            "since": filters["since"],
            "until": filters["until"],
        }
    )
    by = filters["by"] or "service"

    def replay(captures: Sequence[str], flows: Sequence["StoredFlow"]) -> list["Forecast | None"]:
        return _replayed(captures, flows, together)

    with asked((store,), Form(form="table", output=None), meant) as session:
        found = predicted(session, meant, replay, by=by)
    if not found.parts:
        raise NothingToShow(f"{store} holds no such flow; `tcpstall top` lists what it holds")
    with writing("standard output"):
        if form == "json":
            from tcpstall.report.whatif.as_json import archived_json

            click.echo(archived_json(found, by))
        else:
            from tcpstall.cli.process.terminal import console, show
            from tcpstall.report.whatif.tables import render_archived

            screen = console()
            for part in render_archived(found, width=screen.width):
                show(part, screen)
    return session.exit_code


def _replayed(
    captures: Sequence[str], flows: Sequence["StoredFlow"], together: Sequence["Change"]
) -> list["Forecast | None"]:
    from tcpstall.archive.asking.stored_flow import numbers_in
    from tcpstall.whatif import whatif

    read_of = Inputs(tuple(captures), streams=streams(captures, merge=len(captures) > 1, separate=False))
    files = read_of.files()
    numbers = numbers_in(read_of.names, flows, **read_of.streams, open=read_of.open)
    ids = sorted({number for number in numbers if number is not None})
    if not ids:
        return [None] * len(flows)
    found = whatif(
        read_of.names,
        flows=ids,
        changes=[together],
        strict=False,
        **read_of.streams,
        open=read_of.open,
        files=files,
    )
    by_number = {forecast.flow.id: forecast for forecast in found.forecasts}
    return [
        _same(flow, by_number.get(number) if number is not None else None)
        for flow, number in zip(flows, numbers, strict=True)
    ]


def _same(flow: "StoredFlow", forecast: "Forecast | None") -> "Forecast | None":
    """The forecast, if it is of the connection of the same ends."""
    if forecast is None or {forecast.flow.client, forecast.flow.server} != {flow.client, flow.server}:
        return None
    return forecast
