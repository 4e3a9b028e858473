"""Every column of the tables of a store: its type, unit and meaning; documentation and empty tables come from here."""

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cache

from tcpstall import _core
from tcpstall.causes import Cause, Detail

__all__ = ["BY_DAY", "CAPTURES", "OF_THE_RECEIVER", "TABLES", "Column", "Table", "documented", "layout"]

TEXT, COUNT, REAL, FLAG, MOMENT, DAY = "VARCHAR", "BIGINT", "DOUBLE", "BOOLEAN", "TIMESTAMP", "DATE"

_NS = "ns"
_SINCE_1970 = "ns since 1970-01-01 UTC"
_BYTES = "bytes"
_RATE = "bytes/s"
_SHARE = "0 to 1"
_SEGMENTS = "segments"

AWAITING_PEER = Detail.AWAITING_PEER
"""The detail of waits for the peer's turn to speak: the peer's own wait covers that time."""

OF_THE_RECEIVER = (Cause.RWND_LIMITED, Cause.ZERO_WINDOW, Cause.DELAYED_ACK)
"""Causes that the receiving end is responsible for."""
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


_SCAN = _column(TEXT, "", "scan", "the analysis that made the row, 16 hexadecimal digits")
_FLOW = _column(COUNT, "", "flow", "number of the flow within its scan; `--store S --flow SCAN/FLOW` opens it")
_CAPTURE = _column(TEXT, "", "capture", "name of the capture in which the flow began")
_ENDS = (
    _column(TEXT, "", "client_address", "address of the end that opened the connection"),
    _column(COUNT, "", "client_port", "port of that end"),
    _column(TEXT, "", "server_address", "address of the end that accepted the connection"),
    _column(COUNT, "", "server_port", "port of that end"),
)
_AT_END = _column(FLAG, "", "at_end", "the flow was still open where its capture ended, or the last file of its set")
_LABEL = _column(TEXT, "", "label", "content of the flow: an HTTP request line with its host, or a TLS server name")
_NAMES = (
    _column(TEXT, "", "server_name", "name in the TLS hello (SNI), in lower case; null without one"),
    _column(TEXT, "", "http_host", "Host of the first HTTP request, in lower case, without the port; null without one"),
)
_SET = _column(TEXT, "", "capture_set", "the capture point whose files are analysed as one stream: folder and pattern")
_SIZE = _column(COUNT, _BYTES, "size_bytes", "size of the file")
_CHANGED = _column(COUNT, _SINCE_1970, "changed_ns", "time of the last write to the file")
_EXIT_CODE = _column(COUNT, "", "exit_code", "0 read whole, 1 given up, 4 not a capture, 5 damaged")
_SCANNED = _column(COUNT, _SINCE_1970, "scanned_ns", "time of the analysis, by the clock of the machine that ran it")

