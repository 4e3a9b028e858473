"""Captures that are read again although the store has them, because somebody wants it so."""

import re
from collections.abc import Callable, Mapping
from typing import Any

__all__ = ["Wanted", "always", "never", "version", "written_before"]

Wanted = Callable[[Mapping[str, Any]], bool]
"""True for the row of a capture that is to be read again."""

_VERSION = re.compile(r"(\d{1,9})(?:\.(\d{1,9}))?(?:\.(\d{1,9}))?")


def always(_row: Mapping[str, Any]) -> bool:
    """All captures."""
    return True


def never(_row: Mapping[str, Any]) -> bool:
    """None of them."""
    return False


def written_before(newest: str) -> Wanted:
    """Captures whose rows an older version of tcpstall wrote than this one, such as 0.2, or an unknown one.

    Raises ValueError for what is no version.
    """
    limit = version(newest)
    if limit is None:
        raise ValueError(f"{newest!r} is no version: write one such as 0.2 or 0.2.1")

    def wanted(row: Mapping[str, Any]) -> bool:
        written = version(row["tcpstall"] or "")
        return written is None or written < limit

    return wanted


def version(text: str) -> tuple[int, ...] | None:
    """Its three numbers; None for what is none, a version before its release among them."""
    found = _VERSION.fullmatch(text)
    return None if found is None else tuple(int(number or 0) for number in found.groups())
