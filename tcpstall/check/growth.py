"""Causes that grew from a baseline by more than a rule allows, and the flows that show them."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

from tcpstall.causes import Cause
from tcpstall.check.chunk import Chunk
from tcpstall.check.measure import Measure, Worst
from tcpstall.check.quantities import Waits
from tcpstall.check.rule import GROWTH, Rule
from tcpstall.check.services import ServedAt
from tcpstall.diff import Change, Comparison, ServiceChange
from tcpstall.model import Endpoint

__all__ = ["Grown", "Growth"]


@dataclass(frozen=True, slots=True)
class Grown:
    """A cause that grew at a service. `sure_ns` is what of a flow's growth is left without unsure labels."""

    change: Change
    service: ServiceChange
    sure_ns: int
    worst: Worst | None


class Growth:
    """One rule about growth: of each cause at each service that both captures hold."""

    def __init__(
        self,
        rule: Rule,
        comparison: Comparison,
        services: Sequence[ServedAt],
        causes: Collection[Cause],
        confidence: float,
    ) -> None:
        self._rule = rule
        compared = [service for service in comparison.services if _is_meant(service, services)]
        self.items = len(compared)
        """Services that were compared."""
        self._grown = [
            (change, service, _server(service), Measure(Waits([change.cause]), confidence))
            for service in compared
            for change in service.proven
            if self._allows_no(change, change.own_ns)
            and (change.cause == rule.name or (rule.name == GROWTH and (not causes or change.cause in causes)))
        ]

    def take(self, chunk: Chunk) -> None:
        """Looks for the flows that show what grew."""
        for _, _, server, measure in self._grown:
            if (part := chunk.at(server)).rows:
                measure.take(part)

    def found(self) -> tuple[list[Grown], list[Grown]]:
        """Growth by sure labels, and growth by unsure labels only, largest growth in all flows of its service first."""
        grown = sorted(self._all(), key=lambda one: -one.change.own_ns * one.service.bad.flows)
        sure = [one for one in grown if self._allows_no(one.change, one.sure_ns)]
        return sure, [one for one in grown if one not in sure]

    def _all(self) -> Iterator[Grown]:
        for change, service, _, measure in self._grown:
            unsure_ns = Fraction(measure.seen.total - measure.sure.total, max(1, service.bad.flows))
            sure_ns = change.own_ns - round(unsure_ns)
            yield Grown(change, service, sure_ns, measure.sure.worst or measure.seen.worst)

    def _allows_no(self, change: Change, grew_ns: int) -> bool:
        limit = self._rule.limit
        most = limit.value * change.good_ns if limit.unit == "share" else limit.value
        return grew_ns > most and grew_ns >= change.noise_ns


def _is_meant(service: ServiceChange, services: Sequence[ServedAt]) -> bool:
    server = _server(service)
    return not services or any(one.serves(server.address, server.port) for one in services)


def _server(service: ServiceChange) -> Endpoint:
    if service.bad_service is None:
        raise ValueError("the sum of all services is no service")
    return service.bad_service
