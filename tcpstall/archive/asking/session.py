"""A DuckDB over the tables of a store, which answers SELECT statements and does nothing else."""

import re
import tempfile
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from tcpstall.archive.asking.statement import checked
from tcpstall.archive.columns import TABLES
from tcpstall.archive.storing.hours import SUMS
from tcpstall.archive.storing.literals import literal
from tcpstall.archive.storing.rollups import ROLLUPS
from tcpstall.archive.storing.views import VIEWS, Readable, line, make_view
from tcpstall.errors import CannotAnswer, CannotOpen, CannotWrite, ExitCode

if TYPE_CHECKING:
    import duckdb

__all__ = ["Answer", "Session", "session"]

_Result = TypeVar("_Result")

_BATCH = 2_048
"""Rows that are fetched at once: DuckDB's own vectors."""

_SOURCE = re.compile(r"\b(?:FROM|JOIN) (\w+)")
"""Name of a source in one of the program's own questions: `flows` is a column of several tables too."""

_MEMORY = "75%"
"""Of the machine's; what needs more is spilled, and what cannot be is refused."""


class Answer:
    """Rows with the names and types of their columns; they are made while they are fetched."""

    def __init__(self, cursor: "duckdb.DuckDBPyConnection") -> None:
        self._cursor = cursor
        self.names: list[str] = _unique([column[0] for column in cursor.description])
        self.types: list[str] = [str(column[1]) for column in cursor.description]

    def __iter__(self) -> Iterator[tuple[Any, ...]]:
        with _explained():
            while rows := self._cursor.fetchmany(_BATCH):
                yield from rows


class Session:
    """Asks the store. Views of its tables, made when they are first asked for, are all that there is."""

    exit_code = ExitCode.COMPLETE
    """Exit code of the command that asks: DAMAGED where rows of the store are missing."""

    def __init__(
        self, connection: "duckdb.DuckDBPyConnection", stores: Sequence[Readable] = (), called: Sequence[str] = ()
    ) -> None:
        self._connection = connection
        self._stores = stores
        self._called = called
        self._made: set[str] = set()
        self.several = bool(called)
        """Its rows are those of several stores: tables have the column `store`."""

    def ask(self, sql: str, values: Mapping[str, str] | None = None) -> Answer:
        """The answer to a stranger's question. Raises CannotAnswer for all but one SELECT of the store's tables.

        `values` are those of its parameters: `{"at": "2026-03-01"}` of `$at`.
        """
        checked(self._connection, sql)
        self._make(*VIEWS)
        with _explained():
            return Answer(self._run(lambda: self._connection.execute(sql, values or None)))

    def parameters(self, sql: str) -> frozenset[str]:
        """Names of a stranger's question's parameters, `1` of the first `?`. Raises CannotAnswer as ask() does."""
        checked(self._connection, sql)
        (statement,) = self._connection.extract_statements(sql)
        return frozenset(statement.named_parameters)

    def write(self, sql: str, output: Path, values: Mapping[str, str] | None = None) -> None:
        """The answer to a stranger's question as Parquet. Raises CannotAnswer and CannotWrite."""
        import duckdb

        checked(self._connection, sql)
        self._make(*VIEWS)
        try:
            # A relation, not COPY around the text: nothing in the text can be taken for the end of it.
            asked = partial(self._connection.sql, sql, params=values or None)
            self._run(lambda: asked().write_parquet(str(output), compression="zstd"))
        except duckdb.Error as error:
            if isinstance(error, duckdb.IOException) and str(output) in str(error):
                raise CannotWrite(f"cannot write {output}: {line(error)}") from error
            raise _told(error) from error

    def _run(self, work: Callable[[], _Result]) -> _Result:
        """Runs `work` in a thread of its own, for its result: while DuckDB works, this thread can notice Ctrl-C."""
        done: Future[_Result] = Future()
        thread = threading.Thread(target=_settle, args=(done, work), daemon=True)
        thread.start()
        try:
            return done.result()
        except KeyboardInterrupt:
            self._connection.interrupt()
            thread.join()
            raise

    def interrupt(self) -> None:
        """Ends what the session does in another thread, which KeyboardInterrupt reaches there."""
        self._connection.interrupt()

    def keep(self, name: str, sql: str) -> None:
        """Keeps the answer to one of the program's own questions as a table, in memory."""
        self._make_named(sql)
        with _explained():
            self._run(lambda: self._connection.execute(f"CREATE OR REPLACE TEMP TABLE {name} AS {sql}"))

    def rolled(self, name: str) -> str:
        """A view of a table of sums, made when it is first asked for: most questions need none."""
        self._make(name)
        return name

    def _make_named(self, sql: str) -> None:
        """Views of the tables that one of the program's own questions names: to make all takes 60 ms."""
        named = set(_SOURCE.findall(sql))
        if "hours" in named:
            named.add(SUMS)
        if "errors" in named:
            named.add("captures")
        self._make(*(name for name in VIEWS if name in named))

    def _make(self, *names: str) -> None:
        for name in names:
            if name not in self._made:
                make_view(self._connection, name, *self._stores, called=self._called)
                self._made.add(name)

    def rows(self, sql: str) -> list[dict[str, Any]]:
        """The answer to one of the program's own questions, rows by name."""
        self._make_named(sql)
        with _explained():
            answer = Answer(self._run(lambda: self._connection.execute(sql)))
        return [dict(zip(answer.names, row, strict=True)) for row in answer]


