"""The border between Python and the native core: a handful of functions, columns out, no object per packet.

Times are integers, nanoseconds since the epoch in the capture's own clock; sizes are bytes of TCP payload.
The GIL is released while captures are read.
"""

import builtins
from collections.abc import Callable, Sequence
from typing import Any, Self, final

from tcpstall.labels import Label

__all__ = [
    "BURSTS",
    "EARLY_END",
    "FULL_QUEUE",
    "LEAST_SIZE",
    "NO_QUEUE",
    "SEGMENT_OVERHEAD",
    "CaptureStatus",
    "CauseInfo",
    "Compared",
    "Copied",
    "Gathered",
    "Pairing",
    "Peek",
    "Report",
    "Table",
    "Totals",
    "Unpacked",
    "Written",
    "analyze",
    "causes",
    "compared",
    "copy",
    "faster_link",
    "folder",
    "initial_window",
    "owners",
    "pair",
    "parquet",
    "peek",
    "pseudonyms",
    "replay_limits",
    "samples",
    "segments",
    "so_sndbuf",
    "stream_captures",
    "two_taps",
    "version",
    "vocabulary",
    "whatif",
    "whatif_together",
    "whole_records",
    "write",
]

FULL_QUEUE: str
"""Advice where a queue stood at nearly all losses."""

BURSTS: str
"""Advice where none stood, and the path let no more than a burst or a rate through."""

NO_QUEUE: str
"""Advice where none stood."""

EARLY_END: str
"""Advice where nothing was lost, and the congestion window grows slowly."""

LEAST_SIZE: int
"""Smallest buffer that is worth setting, bytes: Linux's default for a new socket."""

SEGMENT_OVERHEAD: int
"""Bytes that Linux counts for a buffer beyond its payload."""

@final
class Table:
    """Columns of equal length, handed on through the Arrow PyCapsule interface without a copy."""

    @property
    def names(self) -> list[str]:
        """Column names in order."""
    def __len__(self) -> int: ...
    def column(self, name: str) -> list[Any]:
        """One column as Python objects; None where unknown. KeyError if there is no such column."""
    def int64(self, name: str) -> bytes:
        """One integer column as native-endian 64-bit integers, for numpy.frombuffer. Unknown is the smallest int64."""
    def __arrow_c_schema__(self) -> object: ...
    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...

@final
class CaptureStatus:
    """Outcome of reading one input."""

    @property
    def path(self) -> str: ...
    @property
    def exit_code(self) -> int:
        """0 read whole, 3 cannot open, 4 not a capture, 5 damaged (what could be read is reported)."""
    @property
    def error(self) -> str | None:
        """One line: what, where, what to do. None where exit_code is 0."""
    @property
    def json(self) -> str:
        """The object in the report's `captures` list (see the JSON report): path, format, packets, warnings, skipped …

        Of a stream of several captures also `stream` (its number, the same for all of them) and `first_packet` (packet numbers run on
        through the stream: that of this capture's first; absent where it could not be opened). Warnings by code, among them
        `overlap` (packets that another capture of the stream holds too), `missing-file` (the caller said so) and `flow-limit`.
        """

@final
class Report:
    """All results of one run, held natively."""

    @property
    def flows(self) -> Table:
        """A row a flow. `capture` is the index of the path in which it began; `at_end`: it was still followed when the last
        capture of its stream ended, so that a next one could go on with it."""
    @property
    def bursts(self) -> Table: ...
    @property
    def stalls(self) -> Table: ...
    @property
    def exchanges(self) -> Table: ...
    @property
    def flows_begun(self) -> dict[int, int]:
        """Number of flows that began in each capture, by its index."""
    @property
    def open_since_ns(self) -> int | None:
        """First segment of the oldest flow that was still followed in the end; None without one."""
    @property
    def services_json(self) -> str:
        """The report's `services` list."""
    @property
    def findings_json(self) -> str:
        """Time that flows lost, folded by kind and service: a list, see `tcpstall.findings.Finding` for the fields; ranked and worded
        by `tcpstall.findings`."""
    @property
    def bytes(self) -> int:
        """Payload of all flows, both directions."""
    @property
    def whole(self) -> tuple[int, list[tuple[str, int]]] | None:
        """With `top`, of all flows: their number, and the time of each owner (see owners()) added up. None where each flow is here."""
    @property
    def captures(self) -> list[CaptureStatus]: ...
    @property
    def stream(self) -> builtins.bytes | None:
        """State of the flows open where the files ended, for analyze() of the files that come next; None where it was not asked for."""
    def __len__(self) -> int:
        """Number of flows."""
    def flow_json(self, index: int) -> str:
        """The flow at that row of `flows`, as the object that the JSON report holds. IndexError beyond the end."""
    def idle_ns(self, index: int) -> int | None:
        """Part of the time lost of the flow at that row in which nobody waited: pauses of applications, and small messages;
        None beyond the end."""
    def by_lost(self) -> list[int]:
        """Rows of `flows`, those first in which somebody waited longest; of flows in which nobody did, those that lost most."""

