"""Every column of the tables of a store: its type, unit and meaning; documentation and empty tables come from here."""

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cache

from tcpstall import _core
from tcpstall.causes import Cause

__all__ = ["BY_DAY", "CAPTURES", "OF_THE_RECEIVER", "TABLES", "Column", "Table", "documented", "layout"]

TEXT, COUNT, REAL, FLAG, MOMENT, DAY = "VARCHAR", "BIGINT", "DOUBLE", "BOOLEAN", "TIMESTAMP", "DATE"

_NS = "ns"
_SINCE_1970 = "ns since 1970-01-01 UTC"
_BYTES = "bytes"
_RATE = "bytes/s"
_SHARE = "0 to 1"
_SEGMENTS = "segments"

AWAITING_PEER = "awaiting-peer"
"""The detail of waits for the peer's turn to speak: what the peer did meanwhile is told as its own wait."""

OF_THE_RECEIVER = (Cause.RWND_LIMITED, Cause.ZERO_WINDOW, Cause.DELAYED_ACK)
"""Causes that are the doing of the end that receives."""
_OF_THE_SERVER = (Cause.HANDSHAKE,)


@dataclass(frozen=True, slots=True)
class Column:
    """A column; `sql` is what the view computes where no file holds it, `family` joins columns told together."""

    name: str
    type: str
    unit: str
    meaning: str
    sql: str = ""
    family: str = ""


@dataclass(frozen=True, slots=True)
class Table:
    """A table: `columns` stand in its files, `added` in the view of it only."""

    name: str
    meaning: str
    columns: tuple[Column, ...]
    added: tuple[Column, ...] = ()

    @property
    def shown(self) -> tuple[Column, ...]:
        """All that a question can name."""
        return (*self.columns, *self.added)


def _column(type_: str, unit: str, name: str, meaning: str) -> Column:
    return Column(name, type_, unit, meaning)


_SCAN = _column(TEXT, "", "scan", "the analysis that the row came from, 16 hexadecimal digits")
_FLOW = _column(COUNT, "", "flow", "number of the flow within its scan; `--store S --flow SCAN/FLOW` opens it")
_CAPTURE = _column(TEXT, "", "capture", "name of the capture in which the flow began")
_ENDS = (
    _column(TEXT, "", "client_address", "address of the end that opened the connection"),
    _column(COUNT, "", "client_port", "its port"),
    _column(TEXT, "", "server_address", "address of the end that accepted it"),
    _column(COUNT, "", "server_port", "its port"),
)
_AT_END = _column(FLAG, "", "at_end", "the flow was still open where its capture ended, or the last file of its set")
_LABEL = _column(TEXT, "", "label", "what the flow carries: an HTTP request line with its host, or a TLS server name")
_NAMES = (
    _column(TEXT, "", "server_name", "the name in the TLS hello (SNI), in lower case; null without"),
    _column(
        TEXT, "", "http_host", "the Host of the first HTTP request, in lower case and without a port; null without"
    ),
)
_SET = _column(TEXT, "", "capture_set", "the capture point whose files are analysed as one stream: folder and pattern")
_SIZE = _column(COUNT, _BYTES, "size_bytes", "size of the file")
_CHANGED = _column(COUNT, _SINCE_1970, "changed_ns", "when the file was last written")
_EXIT_CODE = _column(COUNT, "", "exit_code", "0 read whole, 1 given up, 4 not a capture, 5 damaged")
_SCANNED = _column(COUNT, _SINCE_1970, "scanned_ns", "when it was analysed, by the clock of the machine that did")

