"""A flow and its parts: ends, handshake, directions, bursts, stalls, exchanges; and the service that it belongs to."""

from collections.abc import Mapping
from dataclasses import field
from typing import TypeAlias

from tcpstall.causes import Cause
from tcpstall.model.endpoint import Endpoint, Side
from tcpstall.model.losses import Losses
from tcpstall.records import record
from tcpstall.trust import Trust

Evidence: TypeAlias = Mapping[str, int | None]
"""Evidence for a stall's label, by name with its unit as suffix (`in_flight_bytes`); None is unknown."""


@record(frozen=True, slots=True)
class Vantage:
    """Place of the capture: `client`, `server`, `between` or `unknown`; confidence from 0 to 1."""

    side: str
    confidence: float


@record(frozen=True, slots=True)
class Handshake:
    """The three-way handshake; `duration_ns` is None where no SYN was captured."""

    complete: bool
    duration_ns: int | None


@record(frozen=True, slots=True)
class Direction:
    """The data of one end: sizes in payload bytes, `segments` counts frames with payload; None is unknown.

    `busy_ns` and `rwnd_limited_ns` are what `ss -ti` shows at that end as busy and rwnd_limited: how long it had data
    to send or outstanding, and how much of that the peer's window was full, waits too short for a stall included.
    """

    bytes: int
    segments: int
    mss_bytes: int | None = None
    window_scale: int | None = None
    initial_window_bytes: int | None = None
    max_in_flight_bytes: int = 0
    retransmitted_bytes: int = 0
    busy_ns: int | None = None
    rwnd_limited_ns: int | None = None
    bottleneck_bytes_per_s: int | None = None
    """Rate of payload through the path's narrowest point while a queue stood there; None where none ever stood, or
    where the data never came near that rate for a second."""
    bdp_bytes: int | None = None
    """That rate times the base round trip: more in flight only queues."""
    queue_delay_ns: int | None = None
    bandwidth_limited_ns: int = 0
    """Time that the path was busy with this direction's data."""
    fastest_bytes_per_s: int | None = None
    """The most that it sent in a second; a shorter flow is counted whole. None where all left at one moment."""
    link_share: float | None = None
    """Rate over `link_bytes_per_s`, while the path was busy, else from the first data to the last."""
    timeouts: int = 0
    fast_retransmits: int = 0
    tail_probes: int = 0
    needless_retransmissions: int = 0
    """Those that a DSACK or an echoed timestamp showed needless: the original had arrived."""
    reordered_segments: int = 0
    """Frames that came late at the tap without having been sent again."""
    reordering_bytes: int = 0
    """Most bytes that overtook one of them."""
    reordering_ns: int = 0
    """The latest of them came so long after what overtook it."""
    losses: Losses | None = None
    """The path at its losses; None where it repaired none that the tap could tell."""


@record(frozen=True, slots=True)
class Burst:
    """Segments that one sender sent without waiting between them. Times in nanoseconds since the epoch."""

    sender: Side
    start_ns: int
    end_ns: int
    bytes: int
    segments: int
    in_flight_bytes: int


@record(frozen=True, slots=True)
class Attempt:
    """One attempt to repair a loss: `timeout`, `fast-retransmit` or `tail-loss`, after waiting so long for news."""

    time_ns: int
    kind: str
    waited_ns: int


@record(frozen=True, slots=True)
class Stall:
    """One wait of one sender with one cause.

    `ended` is False where no new data ever followed. `detail` narrows the cause. `also` ranks the other causes that
    the evidence allows; `missing` says what evidence the capture lacks; `confidence` runs from 0 to 1.
    """

    sender: Side
    start_ns: int
    end_ns: int
    duration_ns: int
    ended: bool
    cause: Cause
    detail: str | None
    confidence: float
    also: tuple[Cause, ...]
    missing: tuple[str, ...]
    evidence: Evidence
    advice: str
    attempts: tuple[Attempt, ...] = ()
    number: int = 0
    """In order of time in its flow, whichever stalls are left out of the list; `tcpstall extract --stall` takes it."""
    base_rtt_ns: int | None = None
    """The path's smallest round trip as it was then."""
    excess_ns: int | None = None
    """Length of the wait beyond that; None where it waited for no answer."""
    excess_owner: str | None = None
    """Whose the excess was: `queue`, `receiver-silent`, `delayed-ack`, `loss`, `unknown`; None where there is none."""


@record(frozen=True, slots=True)
class RttSpike:
    """The peak of an episode in which round trips were above five times the base one, and the state at that moment."""

    sender: Side
    time_ns: int
    rtt_ns: int
    in_flight_bytes: int
    peer_window_bytes: int | None


@record(frozen=True, slots=True)
class Part:
    """A share of an exchange's latency.

    `part` is `handshake`, `request`, `travel` (one base round trip), `think` (the responder's own time), `response`,
    `overlap` (both ends had the word at once) or `turnaround` (travel and think, where the base round trip is unknown).
    `cause` is why its sender waited, None while it sent; `waits` counts the waits that it adds up.
    """

    part: str
    duration_ns: int
    cause: Cause | None = None
    detail: str | None = None
    waits: int = 0


