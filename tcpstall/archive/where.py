"""Which waits a question is about, as SQL."""

from collections.abc import Sequence
from dataclasses import dataclass

from tcpstall.archive.hosts import host_is
from tcpstall.archive.literals import listed, literal
from tcpstall.causes import Cause
from tcpstall.model import Endpoint

__all__ = ["Chosen"]


@dataclass(frozen=True, slots=True)
class Chosen:
    """Which waits are meant; empty is all. Times are those at which waits began, the end not included.

    `hosts` are addresses, networks and names of either end, `ports` of either end, `captures` names or globs; without a
    slash they are compared with the last part of names.
    """

    causes: Sequence[Cause] = ()
    services: Sequence[Endpoint] = ()
    hosts: Sequence[str] = ()
    ports: Sequence[int] = ()
    captures: Sequence[str] = ()
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
        if self.hosts:
            parts.append(host_is(self.hosts))
        if self.ports:
            ports = ", ".join(map(str, self.ports))
            parts.append(f"(server_port IN ({ports}) OR client_port IN ({ports}))")
        if self.captures:
            globs = (f"capture GLOB {literal(glob if '/' in glob else f'*/{glob}')}" for glob in self.captures)
            bare = (f"capture GLOB {literal(glob)}" for glob in self.captures if "/" not in glob)
            parts.append(f"({' OR '.join((*globs, *bare))})")
        if self.until_ns is not None:
            parts.append(f"start_ns < {self.until_ns}")
        return parts


def _where(parts: Sequence[str]) -> str:
    return f"WHERE {' AND '.join(parts)}" if parts else ""
