"""`tcpstall trend`: lost time of an archive over time."""

from typing import Unpack, get_args

import click

from tcpstall.cli.options.store_option import stores_given
from tcpstall.cli.options.top_option import top_option
from tcpstall.cli.options.wait_filters import Which, chosen, which_options
from tcpstall.cli.store_query import Form, asked, form_options, write
from tcpstall.errors import ExitCode
from tcpstall.lost_time import Every

__all__ = ["command"]

_ROWS = 10


class _Asked(Form, Which):
    """All options but those of this command alone."""


@click.command("trend")
@stores_given
@click.option(
    "--by",
    "every",
    type=click.Choice(get_args(Every)),
    default="hour",
    show_default=True,
    help="Length of the periods.",
)
@which_options
@top_option("The first N of what has grown.", default=_ROWS)
@form_options
def command(stores: tuple[str, ...], every: Every, top: int, **which: Unpack[_Asked]) -> ExitCode:
    """Show lost time over time, and which services lose more to what than before, since when."""
    meant = chosen(which)
    form = Form(form=which["form"], output=which["output"])
    with asked(stores, form, meant) as session:
        from tcpstall.archive.asking.trend import trend

        found = trend(session, every, meant, top)
    from tcpstall.cli.process.terminal import has_braille
    from tcpstall.report.archive.trend import TREND_COLUMNS, render_trend, trend_rows

    plain = not has_braille()
    write(form, TREND_COLUMNS, trend_rows(found), lambda width: render_trend(found, width=width, plain=plain))
    return session.exit_code
