"""Cost of a limit and the size that lifts it, in figures: buffers, readers, shut windows, idle restarts."""

from collections.abc import Sequence

from tcpstall.causes import Cause
from tcpstall.facts import mostly
from tcpstall.model import Stall
from tcpstall.units import counted, number, per_second, size, size_range

__all__ = ["figure", "lifting"]

_OPTIONS = {Cause.RWND_LIMITED: "SO_RCVBUF", Cause.SNDBUF_LIMITED: "SO_SNDBUF"}


def lifting(stalls: Sequence[Stall]) -> str:
    """The buffer's inferred size and the needed one, to follow the advice; empty where both are unknown."""
    option = _OPTIONS.get(stalls[0].cause)
    sized = [stall for stall in stalls if stall.evidence.get("buffer_high_bytes") is not None]
    if option is None:
        return ""
    if not sized:
        return _unsized(stalls)
    high = mostly(sized, "buffer_high_bytes")
    # The other figures belong to the same plateau.
    same = [stall for stall in sized if stall.evidence.get("buffer_high_bytes") == high]
    low, needed, rate = (
        mostly(same, name) for name in ("buffer_low_bytes", "buffer_needed_bytes", "needed_bytes_per_s")
    )
    looks = f"{option} looks like {size_range(low or 0, high or 0)}"
    if needed is None:
        return f"{looks}; {unsized}" if (unsized := _unsized(same)) else looks
    return f"{looks}; the path needs {size(needed)}{f' for {per_second(rate)}' if rate is not None else ''}"


def _unsized(stalls: Sequence[Stall]) -> str:
    """The reason for suggesting no size, where its rates were out of the flow's reach."""
    fastest = mostly(stalls, "fastest_bytes_per_s")
    if fastest is None:
        return ""
    return (
        f"no size is suggested: the flow never came near what that allows, its fastest second had {per_second(fastest)}"
    )


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