_FLOWS = (
    _SCAN,
    _FLOW,
    _CAPTURE,
    *_ENDS,
    _column(TEXT, "", "tunnel", "what its first packet came through, from the inside out; null in no tunnel"),
    _LABEL,
    *_NAMES,
    _column(TEXT, "", "http_method", "the method of that request"),
    _column(COUNT, "", "http_status", "the status of the first HTTP response; null where the capture lacks it"),
    _column(COUNT, _SINCE_1970, "start_ns", "first segment, by the capture's clock"),
    _column(COUNT, _SINCE_1970, "end_ns", "last segment"),
    _column(COUNT, _NS, "duration_ns", "first segment to last"),
    _column(COUNT, _SEGMENTS, "segments", "segments of both directions"),
    _AT_END,
    _column(TEXT, "", "state", "how it stood at the end: opening, open, half-closed, closed, reset"),
    _column(TEXT, "", "vantage_side", "where the capture was taken: client, server, between, unknown"),
    _column(REAL, _SHARE, "vantage_confidence", "how sure that is"),
    _column(COUNT, _NS, "base_rtt_ns", "the path's smallest round trip; null unknown"),
    _column(FLAG, "", "handshake_complete", "SYN, SYN-ACK and the ACK that completes them were captured"),
    _column(COUNT, _NS, "handshake_ns", "first SYN to the completing segment or the last attempt; null without a SYN"),
    _column(COUNT, "", "stalls", "waits of both ends"),
    _column(COUNT, _NS, "lost_ns", "time that causes own: all but sending, plain travel and closing"),
    _column(COUNT, "", "exchanges", "requests with their responses"),
    _column(TEXT, "", "closed_by", "who sent the first FIN or RST: client, server; null neither"),
    _column(COUNT, _NS, "idle_before_close_ns", "silence from the last exchange to that"),
    _column(COUNT, "", "rtt_spikes", "episodes in which round trips were over five times the base one"),
    _column(TEXT, "", "trust_level", "how far the labels can be trusted: high, medium, low"),
    _column(TEXT, "", "trust_reasons", "why that is not high, parted by spaces, what weighs most first"),
    _column(TEXT, "", "trust_handshake", "what the capture has of it: complete, partial, missing, unfinished"),
    *(
        replace(
            _column(TEXT, "", f"trust_{end}_window_scale", "known (by the SYN), inferred or unknown"),
            family="trust_window_scale",
        )
        for end in ("client", "server")
    ),
    *(
        replace(
            _column(COUNT, "frames", f"trust_{end}_offloaded_frames", "frames of the end larger than a segment"),
            family="trust_offloaded_frames",
        )
        for end in ("client", "server")
    ),
    _column(COUNT, "packets", "trust_duplicates_removed", "copies of packets that were left out"),
    _column(COUNT, _BYTES, "trust_unseen_bytes", "data that was acknowledged and is not in the capture"),
    _column(REAL, _SHARE, "trust_unseen_share", "its share of all data; null without data"),
    _column(COUNT, "", "trust_clock_steps", "how often packets are stamped earlier than those before them"),
    _column(COUNT, _SEGMENTS, "trust_options_cut", "segments that the snap length cut inside their options"),
)  # fmt: skip