@final
class Gathered:
    """Rows of many reports, as a store holds them, until they are written."""

    def __init__(self) -> None: ...
    def __len__(self) -> int:
        """Rows of all tables."""
    @property
    def nbytes(self) -> int:
        """Memory of the rows, but for those of the last 128 flows at most."""
    def add(self, report: Report, scan: str, captures: Sequence[str], sensor: str | None = None) -> None:
        """Rows of a report; `captures` are the names of its inputs, by the numbers in `flows.capture`."""
    def take(self) -> list[tuple[str, int, int, int, int, bytes]]:
        """Rows gathered so far, which are let go: table, days since 1970, rows, least and greatest `start_ns`, Parquet.

        A file for each table and UTC day; beyond 366 days, those of further days are in the file of the largest.
        """

def parquet(columns: Sequence[tuple[str, bool, Sequence[str | int | None]]], about: Sequence[tuple[str, str]]) -> bytes:
    """A Parquet file of these columns: name, whether its values are texts (else 64-bit integers), values.

    `about` are keys and values of its metadata.
    """

@final
class Written:
    """Outcome of a streamed report."""

    @property
    def captures(self) -> list[CaptureStatus]: ...
    @property
    def flows(self) -> int: ...
    @property
    def broken_pipe(self) -> bool:
        """The reader of the output went away before the end."""

@final
class Compared:
    """The flows of one capture by service, added up."""

    @property
    def services(self) -> list[tuple[str, int]]:
        """Address and port, in the order of their first flows."""
    @property
    def dropped_flows(self) -> int:
        """Flows to services beyond a limit, which are in no sum."""
    @property
    def captures(self) -> list[CaptureStatus]: ...
    def facts_json(self, services: Sequence[int]) -> str:
        """Sums over the flows of these services, which are given by their index: one object.

        `flows`, `bytes`, `retransmitted_bytes`, `repairs`, `duration_ns` (added up), `time_ns` (a list of owner, sum and sum of
        squares; owners without time are left out), `base_rtt_ns` and `initial_window_segments` (of the end that sent more): the value in the middle of
        those known, the two of an even number, or none; `levels` (a list of cause and bytes).
        """

@final
class CauseInfo:
    """One row of the table of causes."""

    @property
    def code(self) -> int: ...
    @property
    def name(self) -> str: ...
    @property
    def colour(self) -> str:
        """#rrggbb, distinguishable by the colour-blind."""
    @property
    def details(self) -> list[str]:
        """Names that narrow the cause."""
    @property
    def summary(self) -> str:
        """One sentence, no full stop."""
    @property
    def documentation(self) -> str:
        """The rule's own documentation, as `tcpstall explain` prints it."""
    @property
    def advice(self) -> str:
        """Change to make where no stall's detail has a better one."""

@final
class Copied:
    """Outcome of a copy."""

    @property
    def packets(self) -> int:
        """Packets read."""
    @property
    def written(self) -> int: ...
    @property
    def remarks(self) -> int:
        """Remarks that found their packet."""
    @property
    def blanked(self) -> int:
        """Packets of which, with `secret`, only the link-layer header was understood: nothing else of them was written."""
    @property
    def left_out(self) -> int:
        """pcapng blocks without a packet that were not written."""
    @property
    def error(self) -> str | None:
        """Reason why the capture could not be read to its end."""

@final
class Peek:
    """Facts that the beginning of an input shows; None and empty where it shows none."""

    @property
    def format(self) -> str | None:
        """`pcap`, `pcapng`, `snoop`, `tcpdump-text`."""
    @property
    def compression(self) -> str | None:
        """`gzip`, `zstd`, `lz4`, `xz`, `bzip2`."""
    @property
    def head(self) -> bytes:
        """The first bytes, unpacked: 512, or all there are."""
    @property
    def first_ns(self) -> int | None:
        """The time of the first packet. None too where much else stands before it, as in a paste."""
    @property
    def link_types(self) -> list[str]: ...
    @property
    def error(self) -> str | None:
        """Reason why the input is no capture, or cannot be opened, in one line."""
    @property
    def exit_code(self) -> int: ...

