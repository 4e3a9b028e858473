"""`tcpstall store`: content and maintenance of a store."""

import time
from collections.abc import Callable
from typing import TYPE_CHECKING

import click

from tcpstall.cli.options.networks import NETWORK, Network
from tcpstall.cli.options.quantities import MOMENT, SIZE, SPAN, Moment
from tcpstall.cli.options.store_option import store_given
from tcpstall.cli.process.exits import complain, writing
from tcpstall.cli.publish import command as publish
from tcpstall.errors import ExitCode, NothingToShow
from tcpstall.units import counted, date, number, size
from tcpstall.untrusted import in_terminal

if TYPE_CHECKING:
    from tcpstall.archive.maintenance.forget import Which
    from tcpstall.archive.storing.store import Store

__all__ = ["command"]


@click.group("store")
def command() -> None:
    """Maintain a store."""


@command.command("info")
@store_given
def info(store: str) -> ExitCode:
    """Say what is in a store: rows, files and bytes of each table, and the days that it spans."""
    from tcpstall.archive.storing.damaged_parts import refused
    from tcpstall.archive.storing.store import TABLES, Store

    opened = Store.open(store)
    if found := opened.faults(opened.all_parts()):
        raise refused(store, found)
    for each in opened.lost:
        complain(
            f"{store}: {counted(each.part.rows, 'row')} of {each.part.table} missing: {each.part.name} was damaged"
        )
    with writing("standard output"):
        for table in TABLES:
            parts = opened.parts(table)
            rows = sum(part.rows for part in parts) + len(opened.recent(table))
            weight = size(sum(part.bytes for part in parts))
            held = f"{number(rows):>15} rows {weight:>10} in {counted(len(parts), 'file')}"
            starts = [part.from_ns for part in parts if part.from_ns is not None]
            ends = [part.to_ns for part in parts if part.to_ns is not None]
            days = f", {date(min(starts))} to {date(max(ends))}" if starts and ends else ""
            click.echo(f"{table:<10}{held}{days}")
    return ExitCode.DAMAGED if opened.lost else ExitCode.COMPLETE


@command.command("forget")
@click.option("--capture", metavar="NAME|GLOB", help="Rows of these captures, e.g. 'db3-*.pcap' or /captures/a.pcap.")
@click.option("--host", "network", type=NETWORK, metavar="ADDRESS|CIDR", help="Rows of connections of these hosts.")
@click.option(
    "--before", type=MOMENT, metavar="DATE", help="Rows of the time before, e.g. 2026-03-01, by captures' clocks."
)
@click.option("--sensor", metavar="NAME|GLOB", help="Rows of these sensors, as `scan --sensor` named them.")
@click.option("--dry-run", is_flag=True, help="Say how many rows would go, and change nothing.")
@store_given
def forget(
    capture: str | None, network: Network | None, before: Moment | None, sensor: str | None, dry_run: bool, store: str
) -> ExitCode:
    """Forget flows, stalls, exchanges and findings that fit all of the options, one of which is needed.

    Captures that are named, and those of which no flow is left, are forgotten too. They stay known: only `tcpstall scan
    --again` takes them in again. A name or glob without a slash is compared with the last part of captures' names.
    """  # fmt: skip
    from tcpstall.archive.maintenance.forget import Which

    if capture is None and network is None and before is None and sensor is None:
        raise click.UsageError("say what to forget: give --capture, --host, --before or --sensor")
    if before is not None and not before.is_absolute:
        raise click.UsageError("--before: give a date, such as 2026-03-01: captures of a store begin on many days")
    which = Which(capture, network, None if before is None else before.ns, sensor)
    if not sum(_forgotten(store, lambda _: which, dry_run=dry_run).values()):
        raise NothingToShow(f"{store} holds nothing that fits the options")
    return ExitCode.COMPLETE