_DIRECTION = (
    _column(COUNT, _BYTES, "bytes", "payload that the end sent, each sequence number counted once"),
    _column(COUNT, "frames", "segments", "frames of it with payload"),
    _column(COUNT, _BYTES, "mss_bytes", "the largest segment that it may send; null unknown"),
    _column(COUNT, "", "window_scale", "its window scale shift; null where its SYN was not captured"),
    _column(COUNT, _BYTES, "initial_window_bytes", "its first flight before any ACK of it"),
    _column(COUNT, _BYTES, "announced_window_bytes", "the largest receive window it announced; null unknown"),
    _column(COUNT, _BYTES, "max_in_flight_bytes", "most that it ever had in flight"),
    _column(COUNT, _BYTES, "retransmitted_bytes", "payload that it sent again"),
    _column(COUNT, _NS, "busy_ns", "how long it had data to send or outstanding, as busy in `ss -ti`"),
    _column(COUNT, _NS, "rwnd_limited_ns", "how much of that the peer's window was full, as rwnd_limited in `ss -ti`"),
    _column(COUNT, _RATE, "bottleneck_bytes_per_s", "what the path carried while a queue stood; null if none did"),
    _column(COUNT, _BYTES, "bdp_bytes", "that rate times the base round trip"),
    _column(COUNT, _NS, "queue_delay_ns", "mean time that its packets queued there"),
    _column(COUNT, _NS, "bandwidth_limited_ns", "how long the path was busy with its data"),
    _column(COUNT, "", "timeouts", "its retransmission timeouts"),
    _column(COUNT, "", "fast_retransmits", "repairs that duplicate ACKs or SACK began"),
    _column(COUNT, "", "tail_probes", "tail-loss probes that sent old data again"),
    _column(COUNT, "", "needless_retransmissions", "retransmissions whose original had arrived"),
    _column(COUNT, "frames", "reordered_segments", "frames that came late without having been sent again"),
    _column(COUNT, _BYTES, "reordering_bytes", "most that overtook one of them"),
    _column(COUNT, _NS, "reordering_ns", "how late the latest of them was"),
)

_SYN = (
    _column(COUNT, _SEGMENTS, "syns", "SYNs that it sent, of the server SYN-ACKs"),
    _column(COUNT, "hops", "syn_ttl", "TTL or hop limit of its last SYN where the capture was taken; null without one"),
    _column(COUNT, _BYTES, "syn_window_bytes", "the window in it, which is not scaled"),
    _column(COUNT, _BYTES, "syn_mss_bytes", "its MSS option; null without"),
    _column(FLAG, "", "sack_permitted", "it has the SACK-permitted option; null where the snap length may have cut it"),
    _column(FLAG, "", "timestamps", "it has the timestamps option; null where the snap length may have cut it"),
    _column(FLAG, "", "ecn", "the client's SYN offers ECN, the server's accepts it"),
)

_OWNERS = {
    "sending": "an end was sending",
    "in-transit": "data was on its way and neither end could send",
    "closing": "after the last new data of both ends",
}

_STALLS = (
    _column(COUNT, "", "stall", "number of the wait in its flow; `tcpstall extract --stall` takes it"),
    _column(TEXT, "", "sender", "whose data waited: client, server"),
    _column(COUNT, _SINCE_1970, "start_ns", "last byte of new data before the wait, by the capture's clock"),
    _column(COUNT, _SINCE_1970, "end_ns", "next byte of new data, or where the reason changed"),
    _column(COUNT, _NS, "duration_ns", "length of the wait"),
    _column(FLAG, "", "ended", "false where no new data ever followed"),
    _column(TEXT, "", "cause", "why: `tcpstall explain` lists the causes"),
    _column(TEXT, "", "detail", "a narrower word for the cause; null without"),
    _column(REAL, _SHARE, "confidence", "how sure that is"),
    _column(TEXT, "", "also", "other causes that the evidence allows, parted by spaces, likeliest first"),
    _column(TEXT, "", "missing", "what evidence was missing, parted by semicolons"),
    _column(COUNT, _BYTES, "in_flight_bytes", "sent and not yet acknowledged when the wait began"),
    _column(COUNT, _SEGMENTS, "in_flight_segments", "the same in segments"),
    _column(COUNT, _BYTES, "peer_window_bytes", "the peer's receive window then"),
    _column(COUNT, _BYTES, "window_unused_bytes", "how much of that window was left"),
    _column(COUNT, _SEGMENTS, "cwnd_estimate_segments", "the congestion window by the model of the sender"),
    _column(COUNT, _BYTES, "burst_bytes", "new data of the burst before the wait"),
    _column(COUNT, "packet", "last_packet", "last packet of new data before the wait, counted in its capture"),
    _column(COUNT, "packet", "freed_by_packet", "the packet that let data flow again"),
    _column(COUNT, "packet", "next_packet", "first packet of new data after the wait"),
    _column(COUNT, _RATE, "ceiling_bytes_per_s", "the rate that so much in flight allows"),
    _column(COUNT, _BYTES, "buffer_low_bytes", "the smallest buffer option that explains what was seen"),
    _column(COUNT, _BYTES, "buffer_high_bytes", "the largest"),
    _column(COUNT, _BYTES, "buffer_needed_bytes", "the buffer option that lets the next limit bind instead"),
    _column(COUNT, _RATE, "drain_bytes_per_s", "how fast the peer's application read while it was behind"),
    _column(COUNT, "", "window_probes", "window probes inside the wait"),
    _column(COUNT, "", "probes_unanswered", "those that the peer did not answer"),
    _column(COUNT, "", "extra_round_trips", "what a lowered congestion window cost, at the climb's first wait"),
    _column(COUNT, _NS, "base_rtt_ns", "the path's smallest round trip as it was then"),
    _column(COUNT, _NS, "excess_ns", "what the wait took beyond that; null where it waited for no answer"),
    _column(TEXT, "", "excess_owner", "whose that was: queue, receiver-silent, delayed-ack, loss, unknown"),
    _column(COUNT, "", "timeouts", "retransmission timeouts inside the wait"),
    _column(COUNT, "", "needless_retransmissions", "retransmissions inside it whose original had arrived"),
    _column(COUNT, _BYTES, "congestion_point_bytes", "bytes in flight when the first lost segment was first sent"),
)

