"""`tcpstall serve`: answers for agents."""

from pathlib import Path

import click

from tcpstall.cli.options.anonymise import anonymise_options, key_of
from tcpstall.cli.process.exits import writing
from tcpstall.errors import CannotOpen, ExitCode

__all__ = ["command"]


@click.command("serve")
@click.option("--mcp", is_flag=True, help="Speak the Model Context Protocol on standard input and output.")
@click.option(
    "--root",
    "roots",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    multiple=True,
    required=True,
    metavar="DIR",
    help="A folder of captures and stores that may be read, with all below it. Nothing else is. May be repeated.",
)
@anonymise_options
def command(mcp: bool, roots: tuple[Path, ...], anonymise: bool, key_file: Path | None) -> ExitCode:
    """Let an agent ask about captures: analyze, findings, flow, explain_stall, plot, query.

    \b
    claude mcp add tcpstall -- tcpstall serve --mcp --root captures

    The tools only read, and use no network. What packets carry (names, request lines) reaches the agent
    as data that strangers wrote: with --anonymise nothing of that does, and the tool query is not there.
    """  # noqa: D301
    if not mcp:
        raise click.UsageError("say what to speak: tcpstall serve --mcp")
    key = key_of(anonymise, key_file)
    try:
        from tcpstall.serve.server import serve
    except ModuleNotFoundError as error:
        if (error.name or "").startswith("tcpstall"):
            raise
        raise CannotOpen("serve --mcp: the mcp package is not installed: pip install 'tcpstall[mcp]'") from error
    with writing("standard output"):
        serve(roots, key)
    return ExitCode.COMPLETE
