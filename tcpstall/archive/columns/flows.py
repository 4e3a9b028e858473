"""Columns of `flows`: the connection, both directions, both SYNs, and the time that each owner has of it."""

from collections.abc import Iterable, Iterator
from dataclasses import replace

from tcpstall import _core
from tcpstall.archive.columns.column import (
    BYTES,
    COUNT,
    FLAG,
    NS,
    RATE,
    REAL,
    SEGMENTS,
    SHARE,
    SINCE_1970,
    TEXT,
    Column,
    column,
)
from tcpstall.archive.columns.within import AT_END, CAPTURE, ENDS, FLOW, LABEL, NAMES, SCAN, SENSOR

__all__ = ["FLOWS"]

_CONNECTION = (
    SCAN,
    FLOW,
    CAPTURE,
    SENSOR,
    *ENDS,
    column(TEXT, "", "tunnel", "tunnels of its first packet, from the inside out; null without a tunnel"),
    column(
        TEXT,
        "",
        "interface",
        "interface of its first packet: its name in pcapng, `ifindex 3` in Linux cooked captures v2; else null",
    ),
    column(COUNT, "", "vlan", "VLAN of its first packet: outermost 802.1Q or 802.1ad tag; null without a tag"),
    LABEL,
    *NAMES,
    column(TEXT, "", "http_method", "method of the first HTTP request"),
    column(COUNT, "", "http_status", "status of the first HTTP response; null where the capture lacks it"),
    column(COUNT, SINCE_1970, "start_ns", "first segment, by the capture's clock"),
    column(COUNT, SINCE_1970, "end_ns", "last segment"),
    column(COUNT, NS, "duration_ns", "first segment to last"),
    column(COUNT, SEGMENTS, "segments", "segments of both directions"),
    AT_END,
    column(TEXT, "", "state", "state at the end: opening, open, half-closed, closed, reset"),
    column(TEXT, "", "vantage_side", "place of the capture: client, server, between, unknown"),
    column(REAL, SHARE, "vantage_confidence", "confidence of that place"),
    column(COUNT, NS, "base_rtt_ns", "the path's smallest round trip; null where unknown"),
    column(FLAG, "", "handshake_complete", "SYN, SYN-ACK and the ACK that completes them were captured"),
    column(COUNT, NS, "handshake_ns", "first SYN to the completing segment or the last attempt; null without a SYN"),
    column(
        TEXT,
        "",
        "outcome",
        "unreachable, refused, half-open, aborted, gone; too-early or one-sided where the capture does not decide; "
        "null for an established connection whose ends were heard",
    ),
    column(COUNT, "", "stalls", "waits of both ends"),
    column(COUNT, NS, "lost_ns", "time that causes own: all but sending, plain travel and closing"),
    column(COUNT, "", "exchanges", "requests with their responses"),
    column(TEXT, "", "closed_by", "end that sent the first FIN or RST: client, server; null without either"),
    column(COUNT, NS, "idle_before_close_ns", "silence from the last exchange to that FIN or RST"),
    column(COUNT, "", "rtt_spikes", "episodes with round trips over five times the base round trip"),
    column(TEXT, "", "trust_level", "trust in the labels: high, medium, low"),
    column(TEXT, "", "trust_reasons", "reasons why the level is not high, separated by spaces, the strongest first"),
    column(TEXT, "", "trust_handshake", "handshake in the capture: complete, partial, missing, unfinished"),
    *(
        replace(
            column(TEXT, "", f"trust_{end}_window_scale", "window scale: known (by the SYN), inferred, unknown"),
            family="trust_window_scale",
        )
        for end in ("client", "server")
    ),
    *(
        replace(
            column(COUNT, "frames", f"trust_{end}_offloaded_frames", "frames of the end larger than a segment"),
            family="trust_offloaded_frames",
        )
        for end in ("client", "server")
    ),
    column(COUNT, "packets", "trust_duplicates_removed", "copies of packets that were left out"),
    column(COUNT, BYTES, "trust_unseen_bytes", "data that was acknowledged and is not in the capture"),
    column(REAL, SHARE, "trust_unseen_share", "share of that in all data; null without data"),
    column(COUNT, "", "trust_clock_steps", "number of packets stamped earlier than packets before them"),
    column(COUNT, SEGMENTS, "trust_options_cut", "segments that the snap length cut inside their options"),
)  # fmt: skip