_EXCHANGES = (
    _column(TEXT, "", "requester", "who asked: client, server"),
    _column(COUNT, _SINCE_1970, "start_ns", "where it began for the tap, by the capture's clock"),
    _column(COUNT, _SINCE_1970, "end_ns", "where it ended for the tap"),
    _column(COUNT, _NS, "latency_ns", "what the requester lived through, with the handshake if it is its own"),
    _column(REAL, "round trips", "round_trips", "the latency in base round trips; null without one"),
    _column(COUNT, _BYTES, "request_bytes", "size of the request; 0 where the server spoke first"),
    _column(COUNT, _BYTES, "response_bytes", "size of the response"),
    _column(FLAG, "", "complete", "false where the latency is a lower bound: the response was not acknowledged whole"),
    _column(
        COUNT,
        "",
        "overlaps",
        'how often an end spoke before it had heard the other out; in SQL in quotes: `"overlaps"`',
    ),
    _column(COUNT, _NS, "handshake_ns", "of the latency: the handshake"),
    _column(COUNT, _NS, "request_ns", "of the latency: until the request had left"),
    _column(COUNT, _NS, "travel_ns", "of the latency: one base round trip"),
    _column(COUNT, _NS, "think_ns", "of the latency: the responder's own time"),
    _column(COUNT, _NS, "response_ns", "of the latency: from the response's first byte to its last"),
    _column(COUNT, _NS, "overlap_ns", "of the latency: both ends had the word at once"),
    _column(COUNT, _NS, "turnaround_ns", "of the latency: travel and think, where the base round trip is unknown"),
)

