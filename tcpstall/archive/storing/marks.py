"""Marks of captures' rows that no question is told of: forgotten ones stay known to scans, withdrawn ones do not.

A row that withdraws another one has its scan and content, and stands beside it: no older row is written again.
"""

import json
import time
from collections.abc import Mapping
from typing import Any

__all__ = ["IS_UNTOLD", "IS_WITHDRAWN", "forgotten", "is_forgotten", "is_withdrawn", "withdrawn"]

_FORGOTTEN = "forgotten"
_WITHDRAWN = "withdrawn"


def _mark(code: str) -> str:
    """As it stands in the row's `warnings`: within a text of strangers its quotes would be escaped."""
    return json.dumps({"code": code})[1:-1]


_MARK_OF_FORGOTTEN, _MARK_OF_WITHDRAWN = _mark(_FORGOTTEN), _mark(_WITHDRAWN)

IS_WITHDRAWN = f"coalesce(contains(warnings, '{_MARK_OF_WITHDRAWN}'), false)"
"""As SQL over rows of captures."""

IS_UNTOLD = f"(coalesce(contains(warnings, '{_MARK_OF_FORGOTTEN}'), false) OR {IS_WITHDRAWN})"
"""True for rows with either mark, as SQL over rows of captures."""


def is_forgotten(row: Mapping[str, Any]) -> bool:
    """True if the row of a capture is marked as forgotten."""
    return _MARK_OF_FORGOTTEN in (row.get("warnings") or "")


def is_withdrawn(row: Mapping[str, Any]) -> bool:
    """True if the row takes older rows of its scan and content out."""
    return _MARK_OF_WITHDRAWN in (row.get("warnings") or "")


def forgotten(row: Mapping[str, Any]) -> dict[str, Any]:
    """The row with the mark, to take the place of the one without."""
    message = "its rows were forgotten; `tcpstall scan --again` reads it again"
    return _marked(row, _FORGOTTEN, message, time.time_ns())


def withdrawn(row: Mapping[str, Any]) -> dict[str, Any]:
    """The row that takes this one out, next in time: a later row of the same scan and content counts again."""
    return _marked(row, _WITHDRAWN, "another scan has replaced its rows", row["scanned_ns"] + 1)


def _marked(row: Mapping[str, Any], code: str, message: str, scanned_ns: int) -> dict[str, Any]:
    warnings = [*json.loads(row.get("warnings") or "[]"), {"code": code, "count": 1, "message": message}]
    return {**row, "warnings": json.dumps(warnings), "scanned_ns": scanned_ns}
