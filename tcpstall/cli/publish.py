"""`tcpstall store publish`: a store for other tools."""

from pathlib import Path

import click

from tcpstall.cli.options.anonymise import anonymise_options, key_of
from tcpstall.cli.options.store_option import store_option
from tcpstall.cli.process.exits import complain
from tcpstall.errors import ExitCode
from tcpstall.units import counted

__all__ = ["command"]


@click.command("publish")
@click.argument("folder", type=click.Path(file_okay=False, path_type=Path), metavar="DIR")
@click.option("--delta", "kind", flag_value="delta", help="Write Delta tables, which need tcpstall[delta].")
@click.option("--iceberg", "kind", flag_value="iceberg", help="Write Iceberg tables, which need tcpstall[iceberg].")
@anonymise_options
@store_option
def command(folder: Path, kind: str | None, anonymise: bool, key_file: Path | None, store: str) -> ExitCode:
    """Give the store to other tools: DIR/current has only Parquet files that count, by table and day.

    The files are second names of the store's own and take no space on its file system. Repeat the command to bring DIR
    up to date: a version that is replaced stays for an hour. With --delta or --iceberg DIR has a table for each of the
    store's instead, and the command replaces its rows. With --anonymise the files are copies.
    """
    from tcpstall.archive.asking.pruned import missing
    from tcpstall.archive.storing.store import Store

    lost = list(missing(Store.open(store)))
    key = key_of(anonymise, key_file)
    if kind is None:
        from tcpstall.archive.maintenance.publishing import CURRENT, published

        version = published(store, folder, key=key)
        done = f"{folder / CURRENT} is {version.name} now"
    else:
        from tcpstall.archive.maintenance.lakes import exported

        counts = exported(store, folder, kind, key=key)
        done = f"{folder} has {counted(sum(counts.values()), 'row')} in {counted(len(counts), 'table')} now"
    for line in lost:
        complain(f"{store}: {line}")
    complain(done)
    return ExitCode.DAMAGED if lost else ExitCode.COMPLETE
