"""`tcpstall explain`: the documentation of a cause, or the proof of one stall."""

import sys
from difflib import get_close_matches
from pathlib import Path

import click
from click.shell_completion import CompletionItem

from tcpstall.causes import Cause
from tcpstall.cli.inputs import Inputs, is_elsewhere
from tcpstall.cli.options.numbers import Number
from tcpstall.cli.process.exits import writing
from tcpstall.cli.process.terminal import width
from tcpstall.errors import ExitCode, NothingToShow

__all__ = ["command"]


_NEAR = 0.5
"""Share of a name that must match for the name to be suggested."""

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
"""Other words for causes, without hyphens."""


class _TopicType(click.ParamType[Cause | str]):
    """A cause by its public name, or the name of a capture."""

    name = "topic"

    def convert(self, value: str | Cause, param: click.Parameter | None, ctx: click.Context | None) -> Cause | str:
        """Accepts capital letters and underscores in the names of causes."""
        if isinstance(value, Cause):
            return value
        if Path(value).is_file() or is_elsewhere(value) or Path(value).suffix in (".pcap", ".pcapng"):
            return value
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
@click.argument("topic", type=_TopicType(), required=False, metavar="[CAUSE|CAPTURE]")
@click.option(
    "--flow", type=Number(min=0), metavar="N", help="With CAPTURE: number of the flow.  [default: the first finding's]"
)
@click.option(
    "--stall", type=Number(min=0), metavar="N", help="With CAPTURE: number of the stall.  [default: the longest]"
)
def command(topic: Cause | str | None, flow: int | None, stall: int | None) -> ExitCode:
    """Print the rule of a cause, its evidence, and when tcpstall abstains; or the proof of one stall.

    Without CAUSE, list all causes. With CAPTURE, show the proof of one stall of one flow: the rule, the evidence it
    read, the other possible causes, the packets, and Wireshark's filter for them.
    """
    if isinstance(topic, str) and not isinstance(topic, Cause):
        return _prove(topic, flow, stall)
    if flow is not None or stall is not None:
        raise click.UsageError("--flow and --stall belong to a capture: tcpstall explain CAPTURE --flow N --stall M")
    from tcpstall.rules import all_causes, rule

    columns = width()
    with writing("standard output"):
        click.echo(rule(topic, columns) if topic else all_causes(columns))
        sys.stdout.flush()
    return ExitCode.COMPLETE


def _prove(capture: str, flow: int | None, stall: int | None) -> ExitCode:
    from tcpstall import _core
    from tcpstall.cli.output import analysed, nothing_of
    from tcpstall.cli.process.terminal import console, show
    from tcpstall.findings import first_to_see
    from tcpstall.report.proof import longest, proof

    read_of = Inputs((capture,), () if flow is None else (flow,))
    analysis, code = analysed(read_of)
    if not len(analysis):
        raise NothingToShow(nothing_of(read_of))
    chosen = first_to_see(analysis)
    named = [each for each in chosen.stalls if each.number == stall] if stall is not None else chosen.stalls
    wanted = longest(named)
    if wanted is None:
        what = "no stall" if stall is None else f"no stall {stall}"
        raise NothingToShow(f"flow {chosen.id} has {what}; `tcpstall analyze --flow {chosen.id}` lists them")
    (samples,) = _core.samples(read_of.files(), [chosen.id])
    screen = console()
    with writing("standard output"):
        for part in proof(chosen, wanted, samples, width=screen.width):
            show(part, screen)
    return code
