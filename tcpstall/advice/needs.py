"""Sizes that one case needs, each decided here alone: bytes in flight, the initial window, the link."""

from collections.abc import Iterator

from tcpstall.advice import sizing
from tcpstall.advice.case import Case
from tcpstall.model import Flow, Side
from tcpstall.units import per_second

__all__ = ["first_window", "initial_window", "largest_message", "link", "needed_flight", "sizes"]

_LEAST = 10
"""Segments: no buffer need be smaller than an initial window (RFC 6928)."""

_S = 1_000_000_000


def needed_flight(case: Case) -> tuple[int, str]:
    """Bytes that window and buffers must hold, and the reason for that number, to follow a comma or in brackets."""
    needed, reason = _needed_by_path(case)
    if 0 < case.own.bytes < needed:
        return case.own.bytes, "all that it sent"
    if needed < case.own.max_in_flight_bytes:
        return case.own.max_in_flight_bytes, "as much as was in flight already"
    return needed, reason


def _needed_by_path(case: Case) -> tuple[int, str]:
    if case.link_bytes_per_s and case.rtt_ns:
        told = f"the round trip times {per_second(case.link_bytes_per_s)} of the link"
        return sizing.bdp_bytes(case.link_bytes_per_s, case.rtt_ns), told
    if case.own.bdp_bytes:
        return case.own.bdp_bytes, "the path's bandwidth-delay product"
    if needed := case.value("buffer_needed_bytes"):
        rate = case.value("needed_bytes_per_s")
        return needed, f"for {per_second(rate)}" if rate else "what the other limits allow"
    seen = case.value("plateau_bytes") or case.value("in_flight_bytes") or case.own.max_in_flight_bytes
    return max(2 * seen, _LEAST * case.mss_bytes), "twice what was in flight"


def initial_window(case: Case) -> sizing.InitialWindow:
    """The initial congestion window that suits the sender's largest message."""
    path = case.own.bdp_bytes
    if path is None and case.link_bytes_per_s and case.rtt_ns:
        path = sizing.bdp_bytes(case.link_bytes_per_s, case.rtt_ns)
    return sizing.fitting_initcwnd(
        largest_message(case), case.mss_bytes, window_bytes=first_window(case), path_bdp_bytes=path
    )


def largest_message(case: Case) -> int:
    """Bytes of the sender's largest request or response; all that it sent where there is no exchange."""
    messages = (
        exchange.request_bytes if exchange.requester == case.sender else exchange.response_bytes
        for exchange in case.flow.exchanges
    )
    return max(messages, default=0) or case.own.bytes


def first_window(case: Case) -> int | None:
    """The peer's window in bytes when the sender waited first; None where it is unknown."""
    waits = sorted(case.flow.stalls, key=lambda stall: stall.start_ns)
    known = (stall.evidence.get("peer_window_bytes") for stall in waits if stall.sender == case.sender)
    return next((window for window in known if window is not None), None)


def link(case: Case) -> int | None:
    """The link to ask for, in bytes a second; None where the path's rate is unknown."""
    rate = case.own.bottleneck_bytes_per_s or case.link_bytes_per_s
    return sizing.faster_link(max(rate, _carried(case.flow))) if rate else None


def _carried(flow: Flow) -> int:
    """Mean rate of the busier direction, bytes a second: no link of the path was slower."""
    return max(own.bytes for own in flow.directions.values()) * _S // max(1, flow.duration_ns)


def sizes(flow: Flow, sender: Side, link_bytes_per_s: int | None) -> Iterator[tuple[str, sizing.Sizes]]:
    """Sizes for each known rate with its name: the link's, the path's own; nothing without a round trip."""
    own = flow.directions[sender]
    for name, rate in (("the link", link_bytes_per_s), ("the path, as seen", own.bottleneck_bytes_per_s)):
        if rate and flow.base_rtt_ns:
            yield name, sizing.sizes_for(rate, flow.base_rtt_ns, own.mss_bytes or sizing.USUAL_SEGMENT)
