"""Reading of captures: options of every command that diagnoses whole captures, and problems of the inputs."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, BinaryIO, TypedDict

import click

from tcpstall.cli.inputs import Inputs, inputs
from tcpstall.cli.options.anonymise import anonymise_options, key_of
from tcpstall.cli.options.capture_sets import Streams, streams_options
from tcpstall.cli.options.flow_option import InStore
from tcpstall.cli.options.quantities import SPAN, Moment
from tcpstall.cli.options.reading_limits import link_rate_option, max_expansion_option
from tcpstall.cli.options.selection import Selection, chosen, selection_options
from tcpstall.cli.options.together import together
from tcpstall.cli.process.exits import complain
from tcpstall.cli.process.progress import Bar
from tcpstall.cli.process.signals import draining, was_interrupted
from tcpstall.errors import ExitCode, NothingToShow

if TYPE_CHECKING:
    from pathlib import Path

    from tcpstall.model import Analysis, Capture, Sort

__all__ = [
    "Asked",
    "Reading",
    "expect_flows",
    "min_stall_option",
    "narrowed",
    "outcome",
    "read",
    "reading",
    "reading_options",
]

_EMPTY = "this is an empty file"
"""Words of the core for an input without a byte."""


class Asked(TypedDict):
    """The options as click passes them."""

    flows: tuple[int | InStore, ...]
    hosts: tuple[str, ...]
    ports: tuple[tuple[int, ...], ...]
    since: Moment | None
    until: Moment | None
    link_bytes_per_s: int | None
    max_expansion: int
    merge: bool
    separate: bool
    anonymise: bool
    key_file: "Path | None"


class Reading(Selection, Streams):
    """The options as `tcpstall.analyze` takes them."""

    link_bytes_per_s: int | None
    max_expansion: int
    anonymise: bytes | None
    open: Callable[[str], BinaryIO | None] | None


min_stall_option = click.option(
    "--min-stall",
    "min_stall_ns",
    type=SPAN,
    default="0",
    metavar="SPAN",
    help="Leave shorter stalls out of the lists, e.g. 5ms; sums keep them.",
)


reading_options = together(
    selection_options,
    link_rate_option,
    max_expansion_option,
    streams_options,
    anonymise_options,
)
"""Adds the options of `Asked` to a command."""


def reading(captures: Sequence[str], store: str | None, asked: Asked) -> tuple[Inputs, Reading]:
    """The request, with the captures of a stored flow, times and the key looked up."""
    found = inputs(
        captures,
        asked["flows"],
        store,
        merge=asked["merge"],
        separate=asked["separate"],
        max_expansion=asked["max_expansion"],
    )
    selection = chosen(
        found,
        hosts=asked["hosts"],
        ports=asked["ports"],
        since=asked["since"],
        until=asked["until"],
    )
    if asked["merge"]:
        from tcpstall.taps import refuse_two_taps

        refuse_two_taps(
            found.files(),
            hosts=selection["hosts"],
            ports=selection["ports"],
            since_ns=selection["since_ns"],
            until_ns=selection["until_ns"],
            max_expansion=asked["max_expansion"],
            anonymised=asked["anonymise"],
        )
    return found, Reading(
        **selection,
        **found.streams,
        link_bytes_per_s=asked["link_bytes_per_s"],
        max_expansion=asked["max_expansion"],
        anonymise=key_of(asked["anonymise"], asked["key_file"]),
        open=found.open,
    )


def read(captures: Inputs, how: Reading, *, top: int | None, sort: "Sort" = "lost") -> "Analysis":
    """The diagnosis, with a progress bar; inputs that cannot be read are part of the result.

    `top` is how many flows are shown in the order of `sort`: no others are held. None holds all.
    """
    from tcpstall.model import analyze

    with Bar() as bar, draining(captures.names):
        return analyze(captures.names, **how, bursts=False, strict=False, progress=bar, top=top, sort=sort)


def narrowed(how: Selection) -> bool:
    """True where the options leave some flows or packets out."""
    times = (how["since_ns"], how["until_ns"])
    return bool(how["flows"] or how["hosts"] or how["ports"]) or times != (None, None)


def expect_flows(found: int, how: Selection, code: ExitCode) -> None:
    """Raises NothingToShow where the options leave no flow of inputs that could be read."""
    if not found and narrowed(how) and code is ExitCode.COMPLETE:
        raise NothingToShow("no flow fits the options; without them `tcpstall analyze` lists the flows")


def outcome(captures: "Sequence[Capture]") -> ExitCode:
    """Prints the problem of each input and returns the highest exit code.

    A pipe that was interrupted before anything came is no empty file.
    """
    code = ExitCode.COMPLETE
    for capture in captures:
        if capture.error and _EMPTY in capture.error and was_interrupted(capture.path):
            complain(f"{capture.path}: interrupted before the pipe held anything")
            code = max(code, ExitCode.INTERRUPTED)
            continue
        if capture.error:
            complain(capture.error)
        code = max(code, capture.exit_code)
    return code