def _unique(names: Sequence[str]) -> list[str]:
    """Columns of one name become `name`, `name_1`, `name_2`, as DuckDB calls them in files; `A` is the name `a`."""
    seen: Counter[str] = Counter()
    unique: list[str] = []
    given: set[str] = set()
    for name in names:
        new = name
        while new.lower() in given:
            seen[name.lower()] += 1
            new = f"{name}_{seen[name.lower()]}"
        given.add(new.lower())
        unique.append(new)
    return unique


def _settle(done: "Future[_Result]", work: Callable[[], _Result]) -> None:
    try:
        done.set_result(work())
    except BaseException as error:
        done.set_exception(error)


@contextmanager
def session(
    *stores: Readable, called: Sequence[str] = (), output: Path | None = None, memory: str = _MEMORY
) -> Iterator[Session]:
    """A session that reads the files of the stores, and may write `output` as Parquet; nothing else on the machine.

    Several stores answer as one; `called` are their names in the column `store`, which tables have only then. The
    session raises CannotOpen where files of a store cannot be read.
    """
    import duckdb

    with tempfile.TemporaryDirectory(prefix="tcpstall-") as scratch:
        connection = duckdb.connect(":memory:", config=_config(scratch, memory))
        try:
            for filesystem in {id(store.filesystem): store.filesystem for store in stores}.values():
                if filesystem is not None:
                    connection.register_filesystem(filesystem)
            _lock(connection, stores, output)
            yield Session(connection, stores, called)
        finally:
            connection.close()


def _config(scratch: str, memory: str) -> dict[str, Any]:
    return {
        "memory_limit": memory,
        "temp_directory": scratch,
        "autoinstall_known_extensions": False,
        "autoload_known_extensions": False,
        "preserve_insertion_order": False,
    }


def _lock(connection: "duckdb.DuckDBPyConnection", stores: Sequence[Readable], output: Path | None) -> None:
    """From here on no other file is read or written, and nothing of this can be undone.

    Files by name: of a folder behind a URL DuckDB would take the beginning for the whole, `..` included.
    """
    held = [(store, file) for store in stores for table in (*TABLES, *ROLLUPS) for file in store.files(table)]
    files = [name for store, file in held for name in _called(store, file)]
    files += [] if output is None else [str(output)]
    for name, value in (
        ("enable_progress_bar", "false"),
        ("TimeZone", "'UTC'"),
        ("python_enable_replacements", "false"),
        ("allowed_paths", f"[{', '.join(map(literal, files))}]::VARCHAR[]"),
        ("enable_external_access", "false"),
        ("lock_configuration", "true"),
    ):
        connection.execute(f"SET {name} = {value}")


def _called(store: Readable, file: str) -> list[str]:
    """The file's URL as it is, and as DuckDB puts it together from what the file system calls it."""
    if store.filesystem is None:
        return [file]
    return [file, f"{file.partition('://')[0]}://{store.filesystem._strip_protocol(file)}"]


@contextmanager
def _explained() -> Iterator[None]:
    """DuckDB's errors as this program's."""
    import duckdb

    try:
        yield
    except duckdb.InterruptException as error:
        raise KeyboardInterrupt from error
    except duckdb.Error as error:
        raise _told(error) from error


def _told(error: Exception) -> CannotAnswer | CannotOpen:
    import duckdb

    match error:
        case duckdb.OutOfMemoryException():
            return CannotAnswer("the answer needs more memory than there is; ask for less at once")
        case duckdb.IOException():
            return CannotOpen(f"the store cannot be read: {line(error)}")
        case duckdb.InvalidInputException() if ".parquet" in str(error):  # a damaged file; questions name none
            return CannotOpen(f"the store cannot be read: {line(error)}")
    return CannotAnswer(line(error))
