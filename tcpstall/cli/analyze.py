"""`tcpstall analyze`: the diagnosis of captures, as tables or as data."""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TypedDict, get_args

import click

from tcpstall import _core
from tcpstall.cli import ticket
from tcpstall.cli.anonymise import anonymise_options, key_of
from tcpstall.cli.called import Remembering
from tcpstall.cli.ending import complain, writing
from tcpstall.cli.progress import Bar
from tcpstall.cli.rates import RATE
from tcpstall.cli.selection import Selection, captures_argument, chosen, selection_options
from tcpstall.cli.times import SPAN, Moment
from tcpstall.errors import ExitCode
from tcpstall.keys import derived
from tcpstall.labels import read_label
from tcpstall.model import Analysis, Capture, Sort, analyze

__all__ = ["command", "outcome"]

_FORMATS = ("table", *ticket.FORMS, "json", "ndjson", "csv")
_WITHOUT_WARNINGS = "csv"
_FLOWS_IN_TABLES = 10


class Lists(TypedDict):
    """Lists that can be left out of JSON."""

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
@selection_options
@click.option(
    "--min-stall",
    "min_stall_ns",
    type=SPAN,
    default="0",
    metavar="SPAN",
    help="Leave shorter stalls out of the lists, e.g. 5ms; sums keep them.",
)
@click.option(
    "--top",
    type=click.IntRange(min=1),
    metavar="N",
    help=f"Only the first N flows.  [default: {_FLOWS_IN_TABLES} in tables, else all]",
)
@click.option(
    "--sort", type=click.Choice(get_args(Sort)), help="Rank flows by this.  [default: lost in tables, else as they end]"
)
@click.option(
    "--link-rate",
    "link_bytes_per_s",
    type=RATE,
    metavar="RATE",
    help="What the link carries, e.g. 100Mbit: the share of it that each flow reached is told.",
)
@click.option(
    "--max-expansion",
    type=click.IntRange(min=1),
    default=1_000,
    show_default=True,
    metavar="N",
    help="How many times its size a compressed capture may grow to, beyond a gigabyte; what grows further is cut off.",
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
    "--plots",
    type=click.Path(file_okay=False, path_type=Path),
    metavar="DIR",
    help="With markdown, jira or text: write pictures into this folder, and refer to them.",
)
@click.option(
    "--plot-format",
    type=click.Choice(ticket.PLOT_FORMATS),
    default="png",
    show_default=True,
    help="What kind of files.",
)
@anonymise_options
def command(
    captures: tuple[str, ...],
    form: str,
    flows: tuple[int, ...],
    hosts: tuple[str, ...],
    ports: tuple[int, ...],
    since: Moment | None,
    until: Moment | None,
    min_stall_ns: int,
    top: int | None,
    sort: Sort | None,
    link_bytes_per_s: int | None,
    max_expansion: int,
    bursts: bool,
    exchanges: bool,
    plots: Path | None,
    plot_format: str,
    anonymise: bool,
    key_file: Path | None,
) -> int:
    """Say why each sender waited.

    CAPTURE is a pcap or pcapng file, or tcpdump's text output pasted into a file; '-' reads standard input.
    First comes the answer in plain words, then the flows by time lost, then their stalls. Clock times are UTC, or
    as printed in the paste.
    """  # fmt: skip
    selection = chosen(captures, flows=flows, hosts=hosts, ports=ports, since=since, until=until)
    key = key_of(anonymise, key_file)
    pictures: ticket.Pictures | None = None
    if plots is not None:
        if form not in ticket.FORMS:
            raise click.UsageError(f"--plots belongs to --format {', '.join(ticket.FORMS)}")
        ticket.readable_again(captures)
        since_ns, until_ns = selection["since_ns"], selection["until_ns"]
        pictures = ticket.Pictures(captures, plots, plot_format, since_ns, until_ns, max_expansion)
    if form == "table":
        return _show(captures, selection, min_stall_ns, top, sort, link_bytes_per_s, max_expansion, key)
    if form in ticket.FORMS:
        analysis = _read(captures, selection, link_bytes_per_s, max_expansion, key)
        ticket.write(
            analysis,
            form,
            sort=sort or "lost",
            top=top,
            min_stall_ns=min_stall_ns,
            pictures=pictures,
        )
        return outcome(analysis.captures)
    lists: Lists = {"bursts": bursts, "exchanges": exchanges}
    return _stream(captures, selection, form, min_stall_ns, top, sort, link_bytes_per_s, max_expansion, lists, key)


def _read(
    captures: Sequence[str], selection: Selection, link_bytes_per_s: int | None, max_expansion: int, key: bytes | None
) -> Analysis:
    with Bar() as bar:
        return analyze(
            captures,
            **selection,
            bursts=False,
            link_bytes_per_s=link_bytes_per_s,
            max_expansion=max_expansion,
            anonymise=key,
            strict=False,
            progress=bar,
        )


def _show(
    captures: Sequence[str],
    selection: Selection,
    min_stall_ns: int,
    top: int | None,
    sort: Sort | None,
    link_bytes_per_s: int | None,
    max_expansion: int,
    key: bytes | None,
) -> ExitCode:
    analysis = _read(captures, selection, link_bytes_per_s, max_expansion, key)
    from tcpstall.cli.terminal import console, show
    from tcpstall.report import render

    screen = console()
    with writing("standard output"):
        for part in render(
            analysis, width=screen.width, sort=sort or "lost", top=top or _FLOWS_IN_TABLES, min_stall_ns=min_stall_ns
        ):
            show(part, screen)
    return outcome(analysis.captures)


def _stream(
    captures: Sequence[str],
    selection: Selection,
    form: str,
    min_stall_ns: int,
    top: int | None,
    sort: Sort | None,
    link_bytes_per_s: int | None,
    max_expansion: int,
    lists: Lists,
    key: bytes | None,
) -> ExitCode:
    with Bar() as bar, writing("standard output"):
        sys.stdout.flush()
        written = _core.write(
            captures,
            sys.stdout.fileno(),
            format=form,
            sort=sort,
            top=top,
            **selection,
            min_stall_ns=min_stall_ns,
            link_bytes_per_s=link_bytes_per_s,
            max_expansion=max_expansion,
            **lists,
            secret=None if key is None else derived(key),
            label=read_label,
            progress=bar,
        )
    if written.broken_pipe:
        raise BrokenPipeError
    results = [Capture.from_status(status) for status in written.captures]
    if form == _WITHOUT_WARNINGS:
        for capture in results:
            for remark in capture.remarks:
                complain(f"{capture.path}: {remark}")
    return outcome(results)


def outcome(captures: Sequence[Capture]) -> ExitCode:
    """Says what was wrong with each input; the highest code counts."""
    for capture in captures:
        if capture.error:
            complain(capture.error)
    return max((capture.exit_code for capture in captures), default=ExitCode.COMPLETE)
