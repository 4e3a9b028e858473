"""A DuckDB file with the tables of a store as views, for people who ask with other tools."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from tcpstall.archive.storing.duck import MEMORY_BYTES, connected
from tcpstall.archive.storing.literals import literal
from tcpstall.archive.storing.names import DATABASE, fresh
from tcpstall.archive.storing.store import Store
from tcpstall.archive.storing.views import VIEWS, make_view
from tcpstall.errors import CannotWrite, TcpstallError

if TYPE_CHECKING:
    import duckdb

__all__ = ["database_beside"]

_OF_CAPTURES = ("captures", "errors")
"""The views that are made last."""


@contextmanager
def database_beside(store: Store) -> Iterator[None]:
    """Makes the file of a local store, beside what is done within: only the table of captures may change there.

    Raises CannotOpen where a table cannot be read, and CannotWrite.
    """
    if store.filesystem is not None:
        yield
        return
    import duckdb

    file = store.place.scratch / f"{fresh()}.duckdb"
    try:
        with _attached(store, file) as database:
            with _beside(database, store.as_it_is()):
                yield
            for name in _OF_CAPTURES:
                make_view(database, name, store)
    except TcpstallError:
        raise
    except (duckdb.Error, OSError) as error:
        raise CannotWrite(f"cannot write into {store.url}: {str(error).splitlines()[0]}") from error
    store.place.take(DATABASE, file)


@contextmanager
def _beside(database: "duckdb.DuckDBPyConnection", store: Store) -> Iterator[None]:
    """Makes the other views in a thread of its own: DuckDB takes another processor for most of that time."""
    raised: list[Exception] = []

    def make() -> None:
        try:
            for name in VIEWS:
                if name not in _OF_CAPTURES:
                    make_view(database, name, store)
        except Exception as error:  # it is the other thread's
            raised.append(error)

    thread = threading.Thread(target=make)
    thread.start()
    try:
        yield
        thread.join()
    finally:
        # A signal may have ended the wait: until the thread has ended too, the database refuses every call.
        if thread.is_alive():
            database.interrupt()
            thread.join()
    if raised:
        raise raised[0]


@contextmanager
def _attached(store: Store, file: Path) -> "Iterator[duckdb.DuckDBPyConnection]":
    """A new DuckDB file as the one that statements mean: another DuckDB for it would take 20 ms."""
    with connected(store.place, MEMORY_BYTES) as duck:
        duck.execute(f"ATTACH {literal(str(file))} AS made")
        try:
            with duck.cursor() as database:
                database.execute("USE made")
                yield database
        finally:
            duck.execute("DETACH made")
