"""Changes between two captures, in sentences."""

from collections.abc import Callable, Iterator, Mapping

from tcpstall.causes import Cause
from tcpstall.diff import Change, Comparison, Facts, ServiceChange
from tcpstall.units import counted, duration, number, share, size

__all__ = ["headline", "left_out", "named", "sentence", "surroundings"]

_ALIKE = (0.8, 1.25)
"""Round trips and amounts of data within a quarter of each other count as equal."""

_LEAST_NS = 200_000
"""Round trips that differ by less are alike: hosts need so long."""


def headline(comparison: Comparison) -> str:
    """The largest change of the service where it is largest, else what else changed, else that nothing did."""
    found = comparison.overall.proven
    if not comparison.services:
        return "the captures have no service in common: nothing to compare"
    first = comparison.services[0]
    if first.proven and (not found or len(comparison.services) == 1):
        where = f"{named(first)}: " if len(comparison.services) > 1 else ""
        return where + _told(first)
    if found:
        return _told(comparison.overall)
    around = list(surroundings(comparison.overall))
    if around:
        return f"{'; '.join(around)}; no cause changed by more than that explains"
    return "nothing changed beyond what captures of the same thing differ by"


def _told(service: ServiceChange) -> str:
    most, *others = service.proven
    told = sentence(most, service)
    if others:
        more = "; ".join(_short(change) for change in others[:2])
        told += f"; {more}"
    around = list(surroundings(service))
    return told + (f"; besides, {', '.join(around)}" if around else "")


def _short(change: Change) -> str:
    name = change.cause.value
    if not change.good_ns:
        return f"{name} is new, {duration(change.bad_ns)} a flow"
    if not change.bad_ns:
        return f"{name} is gone, {duration(change.good_ns)} a flow before"
    way = _way(change.good_ns, change.bad_ns)
    return f"{name} {way} from {duration(change.good_ns)} to {duration(change.bad_ns)} a flow"


def sentence(change: Change, service: ServiceChange) -> str:
    """`cwnd-limited grew from 13.7 ms to 34.7 ms a flow: slow start from 10 instead of 100 segments`."""
    speak = _DETAILS.get(change.cause)
    detail = speak(service.good, service.bad) if speak else ""
    return f"{_short(change)}{f': {detail}' if detail else ''}"


def surroundings(service: ServiceChange) -> Iterator[str]:
    """Changes that are no cause: the round trip of the path, the amount of data."""
    good, bad = service.good, service.bad
    before, after = good.base_rtt_ns, bad.base_rtt_ns
    if before and after and abs(before - after) >= _LEAST_NS and not _alike(before, after):
        yield f"the round trip {_way(before, after)} from {duration(before)} to {duration(after)}"
    if good.flows and bad.flows and not _alike(good.bytes_of_flow, bad.bytes_of_flow):
        sizes = round(good.bytes_of_flow), round(bad.bytes_of_flow)
        yield f"a flow carries {size(sizes[1])} instead of {size(sizes[0])}"


def left_out(flows: int) -> str:
    """A warning about `flows` of one capture that are in no sum; empty where there are none."""
    if not flows:
        return ""
    those = "goes" if flows == 1 else "go"
    return f"warning: {counted(flows, 'flow')} {those} to services beyond the first 65,536, which are not compared"


def named(service: ServiceChange) -> str:
    """The service, by both captures where they differ."""
    if service.good_service is None:
        return "in all"
    if service.good_service == service.bad_service:
        return str(service.good_service)
    return f"{service.good_service} ↔ {service.bad_service}"


def _alike(good: float, bad: float) -> bool:
    if not good or not bad:
        return good == bad
    return _ALIKE[0] <= bad / good <= _ALIKE[1]


def _way(good: float, bad: float) -> str:
    return "grew" if bad > good else "fell"


def _slow_start(good: Facts, bad: Facts) -> str:
    before, after = good.initial_window_segments, bad.initial_window_segments
    if before is not None and after is not None and not _alike(before, after):
        return f"slow start from {number(after)} instead of {counted(before, 'segment')}"
    return _after_losses(good, bad) or _level(Cause.CWND_LIMITED, "the congestion window was full at {}", good, bad)


def _after_losses(good: Facts, bad: Facts) -> str:
    if good.repairs == bad.repairs or _alike(good.lost_share, bad.lost_share):
        return ""
    return f"{share(bad.lost_share)} instead of {share(good.lost_share)} of the data was sent again"


def _repairs(good: Facts, bad: Facts) -> str:
    each = [facts.repairs / max(1, facts.flows) for facts in (good, bad)]
    told = f"{each[1]:.3g} instead of {each[0]:.3g} repairs of losses a flow"
    again = _after_losses(good, bad)
    return f"{told}, {again}" if again else told


def _send_buffer(good: Facts, bad: Facts) -> str:
    return _level(Cause.SNDBUF_LIMITED, "the send buffer was full at {} in flight", good, bad)


def _window(good: Facts, bad: Facts) -> str:
    return _level(Cause.RWND_LIMITED, "the receive window was full at {}", good, bad)


def _level(cause: Cause, what: str, good: Facts, bad: Facts) -> str:
    """The clause about a level and its change, which `what` has a place for."""
    before, after = good.levels.get(cause), bad.levels.get(cause)
    if before is not None and after is not None:
        return "" if _alike(before, after) else what.format(f"{size(after)} instead of {size(before)}")
    if after is not None:
        return what.format(size(after))
    return "" if before is None else f"{what.format(size(before))} before"


_DETAILS: Mapping[Cause, Callable[[Facts, Facts], str]] = {
    Cause.CWND_LIMITED: _slow_start,
    Cause.SNDBUF_LIMITED: _send_buffer,
    Cause.RWND_LIMITED: _window,
    Cause.RETRANSMISSION: _repairs,
}
