"""Columns of `exchanges`: a request with its response, and the parts of its latency."""

from tcpstall.archive.columns.column import BYTES, COUNT, FLAG, NS, REAL, SINCE_1970, TEXT, column
from tcpstall.archive.columns.within import WITHIN

__all__ = ["EXCHANGES"]

EXCHANGES = (
    *WITHIN,
    column(TEXT, "", "requester", "end that sent the request: client, server"),
    column(COUNT, SINCE_1970, "start_ns", "start of the exchange at the tap, by the capture's clock"),
    column(COUNT, SINCE_1970, "end_ns", "end of the exchange at the tap"),
    column(COUNT, NS, "latency_ns", "the requester's wait, with the handshake if the exchange waited for one"),
    column(REAL, "round trips", "round_trips", "latency in base round trips; null without a base round trip"),
    column(COUNT, BYTES, "request_bytes", "size of the request; 0 where the server spoke first"),
    column(COUNT, BYTES, "response_bytes", "size of the response"),
    column(FLAG, "", "complete", "false where the latency is a lower bound: the response was not acknowledged whole"),
    column(COUNT, "", "overlaps", 'times that an end sent before it had received all; in SQL in quotes: `"overlaps"`'),
    column(COUNT, NS, "handshake_ns", "of the latency: the handshake"),
    column(COUNT, NS, "request_ns", "of the latency: until the request had left"),
    column(COUNT, NS, "travel_ns", "of the latency: one base round trip"),
    column(COUNT, NS, "think_ns", "of the latency: the responder's own time"),
    column(COUNT, NS, "response_ns", "of the latency: from the response's first byte to its last"),
    column(COUNT, NS, "overlap_ns", "of the latency: both ends sent at once"),
    column(COUNT, NS, "turnaround_ns", "of the latency: travel and think, where the base round trip is unknown"),
)
