"""`tcpstall metrics`: a store as metrics for Prometheus."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from tcpstall.cli.options.numbers import Number
from tcpstall.cli.options.store_option import store_given
from tcpstall.cli.options.wait_filters import SERVICE
from tcpstall.cli.process.exits import complain, writing
from tcpstall.errors import ExitCode
from tcpstall.metrics.families import DEFAULT_SERVICES, MOST_SERVICES
from tcpstall.metrics.printed import PRINTED, printed
from tcpstall.model import Endpoint

if TYPE_CHECKING:
    from tcpstall.metrics.exposition import Form

__all__ = ["command"]


def _print(context: click.Context, _parameter: click.Parameter, name: str | None) -> None:
    if name is None or context.resilient_parsing:
        return
    with writing("standard output"):
        click.echo(printed(name), nl=False)
    context.exit()


@click.command("metrics")
@store_given
@click.option(
    "--services",
    "most",
    type=Number(min=1, max=MOST_SERVICES),
    metavar="N",
    help="The N services that lost most time have series of their own, all others are `other`.  "
    f"[default: {DEFAULT_SERVICES}, then as last time]",
)
@click.option(
    "--output",
    "-o",
    type=click.Path(dir_okay=False, path_type=Path),
    help="The file to write, for node_exporter's textfile collector.",
)
@click.option(
    "--format",
    "form",
    type=click.Choice(("openmetrics", "prometheus")),
    help="OpenMetrics 1.0, or Prometheus' older text format, which is all that node_exporter and promtool read.  "
    "[default: prometheus with --output, else openmetrics]",
)
@click.option(
    "--listen",
    type=SERVICE,
    metavar="ADDRESS:PORT",
    help="Serve /metrics over HTTP there, e.g. 127.0.0.1:9464, until SIGTERM.",
)
@click.option(
    "--print",
    type=click.Choice(tuple(PRINTED)),
    is_eager=True,
    expose_value=False,
    callback=_print,
    help="Print Grafana's dashboard, Prometheus' alert rules, or an example for systemd or Kubernetes, and exit.",
)
def command(
    store: str, most: int | None, output: Path | None, form: "Form | None", listen: Endpoint | None
) -> ExitCode:
    """Give what a store holds as metrics: time lost, waits, flows, round-trip times, times to the first byte.

    Counters go on from run to run and never step back, whatever is scanned again or forgotten: the store keeps them, so
    it must be writable. `scan --metrics` writes the same metrics when a scan ends.
    """  # fmt: skip
    from tcpstall.archive.asking.exporting import exported, samples
    from tcpstall.metrics.exposition import exposed

    if listen is not None:
        if output is not None or form is not None:
            raise click.UsageError("--listen answers in the format that it is asked for: give no --output or --format")
        from tcpstall.cli.process.serving import served

        return served(listen, store, most)
    ledger, whole = exported(store, most)
    text = exposed(samples(ledger), form or ("openmetrics" if output is None else "prometheus"))
    if output is None:
        with writing("standard output"):
            click.echo(text, nl=False)
    else:
        from tcpstall.output import written

        with writing(str(output)), written(output) as file:
            file.write(text.encode())
    if whole:
        return ExitCode.COMPLETE
    complain(f"{store}: rows are missing: counters stand still until its captures are scanned again")
    return ExitCode.DAMAGED
