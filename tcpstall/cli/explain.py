"""`tcpstall explain`: the documentation of a cause."""

import sys
from difflib import get_close_matches

import click
from click.shell_completion import CompletionItem

from tcpstall.causes import Cause
from tcpstall.cli.ending import writing

__all__ = ["command"]


_NEAR = 0.5
"""How much of a name must be right for it to be suggested."""

_ALIASES = {
    "cwnd": Cause.CWND_LIMITED,
    "congestionwindow": Cause.CWND_LIMITED,
    "initcwnd": Cause.CWND_LIMITED,
    "slowstart": Cause.CWND_LIMITED,
    "rwnd": Cause.RWND_LIMITED,
    "rcvbuf": Cause.RWND_LIMITED,
    "receivewindow": Cause.RWND_LIMITED,
    "windowfull": Cause.RWND_LIMITED,
    "zerowindow": Cause.ZERO_WINDOW,
    "sndbuf": Cause.SNDBUF_LIMITED,
    "sendbuffer": Cause.SNDBUF_LIMITED,
    "app": Cause.APP_LIMITED,
    "application": Cause.APP_LIMITED,
    "thinktime": Cause.APP_LIMITED,
    "idle": Cause.APP_LIMITED,
    "rto": Cause.RETRANSMISSION,
    "timeout": Cause.RETRANSMISSION,
    "tlp": Cause.RETRANSMISSION,
    "loss": Cause.RETRANSMISSION,
    "fastretransmit": Cause.RETRANSMISSION,
    "retransmit": Cause.RETRANSMISSION,
    "delack": Cause.DELAYED_ACK,
    "delayedack": Cause.DELAYED_ACK,
    "syn": Cause.HANDSHAKE,
    "synloss": Cause.HANDSHAKE,
    "connect": Cause.HANDSHAKE,
    "bandwidth": Cause.BANDWIDTH_LIMITED,
    "bottleneck": Cause.BANDWIDTH_LIMITED,
    "ssai": Cause.IDLE_RESTART,
    "slowstartafteridle": Cause.IDLE_RESTART,
}
"""Other words that people look for, without hyphens."""


class _CauseType(click.ParamType[Cause]):
    """A cause by its public name."""

    name = "cause"

    def convert(self, value: str | Cause, param: click.Parameter | None, ctx: click.Context | None) -> Cause:
        """Case and underscores do not matter."""
        name = value.lower().replace("_", "-")
        name = _ALIASES.get(name.replace("-", ""), name)
        if name not in list(Cause):
            near = get_close_matches(name, [*Cause, *_ALIASES], n=2, cutoff=_NEAR)
            hint = f"did you mean {' or '.join(near)}?" if near else "`tcpstall explain` lists them"
            self.fail(f"{value!r} is no cause; {hint}", param, ctx)
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
