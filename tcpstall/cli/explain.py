"""`tcpstall explain`: the documentation of a cause."""

import sys

import click
from click.shell_completion import CompletionItem

from tcpstall.causes import Cause
from tcpstall.cli.ending import writing

__all__ = ["command"]


class _CauseType(click.ParamType[Cause]):
    """A cause by its public name."""

    name = "cause"

    def convert(self, value: str | Cause, param: click.Parameter | None, ctx: click.Context | None) -> Cause:
        """Case and underscores do not matter."""
        name = value.lower().replace("_", "-")
        if name not in list(Cause):
            self.fail(f"{value!r} is no cause; `tcpstall explain` lists them", param, ctx)
        return Cause(name)

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        """Names with their summaries."""
        return [CompletionItem(cause.value, help=cause.summary) for cause in Cause if cause.startswith(incomplete)]


@click.command("explain")
@click.argument("cause", type=_CauseType(), required=False)
def command(cause: Cause | None) -> None:
    """Print how a cause is told, from what evidence, and when tcpstall abstains.

    Without CAUSE, list all causes.
    """
    with writing("standard output"):
        click.echo(cause.documentation.rstrip() if cause else _all_causes())
        sys.stdout.flush()


def _all_causes() -> str:
    width = max(len(cause) for cause in Cause)
    return "\n".join(f"{cause.value:<{width}}  {cause.summary}" for cause in Cause)
