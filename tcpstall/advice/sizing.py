"""Sizes of windows and buffers: pure arithmetic on observed values, in bytes, nanoseconds and segments.

The native core computes SO_SNDBUF, the initial window and the link to ask for, because `whatif` replays them.

Linux counts a buffer in memory, not in payload, and differently at each end:

- `setsockopt(SO_SNDBUF, n)` sets the limit to 2·n (`sk_setsockopt`: the other half is for overhead) and ends
  autotuning for that socket; so does SO_RCVBUF. `ss` shows the doubled value as `tb`, `rb`.
- Against that limit count the truesizes of all data that is unsent or unacknowledged: payload and `SEGMENT_OVERHEAD`
  for each buffer (`sk_wmem_queued`).
- A blocked writer is woken when a third of the limit is free (`sk_stream_write_space`: free ≥ half of what is queued).
- A receive window is 1/2 to 3/4 of the limit (`tcp_win_from_space`; newer kernels measure the share).
"""

from tcpstall import _core
from tcpstall.records import record

__all__ = [
    "SEGMENT_OVERHEAD",
    "TCP_RMEM_DEFAULT",
    "TCP_WMEM_DEFAULT",
    "USUAL_SEGMENT",
    "InitialWindow",
    "Sizes",
    "bdp_bytes",
    "faster_link",
    "fitting_initcwnd",
    "largest_window",
    "rate_bytes_per_s",
    "segments_in",
    "sizes_for",
    "slow_start_rounds",
    "so_rcvbuf_for",
    "so_sndbuf_for",
    "tcp_rmem_max_for",
    "tcp_wmem_max_for",
    "windows_initcwnd",
]

_S = 1_000_000_000

SEGMENT_OVERHEAD = _core.SEGMENT_OVERHEAD
"""Bytes that Linux counts for a buffer beyond its payload."""

USUAL_SEGMENT = 1_448
"""Payload of an Ethernet frame with timestamps, where no segment size is known, bytes."""

TCP_RMEM_DEFAULT = 6 << 20
"""Third value of tcp_rmem without any setting on hosts of 1 GB and more: tcp(7). Autotuning uses it only as needed, and
`whatif` replays `rcvbuf=auto` with it."""

TCP_WMEM_DEFAULT = 4 << 20
"""Third value of tcp_wmem without any setting on hosts of 1 GB and more: tcp(7)."""

_HEADERS, _BUFFER = 640, 256
"""Linux `tcp_sndbuf_expand` counts a segment as MSS, MAX_TCP_HEADER and skb_shared_info, rounded up to a power of two,
and sk_buff: 4,352 bytes for an MSS of 1,448, 131,328 for 65,483 (`tb` 87,040 and 3,939,840 of fresh sockets)."""

_AUTOTUNED_WINDOWS = 2
"""Linux `tcp_sndbuf_expand`: so many congestion windows are held, for recovery while new data is sent."""

_INITIAL_WINDOW = 10
"""RFC 6928, segments."""

_LARGEST_SCALE = 14
"""RFC 7323 §2.3."""

_UNSCALED = 65_535

_WINDOWS_MOST = 64
"""Set-NetTCPSetting -InitialCongestionWindowMss takes even numbers from 2 to 64."""