@final
class Totals:
    """Sums over the flows of all reports so far, and the `top` flows that lost most. Memory does not grow with them."""

    def __new__(cls, top: int) -> Self: ...
    def copy(self) -> Self: ...
    def add(self, report: Report, *, whole: bool = True) -> None:
        """Takes in the flows of a report; without `whole` only those that no later report has again with what came since."""
    def end_flows(self) -> None:
        """Flows that are still followed count as over: what they do from now on is told by further parts."""
    def forget_services(self, before_ns: int) -> None:
        """Services without a segment since then leave `services`; the sums keep their flows."""
    @property
    def flows(self) -> int: ...
    @property
    def open_flows(self) -> int: ...
    @property
    def bytes(self) -> int:
        """Payload of all flows, both directions."""
    @property
    def time_ns(self) -> list[tuple[str, int]]:
        """The time of each owner (see owners()) added up."""
    @property
    def further_flows(self) -> int:
        """Flows of services that were too many to be told apart: 16,384 are."""
    @property
    def parts(self) -> int:
        """Further parts of connections, beside the first one: see `most_past` of analyze()."""
    @property
    def services(self) -> Table:
        """A row a service, in no order: address, port, flows, open_flows, bytes, first_ns, last_ns, and time_…_ns of each owner."""
    @property
    def trust_json(self) -> str:
        """Gaps of the capture in the flows, as in the `trust` of a CaptureStatus."""
    def worst(self) -> Report:
        """The flows that lost most, without sums."""
    def report(self) -> Report:
        """The report that analyze() with `top` would give, without the captures."""

@final
class Unpacked:
    """Content of a gzip, zstd, lz4, xz or bzip2 file, recognised by its bytes; any other file as it is.

    `source` is a path or a binary file object, which is closed with this. `max_expansion` as in analyze(). OSError where
    the data is damaged or ends early, once what comes before was read.
    """

    def __new__(cls, source: object, *, max_expansion: int | None = None) -> Self: ...
    def read(self, size: int = -1) -> bytes:
        """At most so many bytes, fewer only at the end; all of them where `size` is negative."""
    def close(self) -> None: ...

@final
class Pairing:
    """Traffic that two captures have in common."""

    @property
    def json(self) -> str:
        """One object: `swapped` (the captures were given in the other order; all else is of the client side's and the
        server side's), `clock`, `flows` with the sums of both directions, and what was left out. Pairs are client side, server side."""
    @property
    def events(self) -> Table:
        """Fates of single packets: flow, sender ("client"/"server"), kind ("lost", "missed" by the receiving tap's capture,
        "unsent": missed by the sending tap's, "duplicated", "reordered"), time_ns (sent, by the client side's clock), sent_packet
        (number in the sending tap's capture), seen_packet (in the other), seq (relative to the ISN), bytes, late_ns (after what
        overtook it), repair_sent_packet, repair_seen_packet (the sending that repaired the loss). Null is unknown."""
    @property
    def delays(self) -> Table:
        """Delay of each packet that both taps saw: flow, from_server (0 or 1), time_ns (sent, by the client side's clock),
        delay_ns, sent_packet, seen_packet, bytes (of sequence space). Empty where the clocks cannot be aligned."""
    @property
    def recoveries(self) -> Table:
        """Times in which something lost between the taps was missing: flow, from_server (0 or 1: who sent it), data (1 for bytes, 0 for
        what an ACK said), start_ns (sent first and lost, by the client side's clock), end_ns (all of it had arrived;
        2^63 - 1 where it never did). In this order, those of one kind never overlap. Empty where the clocks cannot be aligned."""
    @property
    def captures(self) -> list[CaptureStatus]:
        """Outcome of reading each input, in the order given."""

def two_taps(
    paths: Sequence[str],
    *,
    hosts: Sequence[str] = ...,
    ports: Sequence[int] = ...,
    since_ns: int | None = None,
    until_ns: int | None = None,
    max_expansion: int | None = None,
) -> tuple[list[int], list[tuple[str, int]]] | None:
    """Two of these captures that hold the same packets of a connection at different times, by index, and the connection's ends.

    The filters are those of analyze(). What cannot be read, or only once, is passed over. None where there are no two.
    """

def version() -> str: ...
def causes() -> list[CauseInfo]:
    """Every cause in the order of its permanent code."""

