"""`tcpstall analyze`: the diagnosis of captures, as tables or as data."""

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, TypedDict, Unpack, get_args

import click

from tcpstall import _core
from tcpstall.cli import ticket
from tcpstall.cli.copies import named_as_given
from tcpstall.cli.inputs import Inputs
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
from tcpstall.cli.options.flow_option import store_of_flow_option
from tcpstall.cli.options.paths import PathType
from tcpstall.cli.options.selection import captures_argument
from tcpstall.cli.options.top_option import top_option
from tcpstall.cli.process.exits import complain, writing
from tcpstall.cli.process.invocation import Remembering
from tcpstall.cli.process.progress import Bar
from tcpstall.cli.process.signals import draining
from tcpstall.errors import ExitCode
from tcpstall.keys import derived
from tcpstall.labels import read_label
from tcpstall.model.order import Sort

if TYPE_CHECKING:
    from pathlib import Path

    from tcpstall.model import Capture

__all__ = ["command"]

_FORMATS = ("table", *ticket.FORMS, "json", "ndjson", "csv")
_WITHOUT_WARNINGS = "csv"
_FLOWS_IN_TABLES = 10


class Listing(TypedDict):
    """Choice of flows and lists, and their order."""

    sort: Sort | None
    top: int | None
    min_stall_ns: int
    bursts: bool
    exchanges: bool


@click.command("analyze", cls=Remembering)
@captures_argument
@click.option(
    "--format",
    "form",
    type=click.Choice(_FORMATS),
    default="table",
    show_default=True,
    help="Tables for reading; text for GitHub, Jira or a mail; one JSON object, one a line, or a stall a row.",
)
@store_of_flow_option
@reading_options
@min_stall_option
@top_option(f"Only the first N flows.  [default: {_FLOWS_IN_TABLES} in tables, else all]")
@click.option(
    "--sort", type=click.Choice(get_args(Sort)), help="Rank flows by this.  [default: lost in tables, else as they end]"
)
@click.option(
    "--no-bursts", "bursts", flag_value=False, default=True, type=bool, help="Leave the lists of bursts out of JSON."
)
@click.option(
    "--no-exchanges",
    "exchanges",
    flag_value=False,
    default=True,
    type=bool,
    help="Leave the lists of exchanges out of JSON.",
)
@click.option(
    "-v",
    "--stalls",
    "whole",
    is_flag=True,
    help="In tables: each flow whole, with its stalls and exchanges. --flow N implies it.",
)
@click.option(
    "--plots",
    type=PathType(file_okay=False),
    metavar="DIR",
    help="With markdown, jira or text: write pictures into this folder, and refer to them.",
)
@click.option(
    "--plot-format",
    type=click.Choice(ticket.PLOT_FORMATS),
    default="png",
    show_default=True,
    help="Format of the pictures.",
)
def command(
    captures: tuple[str, ...],
    form: str,
    store: str | None,
    min_stall_ns: int,
    top: int | None,
    sort: Sort | None,
    bursts: bool,
    exchanges: bool,
    whole: bool,
    plots: "Path | None",
    plot_format: str,
    **asked: Unpack[Asked],
) -> ExitCode:
    """Say why each sender waited.

    CAPTURE is a pcap or pcapng file, or tcpdump's text output pasted into a file; '-' reads standard input, URLs and
    members of tar archives (ARCHIVE!/MEMBER) are read where they are.
    First comes the answer, then the findings by the time that a change could give back, then the flows by time
    lost; --stalls tells each flow whole. Clock times are UTC, or as printed in the paste.
    """  # fmt: skip
    if plots is not None:
        if form not in ticket.FORMS:
            raise click.UsageError(f"--plots belongs to --format {', '.join(ticket.FORMS)}")
        ticket.readable_again(captures)
    read_of, how = reading(captures, store, asked)
    listing = Listing(sort=sort, top=top, min_stall_ns=min_stall_ns, bursts=bursts, exchanges=exchanges)
    if form == "table":
        return _show(read_of, how, listing, whole=whole or bool(asked["flows"]))
    if form in ticket.FORMS:
        pictures = None if plots is None else ticket.Pictures(read_of, plots, plot_format, how)
        return _tell(read_of, how, listing, form, pictures)
    return _stream(read_of, how, listing, form)


def _show(captures: Inputs, how: Reading, listing: Listing, *, whole: bool) -> ExitCode:
    sort, top = listing["sort"] or "lost", listing["top"] or _FLOWS_IN_TABLES
    analysis = read(captures, how, top=top, sort=sort)
    from tcpstall.cli.process.terminal import console, show
    from tcpstall.report.page import render

    screen = console()
    with writing("standard output"):
        for part in render(
            analysis,
            width=screen.width,
            sort=sort,
            top=top,
            min_stall_ns=listing["min_stall_ns"],
            stalls=whole,
        ):
            show(part, screen)
    return _ended(analysis.captures, len(analysis), how)


def _tell(captures: Inputs, how: Reading, listing: Listing, form: str, pictures: ticket.Pictures | None) -> ExitCode:
    sort, top = listing["sort"] or "lost", listing["top"]
    # The pictures of all flows look at each of them.
    analysis = read(captures, how, top=None if pictures else ticket.most_flows(top), sort=sort)
    ticket.write(
        analysis,
        form,
        sort=sort,
        top=top,
        min_stall_ns=listing["min_stall_ns"],
        pictures=pictures,
    )
    return _ended(analysis.captures, len(analysis), how)


def _stream(captures: Inputs, how: Reading, listing: Listing, form: str) -> ExitCode:
    key = how["anonymise"]
    files = captures.files()
    sys.stdout.flush()
    with Bar() as bar, writing("standard output"), draining(files), named_as_given(sys.stdout.fileno()) as output:
        written = _core.write(
            files,
            output,
            format=form,
            flows=how["flows"],
            hosts=how["hosts"],
            ports=how["ports"],
            since_ns=how["since_ns"],
            until_ns=how["until_ns"],
            link_bytes_per_s=how["link_bytes_per_s"],
            max_expansion=how["max_expansion"],
            sets=how["sets"],
            missing_before=how["missing_before"],
            **listing,
            secret=None if key is None else derived(key),
            label=read_label,
            progress=bar,
            findings=_worded,
        )
    if written.broken_pipe:
        raise BrokenPipeError
    from tcpstall.model.capture import Capture

    results = [Capture.from_status(status) for status in written.captures]
    if form == _WITHOUT_WARNINGS:
        for capture in results:
            for remark in capture.remarks:
                complain(f"{capture.path}: {remark}")
    return _ended(results, written.flows, how)


def _worded(facts: str, flows: int) -> str:
    """The native core's findings, ranked and in words, as the JSON report holds them."""
    from tcpstall.findings.as_json import findings_json
    from tcpstall.findings.finding import read as read_findings
    from tcpstall.findings.ranking import ranked

    return findings_json(ranked(read_findings(facts), flows))


def _ended(captures: "Sequence[Capture]", flows: int, how: Reading) -> ExitCode:
    code = outcome(captures)
    expect_flows(flows, how, code)
    return code
