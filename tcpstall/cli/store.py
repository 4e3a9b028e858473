"""`tcpstall store`: what is in a store, and its upkeep."""

import time

import click

from tcpstall.cli.ending import complain, writing
from tcpstall.cli.stores import store_option
from tcpstall.cli.times import SPAN
from tcpstall.errors import ExitCode
from tcpstall.units import counted, date, number, size
from tcpstall.untrusted import in_terminal

__all__ = ["command"]


@click.group("store")
def command() -> None:
    """Look after a store."""


@command.command("info")
@store_option
def info(store: str) -> ExitCode:
    """Say what is in a store: rows, files and bytes of each table, and the days that it spans."""
    from tcpstall.archive.sound import refused
    from tcpstall.archive.store import TABLES, Store

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


@command.command("prune")
@click.option(
    "--older-than", "age_ns", type=SPAN, required=True, metavar="SPAN", help="How far back to keep, e.g. 90d."
)
@store_option
def prune(age_ns: int, store: str) -> ExitCode:
    """Forget flows, stalls, exchanges and findings that began before then, by the captures' clocks.

    Their captures stay known, so that they are not scanned again.
    """
    from tcpstall.archive.store import Store
    from tcpstall.archive.upkeep import pruned

    with Store.writing(store) as opened:
        gone = pruned(opened, time.time_ns() - age_ns)
    complain(f"{counted(gone, 'row')} removed from {store}")
    return ExitCode.COMPLETE


@command.command("compact")
@store_option
def compact(store: str) -> ExitCode:
    """Merge small files and bring those of older versions up to date, as each scan does when it ends."""
    from tcpstall.archive.store import TABLES, Store
    from tcpstall.archive.upkeep import compacted

    with Store.writing(store) as opened:
        before = sum(len(opened.parts(table)) for table in TABLES)
        compacted(opened)
        after = sum(len(opened.parts(table)) for table in TABLES)
    complain(f"{counted(before, 'file')} of {store} are {number(after)} now")
    return ExitCode.COMPLETE


@command.command("check")
@click.option("--repair", is_flag=True, help="Set aside what is damaged, and make the catalog anew of what is not.")
@store_option
def check(repair: bool, store: str) -> ExitCode:
    """Compare every file of a store with its catalog, journal and digests, and print what is wrong, a line a file.

    Exit code 0: the store is sound. 5: something is wrong, or rows are missing. With --repair damaged files are moved
    to the store's folder `damaged`, questions are answered from the rest, and the next scan reads the captures again
    whose rows were lost.
    """  # fmt: skip
    from tcpstall.archive.check import checked
    from tcpstall.archive.place import at
    from tcpstall.archive.repair import repaired

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
