"""`tcpstall query`: SQL over a store."""

from typing import Unpack

import click

from tcpstall.cli.asking import Form, asked, form_options, parquet_file, write
from tcpstall.cli.ending import writing
from tcpstall.cli.stores import store_option
from tcpstall.errors import ExitCode

__all__ = ["command"]


def _print_columns(context: click.Context, _parameter: click.Parameter, wanted: bool) -> None:
    if not wanted or context.resilient_parsing:
        return
    from tcpstall.archive.columns import TABLES, documented
    from tcpstall.cli.terminal import console, show
    from tcpstall.report.archive.documentation import render_table

    with writing("standard output"):
        screen = console()
        for table in TABLES.values():
            for part in render_table(table.name, table.meaning, list(documented(table)), width=screen.width):
                show(part, screen)
    context.exit()


@click.command("query")
@click.argument("sql")
@store_option
@form_options
@click.option(
    "--columns",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_print_columns,
    help="Print the tables with their columns, what these mean and their units, and exit.",
)
def command(sql: str, store: str, **form: Unpack[Form]) -> ExitCode:
    """Answer one SELECT over the tables flows, stalls, exchanges, findings, captures and errors.

    \b
    tcpstall query --store archive \\
        "SELECT cause, sum(lost_ns) / 1e9 AS lost_s FROM stalls GROUP BY cause"

    The SQL is DuckDB's. Nothing but the store is read, and nothing is written.
    """  # noqa: D301
    if not _is_text(sql):
        raise click.BadParameter("it is not UTF-8", param_hint="SQL")
    if form["form"] == "parquet":
        with parquet_file(form) as unfinished, asked(store, form, output=unfinished) as session:
            session.write(sql, unfinished)
            return session.exit_code
    with asked(store, form) as session:
        answer = session.ask(sql)
        from tcpstall.report.archive.answers import as_table

        names, types = answer.names, answer.types
        write(form, dict(zip(names, types, strict=True)), answer, lambda width: as_table(names, types, answer, width))
        return session.exit_code


def _is_text(sql: str) -> bool:
    try:
        sql.encode()
    except UnicodeEncodeError:
        return False
    return True
