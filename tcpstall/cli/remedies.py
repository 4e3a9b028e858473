"""`tcpstall remedies`: what to change about each finding, with the commands, and how to confirm it first."""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Unpack

import click

from tcpstall.cli.options.capture_options import Asked, expect_flows, outcome, read, reading, reading_options
from tcpstall.cli.options.flow_option import store_of_flow_option
from tcpstall.cli.options.selection import captures_argument
from tcpstall.cli.options.top_option import top_option
from tcpstall.cli.process.exits import complain, writing
from tcpstall.cli.process.signals import draining
from tcpstall.errors import UNREAD, CannotOpen, ExitCode
from tcpstall.model import Analysis

if TYPE_CHECKING:
    from tcpstall.advice.remedy import Platform
    from tcpstall.advice.sockets import Matched, Paste
    from tcpstall.report.remedies.as_markdown import Treated

__all__ = ["command"]

_FLOWS_FOR_READING, _FLOWS_IN_JSON = 3, 100
_PLATFORMS = ("linux", "windows", "bsd")
_STANDARD_INPUT = "-"


@click.command("remedies")
@captures_argument
@click.option(
    "--format",
    "form",
    type=click.Choice(("table", "json", "markdown")),
    default="table",
    show_default=True,
    help="Tables for reading, one JSON object, or Markdown for a ticket.",
)
@click.option(
    "--ss",
    "pastes",
    type=click.Path(allow_dash=True, path_type=Path),
    multiple=True,
    metavar="FILE",
    help="Output of `ss -tinmo` from one of the hosts, pasted into a file: the kernel's counts are compared with the "
    "capture. May be repeated.",
)
@click.option(
    "--platform",
    type=click.Choice(_PLATFORMS),
    help="Platform of the commands; bsd is FreeBSD and macOS.  [default: linux, in JSON all]",
)
@top_option(f"Only the first N flows.  [default: {_FLOWS_FOR_READING}, in JSON {_FLOWS_IN_JSON}]")
@store_of_flow_option
@reading_options
def command(
    captures: tuple[str, ...],
    store: str | None,
    form: str,
    pastes: tuple[Path, ...],
    platform: str | None,
    top: int | None,
    **asked: Unpack[Asked],
) -> ExitCode:
    """Say what to change, with commands.

    For each finding, the one that cost most first: the exact change by platform with values computed from the flow,
    when it helps, what it risks, and how to confirm the finding on the host before anything is changed.
    """  # fmt: skip
    if pastes and asked["anonymise"]:
        raise click.UsageError(
            "--ss names true addresses, so it cannot be matched to pseudonyms: leave --anonymise out"
        )
    if [*captures, *map(str, pastes)].count(_STANDARD_INPUT) > 1:
        raise click.UsageError("standard input can be read only once: give '-' once")
    read_of, how = reading(captures, store, asked)
    pasted, code = _paste(pastes)
    top = top or (_FLOWS_IN_JSON if form == "json" else _FLOWS_FOR_READING)
    # Sockets are looked for among all flows.
    analysis = read(read_of, how, top=top if pasted is None else None)
    code = max(code, outcome(analysis.captures))
    expect_flows(len(analysis), how, code)
    _tell(analysis, form, pasted, platform, top, how["link_bytes_per_s"])
    return code


