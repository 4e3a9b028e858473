"""An exchange's latency as a sum in one line: `400 ms = 4 RTT: 1 handshake, 1 request beyond the initial window, …`."""

from collections.abc import Sequence

from tcpstall.causes import Cause, Detail
from tcpstall.model import Exchange, Part
from tcpstall.units import duration, ratio

__all__ = ["latency_sum"]

_ROUND_TRIPS = (
    Cause.CWND_LIMITED,
    Cause.RWND_LIMITED,
    Cause.SNDBUF_LIMITED,
    Cause.IDLE_RESTART,
    Cause.BURST_LIMITED,
    Cause.NAGLE,
)
"""Parts whose cost is counted in round trips; timers and applications cost time."""

_SLIVER = 100
"""A part of less than a hundredth of the latency, or of a twentieth of a round trip, is not worth a word."""


def latency_sum(exchange: Exchange, base_rtt_ns: int | None) -> str:
    """The latency, in round trips where the base is known, and the parts that make it."""
    worth = [part for part in exchange.parts if _is_worth(part, exchange, base_rtt_ns)]
    told: list[str] = []
    for part in worth:
        amount = _amount(part, base_rtt_ns)
        told.append(f"{amount} {_name(part, exchange, [other for other in worth if other is not part])}")
    least = "" if exchange.complete else "≥ "
    return f"{least}{duration(exchange.latency_ns)}{_head(worth, base_rtt_ns)}: {_with_pronouns(', '.join(told))}"


def _is_worth(part: Part, exchange: Exchange, base_rtt_ns: int | None) -> bool:
    if part.part == "travel":
        return True
    return part.duration_ns * _SLIVER >= exchange.latency_ns and part.duration_ns * 20 >= (base_rtt_ns or 0)


def _in_round_trips(part: Part, base_rtt_ns: int | None) -> bool:
    if not base_rtt_ns:
        return False
    if part.cause is None:
        return part.part in ("handshake", "travel")
    return part.cause in _ROUND_TRIPS


def _head(parts: Sequence[Part], base_rtt_ns: int | None) -> str:
    """` = 4 RTT`, ` = 2 RTT + 200.1 ms`."""
    if not base_rtt_ns:
        return ""
    trips = sum(part.duration_ns for part in parts if _in_round_trips(part, base_rtt_ns))
    rest = sum(part.duration_ns for part in parts if not _in_round_trips(part, base_rtt_ns))
    return f" = {ratio(trips, base_rtt_ns)} RTT" + (f" + {duration(rest)}" if rest else "")


def _amount(part: Part, base_rtt_ns: int | None) -> str:
    if base_rtt_ns and _in_round_trips(part, base_rtt_ns):
        return ratio(part.duration_ns, base_rtt_ns)
    return duration(part.duration_ns)


def _name(part: Part, exchange: Exchange, others: Sequence[Part]) -> str:
    """Name of the part, short but distinct from the other parts."""
    if part.part == "handshake":
        return f"handshake ({part.detail})" if part.detail else "handshake"
    if part.part == "travel":
        return "base"
    if part.part == "think":
        return "server" if exchange.requester == "client" else "client"
    if part.part == "overlap":
        return "both at once"
    if part.part == "turnaround":
        return "travel and server"
    if part.cause is None:
        return f"sending the {part.part}"
    if part.cause is Cause.CWND_LIMITED and part.detail == Detail.INITIAL_WINDOW:
        return f"{part.part} {_BEYOND}"
    if part.cause is Cause.CWND_LIMITED and part.detail == Detail.SLOW_START:
        return f"{part.part} in slow start"
    if part.cause is Cause.APP_LIMITED:
        return f"{part.part} held by its application"
    narrower = f" ({part.detail})" if part.detail and part.detail != part.cause else ""
    return f"{part.part} {part.cause.value}{narrower}"


_BEYOND = "beyond the initial window"


def _with_pronouns(told: str) -> str:
    """The second `beyond the initial window` is `beyond it`."""
    first = told.find(_BEYOND)
    if first < 0:
        return told
    after = first + len(_BEYOND)
    return told[:after] + told[after:].replace(_BEYOND, "beyond it")
