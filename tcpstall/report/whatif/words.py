"""Changes, refusals and the model's own error in words."""

from collections.abc import Mapping, Sequence
from statistics import median

from tcpstall import _core
from tcpstall.change import CONTROLS
from tcpstall.service_times import Requests, after
from tcpstall.units import counted, duration, number, per_second, share, size
from tcpstall.whatif import NAMES, Change, Expected, Forecast, Outcome, Sizing, Times, Unpredicted

__all__ = [
    "REFUSALS",
    "UNOPENED",
    "bounded",
    "chance",
    "faster",
    "fidelity",
    "flows_told",
    "median_exchange",
    "named",
    "reasons",
    "refusal",
    "sized",
    "typical",
    "unlisted",
    "unpredicted",
    "waited",
    "written",
]

REFUSALS = {
    "no-handshake": "the handshake was not captured whole: start the capture before the connection",
    "one-direction": "packets of only one end were captured",
    "capture-gaps": "the capture lacks packets of it",
    "packets-left-out": "packets were left out of the capture while it was open, perhaps of it",
    "stall-limit": "it paused more often than is kept of a flow, so its later limits are unknown",
    "no-round-trip": "its round trip could not be measured",
    "no-data": "it carried no data",
    "too-long": "it is longer than what is replayed: {} segments of one flow, {} of all flows together, "
    "{} events of all replays of a flow".format(*map(number, _core.replay_limits())),
    "multipath": "it is one of several that share a window (Multipath TCP)",
    "does-not-fit": "the model does not reproduce it unchanged, so it cannot say what a change would do",
    "shared-line": "other flows between the same hosts filled the line too, and the replay of all of them is not what "
    "was captured",
    "hidden-limit": "the change reaches a limit of its sender that the capture does not show",
    "new-connections": "the model does not split a connection into several",
    "luck": "where the path's losses fall decides more than the change does",
    "unknown-control": "the capture does not show which congestion control its sender runs, and the change depends on "
    "that",
    "unknown-limit": "its data came at a pace of which the capture shows no cause, so the change may not lift it",
    "no-bottleneck": "no queue stood on the path, so its narrowest link is unknown: set rate= too",
    "hidden-queue": "the change fills the path's queue more than the capture shows, and losses there could outweigh it",
    "endless": "the replay with the change does not end",
}


UNOPENED = {
    "capture-changed": "its capture is gone or was changed since it was scanned",
    "not-found": "its captures do not hold it any more: scan them again",
}


def refusal(forecast: Forecast) -> str:
    """The reason for giving no prediction."""
    return REFUSALS.get(forecast.refused or "", forecast.refused or "")


def unpredicted(one: Unpredicted) -> str:
    """The changes, and the reason for giving no prediction of them."""
    return f"no prediction of {named(one.changes)}: {REFUSALS.get(one.refused, one.refused)}"


def written(change: Change) -> str:
    """As it would be typed after --set."""
    value = change.value
    if value is None:
        return f"{change.key}=auto"
    return f"{change.key}={_value(NAMES[change.name], value)}"


def _value(kind: str, value: int) -> str:
    if kind.endswith("span") and value:
        unit, step = next((unit, step) for unit, step in _STEPS if value % step == 0)
        return f"{value // step}{unit}"
    if kind in ("size", "depth") and value % 1024 == 0:
        return f"{value // 1024}K"
    if kind == "share" and value:
        return f"{value / 10_000:g}%"
    if kind == "control":
        return CONTROLS[value]
    if kind == "rate":
        return f"{value * 8 / 1e6:g}Mbit"
    return str(value)


_STEPS = (("s", 10**9), ("ms", 10**6), ("us", 10**3), ("ns", 1))


def median_exchange(exchanges: Sequence[Expected]) -> str:
    """The median exchange, and how many there are."""
    if not exchanges:
        return ""
    middle = round(median(exchange.expected_ns for exchange in exchanges))
    return duration(middle) if len(exchanges) == 1 else f"{duration(middle)} of {len(exchanges)}"


def named(changes: Sequence[Change]) -> str:
    """Changes that are made together."""
    return " ".join(written(change) for change in changes)


def fidelity(captured: Times, replayed: Times, without_pace: Times | None = None) -> str:
    """Distance of the unchanged replay from the capture, and the time without a pace that was fitted."""
    error = replayed.transfer_ns - captured.transfer_ns
    much = share(abs(error) / captured.transfer_ns) if captured.transfer_ns else ""
    return (
        f"captured {duration(captured.transfer_ns)}, replayed unchanged {duration(replayed.transfer_ns)}: "
        f"the model is off by {duration(error)}" + (f" ({much})" if much else "") + _paced(without_pace)
    )


