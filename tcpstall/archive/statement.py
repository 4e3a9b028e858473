"""Which SQL of a stranger is run: one SELECT over the tables of the store, told by its parsed form."""

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from tcpstall.archive.columns import TABLES
from tcpstall.errors import CannotAnswer

if TYPE_CHECKING:
    import duckdb

__all__ = ["checked"]

_NODES = frozenset({"SELECT_NODE", "SET_OPERATION_NODE", "RECURSIVE_CTE_NODE", "CTE_NODE"})
"""What a SELECT is made of. DuckDB takes INSERT, DELETE and COPY inside WITH too, and calls the whole a SELECT."""

_MAKERS = frozenset({"unnest", "range", "generate_series"})
"""Functions that may stand for a table. All others read files, settings or memory."""

_INQUISITIVE = frozenset({"getenv", "getvariable", "current_setting", "write_log"})
"""Functions that tell of the machine, or tell the machine."""

_SELECT_ONLY = "only SELECT is answered"


def checked(connection: "duckdb.DuckDBPyConnection", sql: str) -> None:
    """Raises CannotAnswer unless `sql` is one SELECT of the store's tables and of nothing else."""
    import duckdb

    try:
        statements = connection.extract_statements(sql)
        if len(statements) != 1:
            raise CannotAnswer(f"{_SELECT_ONLY}, one at a time: this has {len(statements)} statements")
        if statements[0].type is not duckdb.StatementType.SELECT:
            raise CannotAnswer(f"{_SELECT_ONLY}: this is {statements[0].type.name.replace('_', ' ')}")
        (text,) = connection.execute("SELECT json_serialize_sql(?)", [sql]).fetchall()[0]
    except duckdb.Error as error:
        raise CannotAnswer(next(iter(str(error).splitlines()), "the question is not understood")) from error
    parsed = json.loads(text)
    if parsed["error"]:
        raise CannotAnswer(f"{_SELECT_ONLY}: {parsed['error_message']}")
    everything = list(_nodes(parsed["statements"]))
    named = {name for node in everything for name in _common_names(node)}
    for node in everything:
        _check(node, named)


def _check(node: dict[str, Any], named: set[str]) -> None:
    kind = node.get("type")
    if isinstance(kind, str) and kind.endswith("_NODE") and kind not in _NODES:
        raise CannotAnswer(f"{_SELECT_ONLY}: this has {kind.removesuffix('_NODE').removesuffix('_QUERY')} in it")
    if kind == "BASE_TABLE":
        path = node["qualified_name"]["path"]
        if len(path) != 1 or path[0].lower() not in {*TABLES, *named}:
            raise CannotAnswer(f"there is no table {'.'.join(path)}: ask {', '.join(TABLES)}")
    if kind == "TABLE_FUNCTION" and _function(node["function"]) not in _MAKERS:
        raise CannotAnswer(f"{_function(node['function'])} is refused: only the store's tables are read")
    if node.get("class") == "FUNCTION" and _function(node) in _INQUISITIVE:
        raise CannotAnswer(f"{_function(node)} is refused: only the store's tables are read")


def _function(node: dict[str, Any]) -> str:
    return str(node.get("function_name") or "").lower()


def _common_names(node: dict[str, Any]) -> Iterator[str]:
    """The tables that a WITH names."""
    held = node.get("cte_map")
    for entry in held["map"] if isinstance(held, dict) else ():
        yield str(entry["key"]).lower()


def _nodes(value: Any) -> Iterator[dict[str, Any]]:
    """Every object in the parsed form, however deep: a stack of its own, for a stranger says how deep."""
    left = [value]
    while left:
        item = left.pop()
        if isinstance(item, dict):
            yield item
            left.extend(item.values())
        elif isinstance(item, list):
            left.extend(item)
