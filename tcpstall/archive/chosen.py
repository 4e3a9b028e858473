"""Which waits a question is about, as SQL."""

from collections.abc import Sequence
from dataclasses import dataclass

from tcpstall.causes import Cause
from tcpstall.model import Endpoint

__all__ = ["Chosen", "listed", "literal"]


@dataclass(frozen=True, slots=True)
class Chosen:
    """Which waits are meant; empty is all. Times are those at which waits began, the end not included."""

    causes: Sequence[Cause] = ()
    services: Sequence[Endpoint] = ()
    since_ns: int | None = None
    until_ns: int | None = None

    def where(self, *more: str) -> str:
        """As SQL over stalls."""
        parts = list(more)
        if self.causes:
            parts.append(f"cause IN ({listed(self.causes)})")
        if self.since_ns is not None:
            parts.append(f"start_ns >= {self.since_ns}")
        return _where([*parts, *self._common()])

    def flows_where(self, *more: str) -> str:
        """As SQL over flows: those that were there at the time."""
        since = [] if self.since_ns is None else [f"end_ns >= {self.since_ns}"]
        return _where([*more, *since, *self._common()])

    def _common(self) -> list[str]:
        parts = []
        if self.services:
            pairs = ", ".join(f"({literal(end.address)}, {end.port})" for end in self.services)
            parts.append(f"(server_address, server_port) IN ({pairs})")
        if self.until_ns is not None:
            parts.append(f"start_ns < {self.until_ns}")
        return parts


def listed(words: Sequence[str]) -> str:
    """As SQL's IN takes them."""
    return ", ".join(literal(str(word)) for word in words)


def literal(value: str | int) -> str:
    """A value as it stands in SQL."""
    return str(value) if isinstance(value, int) else "'" + value.replace("'", "''") + "'"


def _where(parts: Sequence[str]) -> str:
    return f"WHERE {' AND '.join(parts)}" if parts else ""
