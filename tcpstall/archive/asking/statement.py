"""Refuses SQL of a stranger unless its parsed form is one SELECT over the tables of the store."""

import json
import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from tcpstall.archive.asking.functions import ALLOWED, MAKERS
from tcpstall.archive.columns import TABLES
from tcpstall.errors import CannotAnswer

if TYPE_CHECKING:
    import duckdb

__all__ = ["checked"]

_NODES = frozenset({"SELECT_NODE", "SET_OPERATION_NODE", "RECURSIVE_CTE_NODE"})
"""Parts of a SELECT. DuckDB takes INSERT, DELETE and COPY inside WITH too, and calls the whole a SELECT."""

_CALLS = frozenset({"FUNCTION", "WINDOW"})

_SELECT_ONLY = "only SELECT is answered"

_MOST_CHARACTERS = 65_536
"""Characters of a question: DuckDB's own cost of a chain of UNIONs grows with the square of its length."""

_MOST_DEPTH = 500
"""Brackets within brackets of the parsed form: Python's reader of JSON ends at about 1,000."""

_SIGN = re.compile(r'"(?:[^"\\]|\\.)*"|[\[\]{}]')

_Scope = frozenset[str]
"""Names that tables of WITH have where a part of the question stands, in small letters."""


def checked(connection: "duckdb.DuckDBPyConnection", sql: str) -> None:
    """Raises CannotAnswer unless `sql` is one SELECT of the store's tables and of nothing else."""
    import duckdb

    if len(sql) > _MOST_CHARACTERS:
        raise CannotAnswer(f"the question has {len(sql):,} characters; at most {_MOST_CHARACTERS:,} are read")
    try:
        statements = connection.extract_statements(sql)
        if len(statements) != 1:
            raise CannotAnswer(f"{_SELECT_ONLY}, one at a time: this has {len(statements)} statements")
        if statements[0].type is not duckdb.StatementType.SELECT:
            raise CannotAnswer(f"{_SELECT_ONLY}: this is {statements[0].type.name.replace('_', ' ')}")
        (text,) = connection.execute("SELECT json_serialize_sql(?)", [sql]).fetchall()[0]
    except duckdb.Error as error:
        raise CannotAnswer(next(iter(str(error).splitlines()), "the question is not understood")) from error
    if _depth(text) > _MOST_DEPTH:
        raise CannotAnswer("the question is nested too deeply; ask it in steps, with WITH")
    parsed = json.loads(text)
    if parsed["error"]:
        raise CannotAnswer(f"{_SELECT_ONLY}: {parsed['error_message']}")
    for node, scope in _nodes(parsed["statements"]):
        _check(node, scope)


def _depth(text: str) -> int:
    """Brackets within brackets; those in texts of the question are left out."""
    deepest = depth = 0
    for sign in _SIGN.findall(text):
        if sign in "{[":
            depth += 1
            deepest = max(deepest, depth)
        elif sign in "]}":
            depth -= 1
    return deepest


def _check(node: Mapping[str, Any], scope: _Scope) -> None:
    kind = node.get("type")
    if isinstance(kind, str) and kind.endswith("_NODE") and kind not in _NODES:
        raise CannotAnswer(f"{_SELECT_ONLY}: this has {kind.removesuffix('_NODE').removesuffix('_QUERY')} in it")
    if kind == "BASE_TABLE":
        path = node["qualified_name"]["path"]
        if len(path) != 1 or path[0].lower() not in {*TABLES, *scope}:
            raise CannotAnswer(f"there is no table {'.'.join(path)}: ask {', '.join(TABLES)}")
    if kind == "SHOW_REF" and node.get("query") is None:
        raise CannotAnswer(f"SHOW is refused: ask {', '.join(TABLES)}")
    if kind == "TABLE_FUNCTION" and _function(node["function"]) not in MAKERS:
        raise CannotAnswer(f"{_function(node['function'])} is refused: only the store's tables are read")
    if node.get("class") in _CALLS and not _is_allowed(_function(node)):
        raise CannotAnswer(f"{_function(node)} is refused: only the store's tables are read")


def _is_allowed(function: str) -> bool:
    return function in ALLOWED or not any(sign.isalnum() for sign in function)


def _function(node: Mapping[str, Any]) -> str:
    return str(node.get("function_name") or "").lower()


def _nodes(value: Any) -> Iterator[tuple[Mapping[str, Any], _Scope]]:
    """Every object in the parsed form with the names of WITH that hold there.

    A stack of its own, for a stranger says how deep.
    """
    left: list[tuple[Any, _Scope]] = [(value, frozenset())]
    while left:
        item, scope = left.pop()
        if isinstance(item, list):
            left.extend((each, scope) for each in item)
        elif isinstance(item, dict):
            yield item, scope
            inner = scope
            for name, query in _common(item):
                left.append((query, inner))
                inner |= {name}
            if item.get("type") == "RECURSIVE_CTE_NODE":
                # Its first part is asked before there is a table of its name: there the name is one from outside.
                left.append((item.get("right"), inner | {str(item.get("cte_name")).lower()}))
                left.extend((each, inner) for key, each in item.items() if key not in ("right", "cte_map"))
            else:
                left.extend((each, inner) for key, each in item.items() if key != "cte_map")


def _common(node: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """The tables that its WITH names, in order; each sees those before it."""
    held = node.get("cte_map")
    for entry in held["map"] if isinstance(held, dict) else ():
        yield str(entry["key"]).lower(), entry["value"]
