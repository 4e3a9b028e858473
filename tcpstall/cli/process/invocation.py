"""The command line of a run, for reports that name the command that made them."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from tcpstall.model import Capture

__all__ = ["Remembering", "command_line"]

_ARGUMENTS = "tcpstall.arguments"


class Remembering(click.Command):
    """A command that keeps its arguments as the user typed them."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Keeps the arguments for command_line()."""
        ctx.meta[_ARGUMENTS] = list(args)
        return super().parse_args(ctx, args)


def command_line(captures: "Sequence[Capture]", *, anonymised: bool) -> str:
    """The line that repeats the running command, quoted for a shell; with --anonymise the command alone."""
    import shlex

    context = click.get_current_context()
    if anonymised:
        shown = [capture.path for capture in captures]
        return shlex.join(["tcpstall", context.info_name or "", "--anonymise", *shown])
    return shlex.join(["tcpstall", context.info_name or "", *context.meta.get(_ARGUMENTS, ())])