_DIRECTION = (
    column(COUNT, BYTES, "bytes", "payload that the end sent, each sequence number counted once"),
    column(COUNT, "frames", "segments", "frames with payload that the end sent"),
    column(COUNT, BYTES, "mss_bytes", "largest segment that the end may send; null where unknown"),
    column(COUNT, "", "window_scale", "window scale shift of the end; null where its SYN was not captured"),
    column(COUNT, BYTES, "initial_window_bytes", "first flight of the end, before any ACK"),
    column(COUNT, BYTES, "announced_window_bytes", "largest receive window of the end; null where unknown"),
    column(
        COUNT,
        NS,
        "rtt_p50_ns",
        "median round trip of the end's data, within 2 %; from tap to end its shortest; null without ACKs",
    ),
    column(COUNT, NS, "rtt_p95_ns", "95th percentile of these round trips"),
    column(COUNT, BYTES, "max_in_flight_bytes", "most bytes that the end had in flight"),
    column(COUNT, BYTES, "retransmitted_bytes", "payload that the end retransmitted"),
    column(COUNT, NS, "busy_ns", "time with data to send or outstanding, as busy in `ss -ti`"),
    column(COUNT, NS, "rwnd_limited_ns", "part of it with the peer's window full, as rwnd_limited in `ss -ti`"),
    column(COUNT, RATE, "bottleneck_bytes_per_s", "rate of the path while it had a queue; null without a queue"),
    column(COUNT, BYTES, "bdp_bytes", "bottleneck rate times the base round trip"),
    column(COUNT, NS, "queue_delay_ns", "mean time of the end's packets in the queue"),
    column(COUNT, NS, "bandwidth_limited_ns", "time that the path was busy with the end's data"),
    column(COUNT, "", "timeouts", "retransmission timeouts of the end"),
    column(COUNT, "", "fast_retransmits", "repairs that duplicate ACKs or SACK started"),
    column(COUNT, "", "tail_probes", "tail-loss probes that retransmitted data"),
    column(COUNT, "", "needless_retransmissions", "retransmissions whose original had arrived"),
    column(COUNT, "frames", "reordered_segments", "frames that arrived late and were no retransmissions"),
    column(COUNT, BYTES, "reordering_bytes", "most bytes that overtook one of them"),
    column(COUNT, NS, "reordering_ns", "longest delay of one of them behind the data that overtook it"),
    column(COUNT, "", "losses", "losses that the end repaired, 64 at most; null without, or where the tap cannot tell"),
    column(COUNT, "", "losses_queued", "those of them at which a queue stood"),
    column(COUNT, "", "losses_unqueued", "those of them at which none stood: a bad link or a policer dropped"),
    column(COUNT, NS, "loss_queue_ns", "median delay in the queue at the losses; null where unknown"),
    column(COUNT, BYTES, "loss_limit_bytes", "flight at which nearly all of them were sent; null where there is none"),
    column(COUNT, RATE, "loss_rate_bytes_per_s", "rate that passed from loss to loss; null where it differed"),
)

_SYN = (
    column(COUNT, SEGMENTS, "syns", "SYNs of the client, SYN-ACKs of the server"),
    column(COUNT, "hops", "syn_ttl", "TTL or hop limit of the end's last SYN at the tap; null where none was captured"),
    column(COUNT, BYTES, "syn_window_bytes", "window field of that SYN, which is never scaled"),
    column(COUNT, BYTES, "syn_mss_bytes", "its MSS option; null without one"),
    column(FLAG, "", "sack_permitted", "its SACK-permitted option; null where the snap length may have cut it"),
    column(FLAG, "", "timestamps", "its timestamps option; null where the snap length may have cut it"),
    column(FLAG, "", "ecn", "the client's SYN offers ECN, the server's SYN-ACK accepts it"),
)


def _both_ends(columns: Iterable[Column]) -> Iterator[Column]:
    """Those of the client, then those of the server, as the core orders them."""
    columns = tuple(columns)
    for end in ("client", "server"):
        for one in columns:
            yield replace(one, name=f"{end}_{one.name}", family=f"both_{one.name}")


_OWNERS = {
    "sending": "an end was sending",
    "in-transit": "data was travelling and neither end could send",
    "closing": "both ends had sent their last new data",
}


def _ledger() -> Iterator[Column]:
    """A time for each owner, which together are the flow's duration."""
    for owner in _core.owners():
        meaning = f"time in which {_OWNERS[owner]}" if owner in _OWNERS else f"time that `{owner}` owns"
        yield Column(f"time_{owner.replace('-', '_')}_ns", COUNT, NS, meaning)


FLOWS = (*_CONNECTION, *_both_ends(_DIRECTION), *_both_ends(_SYN), *_ledger())