_FINDINGS = (
    _column(TEXT, "", "kind", "what the time went to, as in `findings` of the JSON report: loss, server-slow, idle, …"),
    _column(TEXT, "", "side", "the end whose data waited: client, server; of `reset` the end that sent it"),
    _column(TEXT, "", "cause", "the cause that owns the time; null of rates, resets and captures of one direction"),
    _column(
        TEXT, "", "details", "the cause's details with the ns of their waits: `timeout:204000000 recovery:9000000`"
    ),
    _column(COUNT, _SINCE_1970, "start_ns", "the first of its waits; the flow's start where it has none"),
    _column(COUNT, _SINCE_1970, "end_ns", "the end of the last"),
    _column(COUNT, _NS, "time_ns", "what it owns of the flow's time: no moment is in two of them"),
    _column(COUNT, _NS, "recoverable_ns", "what a change could give back of that at most; null where nobody knows"),
    _column(COUNT, "", "waits", "its waits in the flow"),
    _column(COUNT, _NS, "longest_ns", "the longest of them; null without"),
    _column(COUNT, "", "stall", "its number"),
    _column(COUNT, _BYTES, "level_bytes", "its peer's full window, or what was in flight with a full send buffer"),
    _column(COUNT, _SEGMENTS, "sent_again", "retransmissions inside it"),
    _column(REAL, _SHARE, "confidence", "how sure the labels are on average; null without waits"),
    _column(COUNT, "", "attempts", "SYNs or data of the flow that nobody answered; null where all was answered"),
    _column(COUNT, "", "exchanges", "requests of the flow with their responses"),
    _column(COUNT, _BYTES, "bytes", "payload of `side` in the flow"),
    _column(COUNT, "frames", "segments", "frames of it with payload"),
    _column(COUNT, _BYTES, "retransmitted_bytes", "payload that it sent again"),
    _column(COUNT, "frames", "reordered_segments", "frames of it that came late without having been sent again"),
    _column(COUNT, "", "needless_retransmissions", "retransmissions whose original had arrived"),
    _column(COUNT, _NS, "lasted_ns", "the flow's first segment to its last"),
)

_CAPTURES = (
    replace(_SCAN, meaning="the analysis that it was part of; null where it could not be read"),
    _column(TEXT, "", "chain", "the first analysis of its set, which later ones carry on as files are added"),
    _SET,
    _column(TEXT, "", "name", "path or URL of the file, of a tar member with the member's name"),
    _SIZE,
    _CHANGED,
    _column(TEXT, "", "fingerprint", "digest by which a file that was moved is recognised"),
    _column(TEXT, "", "format", "pcap, pcapng, snoop, tcpdump-text"),
    _column(TEXT, "", "compression", "gzip, zstd, lz4, xz, bzip2; null as it is"),
    _column(TEXT, "", "link_types", "link types of its packets, parted by commas"),
    _column(COUNT, "packets", "packets", "packets in it"),
    _column(COUNT, _SEGMENTS, "tcp_segments", "TCP segments in it"),
    _column(COUNT, _SINCE_1970, "first_ns", "its earliest packet, by its own clock"),
    _column(COUNT, _SINCE_1970, "last_ns", "its latest packet"),
    _EXIT_CODE,
    _column(TEXT, "", "error", "what was wrong with it; null where nothing was"),
    _column(TEXT, "", "warnings", "what a reader must know, parted by semicolons"),
    _column(COUNT, "", "flows", "flows that began in it"),
    _column(COUNT, _SINCE_1970, "resume_ns", "start of the oldest flow that was open at the end of its set; null none"),
    _column(TEXT, "", "tcpstall", "the version that analysed it"),
    _SCANNED,
)

_ERRORS = (
    _column(TEXT, "", "name", "path or URL of the file"),
    _SET,
    _SIZE,
    _CHANGED,
    _EXIT_CODE,
    _column(TEXT, "", "error", "what was wrong with it, in one line"),
    _SCANNED,
)


def _both_ends(columns: Iterable[Column]) -> Iterator[Column]:
    """Those of the client, then those of the server, as the core orders them."""
    columns = tuple(columns)
    for end in ("client", "server"):
        for column in columns:
            yield replace(column, name=f"{end}_{column.name}", family=f"both_{column.name}")


def _ledger() -> Iterator[Column]:
    for owner in _core.owners():
        meaning = f"time in which {_OWNERS[owner]}" if owner in _OWNERS else f"time that `{owner}` owns"
        yield Column(f"time_{owner.replace('-', '_')}_ns", COUNT, _NS, meaning)


def _words(causes: Iterable[Cause]) -> str:
    return ", ".join(f"'{cause.value}'" for cause in causes)


