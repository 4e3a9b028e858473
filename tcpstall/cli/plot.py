"""`tcpstall plot`: a picture of a capture, or of one flow in it."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from tcpstall.cli.inputs import Inputs, inputs
from tcpstall.cli.options.anonymise import anonymise_options, key_of
from tcpstall.cli.options.capture_options import outcome
from tcpstall.cli.options.flow_option import FLOW, InStore, store_of_flow_option
from tcpstall.cli.options.quantities import MOMENT, Moment
from tcpstall.cli.options.selection import chosen
from tcpstall.cli.options.top_option import top_option
from tcpstall.cli.output import analysed_first, nothing_of
from tcpstall.cli.process.exits import writing
from tcpstall.errors import ExitCode, NothingToShow
from tcpstall.model import Analysis

if TYPE_CHECKING:
    from tcpstall.plot.subject import Subject

__all__ = ["command"]

_FORMATS = (".png", ".svg", ".pdf")
_KINDS = ("overview", "sequence", "in-flight", "rtt", "throughput", "rtt-by-position", "timeline", "exchanges")
"""Spelled here so that help and completion need no drawing; a test compares them."""

_WIDEST = 160
"""Widest picture in a terminal, columns: a wider one only takes longer to read."""


@click.command("plot")
@click.argument("capture", type=click.Path(), metavar="CAPTURE", required=False)
@click.option(
    "--flow",
    type=FLOW,
    metavar="N",
    help="Number of the flow to draw; with --store SCAN/FLOW.  [default: one that shows the first finding; timeline "
    "and exchanges: all]",
)
@store_of_flow_option
@click.option(
    "--kind",
    type=click.Choice(_KINDS),
    default=_KINDS[0],
    show_default=True,
    metavar="KIND",
    help="overview (sequence above in-flight), sequence, in-flight, rtt (over time), rtt-by-position, throughput, "
    "timeline (the waits of many flows, a row each), exchanges (requests with their latency as a sum).",
)
@click.option(
    "--output",
    "-o",
    type=click.Path(dir_okay=False, path_type=Path),
    help="The .png, .svg or .pdf file to write.",
)
@click.option("--terminal", is_flag=True, help="Draw in the terminal, with characters, instead.")
@click.option("--since", type=MOMENT, metavar="TIME", help="Show from then on; written as for analyze.")
@click.option("--until", type=MOMENT, metavar="TIME", help="Show what came before then.")
@top_option("Rows of a timeline or of exchanges.  [default: 30]", most=1_000)
@anonymise_options
def command(
    capture: str | None,
    flow: int | InStore | None,
    store: str | None,
    kind: str,
    output: Path | None,
    terminal: bool,
    since: Moment | None,
    until: Moment | None,
    top: int | None,
    anonymise: bool,
    key_file: Path | None,
) -> ExitCode:
    """Draw one flow over its time, or the waits or exchanges of many, stalls in their causes' colours.

    CAPTURE is read more than once, so it cannot be standard input; URLs and members of archives
    are copied first.
    """  # fmt: skip
    if output is None and not terminal:
        raise click.UsageError("say where to draw: --output FILE or --terminal")
    if output is not None and output.suffix.lower() not in _FORMATS:
        raise click.BadParameter(f"{output.name!r} must end in {', '.join(_FORMATS)}", param_hint="--output")
    if capture == "-":
        raise click.BadParameter("a picture needs a file, not standard input", param_hint="CAPTURE")
    read_of = inputs([capture] if capture else [], () if flow is None else (flow,), store)
    shown = chosen(read_of, hosts=(), ports=(), since=since, until=until)
    since_ns, until_ns = shown["since_ns"], shown["until_ns"]
    analysis, code = _read(read_of, key_of(anonymise, key_file))
    subject = _subject(read_of, analysis, kind)
    if output is not None:
        from tcpstall.plot import draw_flow, draw_many

        with writing(str(output)):
            if subject is None:
                draw_many(analysis, output, kind=kind, since_ns=since_ns, until_ns=until_ns, rows=top)
            else:
                draw_flow(subject, output, kind=kind, since_ns=since_ns, until_ns=until_ns)
    if terminal:
        _show(read_of.name, subject, analysis, kind, since_ns, until_ns, top)
    return code


def _subject(capture: Inputs, analysis: Analysis, kind: str) -> "Subject | None":
    """Subject of the picture of one flow; None for a kind that shows many flows."""
    from tcpstall.findings import first_to_see
    from tcpstall.plot import KINDS_OF_MANY, subjects

    if kind in KINDS_OF_MANY:
        return None
    flow = first_to_see(analysis)
    for subject in subjects(capture.files(), [flow], **capture.streams):
        return subject
    raise NothingToShow(f"{capture.name}: flow {flow.id} only shook hands; there is nothing to draw")


def _show(
    name: str,
    subject: "Subject | None",
    analysis: Analysis,
    kind: str,
    since_ns: int | None,
    until_ns: int | None,
    rows: int | None,
) -> None:
    from tcpstall.cli.process.terminal import console, has_braille, show
    from tcpstall.plot import choice, interval
    from tcpstall.plot.terminal import Screen, exchanges, over_time, timeline

    writer = console()
    screen = Screen(min(writer.width, _WIDEST), has_braille())
    if subject is None:
        draw = timeline if kind == "timeline" else exchanges
        lines = draw(analysis, rows or choice.ROWS, since_ns, until_ns, screen)
    else:
        lines = over_time(kind, subject, *interval(subject.flow, since_ns, until_ns), screen)
    drawn = False
    with writing("standard output"):
        for line in lines:
            show(line, writer)
            drawn = True
    if not drawn:
        raise NothingToShow(f"{name}: there is nothing of that to show; widen the interval or choose another flow")


def _read(capture: Inputs, key: bytes | None) -> tuple[Analysis, ExitCode]:
    """The diagnosis of the flow, or of all flows; problems of the input are printed."""
    analysis = analysed_first(capture, anonymise=key)
    code = outcome(analysis.captures)
    if not len(analysis):
        raise NothingToShow(nothing_of(capture))
    return analysis, code
