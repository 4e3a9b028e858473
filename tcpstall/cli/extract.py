"""`tcpstall extract`: one flow, or the proof of one stall, as a capture of its own."""

from pathlib import Path

import click

from tcpstall.cli.inputs import inputs
from tcpstall.cli.options.anonymise import anonymise_options, key_of
from tcpstall.cli.options.flow_option import FLOW, InStore, store_of_flow_option
from tcpstall.cli.options.numbers import Number
from tcpstall.cli.output import analysed, capture_argument, ending_in, nothing_of
from tcpstall.cli.process.exits import complain, writing
from tcpstall.cli.process.progress import Bar
from tcpstall.errors import ExitCode, NothingToShow
from tcpstall.model import Flow, Stall
from tcpstall.units import counted, exact, number

__all__ = ["command"]


@click.command("extract")
@capture_argument
@click.option(
    "--output",
    "-o",
    required=True,
    type=click.Path(dir_okay=False, path_type=Path),
    callback=ending_in(".pcap", ".pcapng"),
    help="The .pcap or .pcapng file to write.",
)
@click.option(
    "--flow",
    type=FLOW,
    metavar="N",
    help="Number of the flow; with --store SCAN/FLOW.  [default: the one that lost most time]",
)
@store_of_flow_option
@click.option(
    "--stall",
    type=Number(min=0),
    metavar="N",
    help="Number of a stall of that flow, as `analyze` lists them: only its handshake, and from the burst "
    "before the stall to the burst after it.",
)
@click.option(
    "--no-payload", "payload", flag_value=False, default=True, type=bool, help="End packets behind their TCP header."
)
@anonymise_options
def command(
    capture: str | None,
    output: Path,
    flow: int | InStore | None,
    store: str | None,
    stall: int | None,
    payload: bool,
    anonymise: bool,
    key_file: Path | None,
) -> ExitCode:
    """Cut out the packets of one flow, or those that prove one of its stalls.

    They stay byte by byte as they are, with their times, lengths and link type. CAPTURE is read twice, so it
    cannot be standard input; URLs and members of archives are copied first.
    """  # fmt: skip
    key = key_of(anonymise, key_file)
    read_of = inputs([capture] if capture else [], () if flow is None else (flow,), store)
    analysis, code = analysed(read_of, bursts=stall is not None, anonymise=key)
    if not len(analysis):
        raise NothingToShow(nothing_of(read_of))
    chosen = analysis.worst
    wanted = None if stall is None else _stall(chosen, stall)
    from tcpstall.packets.extract import extract

    with Bar() as bar, writing(str(output)):
        copied = extract(read_of.one_file(), output, chosen, wanted, payload=payload, anonymise=key, progress=bar)
    amount = f"{number(copied.written)} of {counted(copied.packets, 'packet')}"
    complain(f"{_named(chosen, wanted)}: {amount} written to {output}")
    return code


def _stall(flow: Flow, wanted: int) -> Stall:
    for stall in flow.stalls:
        if stall.number == wanted:
            return stall
    those = f"they are numbered from 0 to {len(flow.stalls) - 1}" if flow.stalls else "it has none"
    raise NothingToShow(f"flow {flow.id} has no stall {wanted}: {those}; `tcpstall analyze` lists them")


def _named(flow: Flow, stall: Stall | None) -> str:
    name = f"flow {flow.id}"
    return name if stall is None else f"{name}, stall {stall.number} ({stall.cause}, {exact(stall.duration_ns)})"
