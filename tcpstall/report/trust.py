"""Trust in the labels, one line per capture or flow; nothing where nothing is missing."""

from collections.abc import Iterator, Sequence

from tcpstall.model import Capture, Flow
from tcpstall.trust import CaptureTrust
from tcpstall.units import counted, number, share

__all__ = ["TOLD", "doubts", "short_doubts"]

TOLD = frozenset({"unseen-data", "clock-steps", "options-cut"})
"""Codes of warnings that the line about a capture words itself."""

_UNSEEN_MATTERS = 0.001
"""Below this share hardly a round of ten segments in a hundred is touched."""

_WHY = {
    "one-sided": "only one end's packets are in the capture",
    "handshake-missing": "it began before the capture, so that which end is the client is a guess",
    "handshake-partial": "its handshake is not whole in the capture",
    "scale-unknown": "a window scale is not known",
    "scale-inferred": "a window scale is inferred",
    "options-cut": "TCP options are cut off",
    "data-unseen": "{unseen} of its data was acknowledged but is not in the capture",
    "window-overrun": "more was in flight than its windows allow, so ACKs are missing or a middlebox changed a SYN",
    "acks-unseen": "some of its data was acknowledged by ACKs that are not in the capture",
    "packets-left-out": "packets are missing where files or lines were left out",
    "clock-stepped": "packets are stamped earlier than those before them",
    "vantage-unknown": "no round trip tells where it was taken",
}

_ADVICE = {
    "one-sided": "capture both directions",
    "unseen": "capture with a larger buffer (tcpdump -B 65536) and headers only (-s 128)",
    "handshake": "start the capture before the connection",
    "options": "keep 128 bytes of each packet (tcpdump -s 128)",
    "left-out": "attach the whole capture",
    "clock": "sort by time (reordercap), or stop setting the clock meanwhile",
}


_VERBS = {"have": "has", "show": "shows", "lack": "lacks"}


def doubts(capture: Capture) -> Iterator[str]:
    """A line with the gaps of the capture, and a line with the advice for the next one."""
    trust = capture.trust
    found = [(what, advice) for what, advice in _missing(trust) if what]
    if not found:
        return
    place = [f"taken {trust.vantage}"] if trust.vantage else []
    yield _sentence([*place, *(what for what, _ in found)])
    if better := list(dict.fromkeys(_ADVICE[advice] for _, advice in found if advice)):
        yield f"→ next time: {'; '.join(better)}"


def short_doubts(flow: Flow) -> str:
    """`trust low: it began before the capture; a window scale is not known`; empty for a flow that lacks nothing."""
    trust = flow.trust
    if trust.level == "high":
        return ""
    unseen = _part(trust.unseen_share)
    why = [_WHY.get(reason, reason.replace("-", " ")).format(unseen=unseen) for reason in trust.reasons]
    return f"trust {trust.level}: {'; '.join(why)}"


def _missing(trust: CaptureTrust) -> Iterator[tuple[str, str]]:
    """The gaps and the advice for them."""
    if (trust.unseen_share or 0) >= _UNSEEN_MATTERS:
        yield f"{_part(trust.unseen_share)} of the data was acknowledged but is not in the capture", "unseen"
    yield _of(trust.flows_without_handshake, trust, "began before it"), "handshake"
    yield _of(trust.flows_partial_handshake, trust, "{lack} part of the handshake"), "handshake"
    yield _of(trust.flows_one_sided, trust, "{show} one end only"), "one-sided"
    yield _of(trust.flows_options_cut, trust, "{have} TCP options cut off"), "options"
    yield _of(trust.flows_left_out, trust, "{have} packets left out"), "left-out"
    yield _of(trust.flows_clock_stepped, trust, "{have} packets stamped earlier than those before"), "clock"
    if trust.duplicates_removed:
        copies = "copy" if trust.duplicates_removed == 1 else "copies"
        yield f"{number(trust.duplicates_removed)} {copies} of packets left out of account", ""


def _of(count: int, trust: CaptureTrust, what: str) -> str:
    """`2 of 14 flows began before it`; `the flow began before it` of a single one."""
    if not count:
        return ""
    several = count > 1
    verbs = {verb: verb if several else singular for verb, singular in _VERBS.items()}
    who = "the flow" if trust.flows == 1 else f"{number(count)} of {counted(trust.flows, 'flow')}"
    if count == trust.flows > 1:
        who = "both flows" if count == 2 else f"all {counted(count, 'flow')}"
    return f"{who} {what.format(**verbs)}"


def _part(part: float | None) -> str:
    """A share with a decimal where a whole number would say little: `0.4 %`, `3 %`."""
    return f"{part * 100:.1f} %" if part and part < 0.1 else share(part or 0.0)


def _sentence(parts: Sequence[str]) -> str:
    joined = "; ".join(parts)
    return joined[0].upper() + joined[1:]
