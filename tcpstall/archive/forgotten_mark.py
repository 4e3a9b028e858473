"""The mark of captures that were forgotten: no question is told of them, and they stay known to scans."""

import json
import time
from collections.abc import Mapping
from typing import Any

__all__ = ["IS_FORGOTTEN", "is_forgotten", "marked"]

_CODE = "forgotten"
_MARK = json.dumps({"code": _CODE})[1:-1]
"""As it stands in the row's `warnings`: within a text of strangers its quotes would be escaped."""

IS_FORGOTTEN = f"coalesce(contains(warnings, '{_MARK}'), false)"
"""The same as SQL over rows of captures."""


def is_forgotten(row: Mapping[str, Any]) -> bool:
    """True if the row of a capture has the mark."""
    return _MARK in (row.get("warnings") or "")


def marked(row: Mapping[str, Any]) -> dict[str, Any]:
    """The row with the mark, to take the place of the one without."""
    mark = {"code": _CODE, "count": 1, "message": "its rows were forgotten; `tcpstall scan --again` reads it again"}
    warnings = [*json.loads(row.get("warnings") or "[]"), mark]
    return {**row, "warnings": json.dumps(warnings), "scanned_ns": time.time_ns()}