def vocabulary() -> dict[str, list[str]]:
    """The core's names by kind: `changes` and `refusals` of whatif, `trust_reasons`, and what is read: `formats`,
    `compressions`, `link_types`, `tunnels`.
    """

def replay_limits() -> tuple[int, int, int]:
    """Segments replayed of one flow, segments of all flows together, events of all replays of a flow."""

def owners() -> list[str]:
    """The keys of a flow's time ledger: the causes, then sending, in-transit, closing."""

def initial_window(
    message_bytes: int, mss_bytes: int, *, window_bytes: int | None = None, path_bdp_bytes: int | None = None
) -> tuple[int, str]:
    """The initial congestion window for a message, in segments, and its bound: `response`, `window`, `path`, `burst`.

    `window_bytes` is the peer's window when the message begins, `path_bdp_bytes` the path's capacity without a queue.
    OverflowError for a negative size.
    """

def so_sndbuf(flight_bytes: int, mss_bytes: int) -> int:
    """The SO_SNDBUF in bytes with which that much can be in flight all the time. OverflowError for a negative size."""

def faster_link(rate_bytes_per_s: int) -> int:
    """The next link of 1, 2, 5, 10 … Mbit/s that is at least twice as fast, in bytes a second. OverflowError for a
    negative rate."""

def analyze(
    paths: Sequence[str],
    *,
    flows: Sequence[int] = ...,
    hosts: Sequence[str] = ...,
    ports: Sequence[int] = ...,
    since_ns: int | None = None,
    until_ns: int | None = None,
    min_stall_ns: int = 0,
    bursts: bool = True,
    link_bytes_per_s: int | None = None,
    max_expansion: int | None = None,
    exchanges: bool = True,
    secret: bytes | None = None,
    label: Callable[[bytes, bytes], Label | None] | None = None,
    progress: Callable[[int, int | None], None] | None = None,
    sets: Sequence[int] = ...,
    missing_before: Sequence[int] = ...,
    new_from: int = 0,
    packets_before: int = 0,
    known_packets: int = 0,
    stream: bytes | None = None,
    puts_down: bool = False,
    most_past: int | None = None,
    threads: int | None = None,
    open: Callable[[str], Any] | None = None,
    each: Callable[[Report], None] | None = None,
    chunk: int = ...,
    sort: str | None = None,
    top: int | None = None,
) -> Report:
    """Reads captures and diagnoses every flow in them.

    `paths`: capture files, "-" for standard input. `flows`, `hosts`, `ports`: keep only flows with one of these ids,
    addresses or networks (192.0.2.0/24), ports (either end); empty keeps all. `since_ns`, `until_ns`: use only packets in that half-open interval.
    `min_stall_ns`: leave shorter stalls out of the list (the ledger keeps them). `link_bytes_per_s`: what the
    link carries, where it is known: each direction then says its `link_share`. `max_expansion`: how many times its size
    a compressed input may grow to beyond a gigabyte (None: 1000).
    `label(client, server)` reads the first payload bytes of a flow's ends; it is called
    with the GIL held for flows that begin with an HTTP method, an HTTP status or a TLS hello only, and what it raises ends the run.
    `secret`, 32 bytes, is the key of pseudonyms: they stand for addresses, `capture-1` for the first path, and there are no labels.
    `progress(bytes_read, bytes_in_all)` is called now and then with the GIL held; what it raises ends the run and is raised here (KeyboardInterrupt too).
    `sets`: a number for each path; paths with the same one are one stream, whose flows may cross from file to file: in order of
    time, merged where they overlap, packets that two of them hold counted once, packet numbers running on. Empty: each by
    itself. `missing_before`: indexes of paths whose predecessor in the set is missing. `new_from`:
    flows that are over before that path comes are left out, as somebody who read the paths before it knows them already; `packets_before`: packets of files
    before the first path, which packet numbers go on behind. `known_packets`: so many packets at the beginning of the first
    path are left out of all flows, for somebody knows them already; its status counts them. `puts_down`: Report.stream is what is
    open where the files of the only set end. `most_past`: where open flows have
    more gaps, exchanges and times of a busy path than this, those with more than their share are put down without them: the row is the
    flow's first part, what comes is a further one, which begins where that ended. `stream`: such bytes, to go on behind those files; the first paths are then
    stream_captures(stream), which are not read, and flows that are over before the path after them are left out. `threads`: 1 does all in the calling
    thread; None uses what there is. `open(name)` gives a binary file object for a name, or None where it is a file's: its
    `read(n)` is called from any thread, its `size` (if it has one) is what progress tells, it is closed in the end, and in a
    set of several a name is opened twice. What it raises is the input's error; KeyboardInterrupt ends the run.
    `each` is given the results as they come, in Reports of about `chunk` rows (flows, stalls and exchanges; flows in order of
    their ids, no captures) that are not kept: the Report returned has the captures only. What it raises ends the run and is raised here.
    `top`: hold only the first so many flows in the order of `sort` (as in write(); None: "lost"), and as many in the order of
    "lost"; Report.whole and services_json are of all flows all the same. Not together with `each`.
    Bad inputs do not raise: see Report.captures. Raises ValueError for an unreadable host, no such order, or a stream that
    was damaged or put down by another version.
    """

