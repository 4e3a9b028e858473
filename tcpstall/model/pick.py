"""A row of the native core as an object."""

from collections.abc import Mapping
from typing import Any, TypeVar

__all__ = ["pick"]

_Row = TypeVar("_Row")


def pick(kind: type[_Row], row: Mapping[str, Any], **made: object) -> _Row:
    """The fields of `kind` from `row`, with `made` in place of what needs a type of its own.

    The report may grow fields between releases; those that the class does not know stay in the JSON.
    """
    names = kind.__dataclass_fields__  # type: ignore[attr-defined]
    return kind(**{name: row[name] for name in names if name in row and name not in made} | made)
