"""Values as they stand in SQL."""

from collections.abc import Iterable, Sequence

__all__ = ["listed", "literal", "of_flows"]


def listed(words: Sequence[str]) -> str:
    """As SQL's IN takes them."""
    return ", ".join(literal(str(word)) for word in words)


def literal(value: str | int) -> str:
    """A value as it stands in SQL."""
    return str(value) if isinstance(value, int) else "'" + value.replace("'", "''") + "'"


def of_flows(flows: Iterable[tuple[str, int]]) -> str:
    """A condition that rows of these flows, scan and number, fulfil, and few others.

    Two columns, each of which lets DuckDB pass over parts of files; a pair of columns does not.
    """
    scans, numbers = zip(*flows, strict=True)
    return f"flow IN ({', '.join(map(str, sorted(set(numbers))))}) AND scan IN ({listed(sorted(set(scans)))})"