def _end(end: str) -> str:
    """An endpoint as text; brackets keep an IPv6 address apart from its port."""
    address, port = f"{end}_address", f"{end}_port"
    return f"if(contains({address}, ':'), '[' || {address} || ']:', {address} || ':') || {port}"


_HOUR = "make_timestamp(start_ns // 3600000000000 * 3600000000)"
"""Nanoseconds down to whole hours, in the microseconds that TIMESTAMP counts."""

_TIMES = (
    Column("day", DAY, "", "UTC day of start_ns; files are parted by it: asking for days reads only theirs"),
    Column("time", MOMENT, "", "start_ns as a time, UTC", "make_timestamp(start_ns // 1000)"),
    Column("hour", MOMENT, "", "the hour that it lies in, UTC", _HOUR),
    Column("service", TEXT, "", "server's address and port: `192.0.2.1:80`, `[2001:db8::1]:80`", _end("server")),
    Column("client", TEXT, "", "client's address and port", _end("client")),
)


def _host(sender: str) -> Column:
    """The end whose doing it was; `sender` is the column of the end whose data waited."""
    return Column(
        "host",
        TEXT,
        "",
        f"the end whose doing it was: the receiver's address for {', '.join(OF_THE_RECEIVER)}, the server's for "
        f"{', '.join(_OF_THE_SERVER)}, else the sender's",
        f"case when cause in ({_words(_OF_THE_SERVER)}) then server_address "
        f"when ({sender} = 'client') = coalesce(cause in ({_words(OF_THE_RECEIVER)}), false) "
        "then server_address else client_address end",
    )


_OF_STALLS = (
    Column(
        "lost_ns",
        COUNT,
        _NS,
        f"duration_ns, but 0 for `{AWAITING_PEER}`: what the peer did meanwhile is told as its own wait",
        f"if(detail = '{AWAITING_PEER}', 0, duration_ns)",
    ),
    _host("sender"),
)

_WITHIN = (_SCAN, _FLOW, _CAPTURE, *_ENDS, _LABEL, *_NAMES, _AT_END)

TABLES = {
    table.name: table
    for table in (
        Table(
            "flows",
            "A connection a row.",
            (*_FLOWS, *_both_ends(_DIRECTION), *_both_ends(_SYN), *_ledger()),
            _TIMES,
        ),
        Table("stalls", "A wait of one sender a row.", (*_WITHIN, *_STALLS), (*_TIMES, *_OF_STALLS)),
        Table("exchanges", "A request with its response a row.", (*_WITHIN, *_EXCHANGES), _TIMES),
        Table(
            "findings",
            "What a flow adds to a finding a row; the plain round trip of its handshake is none.",
            (*_WITHIN, *_FINDINGS),
            (*_TIMES, _host("side")),
        ),
        Table("captures", "A file that was analysed a row.", _CAPTURES),
        Table("errors", "A file that could not be analysed, or not whole, a row.", _ERRORS),
    )
}
"""By name, in the order in which they are told."""

CAPTURES = {column.name: column.type for column in _CAPTURES}
"""The columns of `captures` by name, with their DuckDB types."""


@cache
def layout(table: str) -> str:
    """A digest of the table's columns: files with another were written by another version."""
    columns = "\n".join(f"{column.name} {column.type}" for column in TABLES[table].columns)
    return hashlib.blake2b(columns.encode(), digest_size=4).hexdigest()


BY_DAY = ("flows", "stalls", "exchanges", "findings")
"""The tables whose files are parted by the day of `start_ns`."""


def documented(table: Table) -> Iterator[tuple[str, str, str, str]]:
    """(names, type, unit, meaning) a row; what both ends have is one row."""
    families: dict[str, list[Column]] = {}
    for column in table.shown:
        families.setdefault(column.family or column.name, []).append(column)
    for family in families.values():
        yield ", ".join(column.name for column in family), family[0].type, family[0].unit, family[0].meaning