def bdp_bytes(rate: int, rtt_ns: int) -> int:
    """Bytes in flight on a full path: rate (bytes/s) times round trip, rounded up."""
    return -(-rate * rtt_ns // _S)


def rate_bytes_per_s(window_bytes: int, rtt_ns: int) -> int | None:
    """The most that a window allows: one window a round trip; None without a round trip."""
    return window_bytes * _S // rtt_ns if rtt_ns > 0 else None


def segments_in(size_bytes: int, mss_bytes: int) -> int:
    """Segments that hold so many bytes."""
    return -(-size_bytes // max(1, mss_bytes))


def so_sndbuf_for(flight_bytes: int, mss_bytes: int) -> int:
    """The SO_SNDBUF in bytes with which so much can be in flight all the time; no less than a fresh socket has.

    Half of what is counted, because Linux doubles it, with one segment a buffer, the worst case; no less than the
    flight, because other systems count payload alone.
    """
    return _core.so_sndbuf(flight_bytes, mss_bytes)


def tcp_wmem_max_for(flight_bytes: int, mss_bytes: int) -> int:
    """The third value of net.ipv4.tcp_wmem with which autotuning reaches that flight (`tcp_sndbuf_expand`)."""
    segments = max(_INITIAL_WINDOW, segments_in(flight_bytes, mss_bytes))
    counted = (1 << (mss_bytes + _HEADERS - 1).bit_length()) + _BUFFER
    return _AUTOTUNED_WINDOWS * segments * counted


def so_rcvbuf_for(window_bytes: int) -> int:
    """The SO_RCVBUF in bytes: doubled, half of it at least becomes window; no less than a fresh socket has."""
    return max(_core.LEAST_SIZE, window_bytes)


def tcp_rmem_max_for(window_bytes: int) -> int:
    """The third value of net.ipv4.tcp_rmem, which is not doubled, for that window at a share of one half."""
    return 2 * window_bytes


def largest_window(scale: int | None) -> int:
    """The largest window that can be told with this scale, bytes; None is without the option."""
    return _UNSCALED << min(scale or 0, _LARGEST_SCALE)


def slow_start_rounds(size_bytes: int, mss_bytes: int, initial_segments: int) -> int:
    """Round trips of waiting before the last of so many bytes can be sent, the window doubling each time."""
    left, window, rounds = segments_in(size_bytes, mss_bytes) - max(1, initial_segments), max(1, initial_segments), 0
    while left > 0:
        window *= 2
        left -= window
        rounds += 1
    return rounds


@record(frozen=True, slots=True)
class Sizes:
    """Sizes that a rate needs over a round trip: `bdp_bytes` in flight, and what holds that at either end."""

    rate_bytes_per_s: int
    bdp_bytes: int
    so_sndbuf_bytes: int
    tcp_wmem_max_bytes: int
    so_rcvbuf_bytes: int
    tcp_rmem_max_bytes: int
    window_scale: int
    """The least shift that can tell such a window."""


def sizes_for(rate: int, rtt_ns: int, mss_bytes: int) -> Sizes:
    """For that rate (bytes/s)."""
    flight = bdp_bytes(rate, rtt_ns)
    scale = next((shift for shift in range(_LARGEST_SCALE) if largest_window(shift) >= flight), _LARGEST_SCALE)
    return Sizes(
        rate,
        flight,
        so_sndbuf_for(flight, mss_bytes),
        tcp_wmem_max_for(flight, mss_bytes),
        so_rcvbuf_for(flight),
        tcp_rmem_max_for(flight),
        scale,
    )


@record(frozen=True, slots=True)
class InitialWindow:
    """The initial congestion window that suits a response, in segments, and what keeps it from being larger.

    `bound` is `response` (it fits whole), `window` (the peer's receive window is full first), `path` (more would only
    queue) or `burst` (no rate is known, so no larger burst is suggested).
    """

    segments: int
    bound: str
    response_segments: int


def fitting_initcwnd(
    response_bytes: int, mss_bytes: int, *, window_bytes: int | None = None, path_bdp_bytes: int | None = None
) -> InitialWindow:
    """The initial window that fits the response into the first round trip, as far as window and path allow.

    `window_bytes` is the peer's window when the response begins: whole segments of it can be sent, whatever the
    congestion window. `path_bdp_bytes` is what the path holds without a queue, where that is known.
    """
    segments, bound = _core.initial_window(
        response_bytes, mss_bytes, window_bytes=window_bytes, path_bdp_bytes=path_bdp_bytes
    )
    return InitialWindow(segments, bound, segments_in(response_bytes, mss_bytes))


def windows_initcwnd(segments: int) -> int:
    """The next even number that Set-NetTCPSetting takes."""
    return min(_WINDOWS_MOST, max(2, segments + segments % 2))


def faster_link(rate: int) -> int:
    """Of the series 1, 2, 5, 10 … Mbit/s the next that is at least twice that rate (bytes/s), in bytes/s."""
    return _core.faster_link(rate)