def _tell(
    analysis: Analysis,
    form: str,
    pasted: "Paste | None",
    platform_name: str | None,
    top: int,
    link_bytes_per_s: int | None,
) -> None:
    from tcpstall.advice.remedy import Platform
    from tcpstall.advice.sockets import matched

    found = None if pasted is None else matched(analysis, pasted)
    flows = list(_treated(analysis, found, top, link_bytes_per_s))
    platform = Platform(platform_name) if platform_name else None
    with writing("standard output"):
        if form == "json":
            from tcpstall.report.remedies.as_json import remedies_json

            both = None if pasted is None or found is None else (pasted, found)
            click.echo(
                remedies_json(analysis, flows, platform=platform, pasted=both, link_bytes_per_s=link_bytes_per_s)
            )
            return
        from tcpstall.report.remedies.words import told_of_paste

        told = [] if pasted is None or found is None else list(told_of_paste(pasted, found))
        if form == "markdown":
            from tcpstall.report.remedies.as_markdown import remedies_markdown

            text = remedies_markdown(
                flows, told, platform=platform or Platform.LINUX, link_bytes_per_s=link_bytes_per_s
            )
            sys.stdout.flush()
            # Whatever the terminal's encoding is: a ticket is UTF-8.
            sys.stdout.buffer.write(text.encode("utf-8"))
            sys.stdout.buffer.flush()
        else:
            _show(analysis, flows, told, platform or Platform.LINUX, link_bytes_per_s)


def _show(
    analysis: Analysis,
    flows: Sequence["Treated"],
    told: Sequence[str],
    platform: "Platform",
    link_bytes_per_s: int | None,
) -> None:
    from rich.text import Text

    from tcpstall.cli.process.terminal import console, show
    from tcpstall.report.inputs import without_flows
    from tcpstall.report.remedies.tables import render_remedies

    screen = console()
    for line in told:
        show(Text(line), screen)
    if not flows:
        for part in without_flows([one for one in analysis.captures if one.exit_code not in UNREAD]):
            show(part, screen)
    for place, (flow, found, sockets) in enumerate(flows):
        if place or told:
            show(Text(), screen)
        for shown in render_remedies(
            flow, found, platform=platform, sockets=sockets, link_bytes_per_s=link_bytes_per_s, width=screen.width
        ):
            show(shown, screen)


def _treated(
    analysis: Analysis, sockets: "Matched | None", top: int, link_bytes_per_s: int | None
) -> "Sequence[Treated]":
    """The flows that lost most, or those with a pasted socket where there are any, with their remedies."""
    from tcpstall.advice.treatment import services_by_end, treatments

    services = services_by_end(analysis)
    ranked = analysis.ranked()
    if sockets is not None and sockets.sockets:
        ids = analysis.flows.column("flow")
        ranked = [row for row in ranked if ids[row] in sockets.sockets]
    flows = []
    for row in ranked[:top]:
        flow = analysis[row]
        found = treatments(flow, service=services.get(flow.server), link_bytes_per_s=link_bytes_per_s, sockets=sockets)
        flows.append((flow, found, {} if sockets is None else dict(sockets.of(flow))))
    return flows


def _paste(files: Sequence[Path]) -> "tuple[Paste | None, ExitCode]":
    """The pasted sockets of all files; problems of a file are printed."""
    from tcpstall.advice.sockets import Paste, read_paste

    if not files:
        return None, ExitCode.COMPLETE
    code, parts = ExitCode.COMPLETE, []
    for file in files:
        with draining((str(file),)):
            paste = read_paste(_bytes(file))
        parts.append(paste)
        if paste.cut:
            complain(f"{file}: only its beginning was read: it is longer than any list of sockets")
            code = max(code, ExitCode.DAMAGED)
        elif not paste.sockets and not paste.unnamed:
            complain(f"{file}: no TCP socket in it; paste the output of `ss -tinmo`")
            code = max(code, ExitCode.NOT_A_CAPTURE)
    whole = Paste(
        tuple(socket for part in parts for socket in part.sockets),
        sum(part.unnamed for part in parts),
        any(part.cut for part in parts),
    )
    return whole, code


def _bytes(file: Path) -> bytes:
    from tcpstall.advice.sockets.paste import MOST_BYTES

    try:
        if str(file) == _STANDARD_INPUT:
            return sys.stdin.buffer.read(MOST_BYTES + 1)
        with file.open("rb") as opened:
            return opened.read(MOST_BYTES + 1)
    except OSError as error:
        raise CannotOpen(f"cannot open {file}: {error.strerror or error}") from error
