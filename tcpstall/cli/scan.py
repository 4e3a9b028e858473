"""`tcpstall scan`: archives of captures into a store."""

import gc
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from tcpstall.cli.options.numbers import Number
from tcpstall.cli.options.quantities import SIZE, SPAN
from tcpstall.cli.options.reading_limits import link_rate_option, max_expansion_option
from tcpstall.cli.options.sensor import SENSOR
from tcpstall.cli.options.store_option import store_option
from tcpstall.cli.process.exits import complain
from tcpstall.errors import ExitCode
from tcpstall.units import counted, duration, number, size

if TYPE_CHECKING:
    from tcpstall.archive.planning.repeat import Wanted
    from tcpstall.archive.scanning.progress import Summary
    from tcpstall.archive.scanning.scan import Executor

__all__ = ["command"]

_WORKER_BYTES = 300_000_000
"""Most memory of a worker: 100 MB for an interpreter with DuckDB, 100 for the engine's flows, 100 for rows."""

_TOLD = 10
"""Skipped captures with a line of their own: a share that is away may have a million."""


@click.command("scan")
@click.argument("captures", nargs=-1, required=True, metavar="PATH|URL...")
@store_option
@click.option(
    "--jobs",
    type=Number(min=1),
    metavar="N",
    help="Number of processes.  [default: one a processor]",
)
@click.option(
    "--max-memory",
    "memory_bytes",
    type=SIZE,
    metavar="SIZE",
    help="Memory for all processes together, e.g. 600M; less memory, fewer processes.",
)
@link_rate_option
@max_expansion_option
@click.option(
    "--wait", "wait", is_flag=True, help="Where another scan writes into the store: wait until it ends, then begin."
)
@click.option("--again", is_flag=True, help="Read captures that the store has again, and replace their rows.")
@click.option(
    "--older-than-version",
    metavar="V",
    help="With --again: only captures whose rows an older tcpstall wrote, e.g. 0.2, or an unknown one.",
)
@click.option(
    "--sensor",
    type=SENSOR,
    metavar="NAME",
    help="Label the rows of new captures with the host or place where they were made: --sensor of `top`, `trend` and "
    "others selects it.",
)
@click.option(
    "--separate", is_flag=True, help="Analyse each file by itself, also those that a capture was rotated into."
)
@click.option(
    "--watch",
    is_flag=True,
    help="Go on with what comes, at low priority, and leave out what is still being written; SIGTERM ends it.",
)
@click.option(
    "--every",
    "every_ns",
    type=SPAN,
    default="10s",
    show_default=True,
    metavar="SPAN",
    help="With --watch: how often to look.",
)
@click.option(
    "--dask",
    metavar="ADDRESS",
    help="Analyse on the workers of a Dask cluster, e.g. tcp://scheduler:8786, or local for one of this machine.",
)
@click.option(
    "--metrics",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Keep figures of the scan and, as `metrics` gives them, of the store in this file, for node_exporter.",
)
@click.option(
    "--log",
    type=click.Path(dir_okay=False, allow_dash=True),
    metavar="FILE",
    help="Append events to this file, a JSON object a line; '-' is standard output.",
)
def command(
    captures: tuple[str, ...],
    store: str,
    jobs: int | None,
    memory_bytes: int | None,
    link_bytes_per_s: int | None,
    max_expansion: int,
    wait: bool,
    again: bool,
    older_than_version: str | None,
    sensor: str | None,
    separate: bool,
    watch: bool,
    every_ns: int,
    dask: str | None,
    metrics: Path | None,
    log: str | None,
) -> ExitCode:
    """Analyse all captures under folders or URLs into a store, which `top`, `trend`, `query` and `report` ask.

    Captures are found by content, compressed or in tar archives too. What the store has already is skipped, so the same
    command goes on after it was killed, and takes in what is new or changed. What is damaged is a row in `errors`; what
    the system does not let be read is skipped with a line and exit code 3, and tried again by the next scan.
    """  # fmt: skip
    from tcpstall.archive.scanning.interpreters import RARELY, Interpreters

    gc.set_threshold(*RARELY)
    interpreters = Interpreters()
    click.get_current_context().call_on_close(interpreters.close)
    if dask is None and not Path(store, "store.json").exists():
        interpreters.prepare(1)  # all captures are new, and an interpreter loads beside this one
    from tcpstall.archive.scanning.scan import scan
    from tcpstall.archive.scanning.task import Options
    from tcpstall.cli.process.scan_progress import rounds, waiting, watchers

    workers = _workers(jobs, memory_bytes)
    one_round = partial(
        scan,
        captures,
        store,
        options=Options(link_bytes_per_s=link_bytes_per_s, max_expansion=max_expansion, sensor=sensor),
        jobs=workers,
        executor=None if dask is None else _cluster(dask, workers),
        interpreters=interpreters,
        low_priority=watch,
        only_complete=watch,
        separate=separate,
        wanted=_wanted(older_than_version, again=again, watch=watch),
    )
    with watchers(store, metrics, log) as progress:
        if watch:
            rounds(partial(one_round, progress=progress), every_ns, _say)
            return ExitCode.COMPLETE
        once = partial(one_round, progress=progress)
        summary = waiting(once, store) if wait else once()
    _say(summary)
    if summary.failed:
        return ExitCode.DAMAGED
    return ExitCode.CANNOT_OPEN if summary.skipped else ExitCode.COMPLETE


def _wanted(older_than: str | None, *, again: bool, watch: bool) -> "Wanted":
    from tcpstall.archive.planning.repeat import always, never, written_before

    if older_than is not None and not again:
        raise click.UsageError("--older-than-version narrows --again: give both")
    if again and watch:
        raise click.UsageError("--again reads captures once more, --watch never ends: give one of them")
    if older_than is None:
        return always if again else never
    try:
        return written_before(older_than)
    except ValueError as error:
        raise click.UsageError(f"--older-than-version: {error}") from error


def _cluster(address: str, workers: int) -> "Executor":
    from tcpstall.archive.scanning import cluster

    return partial(cluster.run, address=address, jobs=workers)


def _workers(jobs: int | None, memory_bytes: int | None) -> int:
    from tcpstall.archive.scanning import local

    workers = jobs or local.processors()
    if memory_bytes is None:
        return workers
    if memory_bytes < _WORKER_BYTES:
        raise click.UsageError(f"--max-memory: a scan needs {size(_WORKER_BYTES)} at least")
    return min(workers, memory_bytes // _WORKER_BYTES)


def _say(summary: "Summary") -> None:
    for skipped in summary.skipped[:_TOLD]:
        complain(f"{skipped.why} (skipped)")
    if (more := len(summary.skipped) - _TOLD) > 0:
        complain(f"{counted(more, 'more capture')} skipped")
    known = f"; {counted(summary.known, 'capture')} known already" if summary.known else ""
    failed = f", {number(summary.failed)} of them not, or not to their end" if summary.failed else ""
    cut = summary.not_continued
    apart = f"; {counted(cut, 'capture')} not joined to older ones, which are gone" if cut else ""
    kept = f"; {counted(summary.kept, 'capture')} not read again: other files are gone" if summary.kept else ""
    took = round(summary.seconds * 1e9)
    rate = f" ({size(round(summary.bytes / summary.seconds))}/s)" if summary.bytes else ""
    done = (
        f"{counted(summary.captures, 'capture')} scanned{failed}: {size(summary.bytes)} with "
        f"{counted(summary.packets, 'packet')} in {counted(summary.flows, 'flow')}, in {duration(took)}"
    )
    complain(f"{done}{rate}{known}{apart}{kept}")
