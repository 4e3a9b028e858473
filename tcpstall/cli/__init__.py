"""The command line: its commands by name, loaded when they are called."""

import sys
from collections.abc import Sequence
from difflib import get_close_matches
from importlib import import_module
from pathlib import Path

import click

from tcpstall import __version__
from tcpstall.cli.exits import guarded
from tcpstall.errors import ExitCode

__all__ = ["main", "tcpstall"]

COMMANDS = (
    "analyze",
    "live",
    "report",
    "plot",
    "explain",
    "annotate",
    "wireshark",
    "extract",
    "diff",
    "check",
    "pair",
    "convert",
    "query",
    "top",
    "trend",
    "scan",
    "store",
    "metrics",
    "serve",
    "remedies",
    "whatif",
    "help",
    "man",
)
"""Each is a module of this package with the click command `command` in it."""


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

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Analyses a capture given in the place of a command; suggests the commands nearest to an unknown name."""
        name = args[0]
        if name in COMMANDS or (name.startswith("-") and name != _STANDARD_INPUT):
            return super().resolve_command(ctx, args)
        if _is_input(name):
            return _DEFAULT, self.get_command(ctx, _DEFAULT), args
        near = get_close_matches(name, COMMANDS, n=2, cutoff=_NEAR)
        hint = f"; did you mean {' or '.join(near)}?" if near else "; `tcpstall --help` lists the commands"
        ctx.fail(f"no such command, and no such file: {name}{hint}")


def _is_input(name: str) -> bool:
    """True for an input that exists, and for a name that looks like a capture's."""
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
    return guarded(tcpstall, sys.argv[1:] if arguments is None else arguments)
