"""`tcpstall annotate`: the capture with a comment at each stall."""

from io import StringIO
from pathlib import Path

import click

from tcpstall import __version__
from tcpstall.cli.inputs import inputs
from tcpstall.cli.options.anonymise import anonymise_options, key_of
from tcpstall.cli.options.flow_option import FLOW, InStore, store_of_flow_option
from tcpstall.cli.options.quantities import SPAN
from tcpstall.cli.output import analysed, capture_argument, ending_in
from tcpstall.cli.process.exits import complain, writing
from tcpstall.cli.process.progress import Bar
from tcpstall.errors import ExitCode
from tcpstall.model import Analysis
from tcpstall.units import counted

__all__ = ["command"]

_WIDTH = 120
"""Columns of the capture's comment: Wireshark's window shows these without scrolling."""


@click.command("annotate")
@capture_argument
@click.option(
    "--output",
    "-o",
    required=True,
    type=click.Path(dir_okay=False, path_type=Path),
    callback=ending_in(".pcapng"),
    help="The .pcapng file to write.",
)
@click.option(
    "--flow",
    "flows",
    type=FLOW,
    multiple=True,
    metavar="N",
    help="Only the stalls of the flow with this number. May be repeated. With --store SCAN/FLOW.",
)
@store_of_flow_option
@click.option(
    "--min-stall",
    "min_stall_ns",
    type=SPAN,
    default="0",
    metavar="SPAN",
    help="Say nothing of shorter stalls, e.g. 5ms.",
)
@anonymise_options
def command(
    capture: str | None,
    output: Path,
    flows: tuple[int | InStore, ...],
    store: str | None,
    min_stall_ns: int,
    anonymise: bool,
    key_file: Path | None,
) -> ExitCode:
    """Write the capture again with a packet comment at each stall, for Wireshark.

    Packets, their order and their times stay as they are, and so do comments that were there. The comment is at the
    packet with which the wait ended, and a hint at the one after which it began: frame.comment contains "tcpstall"
    finds them. CAPTURE is read twice, so it cannot be standard input; URLs and members of archives are copied first.
    """  # fmt: skip
    key = key_of(anonymise, key_file)
    read_of = inputs([capture] if capture else [], flows, store)
    analysis, code = analysed(read_of, min_stall_ns=min_stall_ns, anonymise=key)
    from tcpstall.packets.annotate import annotate, comments
    from tcpstall.report.phrases import phrase_of_one

    said = comments(analysis, phrase_of_one)
    planned = len(said)
    with Bar() as bar, writing(str(output)):
        copied = annotate(read_of.one_file(), output, said, about=_about(analysis), anonymise=key, progress=bar)
    told = f"{counted(said.stalls, 'stall')} in {counted(copied.remarks, 'comment')}"
    complain(f"{told}, {counted(copied.written, 'packet')} written to {output}")
    if unplaced := planned - copied.remarks:
        complain(f"{counted(unplaced, 'comment')} found no packet that can hold one")
    if copied.blanked:
        complain(f"{counted(copied.blanked, 'packet')} without IP left blank")
    if copied.left_out:
        complain(f"{counted(copied.left_out, 'block')} left out that may name somebody")
    return code


def _about(analysis: Analysis) -> str:
    """The capture's comment: the program that wrote it, and the answer."""
    from rich.console import Console

    from tcpstall.report.verdict import overall, verdict

    text = StringIO()
    page = Console(file=text, width=_WIDTH, color_system=None)
    page.print(f"tcpstall {__version__}")
    if len(analysis):
        flow = analysis.worst
        for part in verdict(flow, width=_WIDTH, rank=_rank(analysis, flow.id)):
            page.print(part)
        if len(analysis) > 1:
            page.print(overall(analysis))
    else:
        page.print("no TCP flow")
    return "\n".join(line.rstrip() for line in text.getvalue().splitlines())


def _rank(analysis: Analysis, flow: int) -> str:
    return f"flow {flow}, worst of {len(analysis)}" if len(analysis) > 1 else ""
