"""The command line: its commands by name, loaded when they are called."""

import gc
import sys
from collections.abc import Sequence
from importlib import import_module

import click

from tcpstall import __version__
from tcpstall.cli.process.exits import guarded
from tcpstall.errors import ExitCode

__all__ = ["main", "tcpstall"]

COMMANDS = {
    "analyze": "Say why each sender waited.",
    "live": "Watch an interface: who waits now, and why.",
    "report": "Write a page that says why each sender waited: one HTML file that needs no network.",
    "plot": "Draw one flow over its time, or the waits or exchanges of many, stalls in their causes' colours.",
    "explain": "Print the rule of a cause, its evidence, and when tcpstall abstains; or the proof of one stall.",
    "annotate": "Write the capture again with a packet comment at each stall, for Wireshark.",
    "wireshark": "Show stalls as fields of packets in Wireshark and tshark.",
    "extract": "Cut out the packets of one flow, or those that prove one of its stalls.",
    "diff": "Say what changed between two captures, or between two times in a store.",
    "check": "Check captures against rules, for pipelines and canaries.",
    "pair": "Show what happened between two taps, and who owns each wait.",
    "convert": "Turn tcpdump's text output into a pcap file that Wireshark opens.",
    "query": "Answer one SELECT over the tables flows, stalls, exchanges, findings, hours, captures and errors.",
    "top": "Say where most time was lost, to what, and which flow shows it best.",
    "trend": "Show lost time over time, and which services lose more to what than before, since when.",
    "scan": "Analyse all captures under folders or URLs into a store, which `top`, `trend`, `query` and `report` ask.",
    "store": "Maintain a store.",
    "metrics": "Give what a store holds as metrics: time lost, waits, flows, round-trip times, times to the first "
    "byte.",
    "serve": "Let an agent ask about captures: analyze, findings, flow, explain_stall, plot, query.",
    "remedies": "Say what to change, with commands.",
    "whatif": "Say what a change would buy, before anybody makes it.",
    "help": "Show a page of the documentation; without TOPIC, list the pages.",
    "man": "Write a man page for each command, and completions for bash, zsh and fish.",
}
"""Each is a module of this package with the click command `command` in it, and the first sentence of its help.

The sentences are here so that the list of commands imports none of them.
"""


_DEFAULT = "analyze"
"""Command that runs for a capture given without a command."""

_STANDARD_INPUT = "-"

_SUFFIXES = {".pcap", ".pcapng", ".cap", ".dmp", ".dump", ".snoop", ".trc"}

_NEAR = 0.6
"""Share of a command's name that must match for the command to be suggested."""


class _Lazy(click.Group):
    """A group that imports each command when it is called, so that no command pays for another's libraries."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        command: click.Command = import_module(f"tcpstall.cli.{cmd_name}").command
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Lists the commands with their sentences, cut to the width of a line."""
        limit = formatter.width - 6 - max(map(len, COMMANDS))
        rows = [(name, click.Command(name, help=does).get_short_help_str(limit)) for name, does in COMMANDS.items()]
        with formatter.section("Commands"):
            formatter.write_dl(rows)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Lets options of `analyze` stand before the capture where no command is named."""
        first = args[0].partition("=")[0] if args else ""
        own = {name for option in self.get_params(ctx) for name in option.opts}
        if first.startswith("-") and first not in own and any(map(_is_input, args[1:])):
            args = [_DEFAULT, *args]
        return super().parse_args(ctx, args)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Analyses a capture given in the place of a command; suggests the commands nearest to an unknown name."""
        name = args[0]
        if name in COMMANDS or (name.startswith("-") and name != _STANDARD_INPUT):
            return super().resolve_command(ctx, args)
        if _is_input(name):
            return _DEFAULT, self.get_command(ctx, _DEFAULT), args
        from difflib import get_close_matches

        near = get_close_matches(name, COMMANDS, n=2, cutoff=_NEAR)
        hint = f"; did you mean {' or '.join(near)}?" if near else "; `tcpstall --help` lists the commands"
        ctx.fail(f"no such command, and no such file: {name}{hint}")


def _is_input(name: str) -> bool:
    """True for an input that exists, and for a name that looks like a capture's."""
    from pathlib import Path

    path = Path(name)
    return name == _STANDARD_INPUT or path.exists() or bool(_SUFFIXES & set(path.suffixes)) or len(path.parts) > 1


def _epilog() -> str:
    codes = "\n".join(f"{code.value:>4}  {code.meaning}" for code in ExitCode)
    return (
        f"\b\nExit codes:\n{codes}\n\n"
        "With several inputs the highest of 3 to 5 counts, and every readable one is reported.\n\n"
        "\b\nShell completion, for this session (add the line to your shell's start-up file to keep it):\n"
        '  bash  eval "$(_TCPSTALL_COMPLETE=bash_source tcpstall)"\n'
        '  zsh   eval "$(_TCPSTALL_COMPLETE=zsh_source tcpstall)"\n'
        "  fish  _TCPSTALL_COMPLETE=fish_source tcpstall | source"
    )


@click.group(
    cls=_Lazy,
    epilog=_epilog(),
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(__version__, "-V", "--version", prog_name="tcpstall", message="%(prog)s %(version)s")
def tcpstall() -> None:
    """Read TCP captures and say why a sender waited.

    \b
    tcpstall transfer.pcap                (short for: tcpstall analyze transfer.pcap)
    tcpdump -i eth0 -s 96 -w - tcp | tcpstall analyze -
    """  # noqa: D301


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command line and returns its exit code (see tcpstall.errors.ExitCode); never raises."""
    if arguments is not None:
        return guarded(tcpstall, arguments)
    code = guarded(tcpstall, sys.argv[1:])
    # The process ends: the interpreter need not look for cycles among all that was imported.
    gc.freeze()
    return code
