"""The way from a capture that goes on to a state after each interval, in memory that stays bounded."""

import time
from collections.abc import Callable, Iterator
from typing import Protocol

from tcpstall import _core
from tcpstall.labels import read_label
from tcpstall.live.feed import Feed
from tcpstall.live.ring import Ring
from tcpstall.live.state import TOP, Interval, State, continued, served
from tcpstall.live.tcpdump import Counts
from tcpstall.model import Capture

__all__ = ["Following"]

_MOST_PAST = 10_000
"""Waits and exchanges of open connections that are remembered, some kilobytes each: all are judged each interval."""

_QUIET_NS = 600 * 10**9
"""Services without a segment for so long leave the list."""

_PATIENCE_S = 5
"""A capture that was stopped ends in less."""

_CHUNK = 10_000
"""Rows handed over at once, about 10 kB each."""


class Capturing(Protocol):
    """A source of packets: see Tcpdump."""

    pipe: int
    counts: Counts

    def ask(self) -> None:
        """Counts are those of now."""

    def stop(self) -> None:
        """The pipe ends."""

    def finish(self) -> None:
        """Counts are those of all."""


class Following:
    """Reads a capture interval by interval. What is over is added up and let go; what is open is read on.

    The past of connections that are open for long is let go too: what they do from then on is a further part of them.
    """

    def __init__(
        self, capture: Capturing, *, interface: str, every_ns: int, for_ns: int | None = None, ring: Ring | None = None
    ) -> None:
        """`every_ns` is an interval's length; after `for_ns` the capture is stopped, None: when somebody stops it."""
        self._capture = capture
        self._name = interface
        self._every_ns = every_ns
        self._ends = None if for_ns is None else time.monotonic() + for_ns / 1e9
        self._feed = Feed(capture.pipe, None if ring is None else ring.keep)
        self._over = _core.Totals(TOP)
        """Flows that are over, and parts of flows."""
        self._stream: bytes | None = None

    def states(self) -> Iterator[State]:
        """A state after each interval; the last one when the capture has ended. Raises OSError where the ring fails."""
        before: State | None = None
        while not self._feed.ended:
            self._feed.interval(self._seconds())
            before = self._after_interval(before)
            yield before
        if self._feed.failed is not None:
            raise self._feed.failed

    def _seconds(self) -> float:
        """Length of the next interval; the capture is stopped where its time is over."""
        left = float("inf") if self._ends is None else self._ends - time.monotonic()
        if left <= 0:
            self._capture.stop()
            return _PATIENCE_S
        return min(left, self._every_ns / 1e9)

    def _after_interval(self, before: State | None) -> State:
        now = self._over.copy()

        def add(report: _core.Report) -> None:
            now.add(report)
            self._over.add(report, whole=False)

        status = self._read(add)
        if self._feed.ended:
            if self._feed.failed is not None:
                self._capture.stop()
            self._capture.finish()
        else:
            self._capture.ask()
        capture = continued(before.capture if before else None, status, now, self._capture.counts)
        self._over.end_flows()
        if capture.last_ns is not None:
            self._over.forget_services(capture.last_ns - _QUIET_NS)
        known = {(one.address, one.port): one for one in before.services} if before else {}
        services = tuple(served(now, known))
        return State(capture, self._capture.counts, now, services, _added(now, capture, before), self._every_ns)

    def _read(self, each: Callable[[_core.Report], None]) -> _core.CaptureStatus:
        """Reads the interval behind those before it."""
        names = _core.stream_captures(self._stream) if self._stream is not None else []
        report = _core.analyze(
            [*names, self._name],
            sets=[0] * (len(names) + 1),
            new_from=len(names),
            stream=self._stream,
            puts_down=True,
            most_past=_MOST_PAST,
            open=lambda _name: self._feed,
            bursts=False,
            label=read_label,
            each=each,
            chunk=_CHUNK,
        )
        self._stream = report.stream
        return report.captures[-1]


def _added(now: _core.Totals, capture: Capture, before: State | None) -> Interval:
    time_ns = dict(now.time_ns)
    if before is None:
        return Interval(capture.packets, now.bytes, time_ns)
    spans = {owner: span - before.time_ns.get(owner, 0) for owner, span in time_ns.items()}
    return Interval(capture.packets - before.capture.packets, now.bytes - before.totals.bytes, spans)