def _paced(without: Times | None) -> str:
    if without is None:
        return ""
    known = duration(without.transfer_ns)
    return f", at a pace of unknown cause that was fitted to the capture; without that pace {known}"


def unlisted(forecast: Forecast) -> str:
    """The exchanges that no exchange's time contains; empty where all are kept."""
    if not forecast.exchanges_left_out:
        return ""
    kept = len(forecast.captured.exchanges_ns) if forecast.captured else 0
    return (
        f"only its first {counted(kept, 'exchange')} are kept: what is saved is of them, and "
        f"{counted(forecast.exchanges_left_out, 'more exchange')} are in the transfer alone"
    )


def waited(captured: Times, replayed: Times) -> str:
    """Sums of the exchanges, without the pauses between them; empty where none was captured."""
    if not captured.exchanges_ns:
        return ""
    own, played = sum(captured.exchanges_ns), sum(replayed.exchanges_ns)
    return f"of that its exchanges took {duration(own)}, replayed {duration(played)}"


def bounded(outcome: Outcome) -> str:
    """The reason for promising no more; empty where the replay gained no more than its causes own."""
    if not outcome.bounded:
        return ""
    return (
        f"{named(outcome.changes)}: its causes own {duration(outcome.owned_ns)}; the replay gained more, which is not "
        "promised"
    )


def chance(outcome: Outcome) -> str:
    """The reason for promising only an interval; empty where the losses do not decide."""
    if not outcome.by_chance:
        return ""
    span = outcome.transfer
    return (
        f"{named(outcome.changes)}: which packets are lost decides. Nine in ten such transfers take between "
        f"{duration(span.low_ns)} and {duration(span.high_ns)}; the median is no prediction of a single transfer"
    )


def typical(requests: Requests) -> str:
    """Latencies of a service's requests without a change, captured and replayed."""
    was, own = requests.captured, requests.replayed
    more = f"; {counted(requests.left_out, 'more request')} are not kept one by one" if requests.left_out else ""
    return (
        f"{counted(requests.count, 'request')}: median captured {duration(was.p50_ns)}, replayed "
        f"{duration(own.p50_ns)}; p95 captured {duration(was.p95_ns)}, replayed {duration(own.p95_ns)}{more}"
    )


def faster(requests: Requests, outcome: Outcome) -> str:
    """Latencies of a service's requests in the unchanged replay and with a change; empty without a request."""
    if (then := after(outcome)) is None:
        return ""
    before = (requests.replayed.p50_ns, requests.replayed.p95_ns)
    parts = (
        f"{name} of a request {duration(was)} → {_then(will, by_chance=outcome.by_chance)}"
        for name, was, will in zip(("median", "p95"), before, then, strict=True)
    )
    return f"{named(outcome.changes)}: {', '.join(parts)}"


def _then(will: Expected, *, by_chance: bool) -> str:
    bounds = f"between {duration(will.low_ns)} and {duration(will.high_ns)}"
    return f"{bounds}, by chance" if by_chance else f"{duration(will.expected_ns)} ({bounds})"


def reasons(without: Mapping[str, int]) -> list[str]:
    """Number of flows without a prediction, a line a reason."""
    return [
        f"without a prediction: {counted(flows, 'flow')}, {REFUSALS.get(word) or UNOPENED[word]}"
        for word, flows in without.items()
    ]


def sized(sizing: Sizing) -> str:
    """Sizes that one end's data needs, in a sentence; empty where unknown."""
    parts = []
    if sizing.bdp_bytes and sizing.rate_bytes_per_s and sizing.sndbuf_bytes:
        parts.append(
            f"{per_second(sizing.rate_bytes_per_s)} needs {size(sizing.bdp_bytes)} in flight: a window of as much, and "
            f"SO_SNDBUF {number(sizing.sndbuf_bytes)} if it must be set at all"
        )
    if sizing.largest_message_bytes and sizing.initcwnd_segments > 1:
        text = f"{size(sizing.largest_message_bytes)} at once: "
        if sizing.window_binds_first and sizing.first_window_bytes:
            text += f"an initcwnd above {sizing.initcwnd_segments} buys nothing, because the peer's first window of "
            text += f"{size(sizing.first_window_bytes)} binds"
        else:
            text += f"initcwnd {sizing.initcwnd_segments}"
        parts.append(text)
    return f"{sizing.sender}: " + "; ".join(parts) if parts else ""


def flows_told(told: int, every: int) -> str:
    """Number of flows with a prediction."""
    return counted(every, "flow") if told == every else f"{told} of {counted(every, 'flow')}"
