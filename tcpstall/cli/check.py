"""`tcpstall check`: captures checked against rules, for pipelines."""

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Unpack

import click

from tcpstall import _core, output
from tcpstall.causes import Cause
from tcpstall.check import GROWTH, LATENCY, Checked, Checking, Rule, ServedAt
from tcpstall.cli.inputs import Inputs, is_elsewhere
from tcpstall.cli.options.capture_options import Asked, Reading, narrowed, outcome, reading, reading_options
from tcpstall.cli.options.flow_option import store_of_flow_option
from tcpstall.cli.options.output_format import table_or_json
from tcpstall.cli.options.rules import CONFIDENCE, SERVED_AT, Written, read_rules, together, written
from tcpstall.cli.options.selection import captures_argument
from tcpstall.cli.options.wait_filters import cause_option
from tcpstall.cli.process.exits import writing
from tcpstall.cli.process.progress import Bar
from tcpstall.cli.process.signals import draining
from tcpstall.diff import Comparison, compare
from tcpstall.errors import UNREAD, ExitCode, NothingToShow
from tcpstall.keys import derived
from tcpstall.model import Capture, Flow, Stall
from tcpstall.untrusted import in_terminal

if TYPE_CHECKING:
    from tcpstall.report.check.words import Shows

__all__ = ["command"]

_SURE = 0.75
"""Confidence of a loss that was repaired fast, because the window held the sender too; guesses are below."""

_CHUNK = 10_000
_STANDARD_INPUT = "-"
_SECOND_NS = 10**9
_BITS = 8
_EACH = """\b
NAME=LIMIT of --max; the unit of the limit says what is limited:
  CAUSE=200ms        what any single flow loses to that cause
  CAUSE=20%          its share of the time of all flows together
  CAUSE=3flows       how many flows lose anything to it
  total-CAUSE=5s     its time in all flows added up
  p95-CAUSE=50ms     what 95 % of the flows lose to it at most
  lost=20%           all causes together, in each of these forms; pauses of
                     applications count, unless --cause leaves them out
  latency=2s         any exchange, request to response; p95-latency=250ms
  retransmitted=1%   bytes sent again, of all bytes; or in 3flows
  refused=2flows     connections that came to nothing, or 5% of them; also
                     unreachable, half-open, aborted, gone
  growth=50ms        with --baseline: by how much any cause's time of a flow
                     may grow on average; 20% is of the baseline's time
  growth-CAUSE=20%   the same for one cause
--forbid NAME: no flow has any of it; no growth beyond noise.
"""


@click.command("check", epilog=_EACH)
@captures_argument
@click.option("--max", "limits", multiple=True, metavar="NAME=LIMIT", help="A limit, see below. May be repeated.")
@click.option(
    "--forbid", "forbidden", multiple=True, metavar="NAME,...", help="What no flow may have. May be repeated."
)
@click.option(
    "--rules",
    "rules_file",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="A TOML file: a table `max` of names and limits, `forbid`, `service`, `cause` and `confidence`. What is given "
    "on the command line too replaces what the file says of that name or option.",
)
@click.option(
    "--baseline",
    type=click.Path(),
    metavar="GOOD",
    help="A capture of the same services when all was well: no cause may grow from it, as `tcpstall diff` finds.",
)
@click.option(
    "--service",
    "services",
    type=SERVED_AT,
    multiple=True,
    metavar="[ADDRESS]:PORT",
    help="Only flows to this server: :443 at any address, 192.0.2.1:443. May be repeated.",
)
@cause_option
@click.option(
    "--confidence",
    type=CONFIDENCE,
    metavar="N",
    help="A rule that only labels below this confidence would break holds, and says so.  "
    f"[default: {_SURE}, below which labels are guesses]",
)
@table_or_json("Lines")
@click.option(
    "--junit",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Write JUnit XML too, a test case a rule.",
)
@store_of_flow_option
@reading_options
def command(
    captures: tuple[str, ...],
    limits: tuple[str, ...],
    forbidden: tuple[str, ...],
    rules_file: Path | None,
    baseline: str | None,
    services: tuple[ServedAt, ...],
    causes: tuple[str, ...],
    confidence: float | None,
    form: str,
    junit: Path | None,
    store: str | None,
    **asked: Unpack[Asked],
) -> ExitCode:
    """Check captures against rules, for pipelines and canaries.

    Exit code 0: every rule holds. 8: a rule is broken, and its worst flow is named. 5: an input is damaged, and the
    rules hold in what could be read. 7: no flow, or no exchange, to measure.
    """  # fmt: skip
    file = Written({}) if rules_file is None else read_rules(rules_file)
    servers = services or file.services
    rules = _with_growth(together(file.rules, written(limits, forbidden)), baseline)
    if asked["anonymise"] and any(server.address for server in servers):
        raise click.UsageError("--service names a true address, and the flows have pseudonyms: choose with --host")
    read_of, how = reading(captures, store, asked)
    compared = None if baseline is None else _compared(baseline, read_of, how)
    checking = Checking(
        rules,
        servers,
        tuple(map(Cause, causes)) or file.causes,
        next(given for given in (confidence, file.confidence, _SURE) if given is not None),
        compared,
    )
    checked = checking.checked(_read(read_of, how, checking))
    code = outcome([*(compared.captures[:1] if compared else ()), *checked.captures])
    if checked.flows:
        code = _code(checked, code)
        _tell(checked, _shows(read_of, checked, how, asked), code, form, junit)
    elif code not in UNREAD:
        raise NothingToShow("no flow to check; without options `tcpstall analyze` lists the flows")
    return code


