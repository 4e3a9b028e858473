"""`tcpstall convert`: tcpdump's text as a capture file."""

from pathlib import Path

import click

from tcpstall.cli.process.exits import complain, writing
from tcpstall.cli.process.signals import draining
from tcpstall.errors import ExitCode
from tcpstall.units import counted

__all__ = ["command"]


@click.command("convert")
@click.argument("paste", type=click.Path(allow_dash=True))
@click.option(
    "--output", "-o", required=True, type=click.Path(dir_okay=False, path_type=Path), help="The pcap file to write."
)
@click.option(
    "--snaplen",
    type=click.IntRange(min=80, max=262_144),
    default=128,
    show_default=True,
    metavar="BYTES",
    help="Bytes kept of each packet; payload is all zeros.",
)
def command(paste: str, output: Path, snaplen: int) -> ExitCode:
    """Turn tcpdump's text output into a pcap file that Wireshark opens.

    PASTE may be a capture file too: then its TCP headers are kept and its payload is blanked.
    """  # fmt: skip
    from tcpstall.packets.convert import convert

    with writing(str(output)), draining((paste,)):
        packets, damage = convert(paste, output, snaplen=snaplen)
    complain(f"{counted(packets, 'packet')} written to {output}")
    if damage is None:
        return ExitCode.COMPLETE
    complain(damage)
    return ExitCode.DAMAGED
