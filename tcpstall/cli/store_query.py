"""Options and output shared by `top`, `trend` and `query`."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict

import click

from tcpstall.cli.options.together import together
from tcpstall.cli.process.exits import complain, writing
from tcpstall.errors import CannotWrite, ExitCode
from tcpstall.output import written, written_by_name
from tcpstall.units import counted

if TYPE_CHECKING:
    from rich.console import RenderableType

    from tcpstall.archive.asking.session import Session
    from tcpstall.archive.asking.where import Chosen

__all__ = ["Form", "asked", "form_options", "parquet_file", "tell_flows_without", "write"]

_FORMATS = ("table", "json", "csv", "parquet")


class Form(TypedDict):
    """Format and destination of the answer."""

    form: str
    output: Path | None


form_options = together(
    click.option("--format", "form", type=click.Choice(_FORMATS), default="table", show_default=True,
                 help="A table for reading, or rows for further programs."),
    click.option("--output", "-o", type=click.Path(dir_okay=False, path_type=Path),
                 help="The file to write; Parquet needs one."),
)  # fmt: skip
"""Adds the options of `Form`."""


@contextmanager
def asked(
    stores: Sequence[str], form: Form, chosen: "Chosen | None" = None, *, output: Path | None = None
) -> Iterator["Session"]:
    """A session over the stores, each counted once, or over the selected part, that may write `output`."""
    _check(form)
    from tcpstall.archive.asking.pruned import missing, sound
    from tcpstall.archive.asking.session import session

    opened = [(given, sound(given, chosen)) for given in dict.fromkeys(stores)]
    once = {store.url: (given, store) for given, store in opened}
    called, different = zip(*once.values(), strict=True)
    with session(*different, called=called if len(called) > 1 else (), output=output) as answering:
        for given, store in once.values():
            for line in missing(store):
                complain(f"{given}: {line}")
            if store.lost:
                answering.exit_code = ExitCode.DAMAGED
        yield answering


def tell_flows_without(stores: Sequence[str], session: "Session", chosen: "Chosen") -> None:
    """Warns where the answer lacks the findings of some flows."""
    from tcpstall.archive.asking.findings import flows_without

    if flows := flows_without(session, chosen):
        were = "was" if flows == 1 else "were"
        complain(
            f"{', '.join(stores)}: {counted(flows, 'flow')} {were} scanned by a version that kept no findings: "
            "scan the captures into a new store to see theirs"
        )


def write(
    form: Form,
    columns: Mapping[str, str],
    rows: Iterable[Sequence[Any]],
    shown: Callable[[int], Iterable["RenderableType"]],
) -> None:
    """Writes the answer in `form`: `shown(width)` for reading, else the rows."""
    target = form["output"]
    with writing(str(target) if target else "standard output"):
        if form["form"] == "table":
            _show(shown)
        elif form["form"] == "parquet":
            from tcpstall.archive.asking.export import write_parquet

            with parquet_file(form) as unfinished:
                write_parquet(columns, rows, unfinished)
        else:
            from tcpstall.report.archive.answers import as_csv, as_json

            _write_text(form, (as_json if form["form"] == "json" else as_csv)(list(columns), rows))


@contextmanager
def parquet_file(form: Form) -> Iterator[Path]:
    """A file that DuckDB writes and that becomes the output once it is whole."""
    _check(form)
    output = form["output"]
    assert output is not None  # noqa: S101 _check() has refused others
    with writing(str(output)), written_by_name(output) as unfinished:
        try:
            yield unfinished
        except CannotWrite as error:
            raise CannotWrite(str(error).replace(str(unfinished), str(output))) from error


def _check(form: Form) -> None:
    if form["form"] == "parquet" and form["output"] is None:
        raise click.UsageError("Parquet is no text for a terminal: give --output FILE too")
    if form["form"] == "table" and form["output"] is not None:
        raise click.UsageError("--output is for --format json, csv and parquet")


def _show(shown: Callable[[int], Iterable["RenderableType"]]) -> None:
    from tcpstall.cli.process.terminal import console, show

    screen = console()
    for part in shown(screen.width):
        show(part, screen)


def _write_text(form: Form, pieces: Iterable[str]) -> None:
    if form["output"] is None:
        for piece in pieces:
            click.echo(piece, nl=False)
        return
    with written(form["output"]) as file:
        file.writelines(piece.encode() for piece in pieces)