def _with_growth(rules: list[Rule], baseline: str | None) -> list[Rule]:
    """The rules, and the rule that --baseline implies where no other limits growth."""
    growth = [rule for rule in rules if rule.over == "growth"]
    if growth and baseline is None:
        raise click.UsageError(f"`{growth[0].text}` needs a capture to compare with: give --baseline GOOD")
    if baseline is not None and not growth:
        rules = [*rules, *written((), [GROWTH])[GROWTH]]
    if not rules:
        raise click.UsageError("no rule to check: give --max, --forbid, --rules or --baseline")
    return rules


def _compared(baseline: str, captures: Inputs, how: Reading) -> Comparison:
    if narrowed(how):
        raise click.UsageError("--baseline compares whole services: choose them with --service")
    if len(captures.names) > 1 or _STANDARD_INPUT in (baseline, *captures.names):
        raise click.UsageError("--baseline compares two files: give one CAPTURE, and no standard input")
    with Bar() as bar:
        return compare(baseline, captures.one_file(), anonymise=how["anonymise"], progress=bar)


def _read(captures: Inputs, how: Reading, checking: Checking) -> list[Capture]:
    """Checks flows as they end, so that memory does not grow with their number."""
    key = how["anonymise"]
    with Bar() as bar, draining(captures.names):
        report = _core.analyze(
            captures.names,
            flows=how["flows"],
            hosts=how["hosts"],
            ports=how["ports"],
            since_ns=how["since_ns"],
            until_ns=how["until_ns"],
            bursts=False,
            exchanges=any(rule.name == LATENCY for rule in checking.rules),
            link_bytes_per_s=how["link_bytes_per_s"],
            max_expansion=how["max_expansion"],
            sets=how["sets"],
            missing_before=how["missing_before"],
            open=how["open"],
            secret=None if key is None else derived(key),
            progress=bar,
            each=checking.take,
            chunk=_CHUNK,
        )
    return [Capture.from_status(status) for status in report.captures]


def _code(checked: Checked, code: ExitCode) -> ExitCode:
    """The highest code: an input's own code means that the rules hold in the part that could be read."""
    if checked.those("broken"):
        return max(code, ExitCode.BROKEN)
    return max(code, ExitCode.NOTHING_FITS) if checked.those("nothing") else code


def _tell(checked: Checked, shows: "Shows", code: ExitCode, form: str, junit: Path | None) -> None:
    if junit is not None:
        from tcpstall.report.check.as_junit import check_junit

        with writing(str(junit)), output.written(junit) as file:
            file.write(check_junit(checked, shows).encode())
    with writing("standard output"):
        if form == "json":
            from tcpstall.report.check.as_json import check_json

            click.echo(check_json(checked, shows, code))
        else:
            from tcpstall.cli.process.terminal import console, show
            from tcpstall.report.check.page import render_check

            screen = console()
            for part in render_check(checked, shows, width=screen.width):
                show(part, screen)


def _shows(captures: Inputs, checked: Checked, how: Reading, asked: Asked) -> "Shows":
    """The command that shows a flow: `explain` for a single file, `analyze` for any other input."""
    names = [capture.path for capture in checked.captures] if how["anonymise"] is not None else captures.names
    options = [f"--{name}" for name in ("merge", "separate") if asked[name]]
    for option, time_ns in (("--since", how["since_ns"]), ("--until", how["until_ns"])):
        options += [] if time_ns is None else [option, f"{time_ns // _SECOND_NS}.{time_ns % _SECOND_NS:09}"]
    if how["link_bytes_per_s"] is not None:
        options += ["--link-rate", f"{how['link_bytes_per_s'] * _BITS}bit"]
    single = len(captures.names) == 1 and not options
    is_file = single and captures.names[0] != _STANDARD_INPUT and not is_elsewhere(captures.names[0])

    def command_of(flow: Flow, stall: Stall | None) -> str:
        words = ["tcpstall", "analyze", *names, *options, "--flow", str(flow.id)]
        if is_file and stall is not None:
            words = ["tcpstall", "explain", *names, "--flow", str(flow.id), "--stall", str(stall.number)]
        return in_terminal(shlex.join(words))

    return command_of
