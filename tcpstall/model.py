"""What a result is: an Analysis over the native columns, whose flows are decoded only when somebody looks at them."""

import dataclasses
import json
import os
from array import array
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, TypeAlias, TypeVar

from tcpstall import _core
from tcpstall.causes import Cause
from tcpstall.errors import CannotOpen, ExitCode, NotACapture, TcpstallError, about
from tcpstall.keys import derived
from tcpstall.labels import read_label
from tcpstall.taps import refuse_two_taps
from tcpstall.trust import CaptureTrust, Trust
from tcpstall.units import counted, duration

__all__ = [
    "Analysis",
    "Attempt",
    "Burst",
    "Capture",
    "CaptureWarning",
    "Connection",
    "Direction",
    "Endpoint",
    "Evidence",
    "Exchange",
    "Flow",
    "Handshake",
    "IdleClose",
    "Part",
    "Paths",
    "RttSpike",
    "Service",
    "Side",
    "Sort",
    "Stall",
    "Vantage",
    "analyze",
    "raise_unreadable",
]

Side: TypeAlias = Literal["client", "server"]
"""An end of a connection: the client sent the SYN."""

Sort: TypeAlias = Literal["lost", "duration", "bytes", "start", "stalls"]
"""What flows are ranked by: largest first, except `start`, which is earliest first."""

Table: TypeAlias = Literal["flows", "bursts", "stalls", "exchanges"]
"""The tables of an analysis."""

Evidence: TypeAlias = Mapping[str, int | None]
"""What a stall's label rests on, by name with its unit as suffix (`in_flight_bytes`); None is unknown."""

Path: TypeAlias = str | os.PathLike[str]
Paths: TypeAlias = Path | Sequence[Path]

_Row = TypeVar("_Row")

_UNKNOWN = -(2**63)


@dataclass(frozen=True, slots=True)
class Endpoint:
    """One end of a connection; as text `192.0.2.1:80` or `[2001:db8::1]:80`."""

    address: str
    port: int

    def __str__(self) -> str:
        return f"[{self.address}]:{self.port}" if ":" in self.address else f"{self.address}:{self.port}"


@dataclass(frozen=True, slots=True)
class Vantage:
    """Where the capture was taken: `client`, `server`, `between` or `unknown`; confidence from 0 to 1."""

    side: str
    confidence: float


@dataclass(frozen=True, slots=True)
class Handshake:
    """The three-way handshake; `duration_ns` is None where no SYN was captured."""

    complete: bool
    duration_ns: int | None


@dataclass(frozen=True, slots=True)
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
    """What the path's narrowest point carried while a queue stood there, payload; None where none ever stood, or where
    the data never came near that rate for a second."""
    bdp_bytes: int | None = None
    """That rate times the base round trip: more in flight only queues."""
    queue_delay_ns: int | None = None
    bandwidth_limited_ns: int = 0
    """How long the path was busy with this direction's data."""
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


@dataclass(frozen=True, slots=True)
class Burst:
    """Segments that one sender sent without waiting between them. Times in nanoseconds since the epoch."""

    sender: Side
    start_ns: int
    end_ns: int
    bytes: int
    segments: int
    in_flight_bytes: int


@dataclass(frozen=True, slots=True)
class Attempt:
    """One attempt to repair a loss: `timeout`, `fast-retransmit` or `tail-loss`, after waiting so long for news."""

    time_ns: int
    kind: str
    waited_ns: int


@dataclass(frozen=True, slots=True)
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
    """What it took beyond that; None where it waited for no answer."""
    excess_owner: str | None = None
    """Whose the excess was: `queue`, `receiver-silent`, `delayed-ack`, `loss`, `unknown`; None where there is none."""


@dataclass(frozen=True, slots=True)
class RttSpike:
    """The peak of an episode in which round trips were above five times the base one, and the state at that moment."""

    sender: Side
    time_ns: int
    rtt_ns: int
    in_flight_bytes: int
    peer_window_bytes: int | None


