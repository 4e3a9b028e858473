"""`tcpstall report`: the diagnosis as a page that can be attached to a ticket."""

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack, get_args

import click

from tcpstall import __version__, _core
from tcpstall.cli.options.capture_options import (
    Asked,
    Reading,
    expect_flows,
    min_stall_option,
    outcome,
    read,
    reading,
    reading_options,
)
from tcpstall.cli.options.numbers import Number
from tcpstall.cli.options.selection import captures_argument
from tcpstall.cli.options.store_option import several_stores_option
from tcpstall.cli.options.top_option import top_option
from tcpstall.cli.options.wait_filters import Which, page_options
from tcpstall.cli.process.exits import complain, writing
from tcpstall.cli.process.invocation import Remembering, command_line
from tcpstall.cli.store_page import shows_stores, store_page, typed_top
from tcpstall.errors import UNREAD, ExitCode
from tcpstall.model import Capture, Endpoint, Flow, Sort
from tcpstall.output import written

if TYPE_CHECKING:
    from tcpstall.plot.page import Drawing
    from tcpstall.report.html import Source
    from tcpstall.whatif import Forecast

__all__ = ["command", "source", "write_whole"]

_FLOWS = 100
_DRAWN = 8

_COLUMNS = 24_000
"""Columns shared by all drawn flows: a million packets are reduced to them, so that the page stays below 5 MB."""

_MOST_COLUMNS = 8_000
"""Most columns of one flow: a screen's width after zooming in eightfold."""

_ONCE = (
    "No plots: they need a second reading, and standard input can be read only once. Save the capture to a file first."
)


@click.command("report", cls=Remembering)
@captures_argument
@click.option(
    "--output",
    "-o",
    required=True,
    type=click.Path(dir_okay=False, path_type=Path),
    help="The HTML file to write.",
)
@several_stores_option("Show what a store holds instead of captures, or with --flow SCAN/FLOW one flow of it.")
@reading_options
@page_options
@min_stall_option
@top_option("List the first N flows.", default=_FLOWS)
@click.option(
    "--detailed",
    type=Number(min=0),
    default=_DRAWN,
    show_default=True,
    metavar="N",
    help="Draw and explain the first N flows in full.",
)
@click.option(
    "--sort", type=click.Choice(get_args(Sort)), default="lost", show_default=True, help="Rank flows by this."
)
def command(
    captures: tuple[str, ...],
    output: Path,
    stores: tuple[str, ...],
    services: tuple[Endpoint, ...],
    within: tuple[str, ...],
    sensors: tuple[str, ...],
    min_stall_ns: int,
    top: int,
    detailed: int,
    sort: Sort,
    **asked: Unpack[Asked],
) -> ExitCode:
    """Write a page that says why each sender waited: one HTML file that needs no network.

    The answer comes first, then each flow's time, its plots, exchanges and stalls with what to change. Plots and the
    capture's hash need a second reading: from standard input ('-') the page has neither. With --store the page shows
    what many captures have in common: findings, lost time by cause and hour, and the worst services.
    """  # fmt: skip
    if shows_stores(captures, stores, asked["flows"]):
        which = Which(
            services=services,
            captures=within,
            sensors=sensors,
            hosts=asked["hosts"],
            ports=asked["ports"],
            since=asked["since"],
            until=asked["until"],
        )
        return store_page(stores, output, which, top=typed_top(top))
    read_of, how = reading(captures, next(iter(stores), None), asked)
    files = read_of.files()
    analysis = read(read_of, how, top=max(top, detailed), sort=sort)
    code = outcome(analysis.captures)
    if all(capture.exit_code in UNREAD for capture in analysis.captures):
        return code
    expect_flows(len(analysis), how, code)
    ranked = [analysis[row] for row in analysis.ranked(sort)[: max(top, detailed)]]
    from tcpstall.findings import telling
    from tcpstall.report.html import MadeBy, page

    whole = telling(analysis, ranked, sort, detailed).in_full if ranked else []
    drawings, why_not = _drawings(files, whole, how)
    forecasts, of_services = _forecasts(files, whole, how)

    sources = tuple(source(path, capture) for path, capture in zip(files, analysis.captures, strict=False))
    text = page(
        analysis,
        ranked,
        drawings,
        forecasts,
        made_by=MadeBy(command_line(analysis.captures, anonymised=analysis.anonymised), __version__, sources),
        library=_library() if drawings else "",
        why_no_plots=why_not,
        sort=sort,
        detailed=detailed,
        min_stall_ns=min_stall_ns,
        together=of_services,
    )
    with writing(str(output)):
        write_whole(text, output)
    return code


def _drawings(files: Sequence[str], flows: Sequence[Flow], how: Reading) -> tuple[Mapping[int, "Drawing"], str]:
    """The plots of the flows with data, by id; or the reason why there are none."""
    if not flows:
        return {}, ""
    if not all(map(_again, files)):
        return {}, _ONCE
    from tcpstall.plot.page import draw
    from tcpstall.report.waits import main_sender

    try:
        tables = _core.samples(
            files,
            [flow.id for flow in flows],
            since_ns=how["since_ns"],
            until_ns=how["until_ns"],
            max_expansion=how["max_expansion"],
            sets=how["sets"],
            missing_before=how["missing_before"],
        )
    except (OSError, ValueError) as error:
        complain(f"no plots: {error}")
        return {}, "No plots: the second reading failed."  # the error may name a file that is to stay unnamed
    columns = min(_MOST_COLUMNS, _COLUMNS // len(flows))
    made = {flow.id: draw(flow, table, main_sender(flow), columns) for flow, table in zip(flows, tables, strict=True)}
    return {id_: drawing for id_, drawing in made.items() if drawing}, ""


def _forecasts(
    files: Sequence[str], flows: Sequence[Flow], how: Reading
) -> tuple[Mapping[int, "Forecast"], list[list["Forecast"]]]:
    """Predicted gain of changes, by flow, and of all these flows of one server together."""
    if not flows or not all(map(_again, files)):
        return {}, []
    from tcpstall.whatif import foreseen, together

    read_as: dict[str, Any] = {
        name: how[name] for name in ("since_ns", "until_ns", "max_expansion", "sets", "missing_before")
    }
    try:
        told = foreseen(files, flows, **read_as)
        services = list(together(files, told, **read_as).values())
    except (OSError, ValueError) as error:
        complain(f"no forecasts: {error}")
        return {}, []
    return {forecast.flow.id: forecast for forecast in told}, services


def _library() -> str:
    from tcpstall.plot.page import library

    return library()


def _again(path: str) -> bool:
    """True where the input can be read a second time."""
    return path != "-" and (Path(path).is_file() or not Path(path).exists())


def source(path: str, capture: Capture) -> "Source":
    """The input with its hash, where the input can be read again; `capture` may hide its name."""
    from tcpstall.report.html import Source

    if capture.exit_code is ExitCode.CANNOT_OPEN or path == "-" or not Path(path).is_file():
        return Source(capture.path, None, None)
    with Path(path).open("rb") as file:
        return Source(capture.path, hashlib.file_digest(file, "sha256").hexdigest(), file.tell())


def write_whole(text: str, output: Path) -> None:
    """As UTF-8, whole or not at all."""
    with written(output) as file:
        file.write(text.encode("utf-8"))
