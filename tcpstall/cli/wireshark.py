"""`tcpstall wireshark`: stalls as fields of packets in Wireshark and tshark."""

from pathlib import Path

import click

from tcpstall.cli.inputs import inputs
from tcpstall.cli.options.quantities import SPAN
from tcpstall.cli.output import analysed, capture_argument, ending_in
from tcpstall.cli.process.exits import complain, writing
from tcpstall.cli.process.progress import Bar
from tcpstall.errors import ExitCode
from tcpstall.units import counted

__all__ = ["command"]

_RELOAD = "start Wireshark again, or reload Lua plugins with Ctrl+Shift+L"


@click.command("wireshark")
@capture_argument
@click.option(
    "--output",
    "-o",
    type=click.Path(dir_okay=False, path_type=Path),
    callback=ending_in(".tcpstall"),
    help="Write the stalls into this .tcpstall file, to hand it on with the capture.",
)
@click.option("--min-stall", "min_stall_ns", type=SPAN, metavar="SPAN", help="Leave shorter stalls out, e.g. 5ms.")
@click.option("--install", "installs", is_flag=True, help="Put the dissector into Wireshark's personal plugin folder.")
@click.option("--remove", "removes", is_flag=True, help="Take the dissector and all stalls of this user away again.")
@click.option(
    "--dir",
    "folder",
    type=click.Path(file_okay=False, path_type=Path),
    help="The plugin folder, where it is another: `tshark -G folders` names it.",
)
def command(
    capture: str | None,
    output: Path | None,
    min_stall_ns: int | None,
    installs: bool,
    removes: bool,
    folder: Path | None,
) -> ExitCode:
    """Show stalls as fields of packets in Wireshark and tshark.

    \b
    tcpstall wireshark --install          once
    tcpstall wireshark x.pcap             for each capture, which stays as it is
    tshark -r x.pcap -Y 'tcpstall.cause == "rwnd-limited"'

    The packet that ended a wait has tcpstall.cause, .detail, .duration, .confidence, .sender, .flow, .stall, .advice
    and .since, the packet after which the wait began; that one has .until. A wait that never ended is at the last
    packet before. Wireshark finds the stalls in a folder of this user by the time of the capture's first packet. A
    colleague sets the preference tcpstall.file to what -o wrote.
    """  # fmt: skip  # noqa: D301
    if [capture is not None, installs, removes].count(True) != 1:
        raise click.UsageError("give CAPTURE, --install or --remove, and one of them only")
    if capture is not None:
        if folder is not None:
            raise click.UsageError("--dir goes with --install or --remove")
        return _write(capture, output, min_stall_ns or 0)
    if output is not None or min_stall_ns is not None:
        raise click.UsageError("--output and --min-stall go with CAPTURE")
    return _install(folder) if installs else _remove(folder)


def _write(capture: str, output: Path | None, min_stall_ns: int) -> ExitCode:
    read_of = inputs([capture], (), None)
    analysis, code = analysed(read_of, min_stall_ns=min_stall_ns)
    from tcpstall.output import written
    from tcpstall.packets.dissector import is_installed
    from tcpstall.packets.side import cache_folder, side_of

    with Bar() as bar, writing(f"a temporary copy for {output or cache_folder()}"):
        side = side_of(analysis, read_of.one_file(), capture, progress=bar)
    target = output or cache_folder() / side.name
    with writing(str(target)):
        if output is None:
            target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with written(target) as file:
            file.write(side.content)
    complain(f"{counted(side.stalls, 'stall')} for Wireshark written to {target}")
    if side.unplaced:
        complain(f"{counted(side.unplaced, 'stall')} found no packet")
    if output is None and not is_installed():
        complain("Wireshark shows them after `tcpstall wireshark --install`")
    return code


def _install(folder: Path | None) -> ExitCode:
    from tcpstall.packets.dissector import install, plugin_folder

    folder = folder or plugin_folder()
    with writing(str(folder)):
        target, changed = install(folder)
    complain(f"{target} written: {_RELOAD}" if changed else f"{target} is there already, of this version")
    return ExitCode.COMPLETE


def _remove(folder: Path | None) -> ExitCode:
    from tcpstall.packets.dissector import plugin_folder, remove

    folder = folder or plugin_folder()
    with writing(str(folder)):
        target, was_there = remove(folder)
    complain(f"{target} removed: {_RELOAD}" if was_there else f"{target} is not there: nothing to remove")
    return ExitCode.COMPLETE
