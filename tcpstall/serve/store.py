"""SQL over a store, for an agent: one SELECT, a limited time, a limited answer."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice
from typing import Any

from tcpstall.archive.asking.pruned import missing, sound
from tcpstall.archive.asking.session import Session, session
from tcpstall.errors import CannotAnswer
from tcpstall.report.archive.answers import plain
from tcpstall.serve import asked
from tcpstall.serve.answers import Answer
from tcpstall.serve.reading import Source

__all__ = ["query"]

TIME_S = 30.0
"""A question may take so long."""

_AGAIN_S = 0.1
"""DuckDB forgets an interruption that comes between two of its steps: it is told again."""

_CELL = 1_000
"""Characters of one value."""

_CHARACTERS = 40_000
"""Of all rows together."""

_COUNTED = 100_000
"""Rows beyond those shown that are counted."""


def query(source: Source, wanted: asked.Query) -> Answer:
    """Columns, rows and what is left out. Raises CannotOpen and CannotAnswer."""
    opened = sound(source.roots.folder(wanted.store))
    with session(opened) as asking, _limited(asking):
        answer = asking.ask(wanted.sql)
        found = iter(answer)
        rows: list[list[Any]] = []
        length = 0
        for row in islice(found, wanted.limit):
            cells = [_short(plain(cell)) for cell in row]
            length += len(json.dumps(cells))
            if length > _CHARACTERS and rows:
                rest = 1 + _count(found)
                break
            rows.append(cells)
        else:
            rest = _count(found)
    told: Answer = {"columns": dict(zip(answer.names, answer.types, strict=True)), "rows": rows}
    if rest:
        most = f"{'at least ' if rest > _COUNTED else ''}{rest}"
        told["rows_left_out"] = {
            "count": most,
            "for_more": f"ORDER BY … LIMIT {wanted.limit} OFFSET {len(rows)} in SQL",
        }
    if gaps := list(missing(opened)):
        told["warnings"] = gaps
    return told


@contextmanager
def _limited(asking: Session) -> Iterator[None]:
    """Ends the question when its time is over. Raises CannotAnswer then."""
    over = threading.Event()

    def end() -> None:
        wait_s = TIME_S
        while not over.wait(wait_s):
            asking.interrupt()
            wait_s = _AGAIN_S

    watch = threading.Thread(target=end, daemon=True)
    watch.start()
    try:
        yield
    except KeyboardInterrupt:  # DuckDB's, which was interrupted: Ctrl-C reaches the main thread alone
        raise CannotAnswer(f"the question takes more than {TIME_S:.0f} s; narrow it with WHERE") from None
    finally:
        over.set()
        watch.join()


def _count(rows: Iterator[Any]) -> int:
    return sum(1 for _ in islice(rows, _COUNTED))


def _short(cell: Any) -> Any:
    text = cell if isinstance(cell, str) else json.dumps(cell)
    return cell if len(text) <= _CELL else f"{text[:_CELL]} … and {len(text) - _CELL} more characters"