def stream_captures(stream: bytes) -> list[str]:
    """Names of the captures in which flows of a stream began (Report.stream). Raises ValueError as analyze() does for it."""

def compared(
    path: str,
    *,
    secret: bytes | None = None,
    progress: Callable[[int, int | None], None] | None = None,
    beside: Compared | None = None,
) -> Compared:
    """Reads a capture and adds its flows up by service; `secret` and `progress` as in analyze().

    65,536 services are kept, and further ones only where `beside` has them too. Bad inputs do not raise: see Compared.captures.
    """

def write(
    paths: Sequence[str],
    fd: int,
    *,
    format: str = "json",
    sort: str | None = None,
    top: int | None = None,
    flows: Sequence[int] = ...,
    hosts: Sequence[str] = ...,
    ports: Sequence[int] = ...,
    since_ns: int | None = None,
    until_ns: int | None = None,
    min_stall_ns: int = 0,
    bursts: bool = True,
    link_bytes_per_s: int | None = None,
    max_expansion: int | None = None,
    exchanges: bool = True,
    secret: bytes | None = None,
    label: Callable[[bytes, bytes], Label | None] | None = None,
    progress: Callable[[int, int | None], None] | None = None,
    sets: Sequence[int] = ...,
    missing_before: Sequence[int] = ...,
    findings: Callable[[str, int], str] | None = None,
) -> Written:
    """Like analyze(), but prints each flow to file descriptor `fd` as soon as it is finished and keeps none.

    `format`: "json" (one tcpstall.report/1 object), "ndjson" (a line each: flows, services, findings, captures; `type` says which),
    "csv" (a stall a row). `sort` ("lost", "duration", "bytes", "start", "stalls") makes it hold the flows until the end, `top` as many of them.
    `findings(facts, flows)` makes a JSON text of what Report.findings_json would be, which stands in "json" as `findings`; in
    "ndjson" each is a line.
    Raises OSError where writing fails for another reason than a closed pipe.
    """

def samples(
    paths: Sequence[str],
    flows: Sequence[int],
    *,
    since_ns: int | None = None,
    until_ns: int | None = None,
    max_expansion: int | None = None,
    sets: Sequence[int] = ...,
    missing_before: Sequence[int] = ...,
) -> list[Table]:
    """Every segment of some flows but their SYNs, for drawing: a table a flow, in the order of `flows`, from one reading.

    `paths`, `since_ns`, `until_ns`, `max_expansion`, `sets` and `missing_before` are those of the analyze() that gave the ids. A flow that only shook
    hands, or an id that is none, has an empty table. A row of kind "ack" tells of the data that it acknowledges, any
    other row of its own sender's data. Columns: time_ns, packet, sender ("client"/"server"), kind ("data", "retransmission",
    "ack", "probe"), seq (first byte, relative to the ISN), bytes, ack (relative), edge (right edge of the peer's window for
    this sender's data, relative; null unknown), in_flight_bytes (of the data's sender, after the segment), cwnd_bytes (the
    model's estimate; null unknown), sack_left, sack_right (first block, relative to the data's sender, null without), rtt_ns
    (the whole round trip that an ACK measured for the data's sender since the row before; null without).

    Raises OSError (cannot open) or ValueError (not a capture).
    """

