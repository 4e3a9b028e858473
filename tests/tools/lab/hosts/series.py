"""The samples of one socket, each valid until the next."""

from bisect import bisect_right
from typing import Any


class Series:
    """State over time, kept on change."""

    def __init__(self, columns: dict[str, list[Any]]) -> None:
        self._columns = columns
        self.times: list[float] = columns.get("t", [])

    def __len__(self) -> int:
        return len(self.times)

    def row(self, index: int) -> dict[str, Any]:
        """One sample."""
        return {key: column[index] for key, column in self._columns.items()}

    def at(self, t: float) -> dict[str, Any] | None:
        """The value that held at t."""
        index = bisect_right(self.times, t) - 1
        return self.row(index) if index >= 0 else None

    def within(self, begin: float, end: float) -> list[dict[str, Any]]:
        """The samples of an interval; the first is moved to its begin, as state before it says nothing of it."""
        low, high = bisect_right(self.times, begin), bisect_right(self.times, end)
        rows = [self.row(index) for index in range(low, high)]
        if not rows and low:
            rows = [self.row(low - 1)]
        if rows:
            rows[0] = {**rows[0], "t": begin}
        return rows
