"""The waits of a flow that ask for the same change: a cause, its kind and the end that waited."""

from collections.abc import Sequence

from tcpstall.advice import sizing
from tcpstall.causes import Cause, Detail
from tcpstall.facts import mostly
from tcpstall.model import Direction, Flow, Service, Side, Stall
from tcpstall.records import record

__all__ = ["Case", "cases"]

_NOISE_SHARE = 20
"""Cases that own less than a twentieth of the largest case's time are not worth a change."""

_SLOW_HANDSHAKE = 3
"""A handshake of no more than so many round trips was not slow; it is a case where it was lost or could be saved."""

_GREW = 1.25
"""Windows of one fixed buffer differ by less: the share of it that is window follows the segments' sizes."""

_KINDS: dict[Cause, dict[str | None, str]] = {
    Cause.CWND_LIMITED: {Detail.INITIAL_WINDOW: Detail.SLOW_START, Detail.SLOW_START: Detail.SLOW_START},
    Cause.RETRANSMISSION: {Detail.SPURIOUS: Detail.SPURIOUS, Detail.TAIL_LOSS: Detail.TAIL_LOSS},
    Cause.RWND_LIMITED: {Detail.SLOW_READER: Detail.SLOW_READER},
    Cause.ZERO_WINDOW: {Detail.NEVER_REOPENED: Detail.NEVER_REOPENED, Detail.BELOW_SEGMENT: Detail.BELOW_SEGMENT},
    Cause.APP_LIMITED: {kind: kind for kind in (Detail.THINK_TIME, Detail.AWAITING_PEER, Detail.APPLICATION_WINDOW)},
    Cause.HANDSHAKE: {kind: kind for kind in (Detail.SYN_LOSS, Detail.REFUSED, Detail.UNANSWERED, Detail.HALF_OPEN)},
    Cause.DELAYED_ACK: {Detail.NAGLE: Detail.NAGLE},
}
"""Details that ask for another change than their cause's others do."""


@record(frozen=True, slots=True)
class Case:
    """`time_ns` is the cause's share of the ledger, parted among its cases by how long their stalls lasted."""

    flow: Flow
    cause: Cause
    kind: str
    sender: Side
    stalls: Sequence[Stall]
    time_ns: int
    service: Service | None = None
    link_bytes_per_s: int | None = None

    @property
    def receiver(self) -> Side:
        """The other end."""
        return "server" if self.sender == "client" else "client"

    @property
    def own(self) -> Direction:
        """Data that the waiting end sent."""
        return self.flow.directions[self.sender]

    @property
    def mss_bytes(self) -> int:
        """Payload of a full segment."""
        return self.own.mss_bytes or sizing.USUAL_SEGMENT

    @property
    def rtt_ns(self) -> int | None:
        """The path's smallest round trip."""
        return self.flow.base_rtt_ns

    def value(self, name: str) -> int | None:
        """The evidence of that name that holds for most of the time."""
        return mostly(self.stalls, name)

    @property
    def window_grew(self) -> bool:
        """True where the peer's window is autotuned, only too late: it was full at ever larger sizes."""
        windows = [size for stall in self.stalls if (size := stall.evidence.get("peer_window_bytes"))]
        return self.value("plateau_bytes") is None and bool(windows) and max(windows) > _GREW * min(windows)

    def first(self, name: str) -> int | None:
        """The earliest known evidence of that name."""
        ordered = sorted(self.stalls, key=lambda stall: stall.start_ns)
        return next((value for stall in ordered if (value := stall.evidence.get(name)) is not None), None)


def cases(flow: Flow, service: Service | None = None, link_bytes_per_s: int | None = None) -> list[Case]:
    """The flow's cases, the one that cost most first."""
    groups: dict[tuple[Cause, str, Side], list[Stall]] = {}
    for stall in flow.stalls:
        kind = _KINDS.get(stall.cause, {}).get(stall.detail, "")
        groups.setdefault((stall.cause, kind, stall.sender), []).append(stall)
    if flow.time_ns.get(Cause.BANDWIDTH_LIMITED) and not any(
        cause is Cause.BANDWIDTH_LIMITED for cause, _, _ in groups
    ):
        # A path can be busy for as long as it likes without a single gap.
        busiest: Side = max(("client", "server"), key=lambda end: flow.directions[end].bandwidth_limited_ns)
        groups[Cause.BANDWIDTH_LIMITED, "", busiest] = []
    in_all: dict[Cause, int] = {}
    left = dict(flow.time_ns)
    for (cause, kind, _), stalls in groups.items():
        if kind == Detail.APPLICATION_WINDOW:
            # Such waits claim their own time; an application's other pauses share what nobody claims.
            left[cause] = max(0, left.get(cause, 0) - _span(stalls))
        else:
            in_all[cause] = in_all.get(cause, 0) + _span(stalls)

    def part(cause: Cause, kind: str, stalls: Sequence[Stall]) -> int:
        if kind == Detail.APPLICATION_WINDOW:
            return min(flow.time_ns.get(cause, 0), _span(stalls))
        owned = left.get(cause, 0)
        return owned * _span(stalls) // in_all[cause] if in_all[cause] else owned

    found = [
        Case(flow, cause, kind, sender, tuple(stalls), part(cause, kind, stalls), service, link_bytes_per_s)
        for (cause, kind, sender), stalls in groups.items()
    ]
    found = [case for case in found if case.cause is not Cause.HANDSHAKE or _worth_saving(case)]
    least = max((case.time_ns for case in found), default=0) // _NOISE_SHARE
    worth = (case for case in found if case.time_ns > least or _never_set_up(case))
    return sorted(worth, key=lambda case: -case.time_ns)


def _span(stalls: Sequence[Stall]) -> int:
    return sum(stall.duration_ns for stall in stalls)


def _never_set_up(case: Case) -> bool:
    """A lone SYN takes no time, and is all that there is to say of its connection."""
    return case.cause is Cause.HANDSHAKE and not case.flow.was_set_up


def _worth_saving(case: Case) -> bool:
    """Lost, slow, or one of those that reuse would have saved."""
    if case.kind or not case.flow.handshake.complete:
        return True
    if case.service is not None and case.service.avoidable_handshakes:
        return True
    span, trip = case.flow.handshake.duration_ns, case.rtt_ns
    return span is not None and trip is not None and span > _SLOW_HANDSHAKE * trip
