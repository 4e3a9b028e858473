"""`tcpstall diff`: which causes grew from one capture, or one time, to another."""

from collections.abc import Collection, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Unpack

import click

from tcpstall.cli.options.anonymise import anonymise_options, key_of
from tcpstall.cli.options.capture_options import outcome
from tcpstall.cli.options.output_format import table_or_json
from tcpstall.cli.options.store_option import several_stores_option
from tcpstall.cli.options.top_option import top_option
from tcpstall.cli.options.wait_filters import TIMES, Which, chosen, filter_options
from tcpstall.cli.process.exits import writing
from tcpstall.cli.process.invocation import Remembering, command_line
from tcpstall.cli.process.progress import Bar
from tcpstall.cli.process.signals import draining
from tcpstall.cli.store_page import refuse, typed_parameters
from tcpstall.cli.store_query import Form, asked, write
from tcpstall.errors import ExitCode
from tcpstall.lost_time import Span

if TYPE_CHECKING:
    from tcpstall.diff import Comparison

__all__ = ["command"]


_ROWS = 20

_CAPTURES_ONLY = {"good", "bad", "output", "anonymise", "key_file"}
"""Parameters that apply to captures alone."""

_BOTH = {"form"}


class _Chosen(Which):
    """Options that apply to a store alone."""

    before: Span | None
    after: Span | None
    top: int


@click.command("diff", cls=Remembering)
@click.argument("good", required=False, type=click.Path(allow_dash=True))
@click.argument("bad", required=False, type=click.Path(allow_dash=True))
@table_or_json("Tables")
@click.option(
    "--output",
    "-o",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Write a page that needs no network instead.",
)
@anonymise_options
@several_stores_option("Compare two times in a store instead of captures.")
@click.option(
    "--before",
    type=TIMES,
    metavar="TIME..TIME",
    help="With --store: the first time, such as 2026-03-01..2026-03-02, the end not included.",
)
@click.option("--after", type=TIMES, metavar="TIME..TIME", help="With --store: the second time; written like --before.")
@filter_options
@top_option("With --store: the first N.", default=_ROWS)
def command(
    good: str | None,
    bad: str | None,
    form: str,
    output: Path | None,
    anonymise: bool,
    key_file: Path | None,
    stores: tuple[str, ...],
    **which: Unpack[_Chosen],
) -> ExitCode:
    """Say what changed between two captures, or between two times in a store.

    GOOD and BAD are captures of the same service, when it was fast and when it was slow, say. Waits are compared by
    flow; what a longer round trip or more data explains is told apart. With --store, --before and --after the lost time
    of each service and cause is compared, an hour on average, the largest change first: `--cause`, `--service`,
    `--host`, `--port`, `--capture` and `--sensor` select waits.
    """  # fmt: skip
    typed = typed_parameters()
    if good is None and stores:
        return _of_stores(stores, form, typed, which)
    if "stores" in typed:
        raise click.UsageError("give captures or --store, not both")
    refuse(typed - _CAPTURES_ONLY - _BOTH, "needs --store, --before and --after, without captures")
    if good is None or bad is None:
        raise click.UsageError(f"missing argument '{'GOOD' if good is None else 'BAD'}', or --store")
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
            from tcpstall.cli.process.terminal import console, show
            from tcpstall.report.diff.tables import render_diff

            screen = console()
            for part in render_diff(comparison, width=screen.width):
                show(part, screen)
    return code


def _of_stores(stores: Sequence[str], form: str, typed: Collection[str], which: _Chosen) -> ExitCode:
    refuse(_CAPTURES_ONLY.intersection(typed), "cannot be used with --store")
    before, after = which["before"], which["after"]
    if before is None or after is None:
        raise click.UsageError("--store: say which times to compare: give --before and --after")
    start_ns, end_ns = min(before.start_ns, after.start_ns), max(before.end_ns, after.end_ns)
    meant = replace(chosen(which), since_ns=start_ns, until_ns=end_ns)
    answer = Form(form=form, output=None)
    with asked(stores, answer, meant) as session:
        from tcpstall.archive.asking.spans import changes

        found = changes(session, before, after, meant, which["top"])
    from tcpstall.report.archive.changes import CHANGE_COLUMNS, change_rows, render_changes

    write(answer, CHANGE_COLUMNS, change_rows(found), lambda width: render_changes(found, width=width))
    return session.exit_code


def _write_page(comparison: "Comparison", paths: tuple[str, str], output: Path, *, anonymised: bool) -> None:
    from tcpstall import __version__
    from tcpstall.cli.report import source, write_whole
    from tcpstall.report.html import MadeBy, diff_page

    sources = tuple(source(path, capture) for path, capture in zip(paths, comparison.captures, strict=True))
    line = command_line(comparison.captures, anonymised=anonymised)
    text = diff_page(comparison, made_by=MadeBy(line, __version__, sources))
    with writing(str(output)):
        write_whole(text, output)
