"""Selects the waits that a question is about, as SQL."""

from collections.abc import Sequence
from dataclasses import dataclass

from tcpstall.archive.asking.hosts import host_is
from tcpstall.archive.storing.hours import HOUR_NS, SUMS, to_add_up
from tcpstall.archive.storing.literals import listed, literal
from tcpstall.causes import Cause
from tcpstall.model import Endpoint

__all__ = ["Chosen"]


@dataclass(frozen=True, slots=True)
class Chosen:
    """Selection of waits; empty is all. Times are those at which waits began, the end not included.

    `hosts` are addresses, networks and names of either end, `ports` of either end, `sensors` names or globs, and so are
    `captures`; without a slash they are compared with the last part of names.
    """

    causes: Sequence[Cause] = ()
    services: Sequence[Endpoint] = ()
    hosts: Sequence[str] = ()
    ports: Sequence[int] = ()
    captures: Sequence[str] = ()
    sensors: Sequence[str] = ()
    since_ns: int | None = None
    until_ns: int | None = None

    @property
    def by_hours(self) -> bool:
        """Sums by hour, sensor, service, host and cause tell what is meant."""
        moments = [moment for moment in (self.since_ns, self.until_ns) if moment is not None]
        return not (self.hosts or self.ports or self.captures) and not any(moment % HOUR_NS for moment in moments)

    @property
    def is_all(self) -> bool:
        """Everything is meant."""
        return self.by_finding and not (self.causes or self.services)

    @property
    def by_finding(self) -> bool:
        """Sums by finding tell what is meant."""
        timed = self.since_ns is not None or self.until_ns is not None
        return not (timed or self.hosts or self.ports or self.captures or self.sensors)

    def sums(self, rolled: str = SUMS) -> str:
        """A source of sums as SQL, in the columns of `hours`, of which several may be of one hour.

        `rolled` is a view of sums that lie there, with or without hosts.
        """
        if self.by_hours:
            return f"(FROM {rolled} {self.where()})"
        return f"({to_add_up(f'(FROM stalls {self.where()})', f'(FROM findings {self.where()})')})"

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
        if self.sensors:
            parts.append(f"({' OR '.join(f'sensor GLOB {literal(glob)}' for glob in self.sensors)})")
        if self.until_ns is not None:
            parts.append(f"start_ns < {self.until_ns}")
        return parts


def _where(parts: Sequence[str]) -> str:
    return f"WHERE {' AND '.join(parts)}" if parts else ""