@dataclass(frozen=True, slots=True)
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


@dataclass(frozen=True, slots=True)
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


@dataclass(frozen=True, slots=True)
class Connection:
    """What a connection was used for and how it ended.

    `closed_by` sent the first FIN or RST (`closed_with`), `idle_before_close_ns` after the end of the last exchange.
    `unanswered` counts requests without a response, `unprompted` turns of the server that no request called for.
    """

    exchanges: int
    unanswered: int = 0
    unprompted: int = 0
    closed_by: Side | None = None
    closed_with: str | None = None
    idle_before_close_ns: int | None = None


@dataclass(frozen=True, slots=True)
class IdleClose:
    """A keep-alive that only one end keeps: `side` closes connections idle for about `after_ns`, the other never."""

    side: Side
    after_ns: int
    connections: int


@dataclass(frozen=True, slots=True)
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


@dataclass(frozen=True, slots=True)
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
    """The end that got no answer, `unanswered_attempts` times in `unanswered_ns` up to the capture's last packet."""
    unanswered_attempts: int | None = None
    unanswered_ns: int | None = None
    trust: Trust = dataclasses.field(default_factory=Trust)
    rate_set_by: str | None = None
    """`path`, `congestion-window`, `pacing`, `application`, or `sender` where it cannot be told which, of a flow that
    was sending for more than a fifth of its time; None of every other."""

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


@dataclass(frozen=True, slots=True)
class CaptureWarning:
    """Something in an input that a reader of the report must know; `count` says how often."""

    code: str
    count: int
    message: str


@dataclass(frozen=True, slots=True)
class Capture:
    """What became of one input. `skipped` counts the packets that were not analysed, by reason."""

    path: str
    exit_code: ExitCode
    error: str | None
    format: str | None = None
    compression: str | None = None
    link_types: tuple[str, ...] = ()
    stream: int | None = None
    """Captures of one number were read as one stream; None where it stands alone."""
    first_packet: int | None = None
    """In a stream of several captures the numbers of packets run on: that of this one's first packet."""
    packets: int = 0
    tcp_segments: int = 0
    first_ns: int | None = None
    last_ns: int | None = None
    warnings: tuple[CaptureWarning, ...] = ()
    skipped: Mapping[str, int] = dataclasses.field(default_factory=dict)
    trust: CaptureTrust = dataclasses.field(default_factory=CaptureTrust)

    @property
    def remarks(self) -> tuple[str, ...]:
        """The warnings that the error does not say already."""
        return self.remarks_but(())

    def remarks_but(self, codes: Container[str]) -> tuple[str, ...]:
        """The same without the warnings of these codes."""
        said = self.error or ""
        return tuple(
            warning.message for warning in self.warnings if warning.message not in said and warning.code not in codes
        )

    @classmethod
    def from_status(cls, status: _core.CaptureStatus) -> "Capture":
        """From the native status."""
        row = json.loads(status.json)
        return _pick(
            cls,
            row,
            path=status.path,
            exit_code=ExitCode(status.exit_code),
            error=status.error and about(status.path, status.error),
            link_types=tuple(row.get("link_types") or ()),
            warnings=tuple(_pick(CaptureWarning, warning) for warning in row.get("warnings") or ()),
            trust=_pick(CaptureTrust, row.get("trust") or {}),
        )


@dataclass(frozen=True, slots=True)
class Held:
    """The flows that an analysis holds: the first `top` by `sort`, and the first `top` by time lost."""

    top: int
    sort: Sort


