"""What commands that write captures have in common: the input analysed first, the output told by its name."""

from collections.abc import Callable, Sequence
from pathlib import Path

import click

from tcpstall.cli.ending import complain
from tcpstall.cli.progress import Bar
from tcpstall.errors import ExitCode, NotACapture
from tcpstall.model import Analysis, analyze

__all__ = ["analysed", "capture_argument", "ending_in"]

_TEXT = "tcpdump-text"


def _file_only(_context: click.Context, _parameter: click.Parameter, name: str) -> str:
    if name == "-":
        raise click.BadParameter("it is read twice, so it must be a file, not standard input")
    return name


capture_argument = click.argument("capture", type=click.Path(), callback=_file_only)


def ending_in(*endings: str) -> Callable[[click.Context, click.Parameter, Path], Path]:
    """A callback that refuses names with another ending: it says what is written."""

    def checked(_context: click.Context, _parameter: click.Parameter, output: Path) -> Path:
        if output.suffix.lower() not in endings:
            raise click.BadParameter(f"{output.name!r} must end in {' or '.join(endings)}")
        return output

    return checked


def analysed(
    capture: str,
    *,
    flows: Sequence[int] = (),
    min_stall_ns: int = 0,
    bursts: bool = False,
    anonymise: bytes | None = None,
) -> tuple[Analysis, ExitCode]:
    """The capture's analysis and what became of it, which is said; raises for what holds no packets to write."""
    with Bar() as bar:
        analysis = analyze(
            capture, flows=flows, min_stall_ns=min_stall_ns, bursts=bursts, anonymise=anonymise, progress=bar
        )
    (source,) = analysis.captures
    if source.format == _TEXT:
        hint = f"make a capture of it first: tcpstall convert {capture} -o NEW.pcap"
        raise NotACapture(f"{capture} is tcpdump's text, which holds no packets to write; {hint}")
    if source.error:
        complain(source.error)
    return analysis, source.exit_code
