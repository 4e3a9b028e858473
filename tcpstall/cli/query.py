"""`tcpstall query`: SQL over a store."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeVar, Unpack

import click

from tcpstall.cli.options.store_option import stores_option
from tcpstall.cli.process.exits import writing
from tcpstall.cli.store_query import Form, asked, form_options, parquet_file, write
from tcpstall.errors import CannotAnswer, ExitCode

if TYPE_CHECKING:
    from tcpstall.archive.asking.session import Session

__all__ = ["command"]

_Command = TypeVar("_Command", bound=Callable[..., Any])


def _print_columns() -> None:
    from tcpstall.archive.columns import TABLES, documented
    from tcpstall.cli.process.terminal import console, show
    from tcpstall.report.archive.documentation import render_table

    screen = console()
    for table in TABLES.values():
        for part in render_table(table.name, table.meaning, list(documented(table)), width=screen.width):
            show(part, screen)


def _print_questions() -> None:
    from tcpstall.archive.asking.saved import questions
    from tcpstall.cli.process.terminal import console, show
    from tcpstall.report.archive.documentation import render_questions

    screen = console()
    listed = [(name, f"{one.text} {one.note}".strip()) for name, one in questions().items()]
    show(render_questions(listed, width=screen.width), screen)


def _instead(name: str, print_: Callable[[], None], help_: str) -> Callable[[_Command], _Command]:
    """An option that prints something, and the command ends."""

    def printed(context: click.Context, _parameter: click.Parameter, wanted: bool) -> None:
        if wanted and not context.resilient_parsing:
            with writing("standard output"):
                print_()
            context.exit()

    return click.option(name, is_flag=True, is_eager=True, expose_value=False, callback=printed, help=help_)


class _ValueType(click.ParamType[tuple[str, str]]):
    """A parameter of a question and its value."""

    name = "value"

    def convert(
        self, value: str | tuple[str, str], param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[str, str]:
        """`at=2026-03-01` → `("at", "2026-03-01")`."""
        if isinstance(value, tuple):
            return value
        name, sign, given = value.partition("=")
        if not (sign and name.isidentifier() and _is_text(value)):
            self.fail(f"{value!r} is no value of a parameter: write at=2026-03-01 for $at", param, ctx)
        return name, given


class _BySql(click.Command):
    """A command whose argument may begin with a remark of SQL: `-- by service` is no option."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """With a blank before such a remark, so that click takes it for an argument."""
        return super().parse_args(
            ctx, [f" {one}" if one[2:3].isspace() and one.startswith("--") else one for one in args]
        )


@click.command("query", cls=_BySql)
@click.argument("sql", metavar="SQL|@NAME")
@stores_option
@form_options
@_instead(
    "--columns", _print_columns, "Print the tables with their columns, what these mean and their units, and exit."
)
@_instead("--questions", _print_questions, "Print the questions that have a name, and exit.")
@click.option(
    "--set",
    "values",
    type=_ValueType(),
    multiple=True,
    metavar="NAME=VALUE",
    help="The value of a parameter: --set at=2026-03-01 where the SQL has $at. May be repeated.",
)
def command(sql: str, stores: tuple[str, ...], values: tuple[tuple[str, str], ...], **form: Unpack[Form]) -> ExitCode:
    """Answer one SELECT over the tables flows, stalls, exchanges, findings, hours, captures and errors.

    \b
    tcpstall query --store archive \\
        "SELECT cause, sum(lost_ns) / 1e9 AS lost_s FROM stalls GROUP BY cause"
    tcpstall query --store archive @services

    The SQL is DuckDB's. Nothing but the store is read, and nothing is written. @NAME asks a question that --questions
    lists, or that of a file NAME.sql in ~/.config/tcpstall/questions.
    """  # noqa: D301
    if not _is_text(sql):
        raise click.BadParameter("it is not UTF-8", param_hint="SQL")
    if sql.startswith("@"):
        from tcpstall.archive.asking.saved import named

        sql = named(sql[1:]).sql
    if form["form"] == "parquet":
        with parquet_file(form) as unfinished, asked(stores, form, output=unfinished) as session:
            _expect_values(session, sql, dict(values))
            session.write(sql, unfinished, dict(values))
            return session.exit_code
    with asked(stores, form) as session:
        _expect_values(session, sql, dict(values))
        answer = session.ask(sql, dict(values))
        from tcpstall.report.archive.answers import as_table

        names, types = answer.names, answer.types
        write(form, dict(zip(names, types, strict=True)), answer, lambda width: as_table(names, types, answer, width))
        return session.exit_code


def _expect_values(session: "Session", sql: str, values: Mapping[str, str]) -> None:
    """Raises CannotAnswer where the question has a parameter without a value."""
    missing = sorted(session.parameters(sql) - values.keys())
    if not missing:
        return
    if not all(name.isidentifier() for name in missing):
        raise CannotAnswer("parameters of a question need names: write $at, and give its value with --set at=VALUE")
    sets = " ".join(f"--set {name}=VALUE" for name in missing)
    raise CannotAnswer(f"the question needs {' and '.join(f'${name}' for name in missing)}: give {sets}")


def _is_text(sql: str) -> bool:
    try:
        sql.encode()
    except UnicodeEncodeError:
        return False
    return True
