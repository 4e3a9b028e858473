"""Whose time a wait was: the path's, the sender's host's or the receiver's host's.

Each moment of a wait has one owner. A packet under way is the path's time, and so is all time from the sending of a
packet that was lost between the taps until its repair arrived: without the loss neither the sender's timer nor the
receiver's duplicate ACKs would have been needed. A host owns what it took beyond.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from tcpstall.causes import Cause

__all__ = ["OF_THE_SENDER", "Losses", "Packets", "Share", "Span", "Spans", "share"]

_SAME_MOMENT_NS = 200_000
"""A wait begins with the packet before it: two taps' and the rules' moments differ by no more than stamping does."""

Span: TypeAlias = tuple[int, int]

OF_THE_SENDER = frozenset({Cause.APP_LIMITED, Cause.PACING, Cause.BURST_LIMITED})
"""The sender had nothing to send, or held it back by itself: no loss made it wait."""

_TIMED = frozenset({Cause.RETRANSMISSION, Cause.HANDSHAKE})
"""The sender waited for an answer until its timer sent something again."""


class Spans:
    """Stretches of time, in their order, none of which overlaps another."""

    def __init__(self, spans: Iterable[Span] = ()) -> None:
        self._begins: list[int] = []
        self._ends: list[int] = []
        for begin, end in spans:
            self._begins.append(begin)
            self._ends.append(end)

    def within(self, span: Span) -> Iterator[Span]:
        """The parts of them that lie in a span."""
        begin, end = span
        for at in range(bisect_right(self._ends, begin), bisect_left(self._begins, end)):
            yield max(self._begins[at], begin), min(self._ends[at], end)


_NONE = Spans()


@dataclass(frozen=True, slots=True)
class Losses:
    """From the sending of what one end lost between the taps until it had arrived: bytes, and what ACKs said."""

    data: Spans = _NONE
    acks: Spans = _NONE


class Packets:
    """Times at which packets of one end that both taps saw were sent and arrived, by the client side's clock."""

    def __init__(self, sent: Sequence[int], took: Sequence[int], sizes: Sequence[int]) -> None:
        flights = sorted(zip(sent, took, strict=True))
        self.sent = [time for time, _ in flights]
        self.landed = [time + delay for time, delay in flights]
        """Arrival of each of `sent`."""
        arrivals = sorted((time + delay, time) for time, delay in flights)
        self.arrived = [time for time, _ in arrivals]
        self.left = [time for _, time in arrivals]
        """Sending of each of `arrived`."""
        self.data_sent = sorted(time for time, size in zip(sent, sizes, strict=True) if size)

    def __bool__(self) -> bool:
        return bool(self.sent)


@dataclass(frozen=True, slots=True)
class Share:
    """A wait's owners, which sum to it; of the network's time what passed until losses were repaired."""

    network_ns: int
    sender_ns: int
    receiver_ns: int
    loss_ns: int


@dataclass(frozen=True, slots=True)
class _Parts:
    """A wait along the way of what ended it, without what was lost.

    The sender repeated what it had sent until `begun`. That arrived, and the answer left the receiver, and came. What
    follows the answer is the sender's. Without an answer all of the wait is.
    """

    start: int
    begun: int
    arrived: int
    left: int
    came: int
    end: int

    @property
    def under_way(self) -> tuple[Span, Span]:
        return (self.begun, self.arrived), (self.left, self.came)


