"""The views of two taps, in sentences."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, get_args

from tcpstall.causes import Cause
from tcpstall.model import Side
from tcpstall.pair import Ends, Event, PairedFlow, Wait
from tcpstall.units import counted, duration, exact, number, percent

__all__ = [
    "alignment",
    "changed",
    "diagnosis",
    "disagreement",
    "happened",
    "headline",
    "held_ns",
    "in_all",
    "uncaptured",
]

_SENDERS: tuple[Side, ...] = get_args(Side)

_LEAST_OFFSET_NS = 100_000
"""Clocks nearer than this are said to agree: stamping and unequal ways are of that order."""


def headline(flow: PairedFlow, ends: Ends) -> str:
    """The flow's main cause with whose time it was, the loss between the taps, and the ways' delays."""
    rank = f" (flow {flow.id}, worst of {len(ends.flows)})" if len(ends.flows) > 1 else ""
    told = [_waited(flow), _lost(flow), _delays(flow)]
    return f"{flow.end('client')} → {flow.end('server')}{rank}: {'; '.join(part for part in told if part)}"


def _waited(flow: PairedFlow) -> str:
    waits: Sequence[Wait] = flow.both.of_near()
    if not waits:
        return "nobody waited"
    waits = [wait for wait in waits if wait.cause is not Cause.APP_LIMITED] or waits
    sums: Counter[tuple[Side, str]] = Counter()
    for wait in waits:
        sums[wait.sender, wait.cause.value] += wait.duration_ns
    (sender, cause), spent_ns = sums.most_common(1)[0]
    own = [wait for wait in waits if (wait.sender, wait.cause.value) == (sender, cause)]
    return f"the {sender} waited {duration(spent_ns)} in all as {cause}{_whose(own)}"


def _whose(waits: Sequence[Wait]) -> str:
    """`, 92 % of it the network's time (80 % until lost packets were repaired)`."""
    known = [wait for wait in waits if wait.network_ns is not None]
    spent_ns = sum(wait.duration_ns for wait in known)
    if not spent_ns:
        return ""
    receiver: Side = "server" if known[0].sender == "client" else "client"
    owners = {
        "the network": sum(wait.network_ns or 0 for wait in known),
        f"the {known[0].sender}": sum(wait.sender_ns or 0 for wait in known),
        f"the {receiver}": sum(wait.receiver_ns or 0 for wait in known),
    }
    owner, part = max(owners.items(), key=lambda item: item[1])
    loss_ns = sum(wait.loss_ns or 0 for wait in known)
    repaired = f" ({percent(loss_ns, spent_ns)} until lost packets were repaired)" if loss_ns else ""
    return f", {percent(part, spent_ns)} of it {owner}'s time{repaired if owner == 'the network' else ''}"


def _lost(flow: PairedFlow) -> str:
    parts = []
    for sender in _SENDERS:
        way = flow.way(sender)
        if way["lost_segments"]:
            parts.append(f"{counted(way['lost_segments'], 'packet')} of the {sender} lost between the taps")
    beyond = any(flow.way(sender)["outside_packets"] for sender in _SENDERS)
    return " and ".join(parts) or f"nothing lost between the taps{', as far as both captures reach' if beyond else ''}"


def _delays(flow: PairedFlow) -> str:
    delays = [flow.way(sender)["delay"] for sender in _SENDERS]
    told = [
        f"{exact(delay['least_ns'])} {where}"
        for where, delay in zip(("to the server", "back"), delays, strict=True)
        if delay
    ]
    return f"at least {', '.join(told)}" if told else ""


def held_ns(flow: PairedFlow) -> int:
    """Time that the senders waited for anything but their applications, by the taps near them."""
    return sum(wait.duration_ns for wait in flow.both.of_near() if wait.cause is not Cause.APP_LIMITED)


def in_all(ends: Ends) -> Iterator[str]:
    """The flows added up, where there are several."""
    if len(ends.flows) < 2:
        return
    sums: Counter[str] = Counter()
    for flow in ends.flows:
        for sender in _SENDERS:
            for name in ("lost_segments", "duplicated_packets", "reordered_packets"):
                sums[name] += flow.way(sender)[name]
    waits = [wait for flow in ends.flows for wait in flow.both.waits]
    agreed = sum(wait.agreed for wait in waits)
    lost, twice, late = (sums[name] for name in ("lost_segments", "duplicated_packets", "reordered_packets"))
    yield (
        f"{counted(len(ends.flows), 'flow')} in both captures: {counted(lost, 'packet')} lost between the taps, "
        f"{number(twice)} came twice, {number(late)} late; the views agree on {number(agreed)} of "
        f"{counted(len(waits), 'wait')}"
    )


def alignment(ends: Ends) -> Iterator[str]:
    """Offset and drift of the clocks, with the evidence for them."""
    clock = ends.clock
    if ends.swapped:
        yield "the captures were given in the other order: the second was taken nearer to the clients"
    match clock.alignment:
        case "same-clock":
            yield "both captures are taken to have one clock"
        case "both-ways":
            yield (
                f"clocks: {_lead(clock.offset_ns)}{_drift(clock.drift_ppm, clock.drift_uncertainty_ppm)}; the least "
                f"round trip between the taps, {exact(clock.least_round_trip_ns or 0)}, is split in half, as no packet "
                "tells which way is the longer (--same-clock if both captures have one clock)"
            )
        case "one-way":
            yield "clocks: packets that both taps saw went one way only: delays are those above the least"
        case "stepped":
            yield "clocks: no straight line lies between the packets of both ways, so one was set meanwhile: no delays"
        case _:
            yield "clocks: no packet can be told to be the same at both taps: no delays"


def _lead(offset_ns: int) -> str:
    if abs(offset_ns) < _LEAST_OFFSET_NS:
        return "they agree" if offset_ns == 0 else f"they agree within {exact(abs(offset_ns))}"
    return f"the server side's is {exact(abs(offset_ns))} {'ahead' if offset_ns > 0 else 'behind'}"


def _drift(ppm: float, uncertainty_ppm: float | None) -> str:
    if not ppm:
        return ""
    about = f" (± {uncertainty_ppm:.1f})" if uncertainty_ppm is not None else ""
    return f" and {'gains' if ppm > 0 else 'loses'} {abs(ppm):.1f} ppm{about}"


def uncaptured(ends: Ends) -> Iterator[str]:
    """Flows and packets that only one capture holds."""
    for side, count in zip(("client", "server"), ends.unmatched, strict=True):
        if count:
            yield f"the {side} side's capture holds {counted(count, 'flow')} that the other does not"
    if ends.rewritten:
        yield (
            f"{counted(ends.rewritten, 'flow')} of them look alike but for their sequence numbers, which something in "
            "between rewrites: cannot tell whether they are the same"
        )
    for side, count in zip(("client", "server"), ends.left_out, strict=True):
        if count:
            yield f"the {side} side's capture is too long: {counted(count, 'packet')} at its end were left out"
    if ends.events_dropped:
        yield f"{number(ends.events_dropped)} losses and the like are counted but not listed"


_FIELDS = {
    "mss": "MSS",
    "window-scale": "window scale",
    "timestamps": "timestamps",
    "sack-permitted": "SACK-permitted",
    "multipath": "the multipath option",
}
_COUNTED = {"mss", "window-scale"}


def changed(flow: PairedFlow) -> Iterator[str]:
    """Fields rewritten between the taps, and packets that either capture missed."""
    for side in _SENDERS:
        if flow.end(side, 0) != flow.end(side, 1):
            yield f"the {side} is {flow.end(side, 0)} on the client side and {flow.end(side, 1)} on the server side"
    if flow.row["matched_by"] == "packets":
        yield "no SYN in both captures: recognised by its packets' numbers and timestamps"
    for sender in _SENDERS:
        way = flow.way(sender)
        for change in way["syn_changes"]:
            what = _change(change["field"], change["sent"], change["seen"])
            yield f"{_FIELDS[change['field']]} in the {sender}'s SYN {what}"
        if way["timestamps_stripped"]:
            yield f"timestamps of the {sender}'s packets were taken out on the way"
        if way["windows_rewritten"]:
            yield f"{counted(way['windows_rewritten'], 'ACK')} of the {sender} came with another window"
        if way["ip_ids_rewritten"]:
            yield f"{counted(way['ip_ids_rewritten'], 'packet')} of the {sender} came with another IP identification"
        yield from _missed(way, sender)


def _missed(way: Mapping[str, Any], sender: Side) -> Iterator[str]:
    told = {
        "missed_by_receiving_tap": "arrived, as ACKs show, but the receiving side's capture missed them",
        "missed_by_sending_tap": "arrived that the sending side's capture missed",
        "outside_packets": "passed one tap before the other capture began, or after it ended: no loss can be told",
        "copied_by_capture": "stand twice in the sending side's capture",
    }
    for name, what in told.items():
        if way[name]:
            yield f"{counted(way[name], 'packet')} of the {sender}: {what}"


def _change(field: str, sent: int | None, seen: int | None) -> str:
    if sent is None:
        return "was put in on the way"
    if seen is None:
        return "was taken out on the way"
    return f"was changed on the way from {number(sent)} to {number(seen)}" if field in _COUNTED else "was changed"


def diagnosis(flow: PairedFlow) -> Iterator[str]:
    """A line an end: what it waited for by the tap near it, and whose time that was, most first."""
    for sender in _SENDERS:
        own = [wait for wait in flow.both.of_near() if wait.sender == sender]
        causes: dict[Cause, list[Wait]] = {}
        for wait in own:
            causes.setdefault(wait.cause, []).append(wait)
        ranked = sorted(causes.items(), key=lambda item: -sum(wait.duration_ns for wait in item[1]))
        told = [
            f"{duration(sum(wait.duration_ns for wait in waits))} {cause.value}{_whose(waits)}"
            for cause, waits in ranked
        ]
        if told:
            yield f"the {sender} waited {'; '.join(told)}"


def disagreement(flow: PairedFlow) -> str:
    """Waits on which the two taps disagree, by time."""
    waits = flow.both.waits
    apart = [wait for wait in waits if not wait.agreed]
    spent_ns, apart_ns = (sum(wait.duration_ns for wait in some) for some in (waits, apart))
    if not apart:
        return f"both views give all {counted(len(waits), 'wait')} the same cause"
    kinds: Counter[str] = Counter()
    for wait in apart:
        near, far = (stall.cause.value if stall else "no wait" for stall in (wait.near, wait.far))
        kinds[f"{near} by the near tap, {far} by the other"] += wait.duration_ns
    told = "; ".join(f"{duration(span)} {kind}" for kind, span in kinds.most_common(3))
    some = f"{number(len(apart))} of {counted(len(waits), 'wait')}, {duration(apart_ns)} of {duration(spent_ns)}"
    return f"the views differ on {some}: {told}"


def happened(event: Event) -> str:
    """Consequence of the event."""
    match event.kind:
        case "lost":
            if event.repair_sent_packet is None:
                return "nothing that was sent again arrived" if event.bytes else "an ACK"
            arrived = "" if event.repair_seen_packet is None else f", arrived as {number(event.repair_seen_packet)}"
            return f"sent again as {number(event.repair_sent_packet)}{arrived}"
        case "missed":
            return "arrived, but was not captured"
        case "unsent":
            return "not captured where it was sent"
        case "duplicated":
            return "came twice"
    return f"{exact(event.late_ns or 0)} after what overtook it"
