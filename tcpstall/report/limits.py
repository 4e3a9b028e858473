"""Cost of a limit and the size that lifts it, in figures: buffers, readers, shut windows, idle restarts."""

from collections.abc import Sequence

from tcpstall.advice.case import Case
from tcpstall.advice.needs import needed_flight
from tcpstall.causes import Cause
from tcpstall.facts import mostly
from tcpstall.model import Flow, Stall
from tcpstall.units import counted, number, per_second, size, size_range

__all__ = ["figure", "lifting"]

_OPTIONS = {Cause.RWND_LIMITED: "SO_RCVBUF", Cause.SNDBUF_LIMITED: "SO_SNDBUF"}


def lifting(flow: Flow, stalls: Sequence[Stall]) -> str:
    """The buffer's inferred size and the flight that it must hold, to follow the advice; empty without either."""
    option = _OPTIONS.get(stalls[0].cause)
    sized = [stall for stall in stalls if _is_sized(stall)]
    if option is None or not sized:
        return ""
    case = Case(flow, stalls[0].cause, "", sized[0].sender, [one for one in stalls if one.sender == sized[0].sender], 0)
    flight, reason = needed_flight(case)
    parts = [f"needed in flight: {size(flight)}, {reason}"]
    high = case.value("buffer_high_bytes")
    if high is not None:
        same = [stall for stall in case.stalls if stall.evidence.get("buffer_high_bytes") == high]
        parts.insert(0, f"{option} looks like {size_range(mostly(same, 'buffer_low_bytes') or 0, high)}")
    fastest = case.value("fastest_bytes_per_s")
    if fastest is not None:
        parts.append(f"its fastest second had {per_second(fastest)}")
    return "; ".join(parts)


def _is_sized(stall: Stall) -> bool:
    return any(stall.evidence.get(name) is not None for name in ("buffer_high_bytes", "fastest_bytes_per_s"))


def figure(stall: Stall) -> str:
    """The figure that matters most about one stall, short enough for a cell; empty where there is none."""
    evidence = stall.evidence
    match stall.cause:
        case Cause.ZERO_WINDOW:
            return _probes(evidence.get("window_probes"), evidence.get("probes_unanswered"))
        case Cause.IDLE_RESTART:
            before, after = evidence.get("cwnd_before_idle_segments"), evidence.get("cwnd_after_idle_segments")
            return "" if before is None or after is None else f"{number(before)} → {counted(after, 'segment')}"
    if (drain := evidence.get("drain_bytes_per_s")) is not None:
        return f"reads {per_second(drain)}"
    if (ceiling := evidence.get("ceiling_bytes_per_s")) is not None:
        return f"≤ {per_second(ceiling)}"
    return ""


def _probes(probes: int | None, unanswered: int | None) -> str:
    if not probes:
        return ""
    return counted(probes, "probe") + (f", {number(unanswered)} unanswered" if unanswered else "")
