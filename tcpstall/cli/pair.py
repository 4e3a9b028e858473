"""`tcpstall pair`: two captures of the same traffic, one from each end."""

import click

from tcpstall.cli.options.capture_options import outcome
from tcpstall.cli.options.output_format import table_or_json
from tcpstall.cli.process.exits import writing
from tcpstall.cli.process.progress import Bar
from tcpstall.errors import ExitCode, NothingToShow

__all__ = ["command"]


@click.command("pair")
@click.argument("client", type=click.Path(), metavar="CLIENT")
@click.argument("server", type=click.Path(), metavar="SERVER")
@table_or_json("Tables")
@click.option(
    "--same-clock",
    is_flag=True,
    help="One clock stamped both captures: nothing is aligned, and each way is measured.",
)
def command(client: str, server: str, form: str, same_clock: bool) -> ExitCode:
    """Show what happened between two taps, and who owns each wait.

    CLIENT and SERVER are captures of the same traffic, taken at both ends; the other way round is noticed. Addresses
    may be translated in between. Both are read more than once, so they must be files.
    """  # fmt: skip
    if "-" in (client, server):
        raise click.BadParameter("two files are needed, not standard input", param_hint="CLIENT SERVER")
    from tcpstall.pair import pair

    with Bar() as bar:
        ends = pair(client, server, same_clock=same_clock, progress=bar)
    code = outcome(ends.captures)
    if not ends.flows:
        raise NothingToShow(_nothing(client, server, ends.rewritten))
    with writing("standard output"):
        if form == "json":
            from tcpstall.report.pair.as_json import pair_json

            click.echo(pair_json(ends))
        else:
            from tcpstall.cli.process.terminal import console, show
            from tcpstall.report.pair.tables import render_pair

            screen = console()
            for part in render_pair(ends, width=screen.width):
                show(part, screen)
    return code


def _nothing(client: str, server: str, rewritten: int) -> str:
    if rewritten:
        return (
            f"{client} and {server} hold flows of the same ends whose sequence numbers differ: something in between "
            "rewrites them (a proxy, or a firewall that draws its own), so packets cannot be told to be the same"
        )
    return (
        f"{client} and {server} have no flow in common: no initial sequence number of one is in the other, and no "
        "packet's numbers and timestamps"
    )
