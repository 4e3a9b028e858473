"""The most that a change may be said to save, told from the ledger by itself: what its causes own, and nothing else."""

from collections.abc import Iterator, Sequence

from tcpstall.causes import Cause
from tcpstall.whatif import Expected, Forecast, Outcome

LIFTED: dict[str, frozenset[str]] = {
    "initcwnd": frozenset({Cause.CWND_LIMITED, Cause.IDLE_RESTART}),
    "sndbuf": frozenset({Cause.SNDBUF_LIMITED, Cause.CWND_LIMITED}),
    "rcvbuf": frozenset({Cause.RWND_LIMITED, Cause.ZERO_WINDOW}),
    "slow-start-after-idle": frozenset({Cause.IDLE_RESTART, Cause.SNDBUF_LIMITED}),
    "nodelay": frozenset({Cause.NAGLE, Cause.DELAYED_ACK}),
    "delayed-ack": frozenset({Cause.NAGLE, Cause.DELAYED_ACK}),
    "reuse-connection": frozenset({Cause.HANDSHAKE, Cause.CWND_LIMITED, Cause.RWND_LIMITED, Cause.SNDBUF_LIMITED}),
    "loss": frozenset({Cause.RETRANSMISSION, Cause.HANDSHAKE, Cause.CWND_LIMITED}),
    "think": frozenset({Cause.APP_LIMITED, "in-transit"}),
    "rate": frozenset({Cause.BANDWIDTH_LIMITED, "sending"}),
}
"""Owners of time by the change that takes it from them; of a pause the ledger takes a round trip for travel."""

ALONE = frozenset({Cause.APP_LIMITED, Cause.CAPTURE_GAP})
"""Owners whose time has no round trip in it."""

_ROUNDING_NS = 1_000


MEASURED = frozenset({"initcwnd", "reuse-connection", "loss"})
"""Changes of a window that a pace by measured rates, as BBR's, follows."""


def owned_ns(forecast: Forecast, outcome: Outcome, *, measured: bool = False) -> int:
    """Time that the causes own which the changes address; `measured`: the sender paces by the rate that it measures."""
    ledger = forecast.flow.time_ns
    if any(change.name == "rtt" for change in outcome.changes):
        captured = forecast.captured
        whole = max(captured.transfer_ns, sum(captured.exchanges_ns)) if captured else 0
        return max(0, whole - sum(ledger.get(owner, 0) for owner in ALONE))
    owners = frozenset[str]().union(*(LIFTED[change.name] for change in outcome.changes))
    if measured and MEASURED & {change.name for change in outcome.changes}:
        owners |= {Cause.PACING, "sending"}
    return sum(span for owner, span in ledger.items() if owner in owners)


def broken_promises(forecast: Forecast, *, measured: bool = False) -> Iterator[str]:
    """Promises of a forecast beyond that time, a line each."""
    if forecast.captured is None or forecast.replayed is None:
        return
    for outcome in forecast.outcomes:
        names = " ".join(f"{change.name}={change.value}" for change in outcome.changes)
        owned = owned_ns(forecast, outcome, measured=measured)
        if outcome.owned_ns > owned:
            yield f"{names}: said to be bounded by {outcome.owned_ns} ns, where its causes own {owned}"
        gains = {
            "saved": outcome.saved_ns,
            "transfer": _gain([forecast.captured.transfer_ns], [outcome.transfer]),
            "exchanges": _gain(forecast.captured.exchanges_ns, outcome.exchanges),
            "replayed transfer": _gain([forecast.replayed.transfer_ns], [outcome.transfer]),
            "replayed exchanges": _gain(forecast.replayed.exchanges_ns, outcome.exchanges),
        }
        for what, gain in gains.items():
            if gain > owned + _ROUNDING_NS:
                yield f"{names}: {what} {gain / 1e6:.3f} ms less, of {owned / 1e6:.3f} ms that its causes own"
        if outcome.saved_ns > max(forecast.captured.transfer_ns, forecast.replayed.transfer_ns):
            yield f"{names}: {outcome.saved_ns / 1e6:.3f} ms saved of a shorter transfer"


def _gain(before: Sequence[int], after: Sequence[Expected]) -> int:
    return sum(before) - sum(span.expected_ns for span in after)