@command.command("prune")
@click.option("--older-than", "age_ns", type=SPAN, metavar="SPAN", help="Age of the oldest rows to keep, e.g. 90d.")
@click.option("--keep", "keep_bytes", type=SIZE, metavar="SIZE", help="Largest size of the store, e.g. 50G.")
@click.option("--dry-run", is_flag=True, help="Say how many rows would go, and change nothing.")
@store_given
def prune(age_ns: int | None, keep_bytes: int | None, dry_run: bool, store: str) -> ExitCode:
    """Forget old days: what began longer ago, by the captures' clocks, or the oldest until the store is small enough.

    It is `tcpstall store forget --before`, counted from today or from the store's size.
    """
    from tcpstall.archive.maintenance.forget import Which, first_day_within

    if age_ns is None and keep_bytes is None:
        raise click.UsageError("say what to keep: give --older-than or --keep")

    def which(opened: "Store") -> Which:
        limits = [] if age_ns is None else [time.time_ns() - age_ns]
        if keep_bytes is not None and (within := first_day_within(opened, keep_bytes)) is not None:
            limits.append(within)
        return Which(before_ns=max(limits, default=None))

    _forgotten(store, which, dry_run=dry_run)
    return ExitCode.COMPLETE


def _forgotten(store: str, which: "Callable[[Store], Which]", *, dry_run: bool) -> dict[str, int]:
    """Prints and returns the number of deleted rows by table, or of those that would be deleted."""
    from tcpstall.archive.maintenance.forget import forget, to_forget
    from tcpstall.archive.storing.damaged_parts import refused
    from tcpstall.archive.storing.store import Store

    opened = Store.open(store)  # to forget makes no store where there is none
    if dry_run:
        if found := opened.faults(opened.all_parts()):
            raise refused(store, found)
        counts = to_forget(opened, which(opened)).counts
    else:
        with Store.writing(store) as written:
            counts = forget(written, which(written))
    rows = {table: count for table, count in counts.items() if table != "captures"}
    of = ", ".join(f"{number(count)} of {table}" for table, count in rows.items())
    done = "would be removed" if dry_run else "removed"
    captures = f"{counted(counts['captures'], 'capture')} {'would be' if dry_run else 'are'} known as forgotten"
    complain(f"{counted(sum(rows.values()), 'row')} {done} from {store} ({of}); {captures}")
    return counts


@command.command("compact")
@store_given
def compact(store: str) -> ExitCode:
    """Merge small files and bring those of older versions up to date, as each scan does when it ends."""
    from tcpstall.archive.maintenance.upkeep import compacted
    from tcpstall.archive.storing.store import TABLES, Store

    with Store.writing(store) as opened:
        before = sum(len(opened.parts(table)) for table in TABLES)
        compacted(opened)
        after = sum(len(opened.parts(table)) for table in TABLES)
    complain(f"{counted(before, 'file')} of {store} are {number(after)} now")
    return ExitCode.COMPLETE


@command.command("check")
@click.option("--repair", is_flag=True, help="Set aside what is damaged, and make the catalog anew of what is not.")
@store_given
def check(repair: bool, store: str) -> ExitCode:
    """Compare every file of a store with its catalog, journal and digests, and print what is wrong, a line a file.

    Exit code 0: the store is sound. 5: something is wrong, or rows are missing. With --repair damaged files are moved
    to the store's folder `damaged`, questions are answered from the rest, and the next scan reads the captures again
    whose rows were lost.
    """  # fmt: skip
    from tcpstall.archive.maintenance.check import checked
    from tcpstall.archive.maintenance.repair import repaired
    from tcpstall.archive.storing.storage import at

    if repair:
        for name, what in repaired(store).problems.items():
            complain(f"{store}: {name} {what}")
    health = checked(at(store))
    parts, rows = health.state.parts.values(), 0
    with writing("standard output"):
        for name, what in health.problems.items():
            click.echo(in_terminal(f"{name} {what}"))
        for name, what in health.notes.items():
            click.echo(in_terminal(f"note: {name} {what}"))
        if not health.problems:
            rows = sum(part.rows for part in parts)
            click.echo(f"{store} is sound: {counted(rows, 'row')} in {counted(len(parts), 'file')}")
    return ExitCode.DAMAGED if health.problems else ExitCode.COMPLETE


command.add_command(publish)
