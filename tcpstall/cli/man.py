"""`tcpstall man`: the manual of each command, and completions for shells."""

from pathlib import Path

import click

from tcpstall import __version__
from tcpstall.cli.process.exits import writing
from tcpstall.errors import ExitCode
from tcpstall.output import written

__all__ = ["command"]


@click.command("man")
@click.option(
    "--output",
    "-o",
    type=click.Path(file_okay=False, path_type=Path),
    required=True,
    metavar="DIR",
    help="The share folder to write below: man/man1, bash-completion, zsh/site-functions and fish.",
)
@click.pass_context
def command(context: click.Context, output: Path) -> ExitCode:
    """Write a man page for each command, and completions for bash, zsh and fish.

    \b
    tcpstall man --output ~/.local/share
    man tcpstall-analyze

    Wheels of a release bring these files already; a package that is built from source writes them into its own
    share folder. zsh looks below ~/.local/share only where fpath names its folder.
    """  # noqa: D301
    from tcpstall.cli.manual import files

    group = context.find_root().command
    assert isinstance(group, click.Group)  # noqa: S101 it is where commands are looked up
    for name, text in files(group, __version__):
        file = output / name
        with writing(str(file)):
            file.parent.mkdir(parents=True, exist_ok=True)
            with written(file) as whole:
                whole.write(text.encode())
    return ExitCode.COMPLETE