_FLOWS = (
    _SCAN,
    _FLOW,
    _CAPTURE,
    *_ENDS,
    _column(TEXT, "", "tunnel", "tunnels of its first packet, from the inside out; null without a tunnel"),
    _LABEL,
    *_NAMES,
    _column(TEXT, "", "http_method", "method of the first HTTP request"),
    _column(COUNT, "", "http_status", "status of the first HTTP response; null where the capture lacks it"),
    _column(COUNT, _SINCE_1970, "start_ns", "first segment, by the capture's clock"),
    _column(COUNT, _SINCE_1970, "end_ns", "last segment"),
    _column(COUNT, _NS, "duration_ns", "first segment to last"),
    _column(COUNT, _SEGMENTS, "segments", "segments of both directions"),
    _AT_END,
    _column(TEXT, "", "state", "state at the end: opening, open, half-closed, closed, reset"),
    _column(TEXT, "", "vantage_side", "place of the capture: client, server, between, unknown"),
    _column(REAL, _SHARE, "vantage_confidence", "confidence of that place"),
    _column(COUNT, _NS, "base_rtt_ns", "the path's smallest round trip; null where unknown"),
    _column(FLAG, "", "handshake_complete", "SYN, SYN-ACK and the ACK that completes them were captured"),
    _column(COUNT, _NS, "handshake_ns", "first SYN to the completing segment or the last attempt; null without a SYN"),
    _column(COUNT, "", "stalls", "waits of both ends"),
    _column(COUNT, _NS, "lost_ns", "time that causes own: all but sending, plain travel and closing"),
    _column(COUNT, "", "exchanges", "requests with their responses"),
    _column(TEXT, "", "closed_by", "end that sent the first FIN or RST: client, server; null without either"),
    _column(COUNT, _NS, "idle_before_close_ns", "silence from the last exchange to that FIN or RST"),
    _column(COUNT, "", "rtt_spikes", "episodes with round trips over five times the base round trip"),
    _column(TEXT, "", "trust_level", "trust in the labels: high, medium, low"),
    _column(TEXT, "", "trust_reasons", "reasons why the level is not high, separated by spaces, the strongest first"),
    _column(TEXT, "", "trust_handshake", "handshake in the capture: complete, partial, missing, unfinished"),
    *(
        replace(
            _column(TEXT, "", f"trust_{end}_window_scale", "window scale: known (by the SYN), inferred, unknown"),
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
    _column(REAL, _SHARE, "trust_unseen_share", "share of that in all data; null without data"),
    _column(COUNT, "", "trust_clock_steps", "number of packets stamped earlier than packets before them"),
    _column(COUNT, _SEGMENTS, "trust_options_cut", "segments that the snap length cut inside their options"),
)  # fmt: skip

_DIRECTION = (
    _column(COUNT, _BYTES, "bytes", "payload that the end sent, each sequence number counted once"),
    _column(COUNT, "frames", "segments", "frames with payload that the end sent"),
    _column(COUNT, _BYTES, "mss_bytes", "largest segment that the end may send; null where unknown"),
    _column(COUNT, "", "window_scale", "window scale shift of the end; null where its SYN was not captured"),
    _column(COUNT, _BYTES, "initial_window_bytes", "first flight of the end, before any ACK"),
    _column(COUNT, _BYTES, "announced_window_bytes", "largest receive window of the end; null where unknown"),
    _column(COUNT, _BYTES, "max_in_flight_bytes", "most bytes that the end had in flight"),
    _column(COUNT, _BYTES, "retransmitted_bytes", "payload that the end retransmitted"),
    _column(COUNT, _NS, "busy_ns", "time with data to send or outstanding, as busy in `ss -ti`"),
    _column(COUNT, _NS, "rwnd_limited_ns", "part of it with the peer's window full, as rwnd_limited in `ss -ti`"),
    _column(COUNT, _RATE, "bottleneck_bytes_per_s", "rate of the path while it had a queue; null without a queue"),
    _column(COUNT, _BYTES, "bdp_bytes", "bottleneck rate times the base round trip"),
    _column(COUNT, _NS, "queue_delay_ns", "mean time of the end's packets in the queue"),
    _column(COUNT, _NS, "bandwidth_limited_ns", "time that the path was busy with the end's data"),
    _column(COUNT, "", "timeouts", "retransmission timeouts of the end"),
    _column(COUNT, "", "fast_retransmits", "repairs that duplicate ACKs or SACK started"),
    _column(COUNT, "", "tail_probes", "tail-loss probes that retransmitted data"),
    _column(COUNT, "", "needless_retransmissions", "retransmissions whose original had arrived"),
    _column(COUNT, "frames", "reordered_segments", "frames that arrived late and were no retransmissions"),
    _column(COUNT, _BYTES, "reordering_bytes", "most bytes that overtook one of them"),
    _column(COUNT, _NS, "reordering_ns", "longest delay of one of them behind the data that overtook it"),
)

_SYN = (
    _column(COUNT, _SEGMENTS, "syns", "SYNs of the client, SYN-ACKs of the server"),
    _column(
        COUNT, "hops", "syn_ttl", "TTL or hop limit of the end's last SYN at the tap; null where none was captured"
    ),
    _column(COUNT, _BYTES, "syn_window_bytes", "window field of that SYN, which is never scaled"),
    _column(COUNT, _BYTES, "syn_mss_bytes", "its MSS option; null without one"),
    _column(FLAG, "", "sack_permitted", "its SACK-permitted option; null where the snap length may have cut it"),
    _column(FLAG, "", "timestamps", "its timestamps option; null where the snap length may have cut it"),
    _column(FLAG, "", "ecn", "the client's SYN offers ECN, the server's SYN-ACK accepts it"),
)

_OWNERS = {
    "sending": "an end was sending",
    "in-transit": "data was travelling and neither end could send",
    "closing": "both ends had sent their last new data",
}

_STALLS = (
    _column(COUNT, "", "stall", "number of the wait in its flow; `tcpstall extract --stall` takes it"),
    _column(TEXT, "", "sender", "end whose data waited: client, server"),
    _column(COUNT, _SINCE_1970, "start_ns", "time of the last new data before the wait, by the capture's clock"),
    _column(COUNT, _SINCE_1970, "end_ns", "time of the next new data, or of a change of the cause"),
    _column(COUNT, _NS, "duration_ns", "length of the wait"),
    _column(FLAG, "", "ended", "false where no new data ever followed"),
    _column(TEXT, "", "cause", "cause of the wait: `tcpstall explain` lists the causes"),
    _column(TEXT, "", "detail", "narrower word for the cause; null without one"),
    _column(REAL, _SHARE, "confidence", "confidence of the label"),
    _column(TEXT, "", "also", "other causes that the evidence allows, separated by spaces, the likeliest first"),
    _column(TEXT, "", "missing", "missing evidence, separated by semicolons"),
    _column(COUNT, _BYTES, "in_flight_bytes", "bytes in flight when the wait began"),
    _column(COUNT, _SEGMENTS, "in_flight_segments", "segments in flight when the wait began"),
    _column(COUNT, _BYTES, "peer_window_bytes", "receive window of the peer when the wait began"),
    _column(COUNT, _BYTES, "window_unused_bytes", "unused part of that window"),
    _column(COUNT, _SEGMENTS, "cwnd_estimate_segments", "congestion window by the model of the sender"),
    _column(COUNT, _BYTES, "burst_bytes", "new data of the burst before the wait"),
    _column(COUNT, "packet", "last_packet", "last packet of new data before the wait, counted in its capture"),
    _column(COUNT, "packet", "freed_by_packet", "packet that let data flow again"),
    _column(COUNT, "packet", "next_packet", "first packet of new data after the wait"),
    _column(COUNT, _RATE, "ceiling_bytes_per_s", "highest rate with these bytes in flight: one flight a round trip"),
    _column(COUNT, _BYTES, "buffer_low_bytes", "smallest buffer option that explains the evidence"),
    _column(COUNT, _BYTES, "buffer_high_bytes", "largest buffer option that explains the evidence"),
    _column(COUNT, _BYTES, "buffer_needed_bytes", "buffer option that lets the next limit bind instead"),
    _column(COUNT, _RATE, "drain_bytes_per_s", "rate at which the peer's application read while it was behind"),
    _column(COUNT, "", "window_probes", "window probes inside the wait"),
    _column(COUNT, "", "probes_unanswered", "window probes that the peer did not answer"),
    _column(COUNT, "", "extra_round_trips", "cost of a lowered congestion window, at the first wait of its growth"),
    _column(COUNT, _NS, "base_rtt_ns", "smallest round trip of the path, as of the wait"),
    _column(COUNT, _NS, "excess_ns", "length of the wait beyond that; null where the wait was for no answer"),
    _column(TEXT, "", "excess_owner", "owner of that excess: queue, receiver-silent, delayed-ack, loss, unknown"),
    _column(COUNT, "", "timeouts", "retransmission timeouts inside the wait"),
    _column(COUNT, "", "needless_retransmissions", "retransmissions inside the wait whose original had arrived"),
    _column(COUNT, _BYTES, "congestion_point_bytes", "bytes in flight when the first lost segment was first sent"),
)

_EXCHANGES = (
    _column(TEXT, "", "requester", "end that sent the request: client, server"),
    _column(COUNT, _SINCE_1970, "start_ns", "start of the exchange at the tap, by the capture's clock"),
    _column(COUNT, _SINCE_1970, "end_ns", "end of the exchange at the tap"),
    _column(COUNT, _NS, "latency_ns", "the requester's wait, with the handshake if the exchange waited for one"),
    _column(REAL, "round trips", "round_trips", "latency in base round trips; null without a base round trip"),
    _column(COUNT, _BYTES, "request_bytes", "size of the request; 0 where the server spoke first"),
    _column(COUNT, _BYTES, "response_bytes", "size of the response"),
    _column(FLAG, "", "complete", "false where the latency is a lower bound: the response was not acknowledged whole"),
    _column(COUNT, "", "overlaps", 'times that an end sent before it had received all; in SQL in quotes: `"overlaps"`'),
    _column(COUNT, _NS, "handshake_ns", "of the latency: the handshake"),
    _column(COUNT, _NS, "request_ns", "of the latency: until the request had left"),
    _column(COUNT, _NS, "travel_ns", "of the latency: one base round trip"),
    _column(COUNT, _NS, "think_ns", "of the latency: the responder's own time"),
    _column(COUNT, _NS, "response_ns", "of the latency: from the response's first byte to its last"),
    _column(COUNT, _NS, "overlap_ns", "of the latency: both ends sent at once"),
    _column(COUNT, _NS, "turnaround_ns", "of the latency: travel and think, where the base round trip is unknown"),
)

_FINDINGS = (
    _column(TEXT, "", "kind", "kind of finding, as in `findings` of the JSON report: loss, server-slow, idle, …"),
    _column(TEXT, "", "side", "end whose data waited: client, server; of `reset` the end that sent the reset"),
    _column(TEXT, "", "cause", "cause that owns the time; null for rates, resets and captures of one direction"),
    _column(
        TEXT, "", "details", "details of the cause with the ns of their waits: `timeout:204000000 recovery:9000000`"
    ),
    _column(COUNT, _SINCE_1970, "start_ns", "start of its first wait; the flow's start without waits"),
    _column(COUNT, _SINCE_1970, "end_ns", "end of its last wait"),
    _column(COUNT, _NS, "time_ns", "time of the flow that the finding owns: no moment is in two findings"),
    _column(COUNT, _NS, "recoverable_ns", "most of that time that a change could give back; null where unknown"),
    _column(COUNT, "", "waits", "waits of the finding in the flow"),
    _column(COUNT, _NS, "longest_ns", "longest of these waits; null without waits"),
    _column(COUNT, "", "stall", "number of that wait"),
    _column(COUNT, _BYTES, "level_bytes", "peer's full window, or the bytes in flight with a full send buffer"),
    _column(COUNT, _SEGMENTS, "sent_again", "retransmissions inside that wait"),
    _column(REAL, _SHARE, "confidence", "mean confidence of the labels; null without waits"),
    _column(COUNT, "", "attempts", "SYNs or data of the flow without an answer; null where all were answered"),
    _column(COUNT, "", "exchanges", "requests of the flow with their responses"),
    _column(COUNT, _BYTES, "bytes", "payload of `side` in the flow"),
    _column(COUNT, "frames", "segments", "frames with payload that the end sent"),
    _column(COUNT, _BYTES, "retransmitted_bytes", "payload that the end retransmitted"),
    _column(COUNT, "frames", "reordered_segments", "frames of `side` that arrived late and were no retransmissions"),
    _column(COUNT, "", "needless_retransmissions", "retransmissions whose original had arrived"),
    _column(COUNT, _NS, "lasted_ns", "first segment of the flow to its last"),
)

_CAPTURES = (
    replace(_SCAN, meaning="the analysis of the file; null where the file could not be read"),
    _column(TEXT, "", "chain", "first analysis of its set, which later ones continue as files are added"),
    _SET,
    _column(TEXT, "", "name", "path or URL of the file, for a tar member with the member's name"),
    _SIZE,
    _CHANGED,
    _column(TEXT, "", "fingerprint", "digest that recognises a moved file"),
    _column(TEXT, "", "format", "pcap, pcapng, snoop, tcpdump-text"),
    _column(TEXT, "", "compression", "gzip, zstd, lz4, xz, bzip2; null without"),
    _column(TEXT, "", "link_types", "link types of its packets, separated by commas"),
    _column(COUNT, "packets", "packets", "packets in the file"),
    _column(COUNT, _SEGMENTS, "tcp_segments", "TCP segments in the file"),
    _column(COUNT, _SINCE_1970, "first_ns", "earliest packet, by the file's own clock"),
    _column(COUNT, _SINCE_1970, "last_ns", "latest packet"),
    _EXIT_CODE,
    _column(TEXT, "", "error", "damage or failure in one line; null without"),
    _column(TEXT, "", "warnings", "warnings for the reader, separated by semicolons"),
    _column(COUNT, "", "flows", "flows that began in the file"),
    _column(COUNT, _SINCE_1970, "resume_ns", "start of the oldest flow open at the end of its set; null without one"),
    _column(TEXT, "", "tcpstall", "version of tcpstall that analysed the file"),
    _SCANNED,
)

_ERRORS = (
    _column(TEXT, "", "name", "path or URL of the file"),
    _SET,
    _SIZE,
    _CHANGED,
    _EXIT_CODE,
    _column(TEXT, "", "error", "damage or failure in one line"),
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
    Column(
        "day",
        DAY,
        "",
        "UTC day of start_ns; files are divided by day, so a question about some days reads only their files",
    ),
    Column("time", MOMENT, "", "start_ns as a time, UTC", "make_timestamp(start_ns // 1000)"),
    Column("hour", MOMENT, "", "hour of start_ns, UTC", _HOUR),
    Column("service", TEXT, "", "server's address and port: `192.0.2.1:80`, `[2001:db8::1]:80`", _end("server")),
    Column("client", TEXT, "", "client's address and port", _end("client")),
)


def _host(sender: str) -> Column:
    """The end that caused a wait; `sender` is the column of the end whose data waited."""
    return Column(
        "host",
        TEXT,
        "",
        f"address of the end that caused it: the receiver's for {', '.join(OF_THE_RECEIVER)}, the server's for "
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
        f"duration_ns, but 0 for `{AWAITING_PEER}`: the peer's own wait covers that time",
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
            "One row per connection.",
            (*_FLOWS, *_both_ends(_DIRECTION), *_both_ends(_SYN), *_ledger()),
            _TIMES,
        ),
        Table("stalls", "One row per wait of a sender.", (*_WITHIN, *_STALLS), (*_TIMES, *_OF_STALLS)),
        Table("exchanges", "One row per request with its response.", (*_WITHIN, *_EXCHANGES), _TIMES),
        Table(
            "findings",
            "One row per finding and flow that adds to it; the plain round trip of a handshake adds nothing.",
            (*_WITHIN, *_FINDINGS),
            (*_TIMES, _host("side")),
        ),
        Table("captures", "One row per analysed file.", _CAPTURES),
        Table("errors", "One row per file that could not be analysed, or not whole.", _ERRORS),
    )
}
"""By name, in the order of the documentation."""

CAPTURES = {column.name: column.type for column in _CAPTURES}
"""The columns of `captures` by name, with their DuckDB types."""


@cache
def layout(table: str) -> str:
    """A digest of the table's columns: files with another were written by another version."""
    columns = "\n".join(f"{column.name} {column.type}" for column in TABLES[table].columns)
    return hashlib.blake2b(columns.encode(), digest_size=4).hexdigest()


BY_DAY = ("flows", "stalls", "exchanges", "findings")
"""The tables whose files are divided by the day of `start_ns`."""


def documented(table: Table) -> Iterator[tuple[str, str, str, str]]:
    """(names, type, unit, meaning) a row; what both ends have is one row."""
    families: dict[str, list[Column]] = {}
    for column in table.shown:
        families.setdefault(column.family or column.name, []).append(column)
    for family in families.values():
        yield ", ".join(column.name for column in family), family[0].type, family[0].unit, family[0].meaning