class Analysis:
    """The diagnosis of one or more captures: a sequence of flows over columns that stay in the native core.

    `flows`, `bursts`, `stalls` and `exchanges` are tables that Polars, PyArrow and DuckDB take without a copy (Arrow
    PyCapsule interface); times are int64 nanoseconds since the epoch in the capture's own clock, sizes payload bytes.
    `len()`, iteration and indexing give Flow objects, each decoded when it is asked for.

    With `top` only the flows that come first are held, and `len()`, tables and rows are of those; `total`, `time_ns()`
    and `services` are of all flows all the same.
    """

    anonymised = False
    """Pseudonyms stand for addresses, and for the names of captures."""

    def __init__(self, report: _core.Report, *, anonymised: bool = False, held: "Held | None" = None) -> None:
        self._report = report
        self._held = held
        self.anonymised = anonymised
        self.captures: tuple[Capture, ...] = tuple(Capture.from_status(status) for status in report.captures)

    @cached_property
    def flows(self) -> _core.Table:
        """A row a flow."""
        return self._report.flows

    @cached_property
    def bursts(self) -> _core.Table:
        """A row a burst; empty with `bursts=False`."""
        return self._report.bursts

    @cached_property
    def stalls(self) -> _core.Table:
        """A row a stall."""
        return self._report.stalls

    @cached_property
    def exchanges(self) -> _core.Table:
        """A row an exchange, its latency added up by leg; empty with `exchanges=False`."""
        return self._report.exchanges

    @cached_property
    def services(self) -> tuple[Service, ...]:
        """The connections by service, those first that would gain most by reuse."""
        return tuple(_service(row) for row in json.loads(self._report.services_json))

    @property
    def findings_facts(self) -> str:
        """What `tcpstall.findings` ranks and words: JSON text of the native core, of all flows."""
        return self._report.findings_json

    @property
    def bytes(self) -> int:
        """Payload of all flows, both directions."""
        return self._report.bytes

    @property
    def total(self) -> int:
        """Number of flows, held or not."""
        return len(self) if self._whole is None else self._whole[0]

    @cached_property
    def _whole(self) -> tuple[int, Sequence[tuple[str, int]]] | None:
        """All flows, their number and their ledger, where only some are held."""
        return None if self._held is None else self._report.whole

    def __repr__(self) -> str:
        lost = sum(self.time_ns()[cause] for cause in Cause)
        inputs = counted(len(self.captures), "capture")
        return f"<Analysis of {inputs}: {counted(self.total, 'flow')} lost {duration(lost)}>"

    def _repr_html_(self) -> str:
        from tcpstall.report.notebook import html

        return html(self)

    def to_pandas(self, table: Table = "flows") -> Any:
        """That table as a pandas data frame; ImportError without PyArrow and pandas."""
        import pyarrow

        return pyarrow.table(getattr(self, table)).to_pandas()

    def to_polars(self, table: Table = "flows") -> Any:
        """That table as a Polars data frame; ImportError without Polars."""
        import polars

        return polars.DataFrame(getattr(self, table))

    def __len__(self) -> int:
        return len(self._report)

    def __getitem__(self, row: int) -> Flow:
        rows = len(self)
        if not -rows <= row < rows:
            raise IndexError(f"flow row {row} of {rows}")
        return _flow(json.loads(self._report.flow_json(row % rows)))

    def __iter__(self) -> Iterator[Flow]:
        return (self[row] for row in range(len(self)))

    @property
    def worst(self) -> Flow:
        """The flow that lost most. Raises IndexError where there is none."""
        return self[self.ranked()[0]]

    def ranked(self, by: Sort = "lost") -> list[int]:
        """Rows of `flows` in order: most first, for `start` earliest first; ties in order of the flows' ids.

        Where only the first flows are held there are no more rows than that. Raises ValueError for an order whose first
        flows are not held.
        """
        if self._held is None:
            return self._in_order(by)
        if by not in (self._held.sort, "lost"):
            raise ValueError(f"the flows are held that come first by {self._held.sort}, not by {by}")
        return self._in_order(by)[: self._held.top]

    def _in_order(self, by: Sort) -> list[int]:
        table = self.flows
        match by:
            case "start":
                keys = _column(table, "start_ns")
                return sorted(range(len(self)), key=keys.__getitem__)
            case "duration":
                keys = _combined(table, "end_ns", "start_ns", -1)
            case "bytes":
                keys = _combined(table, "client_bytes", "server_bytes", 1)
            case "lost":
                keys = _column(table, "lost_ns")
            case "stalls":
                keys = _column(table, "stalls")
        return sorted(range(len(self)), key=lambda row: -keys[row])

    def time_ns(self) -> dict[str, int]:
        """The time ledgers of all flows added up, by owner: the causes, then sending, in-transit, closing."""
        if self._whole is not None:
            return dict(self._whole[1])
        return {owner: sum(_column(self.flows, f"time_{owner.replace('-', '_')}_ns")) for owner in _core.owners()}


