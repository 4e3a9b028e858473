"""How a command was called, for reports that say what made them."""

import shlex
from collections.abc import Sequence

import click

from tcpstall.model import Capture

__all__ = ["Remembering", "command_line"]

_ARGUMENTS = "tcpstall.arguments"


class Remembering(click.Command):
    """A command that keeps its arguments as they were typed."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Keeps them where command_line() finds them."""
        ctx.meta[_ARGUMENTS] = list(args)
        return super().parse_args(ctx, args)


def command_line(captures: Sequence[Capture], *, anonymised: bool) -> str:
    """The line that starts the running command again, quoted for a shell; of an anonymised one the command alone."""
    context = click.get_current_context()
    if anonymised:
        shown = [capture.path for capture in captures]
        return shlex.join(["tcpstall", context.info_name or "", "--anonymise", *shown])
    return shlex.join(["tcpstall", context.info_name or "", *context.meta.get(_ARGUMENTS, ())])
