"""`tcpstall diff`: which causes grew from one capture to another."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from tcpstall.cli.anonymise import anonymise_options, key_of
from tcpstall.cli.capture_options import outcome
from tcpstall.cli.exits import writing
from tcpstall.cli.invocation import Remembering, command_line
from tcpstall.cli.output_format import table_or_json
from tcpstall.cli.progress import Bar
from tcpstall.cli.signals import draining
from tcpstall.errors import ExitCode

if TYPE_CHECKING:
    from tcpstall.diff import Comparison

__all__ = ["command"]


@click.command("diff", cls=Remembering)
@click.argument("good", type=click.Path(allow_dash=True))
@click.argument("bad", type=click.Path(allow_dash=True))
@table_or_json("Tables")
@click.option(
    "--output",
    "-o",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Write a page that needs no network instead.",
)
@anonymise_options
def command(good: str, bad: str, form: str, output: Path | None, anonymise: bool, key_file: Path | None) -> ExitCode:
    """Say what changed between two captures.

    GOOD and BAD are captures of the same service, when it was fast and when it was slow, say. Waits are compared by
    flow; what a longer round trip or more data explains is told apart.
    """  # fmt: skip
    if good == bad == "-":
        raise click.UsageError("standard input can be read only once: give '-' once")
    from tcpstall.diff import compare

    with Bar() as bar, draining((good, bad)):
        comparison = compare(good, bad, anonymise=key_of(anonymise, key_file), progress=bar)
    code = outcome(comparison.captures)
    if output is not None:
        _write_page(comparison, (good, bad), output, anonymised=anonymise)
        return code
    with writing("standard output"):
        if form == "json":
            from tcpstall.report.diff.as_json import diff_json

            click.echo(diff_json(comparison))
        else:
            from tcpstall.cli.terminal import console, show
            from tcpstall.report.diff.tables import render_diff

            screen = console()
            for part in render_diff(comparison, width=screen.width):
                show(part, screen)
    return code


def _write_page(comparison: "Comparison", paths: tuple[str, str], output: Path, *, anonymised: bool) -> None:
    from tcpstall import __version__
    from tcpstall.cli.report import source, write_whole
    from tcpstall.report.html import MadeBy, diff_page

    sources = tuple(source(path, capture) for path, capture in zip(paths, comparison.captures, strict=True))
    line = command_line(comparison.captures, anonymised=anonymised)
    text = diff_page(comparison, made_by=MadeBy(line, __version__, sources))
    with writing(str(output)):
        write_whole(text, output)
