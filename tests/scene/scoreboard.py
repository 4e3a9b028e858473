"""A sender's record of each segment in flight."""

from bisect import bisect_left, bisect_right
from dataclasses import dataclass

SACKED_ABOVE = 3
"""Segments reported above a hole that make it a loss (RFC 6675, DupThresh)."""


@dataclass(slots=True)
class Sent:
    start: int
    end: int
    time_ns: int
    times: int = 1
    sacked: bool = False
    lost: bool = False


class Scoreboard:
    """Segments in order of their bytes, and how many of them are reported or lost."""

    def __init__(self) -> None:
        self.segments: list[Sent] = []
        self.sacked = 0
        self.lost = 0

    def __len__(self) -> int:
        return len(self.segments)

    def add(self, start: int, end: int, size: int, now: int) -> None:
        for left in range(start, end, size):
            self.segments.append(Sent(left, min(left + size, end), now))

    def in_flight(self) -> int:
        """Segments thought to be on the path (RFC 6675 pipe)."""
        return len(self.segments) - self.sacked - self.lost

    def acknowledge(self, ack: int) -> list[Sent]:
        """Drops what is acknowledged and returns it."""
        count = bisect_right(self.segments, ack, key=lambda segment: segment.end)
        gone = self.segments[:count]
        del self.segments[:count]
        for segment in gone:
            self.sacked -= segment.sacked
            self.lost -= segment.lost
        return gone

    def mark_sacked(self, blocks: tuple[tuple[int, int], ...]) -> None:
        for left, right in blocks:
            first = bisect_left(self.segments, left, key=lambda segment: segment.start)
            behind = bisect_right(self.segments, right, key=lambda segment: segment.end)
            for segment in self.segments[first:behind]:
                if not segment.sacked:
                    self._set_lost(segment, False)
                    segment.sacked = True
                    self.sacked += 1

    def mark_lost(self, *, above: int = SACKED_ABOVE) -> bool:
        """Marks holes with that many segments reported above them; true if there is a new one."""
        sacked = self.sacked
        found = False
        for segment in self.segments:
            if sacked < above:
                break
            sacked -= segment.sacked
            if sacked >= above and not segment.sacked and not segment.lost and segment.times == 1:
                self._set_lost(segment, True)
                found = True
        return found

    def mark_all_lost(self) -> None:
        for segment in self.segments:
            self._set_lost(segment, not segment.sacked)

    def next_lost(self) -> Sent | None:
        return next((segment for segment in self.segments if segment.lost), None) if self.lost else None

    def repair(self, hole: Sent, now: int) -> None:
        """It is sent again."""
        self._set_lost(hole, False)
        hole.times += 1
        hole.time_ns = now

    def _set_lost(self, segment: Sent, lost: bool) -> None:
        self.lost += lost - segment.lost
        segment.lost = lost
