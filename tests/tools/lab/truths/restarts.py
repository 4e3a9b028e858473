"""Restarts: the kernel lowered its congestion window because the connection had been idle; and the climb back."""

from typing import Any

from tests.tools.lab.hosts.series import Series
from tests.tools.lab.truths.moments import OPEN, Moment
from tests.tools.lab.truths.wire import Wire

_NEAR = 0.8
"""A window that is back at this share of its old value no longer owes its size to the restart alone."""


def idle_restarts(series: Series, wire: Wire) -> list[dict[str, Any]]:
    """Each sample with a smaller window than the one before, which had nothing in flight and no loss to repair.

    A sample may fall between the first segments after the idle and the window's fall: the one before it counts then.
    """
    found = []
    for index in range(1, len(series)):
        before, after = series.row(index - 1), series.row(index)
        if (
            after["cwnd"] >= before["cwnd"]
            or not _was_idle(series, index - 1)
            or before["ca_state"] != OPEN
            or after["ca_state"] != OPEN
        ):
            continue
        if after["total_retrans"] != before["total_retrans"] and not before["backoff"]:
            continue
        sent = [one.t for one in wire.sent if one.t < after["t"] - 1e-3]
        found.append(
            {
                "t": after["t"],
                "idle_s": round(after["t"] - sent[-1], 3) if sent else None,
                "cwnd_before": before["cwnd"],
                "cwnd_after": after["cwnd"],
            }
        )
    return found


def _was_idle(series: Series, index: int) -> bool:
    """Nothing was in flight at that sample, or at the one before it, with the same window."""
    now, earlier = series.row(index), series.row(max(0, index - 1))
    return not now["unacked"] or (not earlier["unacked"] and earlier["cwnd"] == now["cwnd"])


def ramp(restarts: list[dict[str, Any]], state: dict[str, Any], t: float) -> Moment | None:
    """Label of a full congestion window at t: the price of a restart until the window is near its old value."""
    last = next((one for one in reversed(restarts) if one["t"] <= t + 1e-3), None)
    if last is None or state["cwnd"] >= last["cwnd_before"]:
        return None
    if state["cwnd"] < _NEAR * last["cwnd_before"]:
        return Moment("idle-restart", "", ("cwnd",))
    return Moment("cwnd", "", ("idle-restart",))
