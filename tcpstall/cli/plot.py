"""`tcpstall plot`: a picture of a capture, or of one flow in it."""

from pathlib import Path

import click

from tcpstall.cli.anonymise import anonymise_options, key_of
from tcpstall.cli.ending import complain, writing
from tcpstall.cli.numbers import Number
from tcpstall.cli.progress import Bar
from tcpstall.cli.selection import chosen
from tcpstall.cli.times import MOMENT, Moment
from tcpstall.errors import ExitCode, NothingToShow
from tcpstall.model import Analysis, analyze

__all__ = ["command"]

_FORMATS = (".png", ".svg", ".pdf")
_KINDS = ("overview", "sequence", "in-flight", "rtt", "throughput", "rtt-by-position", "timeline", "exchanges")
"""Spelled here so that help and completion need no drawing; a test compares them."""

_WIDEST = 160
"""Columns; on wider terminals a picture only gets longer to read."""


@click.command("plot")
@click.argument("capture", type=click.Path())
@click.option(
    "--flow",
    type=Number(min=0),
    metavar="N",
    help="Number of the flow to draw.  [default: one that shows the first finding; timeline and exchanges: all]",
)
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
    help="Where to: a .png, .svg or .pdf file.",
)
@click.option("--terminal", is_flag=True, help="Draw in the terminal, with characters, instead.")
@click.option("--since", type=MOMENT, metavar="TIME", help="Show from then on; written as for analyze.")
@click.option("--until", type=MOMENT, metavar="TIME", help="Show what came before then.")
@click.option(
    "--top",
    type=click.IntRange(min=1, max=1_000),
    metavar="N",
    help="Rows of a timeline or of exchanges.  [default: 30]",
)
@anonymise_options
def command(
    capture: str,
    flow: int | None,
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

    CAPTURE is read more than once, so it must be a file.
    """  # fmt: skip
    if output is None and not terminal:
        raise click.UsageError("say where to draw: --output FILE or --terminal")
    if output is not None and output.suffix.lower() not in _FORMATS:
        raise click.BadParameter(f"{output.name!r} must end in {', '.join(_FORMATS)}", param_hint="--output")
    if capture == "-":
        raise click.BadParameter("a picture needs a file, not standard input", param_hint="CAPTURE")
    shown = chosen((capture,), flows=() if flow is None else (flow,), hosts=(), ports=(), since=since, until=until)
    analysis = _read(capture, flow, key_of(anonymise, key_file))
    if output is not None:
        from tcpstall.plot import draw

        with writing(str(output)):
            draw(
                capture,
                flow,
                str(output),
                kind=kind,
                since_ns=shown["since_ns"],
                until_ns=shown["until_ns"],
                rows=top,
                analysis=analysis,
            )
    if terminal:
        _show(capture, analysis, kind, shown["since_ns"], shown["until_ns"], top)
    return analysis.captures[0].exit_code


def _show(
    capture: str, analysis: Analysis, kind: str, since_ns: int | None, until_ns: int | None, rows: int | None
) -> None:
    from tcpstall.cli.terminal import console, has_braille, show
    from tcpstall.findings import first_to_see
    from tcpstall.plot import KINDS_OF_MANY, choice, interval, subjects
    from tcpstall.plot.terminal import Screen, exchanges, over_time, timeline

    writer = console()
    screen = Screen(min(writer.width, _WIDEST), has_braille())
    if kind in KINDS_OF_MANY:
        draw = timeline if kind == "timeline" else exchanges
        lines = draw(analysis, rows or choice.ROWS, since_ns, until_ns, screen)
    else:
        flow = first_to_see(analysis)
        found = subjects(capture, [flow])
        if not found:
            raise NothingToShow(f"{capture}: flow {flow.id} only shook hands; there is nothing to draw")
        lines = over_time(kind, found[0], *interval(flow, since_ns, until_ns), screen)
    drawn = False
    with writing("standard output"):
        for line in lines:
            show(line, writer)
            drawn = True
    if not drawn:
        raise NothingToShow(f"{capture}: there is nothing of that to show; widen the interval or choose another flow")


def _read(capture: str, flow: int | None, key: bytes | None) -> Analysis:
    """The diagnosis of the flow, or of all; what was wrong with the input is said."""
    with Bar() as bar:
        analysis = analyze(capture, flows=() if flow is None else (flow,), bursts=False, anonymise=key, progress=bar)
    (source,) = analysis.captures
    if source.error:
        complain(source.error)
    if len(analysis) == 0:
        what = "holds no TCP flow" if flow is None else f"holds no flow {flow}; `tcpstall analyze` lists the flows"
        raise NothingToShow(f"{capture} {what}")
    return analysis
