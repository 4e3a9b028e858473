"""`tcpstall plot`: a picture of one flow."""

from pathlib import Path

import click

from tcpstall.cli.ending import complain, writing
from tcpstall.cli.progress import Bar
from tcpstall.errors import ExitCode, NothingToShow
from tcpstall.model import analyze

__all__ = ["command"]

_FORMATS = (".png", ".svg", ".pdf")


@click.command("plot")
@click.argument("capture", type=click.Path())
@click.option(
    "--flow",
    type=click.IntRange(min=0),
    metavar="N",
    help="Number of the flow to draw.  [default: the one that lost most time]",
)
@click.option(
    "--output",
    "-o",
    required=True,
    type=click.Path(dir_okay=False, path_type=Path),
    help="Where to: a .png, .svg or .pdf file.",
)
def command(capture: str, flow: int | None, output: Path) -> ExitCode:
    """Draw one flow: time and sequence above, in flight against the windows below, stalls as bands.

    CAPTURE is read more than once, so it must be a file.
    """  # fmt: skip
    if output.suffix.lower() not in _FORMATS:
        raise click.BadParameter(f"{output.name!r} must end in {', '.join(_FORMATS)}", param_hint="--output")
    if capture == "-":
        raise click.BadParameter("a picture needs a file, not standard input", param_hint="CAPTURE")
    number, code = _flow_to_draw(capture, flow)
    from tcpstall.plot import draw

    with writing(str(output)):
        draw(capture, number, str(output))
    return code


def _flow_to_draw(capture: str, flow: int | None) -> tuple[int, ExitCode]:
    """The flow's number, known to exist, and what became of the input."""
    with Bar() as bar:
        analysis = analyze(capture, flows=() if flow is None else (flow,), bursts=False, progress=bar)
    (source,) = analysis.captures
    if source.error:
        complain(source.error)
    if len(analysis) == 0:
        what = "holds no TCP flow" if flow is None else f"holds no flow {flow}; `tcpstall analyze` lists the flows"
        raise NothingToShow(f"{capture} {what}")
    return analysis[analysis.ranked()[0]].id, source.exit_code
