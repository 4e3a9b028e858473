"""A sender's record of each segment in flight."""

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
    def __init__(self) -> None:
        self.segments: list[Sent] = []

    def __len__(self) -> int:
        return len(self.segments)

    def add(self, start: int, end: int, size: int, now: int) -> None:
        for left in range(start, end, size):
            self.segments.append(Sent(left, min(left + size, end), now))

    def in_flight(self) -> int:
        """Segments thought to be on the path (RFC 6675 pipe)."""
        return sum(not segment.sacked and not segment.lost for segment in self.segments)

    def acknowledge(self, ack: int) -> list[Sent]:
        """Drops what is acknowledged and returns it."""
        gone = [segment for segment in self.segments if segment.end <= ack]
        self.segments = self.segments[len(gone) :]
        return gone

    def mark_sacked(self, blocks: tuple[tuple[int, int], ...]) -> None:
        for segment in self.segments:
            if any(left <= segment.start and segment.end <= right for left, right in blocks):
                segment.sacked, segment.lost = True, False

    def mark_lost(self, *, above: int = SACKED_ABOVE) -> bool:
        """Marks holes with that many segments reported above them; true if there is a new one."""
        sacked = sum(segment.sacked for segment in self.segments)
        found = False
        for segment in self.segments:
            if sacked < above:
                break
            sacked -= segment.sacked
            if sacked >= above and not segment.sacked and not segment.lost and segment.times == 1:
                segment.lost = found = True
        return found

    def mark_all_lost(self) -> None:
        for segment in self.segments:
            segment.lost = not segment.sacked

    def next_lost(self) -> Sent | None:
        return next((segment for segment in self.segments if segment.lost), None)