@record(frozen=True, slots=True)
class Exchange:
    """One request and its response.

    `latency_ns` is what the requester lived through: from its first byte, or its SYN where the handshake belongs to the
    exchange, to the arrival of the response's last byte, on its own clock at every vantage. `parts` sum to it.
    `start_ns` and `end_ns` are the tap's. `round_trips` is the latency in base round trips, None without one.
    `request_bytes` is 0 where the server spoke first. `overlaps` counts how often an end spoke before it had heard the
    other out. Where the response was not acknowledged whole, `complete` is False and the latency a lower bound.
    """

    requester: Side
    start_ns: int
    end_ns: int
    latency_ns: int
    round_trips: float | None
    request_bytes: int
    response_bytes: int
    overlaps: int
    parts: tuple[Part, ...]
    complete: bool = True


@record(frozen=True, slots=True)
class Connection:
    """Use and end of a connection.

    `closed_by` sent the first FIN or RST (`closed_with`), `idle_before_close_ns` after the end of the last exchange.
    Where the server closed amid an HTTP answer, `cut_at_bytes` of `cut_of_bytes` of its content had come.
    `unanswered` counts requests without a response, `unprompted` turns of the server that no request called for.
    """

    exchanges: int
    unanswered: int = 0
    unprompted: int = 0
    closed_by: Side | None = None
    closed_with: str | None = None
    cut_at_bytes: int | None = None
    cut_of_bytes: int | None = None
    idle_before_close_ns: int | None = None


@record(frozen=True, slots=True)
class IdleClose:
    """A keep-alive that only one end keeps: `side` closes connections idle for about `after_ns`, the other never."""

    side: Side
    after_ns: int
    connections: int


@record(frozen=True, slots=True)
class Service:
    """The connections to one address and port.

    `avoidable_handshakes` counts a client's connections beyond the most that it had open at once: reuse would have
    saved them, and `avoidable_ns` at the client's mean handshake.
    """

    address: str
    port: int
    clients: int
    connections: int
    exchanges: int
    handshakes: int
    handshake_ns: int
    avoidable_handshakes: int
    avoidable_ns: int
    closed_by_client: int
    closed_by_server: int
    idle_close: IdleClose | None
    unreachable: int = 0
    refused: int = 0
    half_open: int = 0
    gone: int = 0
    """Connections that came to that, see `Flow.outcome`."""


@record(frozen=True, slots=True)
class Flow:
    """One connection. `time_ns` gives every nanosecond from `start_ns` to `end_ns` one owner and sums to the length.

    `label` is what it carries, where its first payload says so: an HTTP request line (`label_source` is `http`), a TLS
    server name (`tls`). `tunnel` is what it came through, such as `VXLAN 42 10.0.0.1 > 10.0.0.2`.
    """

    id: int
    client: Endpoint
    server: Endpoint
    start_ns: int
    end_ns: int
    segments: int
    state: str
    vantage: Vantage
    base_rtt_ns: int | None
    handshake: Handshake
    directions: Mapping[Side, Direction]
    stalls: tuple[Stall, ...]
    time_ns: Mapping[str, int]
    bursts: tuple[Burst, ...] = ()
    exchanges: tuple[Exchange, ...] = ()
    connection: Connection = Connection(exchanges=0)
    tunnel: str | None = None
    vlan: int | None = None
    """VLAN of its first packet, by the outermost tag; None without a tag."""
    interface: str | None = None
    """Interface of its first packet: its name in pcapng, `ifindex 3` in Linux cooked captures v2; else None."""
    label: str | None = None
    label_source: str | None = None
    notes: tuple[str, ...] = ()
    capture: int = 0
    rtt_spikes: tuple[RttSpike, ...] = ()
    rtt_spikes_dropped: int = 0
    outcome: str | None = None
    """`unreachable`, `refused`, `half-open`, `aborted` or `gone`; `too-early` or `one-sided` where the capture does not
    show which; None of a connection that was established and whose ends were heard."""
    unanswered_sender: Side | None = None
    """The end that got no answer, `unanswered_attempts` times in `unanswered_ns` up to its RST or the capture's last
    packet."""
    unanswered_attempts: int | None = None
    unanswered_ns: int | None = None
    trust: Trust = field(default_factory=Trust)
    rate_set_by: str | None = None
    """`path`, `congestion-window`, `pacing`, `application`, or `sender` where it cannot be told which, of a flow that
    was sending for more than a fifth of its time; None of every other."""
    idle_ns: int = 0
    """Part of the time lost in which nobody waited: pauses of the applications, and small messages."""

    @property
    def duration_ns(self) -> int:
        """First segment to last."""
        return self.end_ns - self.start_ns

    @property
    def lost_ns(self) -> int:
        """Time that some cause owns: all but sending, plain travel and closing."""
        return sum(self.time_ns.get(cause, 0) for cause in Cause)

    @property
    def was_set_up(self) -> bool:
        """False of a connection that the capture never shows established."""
        return self.outcome is None or self.outcome == "gone"

    def end(self, side: Side) -> Endpoint:
        """The endpoint of that side."""
        return self.client if side == "client" else self.server