def whatif(
    paths: Sequence[str],
    flows: Sequence[int],
    changes: Sequence[Sequence[tuple[str, int | None]]] = ...,
    *,
    since_ns: int | None = None,
    until_ns: int | None = None,
    max_expansion: int | None = None,
    sets: Sequence[int] = ...,
    missing_before: Sequence[int] = ...,
) -> list[str | None]:
    """Plays flows again, unchanged and with each set of `changes`, and says what came of it: JSON text a flow, None for no such id.

    `paths` and the keywords are those of the analyze() that gave the ids. A change is a name of `tcpstall.whatif.NAMES` with
    its value in segments, bytes, nanoseconds, bytes a second or 0 and 1; None is `auto`. Without changes each remedy that the
    flow's causes call for is tried alone, the best first. Flows given together are taken for all connections to their
    servers: `reuse-connection` then uses one that had come to its end, and the first stays new.

    Keys: `refused` (a word: nothing is predicted), `rtt_ns`, `captured` and `replayed` (`transfer_ns`, from the client's SYN to
    the arrival of the last byte; `exchanges_ns`), `without_pace` (like `replayed`, without a pace that was
    fitted to the captured time), `error_ns` (replayed less captured), `exchanges_left_out` (beyond those kept), `outcomes` (`changes`, `suggested`,
    `transfer` and `exchanges` with `expected_ns`, `low_ns`, `high_ns`; `saved_ns` against the replay), `sizing` a direction.

    Raises OSError (cannot open) or ValueError (not a capture, no such change).
    """

def whatif_together(
    paths: Sequence[str],
    lines: Sequence[Sequence[tuple[int, bool]]],
    changes: Sequence[Sequence[tuple[str, int | None]]],
    *,
    since_ns: int | None = None,
    until_ns: int | None = None,
    max_expansion: int | None = None,
    sets: Sequence[int] = ...,
    missing_before: Sequence[int] = ...,
) -> list[list[str | None]]:
    """Plays the flows of each of several `lines` again through one queue: JSON text like that of whatif() for each flow with
    True beside it, None for the others and for those that the captures do not hold.

    Changes of hosts are made at the flows with True, changes of the path at all of the line. Raises like whatif().
    """

def segments(path: str) -> tuple[Table, CaptureStatus]:
    """Every TCP segment of a capture or paste as columns for writing it out again, and what became of the capture.

    Columns: packet, time_ns, source, source_port, destination, destination_port, seq, ack, flags, window, bytes, mss,
    window_scale, sack_permitted, ts_value, ts_echo, sacks (text "left-right left-right", empty without), ip_id, ttl.
    Raises like samples(); a damaged capture gives what could be read.
    """

def whole_records(header: bytes, records: bytes) -> int:
    """Number of bytes of `records` that are whole records of a pcap file with that header. ValueError where it is no pcap header."""

def peek(path: str, *, open: Callable[[str], Any] | None = None, max_expansion: int | None = None) -> Peek:
    """Detects the format of an input from the first bytes that show it. `open` as in analyze()."""

def folder(path: str) -> tuple[list[tuple[str, int, int]], list[str]]:
    """Content of a folder, in order of names: regular files of one name with size and time of the last write (ns), and the names of all
    else. OSError where it cannot be read.
    """

def pseudonyms(secret: bytes, addresses: Sequence[str]) -> list[str]:
    """Pseudonyms of IP addresses in their order, as analyze() gives them. ValueError for what is no address."""

def pair(client_side: str, server_side: str, *, same_clock: bool = False) -> Pairing:
    """Matches the flows and packets of two captures taken at both ends, and aligns their clocks.

    Flows are told by their initial sequence numbers, else by sequence numbers, ACKs and timestamps of packets, so addresses may
    differ. `same_clock`: the times of both are one clock's; else the least delays of both ways are taken for equal.
    Raises like samples(); a damaged capture gives what could be read.
    """

def copy(
    path: str,
    fd: int,
    *,
    form: str,
    about: str = "",
    stretches: Sequence[tuple[tuple[str, int], tuple[str, int], int, int]] | None = None,
    remarks: Sequence[tuple[int, str]] = ...,
    moments: Sequence[tuple[int, tuple[str, int], tuple[str, int], str]] = ...,
    payload: bool = True,
    secret: bytes | None = None,
    max_expansion: int | None = None,
    progress: Callable[[int, int | None], None] | None = None,
) -> Copied:
    """Writes packets of a capture to file descriptor `fd` again, in `form` "pcap" or "pcapng".

    `stretches`: only packets between two ends, (address, port) each in any order, from one time to another, both included;
    None: all. `remarks`: (packet number, text), `moments`: (time, end, end, text) for the first packet of that connection
    then; only pcapng holds them, and `about`, which is said of the whole. Without `payload` packets end behind their TCP
    header. `secret`: as in analyze(), and the ends are pseudonyms; payload goes, and what else is not understood.
    Raises like samples(), TypeError where the form cannot hold it or the input is text, OSError with an errno where
    writing fails.
    """
