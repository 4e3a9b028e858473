"""A finding: a row that the native core added up over many flows."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from tcpstall.causes import Detail
from tcpstall.model.endpoint import Endpoint, Side
from tcpstall.model.losses import Losses
from tcpstall.records import record
from tcpstall.trust import SURE

__all__ = ["FAILURES", "IDLE", "RATES", "UNSURE", "Behind", "Example", "Finding", "WaitedFor", "read"]

FAILURES = frozenset({"unreachable", "refused", "half-open", "peer-gone", "reset", "cut-answer", "stale-connection"})
"""Kinds of failed connections."""

RATES = frozenset({"rate-window", "rate-pacing", "rate-application", "rate-sender", "bandwidth-limited"})
"""Kinds of transfers that kept sending: the finding is the limit that set the rate."""

IDLE = frozenset({"idle", "messages", "handshake-distance"})
"""Kinds of time that no change can give back: think time, keep-alive, terminals, the plain round trip."""

UNSURE = frozenset({"unexplained", "one-sided", "server-timer", "aborted"})
"""Kinds of time whose cause the capture does not show, or not whether anybody waited."""

_COUNTED = frozenset({"loss", "reordering"})
"""Kinds that rest on counted segments, whatever the labels of their waits."""

_UNSCALED = 65_535
"""Largest window of a connection without window scaling, bytes."""

_FEW = 2
"""Up to half (1/2) of the flows or answers are a few of them."""

_LIVE = (20, 15_000_000, 250_000_000)
"""Pauses of a flow from which, and their least and largest mean (nanoseconds) with which, they may be those of a source
that sends as things happen: a microphone, a camera or a screen does so from four to sixty times a second."""


_QUICK_NS = (10_000_000, 100_000_000)
"""A mean answer below the first of these times is quick, and so is one below the second that takes less than a round
trip: a person notices no tenth of a second (R. B. Miller, 1968)."""


@record(frozen=True, slots=True)
class Example:
    """The flow that shows a finding best. Sizes are of the data of the finding's side; None is unknown."""

    flow: int
    client: Endpoint
    server: Endpoint
    start_ns: int
    end_ns: int
    time_ns: int
    base_rtt_ns: int | None
    bytes: int
    segments: int
    mss_bytes: int | None
    initial_window_bytes: int | None
    peer_window_scale: int | None
    max_in_flight_bytes: int | None
    retransmitted_bytes: int
    bottleneck_bytes_per_s: int | None
    queue_delay_ns: int | None
    trust: str
    stall: Mapping[str, Any] | None
    """The longest wait, as in the JSON report."""
    cut_at_bytes: int | None = None
    """Bytes of an answer's content that came before the server closed amid it; None of others, and in archives."""
    cut_of_bytes: int | None = None
    """The whole length of that content, as its head announced it."""

    @property
    def duration_ns(self) -> int:
        """First segment to last."""
        return self.end_ns - self.start_ns

    @property
    def fills_unscaled_window(self) -> bool:
        """True where the peer's windows have no scale, and one as large as they come was filled (RFC 7323 §2.2)."""
        most = (self.max_in_flight_bytes or 0) + 2 * (self.mss_bytes or 0)
        return self.peer_window_scale == 0 and most > _UNSCALED

    def figure(self, name: str) -> int | None:
        """A size or time from the evidence of the longest wait."""
        value = (self.stall or {}).get("evidence", {}).get(name)
        return value if isinstance(value, int) else None


@record(frozen=True, slots=True)
class _OtherService:
    """A service that a finding of another one names."""

    address: str
    port: int

    @property
    def service(self) -> Endpoint:
        """The service; as text `192.0.2.1:80`."""
        return Endpoint(self.address, self.port)


@record(frozen=True, slots=True)
class WaitedFor(_OtherService):
    """The service that a slow one waited for, and for which share of its slow answers' time, 0 to 1."""

    share: float


@record(frozen=True, slots=True)
class Behind(_OtherService):
    """The transfer that filled a queue: its service, the mean delay of the queue, and the round trip without it."""

    queue_ns: int
    base_rtt_ns: int


