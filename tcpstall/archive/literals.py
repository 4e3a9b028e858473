"""Values as they stand in SQL."""

from collections.abc import Sequence

__all__ = ["listed", "literal"]


def listed(words: Sequence[str]) -> str:
    """As SQL's IN takes them."""
    return ", ".join(literal(str(word)) for word in words)


def literal(value: str | int) -> str:
    """A value as it stands in SQL."""
    return str(value) if isinstance(value, int) else "'" + value.replace("'", "''") + "'"