def analyze(
    paths: Paths,
    *,
    flows: Sequence[int] = (),
    hosts: Sequence[str] = (),
    ports: Sequence[int] = (),
    since_ns: int | None = None,
    until_ns: int | None = None,
    min_stall_ns: int = 0,
    bursts: bool = True,
    link_bytes_per_s: int | None = None,
    max_expansion: int | None = None,
    exchanges: bool = True,
    anonymise: bytes | None = None,
    strict: bool = True,
    progress: Callable[[int, int | None], None] | None = None,
    sets: Sequence[int] = (),
    missing_before: Sequence[int] = (),
    merge: bool = False,
    top: int | None = None,
    sort: Sort = "lost",
    open: Callable[[str], Any] | None = None,  # noqa: A002 the core's word
) -> Analysis:
    """Reads captures (pcap, pcapng, tcpdump's text; `-` is standard input) and says why each sender waited.

    `flows`, `hosts`, `ports` keep only flows with one of these ids, addresses, ports (either end); empty keeps all.
    `since_ns` and `until_ns` use only the packets of that half-open interval, nanoseconds since the epoch.
    `link_bytes_per_s` is what the link carries, where it is known: each direction then says its share of it.
    `max_expansion` is how many times its size a compressed capture may grow to (None: 1000; a gigabyte always).
    `min_stall_ns` leaves shorter stalls out of the list (the time ledger keeps them); `bursts=False` leaves bursts out,
    `exchanges=False` exchanges.
    `anonymise` is a key, any secret of at least 16 bytes: pseudonyms stand for addresses then, prefixes preserved, and
    `capture-1` for the first path, and no labels are read. `hosts` are true addresses all the same.
    `progress(bytes_read, bytes_in_all)` is called now and then; what it raises ends the run.
    Each capture stands by itself, unless `sets` has a number for each path: paths with the same one are one stream, as
    the files of a rotated capture are. They are read in order of time, a flow may cross from file to file, and packets
    that two of them hold count once. `missing_before` names paths, by index, whose predecessor is missing. `merge`
    makes all one stream: several capture points, by time.
    `top` holds only the flows that come first by `sort`, and as many that lost most, so that memory does not grow with
    the flows of a capture; sums are of all flows. None holds every flow.
    `open(path)` gives a binary file object, or None for a file of this machine; it is called from any thread, and twice
    for a path of a set. What it raises is that input's error.

    Raises CannotOpen or NotACapture for the first such input, unless `strict` is False: then what could be read is
    there, and `Analysis.captures` holds each input's error. A damaged input never raises: see its `error`.
    Raises ValueError for an unreadable host, and TwoTaps (a ValueError too) if captures that `merge` makes one hold the
    same packets of a connection, taken at two points of its path: pair() compares such captures.
    """
    several: Sequence[Path] = [paths] if isinstance(paths, (str, os.PathLike)) else paths
    if merge and sets:
        raise ValueError("merge makes one set of all paths; give sets or merge")
    names = [os.fspath(path) for path in several]
    if merge:
        refuse_two_taps(
            names,
            hosts=hosts,
            ports=ports,
            since_ns=since_ns,
            until_ns=until_ns,
            max_expansion=max_expansion,
            anonymised=anonymise is not None,
        )
    report = _core.analyze(
        names,
        flows=flows,
        hosts=hosts,
        ports=ports,
        since_ns=since_ns,
        until_ns=until_ns,
        min_stall_ns=min_stall_ns,
        bursts=bursts,
        link_bytes_per_s=link_bytes_per_s,
        max_expansion=max_expansion,
        exchanges=exchanges,
        secret=None if anonymise is None else derived(anonymise),
        label=read_label,
        progress=progress,
        sets=[0] * len(names) if merge else sets,
        missing_before=missing_before,
        sort=None if top is None else sort,
        top=top,
        open=open,
    )
    held = None if top is None else Held(top, sort)
    analysis = Analysis(report, anonymised=anonymise is not None, held=held)
    if strict:
        for capture in analysis.captures:
            raise_unreadable(capture)
    return analysis


