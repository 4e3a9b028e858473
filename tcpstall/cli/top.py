"""`tcpstall top`: where an archive lost most time."""

from typing import Literal, Unpack, get_args

import click

from tcpstall.cli.options.store_option import stores_given
from tcpstall.cli.options.top_option import top_option
from tcpstall.cli.options.wait_filters import Which, chosen, which_options
from tcpstall.cli.store_query import Form, asked, form_options, tell_flows_without, write
from tcpstall.errors import ExitCode
from tcpstall.lost_time import By

__all__ = ["command"]

_ROWS = 20


class _Asked(Form, Which):
    """All options but those of this command alone."""


@click.command("top")
@stores_given
@click.option(
    "--by",
    type=click.Choice(("finding", *get_args(By))),
    default="finding",
    show_default=True,
    help="Findings as `analyze` tells them, or what losses are added up by.",
)
@which_options
@top_option("The first N.", default=_ROWS)
@form_options
def command(stores: tuple[str, ...], by: By | Literal["finding"], top: int, **which: Unpack[_Asked]) -> ExitCode:
    """Say where most time was lost, to what, and which flow shows it best.

    What a change could give back most of comes first: not the pauses of applications, nor the plain round trip. Lost
    is the length of waits. A host's are those that were its own doing: as a sender, as a receiver whose window was
    full, as a server that was slow to accept.
    """
    meant = chosen(which)
    store = stores[0]  # of several stores each example names its own
    form = Form(form=which["form"], output=which["output"])
    with asked(stores, form, meant) as session:
        tell_flows_without(stores, session, meant)
        if by == "finding":
            from tcpstall.archive.asking.findings import findings

            found = findings(session, meant, top)
        else:
            from tcpstall.archive.asking import questions

            losses = questions.top(session, by, meant, top)
    if by == "finding":
        from tcpstall.report.archive.found import found_columns, found_rows, render_found

        write(
            form,
            found_columns(),
            found_rows(found, store),
            lambda width: render_found(found, store=store, width=width),
        )
        return session.exit_code
    from tcpstall.report.archive.losses import loss_columns, loss_rows, render_losses

    write(form, loss_columns(losses), loss_rows(losses), lambda width: render_losses(losses, store=store, width=width))
    return session.exit_code
