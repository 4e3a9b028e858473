"""Metrics of a store: names, kinds, units, labels and buckets, which output, dashboard and alert rules share."""

from dataclasses import dataclass
from typing import Literal

__all__ = [
    "CAPTURES",
    "DEFAULT_SERVICES",
    "FAMILIES",
    "FLOWS",
    "LOST",
    "MOST_SERVICES",
    "NEWEST_PACKET",
    "OTHER",
    "RTT",
    "SCANNED",
    "TTFB",
    "UNBOUNDED",
    "UNREADABLE",
    "WAITS",
    "Family",
]

OTHER = "other"
"""The value of the label `service` for all services without series of their own."""

DEFAULT_SERVICES = 20
MOST_SERVICES = 1_000
"""A service has 66 series: a thousand services are as much as one target should give."""

_SECONDS = "seconds"
_MS = 10**6
_S = 10**9

UNBOUNDED = "+Inf"
"""The label `le` of a histogram's last bucket."""


@dataclass(frozen=True, slots=True)
class Family:
    """A metric family, as OpenMetrics calls it; `name` has the unit and no suffix, `bounds_ns` are upper bounds."""

    name: str
    kind: Literal["counter", "gauge", "histogram"]
    help: str
    unit: str = ""
    labels: tuple[str, ...] = ()
    bounds_ns: tuple[int, ...] = ()

    @property
    def sample(self) -> str:
        """The name of a counter's or a gauge's samples."""
        return f"{self.name}_total" if self.kind == "counter" else self.name

    @property
    def buckets(self) -> dict[int, str]:
        """A histogram's upper bounds in ns, with the text that stands for them in the label `le`."""
        return {bound: str(bound / _S) for bound in self.bounds_ns}

    @property
    def bucket(self) -> str:
        """The name of a histogram's buckets."""
        return f"{self.name}_bucket"


LOST = Family(
    "tcpstall_lost_seconds",
    "counter",
    "Time that senders waited; where both ends waited at once it counts at both.",
    _SECONDS,
    ("service", "cause"),
)
WAITS = Family("tcpstall_waits", "counter", "Waits of senders.", labels=("service", "cause"))
FLOWS = Family("tcpstall_flows", "counter", "TCP connections.", labels=("service",))
RTT = Family(
    "tcpstall_rtt_seconds",
    "histogram",
    "Smallest round-trip time of each connection.",
    _SECONDS,
    ("service",),
    (
        *(_MS // 10, _MS // 4, _MS // 2),
        *(_MS, 5 * _MS // 2, 5 * _MS, 10 * _MS, 25 * _MS, 50 * _MS, 100 * _MS, 250 * _MS, 500 * _MS, _S, 5 * _S // 2),
    ),
)
TTFB = Family(
    "tcpstall_time_to_first_byte_seconds",
    "histogram",
    "Start of each request, with the handshake of a new connection, to the first byte of its response at the client.",
    _SECONDS,
    ("service",),
    (
        *(_MS, 5 * _MS // 2, 5 * _MS, 10 * _MS, 25 * _MS, 50 * _MS, 100 * _MS, 250 * _MS, 500 * _MS),
        *(_S, 5 * _S // 2, 5 * _S, 10 * _S, 30 * _S, 60 * _S),
    ),
)
CAPTURES = Family("tcpstall_captures", "gauge", "Captures that the store knows.")
UNREADABLE = Family("tcpstall_unreadable_captures", "gauge", "Captures that could not be read, or not to their end.")
NEWEST_PACKET = Family(
    "tcpstall_newest_packet_timestamp_seconds", "gauge", "Newest packet of all captures, by their clocks.", _SECONDS
)
SCANNED = Family("tcpstall_scanned_timestamp_seconds", "gauge", "When the newest capture was scanned.", _SECONDS)

FAMILIES = (LOST, WAITS, FLOWS, RTT, TTFB, CAPTURES, UNREADABLE, NEWEST_PACKET, SCANNED)
"""In the order in which they are written."""