def raise_unreadable(capture: Capture) -> None:
    """Raises CannotOpen or NotACapture for a capture of which nothing was read."""
    kinds: dict[ExitCode, type[TcpstallError]] = {kind.exit_code: kind for kind in (CannotOpen, NotACapture)}
    if kind := kinds.get(capture.exit_code):
        raise kind(capture.error or capture.path)


def _flow(row: Mapping[str, Any]) -> Flow:
    return _pick(
        Flow,
        row,
        client=_pick(Endpoint, row["client"]),
        server=_pick(Endpoint, row["server"]),
        vantage=_pick(Vantage, row["vantage"]),
        handshake=_pick(Handshake, row["handshake"]),
        directions={side: _pick(Direction, direction) for side, direction in row["directions"].items()},
        bursts=tuple(_pick(Burst, burst) for burst in row.get("bursts") or ()),
        stalls=tuple(_stall(stall) for stall in row["stalls"]),
        exchanges=tuple(_exchange(exchange) for exchange in row.get("exchanges") or ()),
        connection=_pick(Connection, row["connection"]),
        notes=tuple(row.get("notes") or ()),
        rtt_spikes=tuple(_pick(RttSpike, spike) for spike in row.get("rtt_spikes") or ()),
        trust=_pick(Trust, row["trust"], reasons=tuple(row["trust"]["reasons"])),
    )


def _stall(row: Mapping[str, Any]) -> Stall:
    return _pick(
        Stall,
        row,
        cause=Cause(row["cause"]),
        also=tuple(Cause(name) for name in row["also"]),
        missing=tuple(row["missing"]),
        attempts=tuple(_pick(Attempt, attempt) for attempt in row.get("attempts") or ()),
    )


def _exchange(row: Mapping[str, Any]) -> Exchange:
    parts = (_pick(Part, part, cause=Cause(part["cause"]) if "cause" in part else None) for part in row["parts"])
    return _pick(Exchange, row, parts=tuple(parts))


def _service(row: Mapping[str, Any]) -> Service:
    return _pick(Service, row, idle_close=row["idle_close"] and _pick(IdleClose, row["idle_close"]))


def _pick(kind: type[_Row], row: Mapping[str, Any], **made: object) -> _Row:
    """The fields of `kind` from `row`, with `made` in place of what needs a type of its own.

    The report may grow fields between releases; those that the class does not know stay in the JSON.
    """
    names = kind.__dataclass_fields__  # type: ignore[attr-defined]
    return kind(**{name: row[name] for name in names if name in row and name not in made} | made)


def _column(table: _core.Table, name: str) -> Sequence[int]:
    """An integer column; unknown counts as nothing."""
    values = array("q", table.int64(name))
    return array("q", (0 if value == _UNKNOWN else value for value in values)) if _UNKNOWN in values else values


def _combined(table: _core.Table, first: str, second: str, sign: int) -> Sequence[int]:
    pairs = zip(_column(table, first), _column(table, second), strict=True)
    return array("q", (one + sign * other for one, other in pairs))