@record(frozen=True, slots=True)
class Finding:
    """The same cause at the same service: `side` is the end whose data waited, of `reset` the end that sent it.

    `address` and `port` are the server's; a None port is several ports of the host, a None address several servers.
    `client` is the client's address where there is only one. `recoverable_ns` is what a change could give back at most;
    None where only a change would show. Median, 95th percentile and longest are of the flows' times in it, of
    `server-slow` of the answers'.
    """

    kind: str
    side: Side
    address: str | None
    port: int | None
    client: str | None
    flows: int
    waits: int
    time_ns: int
    recoverable_ns: int | None
    counted: int
    median_ns: int
    p95_ns: int
    worst_ns: int
    tenths_ns: tuple[int, ...]
    confidence: float | None
    details: tuple[tuple[str, int], ...]
    first_ns: int
    last_ns: int
    attempts: int
    most_attempts: int
    exchanges: int
    bytes: int
    segments: int
    retransmitted_bytes: int
    needless_retransmissions: int
    reordered_segments: int
    lasted_ns: int
    example: Example | None
    services: int = 1
    """Number of services."""
    further_services: bool = False
    """True where there were more services than the core counts."""
    waited_for: WaitedFor | None = None
    """The other service that the host of a slow one waited for meanwhile, where the capture holds both."""
    behind: Behind | None = None
    """The other transfer that filled the queue which the round trips of the example went through."""
    losses: Losses | None = None
    """The path at the losses of the finding's data: counts of all flows, sizes of the example; None without."""
    awaited_by: tuple[str, ...] = ()
    """Slow services that waited for this one: `192.0.2.1:80`."""
    makes_most: int = 0
    """Number of the longest times of the distribution that make nine tenths of it; 0 is unknown, as in archives."""
    tls_handshake_ns: int = 0
    """Part of the waits in which TLS's handshake was not yet complete; 0 in archives."""
    reset_in_tls: int = 0
    """Flows that a reset ended in TLS's handshake; 0 in archives."""
    reset_unanswered: int = 0
    """Flows that a later reset ended before anything of the answer that was due; 0 in archives."""
    of_several_clients: bool = False
    """True where the finding is of one client, and the service has others."""

    @property
    def detail(self) -> str:
        """The detail of the cause that took most time; empty without a detail."""
        return self.details[0][0] if self.details else ""

    @property
    def is_a_scan(self) -> bool:
        """True where nobody waited: refused once at most ports of a host, or SYNs that were never sent again."""
        by_port = self.address is not None and self.services > 1 and self.flows < 2 * self.services
        return (self.kind == "refused" and by_port) or (self.kind == "unreachable" and not self.time_ns)

    @property
    def is_given_up(self) -> bool:
        """True where each RST that refused a SYN came long after, and the client had not sent its SYN again."""
        return self.kind == "refused" and not self.is_a_scan and self.time_ns > 0 and not self.recoverable_ns

    @property
    def nearly_all_in(self) -> int:
        """Number of flows or answers that took nearly all of the time, where they are a few of many; else 0."""
        return self.makes_most if self.makes_most * _FEW <= self.counted else 0

    @property
    def mean_ns(self) -> int:
        """Mean time of the flows, or of the answers; 0 without any."""
        return self.time_ns // self.counted if self.counted else 0

    @property
    def is_quick(self) -> bool:
        """True where answers took little time each, though all of them together may have taken long."""
        least_ns, most_ns = _QUICK_NS
        round_trip = (self.example.base_rtt_ns if self.example else None) or 0
        span = self.worst_ns if self.nearly_all_in else self.mean_ns
        return self.kind == "server-slow" and self.counted > 0 and span < max(least_ns, min(round_trip, most_ns))

    @property
    def is_of_tls(self) -> bool:
        """True where nine tenths of the time or more are those of TLS's handshake, before any request."""
        return 10 * self.tls_handshake_ns >= 9 * self.time_ns > 0

    @property
    def may_be_live(self) -> bool:
        """True where pauses amid what an end sent may be those of live media or of a remote screen."""
        many, least_ns, most_ns = _LIVE
        often = (
            self.waits >= many * max(self.flows, 1) and least_ns * self.waits <= self.time_ns <= most_ns * self.waits
        )
        return self.kind == "sent-in-pieces" and often and not self.waited_for

    @property
    def told_losses(self) -> Losses | None:
        """The path at the losses, where the finding is about these and nearly all agree."""
        lossy = self.kind in ("loss", "rate-window") or self.detail == Detail.CONGESTION_AVOIDANCE
        if not (lossy and self.losses and self.retransmitted_bytes) or self.detail == Detail.SPURIOUS:
            return None
        return self.losses if self.losses.met_a_queue or self.losses.met_none else None

    @property
    def jumped_ns(self) -> int:
        """Length of the longest wait, where the clock jumped in it and it is most of the finding's time; else 0."""
        stall = (self.example.stall if self.example else None) or {}
        jumped = any(gap.startswith("time:") for gap in stall.get("missing", ()))
        span = int(stall.get("duration_ns", 0)) if jumped else 0
        return span if 2 * span >= self.time_ns else 0

    @property
    def is_lead(self) -> bool:
        """True where the finding may come first: a change or a repair would help."""
        return self.kind not in IDLE | UNSURE

    @property
    def is_failure(self) -> bool:
        """True where connections failed."""
        return self.kind in FAILURES

    @property
    def is_rate(self) -> bool:
        """True where the finding is the limit of a transfer that kept sending."""
        return self.kind in RATES

    @property
    def is_doubtful(self) -> bool:
        """True where the labels that the finding rests on are little better than a guess."""
        return self.kind not in _COUNTED and self.confidence is not None and self.confidence < SURE

    @property
    def weight_ns(self) -> int:
        """Rank of the finding: the time that a change could give back; for a rate the time that it lasted."""
        return self.time_ns if self.is_rate else self.recoverable_ns or 0


def read(facts: str) -> list[Finding]:
    """The findings of the native core's JSON text."""
    return [_finding(row) for row in json.loads(facts)]


def _finding(row: Mapping[str, Any]) -> Finding:
    example = row["example"]
    known = {name: row[name] for name in Finding.__dataclass_fields__ if name in row}
    known["further_services"] = row["port"] is None
    known["tenths_ns"] = tuple(row["tenths_ns"])
    known["details"] = tuple((name, span) for name, span in _named(row["details"]))
    known["behind"] = row["behind"] and Behind(**row["behind"])
    known["losses"] = row["losses"] and Losses(**row["losses"])
    known["example"] = example and _example(example)
    known["waited_for"] = row["waited_for"] and WaitedFor(**row["waited_for"])
    return Finding(**known)


def _named(details: Sequence[Sequence[Any]]) -> list[tuple[str, int]]:
    return [(name, span) for name, span in details if name]


def _example(row: Mapping[str, Any]) -> Example:
    known = {name: row[name] for name in Example.__dataclass_fields__}
    for end in ("client", "server"):
        known[end] = Endpoint(row[end]["address"], row[end]["port"])
    return Example(**known)
