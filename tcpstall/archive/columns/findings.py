"""Columns of `findings`: the part that one flow adds to a finding."""

from tcpstall.archive.columns.column import BYTES, COUNT, NS, REAL, SEGMENTS, SHARE, SINCE_1970, TEXT, column
from tcpstall.archive.columns.within import WITHIN

__all__ = ["FINDINGS"]

FINDINGS = (
    *WITHIN,
    column(TEXT, "", "kind", "kind of finding, as in `findings` of the JSON report: loss, server-slow, idle, …"),
    column(TEXT, "", "side", "end whose data waited: client, server; of `reset` the end that sent the reset"),
    column(TEXT, "", "cause", "cause that owns the time; null for rates, resets and captures of one direction"),
    column(
        TEXT, "", "details", "details of the cause with their ns of `time_ns`: `timeout:204000000 recovery:9000000`"
    ),
    column(COUNT, SINCE_1970, "start_ns", "start of its first wait; the flow's start without waits"),
    column(COUNT, SINCE_1970, "end_ns", "end of its last wait"),
    column(COUNT, NS, "time_ns", "time of the flow that the finding owns: no moment is in two findings"),
    column(COUNT, NS, "recoverable_ns", "most of that time that a change could give back; null where unknown"),
    column(COUNT, "", "waits", "waits of the finding in the flow"),
    column(COUNT, NS, "longest_ns", "longest of these waits; null without waits"),
    column(COUNT, "", "stall", "number of that wait"),
    column(COUNT, BYTES, "level_bytes", "peer's full window, or the bytes in flight with a full send buffer"),
    column(COUNT, SEGMENTS, "sent_again", "retransmissions inside that wait"),
    column(REAL, SHARE, "confidence", "mean confidence of the labels; null without waits"),
    column(COUNT, "", "attempts", "SYNs or data of the flow without an answer; null where all were answered"),
    column(COUNT, "", "exchanges", "requests of the flow with their responses"),
    column(COUNT, BYTES, "bytes", "payload of `side` in the flow"),
    column(COUNT, "frames", "segments", "frames with payload that the end sent"),
    column(COUNT, BYTES, "retransmitted_bytes", "payload that the end retransmitted"),
    column(COUNT, "frames", "reordered_segments", "frames of `side` that arrived late and were no retransmissions"),
    column(COUNT, "", "needless_retransmissions", "retransmissions whose original had arrived"),
    column(COUNT, "", "losses", "losses that the end repaired, 64 at most; null without, or where the tap cannot tell"),
    column(COUNT, "", "losses_queued", "those of them at which a queue stood"),
    column(COUNT, "", "losses_unqueued", "those of them at which none stood: a bad link or a policer dropped"),
    column(COUNT, NS, "lasted_ns", "first segment of the flow to its last"),
)
