"""Parts shared by commands that read captures twice: analysis of the input, and the output's format by its name."""

from collections.abc import Callable
from pathlib import Path

import click

from tcpstall.cli.inputs import Inputs
from tcpstall.cli.options.capture_options import outcome
from tcpstall.cli.process.progress import Bar
from tcpstall.errors import ExitCode, NotACapture, NothingToShow
from tcpstall.model import Analysis, analyze

__all__ = ["analysed", "analysed_first", "capture_argument", "ending_in", "nothing_of"]

_TEXT = "tcpdump-text"


def _file_only(_context: click.Context, _parameter: click.Parameter, name: str | None) -> str | None:
    if name == "-":
        raise click.BadParameter("it is read twice, so it must be a file, not standard input")
    return name


capture_argument = click.argument("capture", type=click.Path(), callback=_file_only, metavar="CAPTURE", required=False)


def ending_in(*endings: str) -> Callable[[click.Context, click.Parameter, Path | None], Path | None]:
    """A callback that refuses file names without one of these endings, because the ending names the format."""

    def checked(_context: click.Context, _parameter: click.Parameter, output: Path | None) -> Path | None:
        if output is not None and output.suffix.lower() not in endings:
            raise click.BadParameter(f"{output.name!r} must end in {' or '.join(endings)}")
        return output

    return checked


def analysed(
    capture: Inputs,
    *,
    min_stall_ns: int = 0,
    bursts: bool = False,
    anonymise: bytes | None = None,
) -> tuple[Analysis, ExitCode]:
    """The analysis of the selected flows, and the exit code of their captures, whose problems are printed.

    Raises NotACapture for what holds no packets to write, NothingToShow where there is no such flow.
    """
    analysis = analysed_first(capture, min_stall_ns=min_stall_ns, bursts=bursts, anonymise=anonymise)
    for source in analysis.captures:
        if source.format == _TEXT:
            hint = f"make a capture of it first: tcpstall convert {source.path} -o NEW.pcap"
            raise NotACapture(f"{source.path} is tcpdump's text, which holds no packets to write; {hint}")
    if capture.flows and not len(analysis):
        raise NothingToShow(nothing_of(capture))
    return analysis, outcome(analysis.captures)


def analysed_first(
    capture: Inputs, *, min_stall_ns: int = 0, bursts: bool = False, anonymise: bytes | None = None
) -> Analysis:
    """The analysis of the selected flows, from files that can be read again afterwards."""
    capture.files()
    with Bar() as bar:
        return analyze(
            capture.names,
            flows=capture.flows,
            **capture.streams,
            open=capture.open,
            min_stall_ns=min_stall_ns,
            bursts=bursts,
            anonymise=anonymise,
            progress=bar,
        )


def nothing_of(capture: Inputs) -> str:
    """The message for captures without the selected flows, or without any flow."""
    if not capture.flows:
        return f"{capture.name} holds no TCP flow"
    missing = ", ".join(map(str, capture.flows))
    return f"{capture.name} holds no flow {missing}; `tcpstall analyze` lists the flows"