def share(
    start: int,
    end: int,
    cause: Cause,
    packets: tuple[Packets, Packets],
    losses: tuple[Losses, Losses],
    receiver_waits: Spans,
) -> Share:
    """The owners of a sender's wait.

    `packets` and `losses` are the sender's own and the receiver's; `receiver_waits` are those waits of the receiver
    that were its own doing, by the tap near it.
    """
    parts = _parts(start, end, *packets)
    own, theirs = losses
    all_data, everything = (own.data, theirs.data), (own.data, theirs.data, own.acks, theirs.acks)
    held_up = all_data if cause in OF_THE_SENDER else everything
    before, after = (parts.start, parts.begun), (parts.came, parts.end)
    lost_before = _found(before, (own.data, theirs.data, theirs.acks))
    lost_after = [] if cause in OF_THE_SENDER else _found(after, everything)
    answering = (parts.arrived, parts.left)
    theirs_lost = (theirs.data, own.acks) if cause in OF_THE_SENDER else (theirs.data, own.acks, theirs.acks)
    lost_between = _united([*_found(answering, (own.data,)), *_without(_found(answering, theirs_lost), receiver_waits)])
    waiting = _under_way(parts, *packets) if cause in _TIMED else ()
    sender_parts = [*lost_before, *lost_after]
    moving = [clipped for span in waiting for part in (before, after) for clipped in _clipped(span, part)]
    of_sender = _length(_united([*sender_parts, *moving]))
    of_receiver = _length(lost_between)
    travel = sum(stop - begin for begin, stop in parts.under_way)
    lost_under_way = sum(_length(_found(span, held_up)) for span in parts.under_way)
    network = travel + of_sender + of_receiver
    receiver = parts.left - parts.arrived - of_receiver
    return Share(
        network_ns=network,
        sender_ns=end - start - network - receiver,
        receiver_ns=receiver,
        loss_ns=lost_under_way + _length(sender_parts) + of_receiver,
    )


def _parts(start: int, end: int, own: Packets, answers: Packets) -> _Parts:
    """Follows the last answer within a wait back to what it answered."""
    answer = bisect_right(answers.arrived, end + _SAME_MOMENT_NS) - 1
    if answer < 0 or answers.arrived[answer] <= start + _SAME_MOMENT_NS:
        return _Parts(start, start, start, start, start, end)
    came = min(answers.arrived[answer], end)
    left = min(max(answers.left[answer], start), came)
    again = bisect_right(own.data_sent, left) - 1
    begun = min(max(start, own.data_sent[again]), left) if again >= 0 else start
    last = bisect_right(own.sent, begun + _SAME_MOMENT_NS) - 1
    arrived = min(max(own.landed[last], begun), left) if last >= 0 else begun
    return _Parts(start, begun, arrived, left, came, end)


def _under_way(parts: _Parts, own: Packets, answers: Packets) -> Iterator[Span]:
    """The packet before a wait and the answer to it while they are on the path: a timer may expire meanwhile."""
    last = bisect_right(own.sent, parts.start + _SAME_MOMENT_NS) - 1
    if last < 0 or own.sent[last] < parts.start - _SAME_MOMENT_NS:
        return
    yield own.sent[last], own.landed[last]
    reply = bisect_left(answers.sent, own.landed[last])
    if reply < len(answers.sent):
        yield answers.sent[reply], answers.landed[reply]


def _found(span: Span, among: Iterable[Spans]) -> list[Span]:
    return _united([part for spans in among for part in spans.within(span)])


def _clipped(span: Span, part: Span) -> Iterator[Span]:
    begin, end = max(span[0], part[0]), min(span[1], part[1])
    if begin < end:
        yield begin, end


def _without(spans: Iterable[Span], taken: Spans) -> Iterator[Span]:
    """Parts of some stretches that lie outside others."""
    for begin, end in spans:
        at = begin
        for left, right in taken.within((begin, end)):
            if at < left:
                yield at, left
            at = max(at, right)
        if at < end:
            yield at, end


def _united(spans: Iterable[Span]) -> list[Span]:
    """The same moments, each once."""
    united: list[Span] = []
    for begin, end in sorted(spans):
        if united and begin <= united[-1][1]:
            united[-1] = united[-1][0], max(united[-1][1], end)
        else:
            united.append((begin, end))
    return united


def _length(spans: Iterable[Span]) -> int:
    return sum(end - begin for begin, end in spans)
