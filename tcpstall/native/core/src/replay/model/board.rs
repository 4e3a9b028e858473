//! Scoreboard of a sender: outstanding segments, reports about them, losses.
//!
//! The cost of an acknowledgement depends on its content, not on the flight: segments are visited only when their state
//! changes.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use super::delivery::Stamp;
use crate::time::Nanos;

/// A segment that was sent and not acknowledged.
#[derive(Clone, Copy, Debug)]
pub(super) struct Out {
    pub(super) start: i64,
    pub(super) end: i64,
    pub(super) sent: Nanos,
    /// Number of its latest transmission among all.
    pub(super) turn: u64,
    pub(super) sacked: bool,
    pub(super) lost: bool,
    pub(super) again: bool,
    /// State of the delivery when it was sent last.
    pub(super) stamp: Stamp,
}

/// Segments that an acknowledgement took out of flight.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Freed {
    /// Segments now known to have arrived.
    pub(super) segments: u32,
    /// Time when the newest of those sent only once was sent.
    pub(super) sent: Option<Nanos>,
}

/// Outstanding segments in order of offset.
#[derive(Clone, Debug, Default)]
pub(super) struct Board {
    outs: VecDeque<Out>,
    /// Transmissions in order, by number and offset, without those known to have ended.
    under_way: VecDeque<(u64, i64)>,
    /// Offsets of lost segments.
    lost: BTreeSet<i64>,
    /// Reported ranges, disjoint: left edge to right edge.
    reported: BTreeMap<i64, i64>,
    sacked: u32,
    short: u32,
    turns: u64,
    /// Stamp of the next transmissions.
    pub(super) stamp: Stamp,
    /// Stamp of the newest transmission that arrived, until somebody asks.
    arrived: Option<Stamp>,
    /// Number of the newest transmission known to have arrived.
    newest: u64,
    /// Segments visited: the measure of the cost.
    #[cfg(test)]
    pub(super) steps: u64,
}

impl Board {
    /// Segments in the network: sent, neither reported nor lost.
    pub(super) fn in_flight(&self) -> u32 {
        self.outs.len() as u32 - self.sacked - self.lost()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.outs.is_empty()
    }

    pub(super) fn sacked(&self) -> u32 {
        self.sacked
    }

    pub(super) fn lost(&self) -> u32 {
        self.lost.len() as u32
    }

    /// True if a segment shorter than a full one is outstanding.
    pub(super) fn has_short(&self) -> bool {
        self.short > 0
    }

    pub(super) fn push(&mut self, start: i64, end: i64, sent: Nanos, mss: i64) {
        self.turns += 1;
        self.short += u32::from(end - start < mss);
        self.under_way.push_back((self.turns, start));
        let stamp = self.stamp;
        self.outs.push_back(Out {
            start,
            end,
            sent,
            turn: self.turns,
            sacked: false,
            lost: false,
            again: false,
            stamp,
        });
    }

    /// Takes in that everything below `ack` arrived.
    pub(super) fn acknowledge(&mut self, ack: i64, mss: i64) -> Freed {
        let mut freed = Freed::default();
        while let Some(out) = self.outs.front().filter(|out| out.end <= ack).copied() {
            self.looks();
            self.outs.pop_front();
            self.short -= u32::from(out.end - out.start < mss);
            self.sacked -= u32::from(out.sacked);
            self.lost.remove(&out.start);
            if !out.sacked {
                freed.segments += 1;
                self.arrives(out.turn, out.stamp);
                freed.sent = Some(out.sent).filter(|_| !out.again).or(freed.sent);
            }
        }
        while let Some(first) = self.reported.first_entry().filter(|first| *first.get() <= ack) {
            first.remove();
        }
        while let Some((turn, start)) = self.under_way.front().copied() {
            if self.transmission(turn, start).is_some() {
                break;
            }
            self.under_way.pop_front();
        }
        freed
    }

    /// Takes in that everything in the range arrived.
    pub(super) fn report(&mut self, (left, right): (i64, i64)) -> u32 {
        let (mut reported, mut from) = (0, left);
        // Parts reported before are skipped: a growing range is reported again with each segment.
        let mut whole = (left, right);
        while let Some((start, end)) = self.touching((left, right)) {
            self.looks();
            self.reported.remove(&start);
            if start > from {
                reported += self.reports((from, start), (left, right));
            }
            from = from.max(end);
            whole = (whole.0.min(start), whole.1.max(end));
        }
        if from < right {
            reported += self.reports((from, right), (left, right));
        }
        self.reported.insert(whole.0, whole.1);
        reported
    }

    /// The first reported range that touches this one.
    fn touching(&self, (left, right): (i64, i64)) -> Option<(i64, i64)> {
        let before = self.reported.range(..left).next_back().filter(|(_, end)| **end >= left);
        before.or_else(|| self.reported.range(left..=right.max(left)).next()).map(|(start, end)| (*start, *end))
    }

    /// Marks segments that overlap `part` and lie within `range` as arrived.
    fn reports(&mut self, part: (i64, i64), range: (i64, i64)) -> u32 {
        let mut reported = 0;
        let first = self.outs.partition_point(|out| out.end <= part.0 || out.start < range.0);
        for at in first..self.outs.len() {
            self.looks();
            let out = &mut self.outs[at];
            if out.start >= part.1 || out.end > range.1 {
                break;
            }
            if !out.sacked {
                self.lost.remove(&out.start);
                (out.sacked, out.lost) = (true, false);
                self.sacked += 1;
                reported += 1;
                let (turn, stamp) = (out.turn, out.stamp);
                self.arrives(turn, stamp);
            }
        }
        reported
    }

    fn arrives(&mut self, turn: u64, stamp: Stamp) {
        if self.arrived.is_none() || turn > self.newest {
            self.arrived = Some(stamp);
        }
        self.newest = self.newest.max(turn);
    }

    /// Stamp of the newest transmission that arrived since the last call.
    pub(super) fn takes_arrived(&mut self) -> Option<Stamp> {
        self.arrived.take()
    }

    /// Marks segments as lost that were sent before one that arrived, and more than `window` before `now` (RFC 8985
    /// §6.2); true if any is newly lost.
    pub(super) fn detect(&mut self, now: Nanos, round_trip: Nanos, window: Nanos) -> bool {
        let mut found = false;
        while let Some((turn, start)) = self.under_way.front().copied().filter(|(turn, _)| *turn < self.newest) {
            self.looks();
            if let Some(out) = self.transmission(turn, start) {
                // Later segments were sent no sooner.
                if now - out.sent < round_trip + window {
                    break;
                }
                out.lost = true;
                self.lost.insert(start);
                found = true;
            }
            self.under_way.pop_front();
        }
        found
    }

    /// Takes in a timeout: everything not reported counts as lost.
    pub(super) fn lose_all(&mut self) {
        while let Some((turn, start)) = self.under_way.pop_front() {
            self.looks();
            if let Some(out) = self.transmission(turn, start) {
                out.lost = true;
                self.lost.insert(start);
            }
        }
    }

    /// The segment of a transmission, if that is its latest one and its fate is unknown.
    fn transmission(&mut self, turn: u64, start: i64) -> Option<&mut Out> {
        let at = self.outs.partition_point(|out| out.start < start);
        let out = self.outs.get_mut(at).filter(|out| out.start == start);
        out.filter(|out| out.turn == turn && !out.sacked && !out.lost)
    }

    /// Retransmits the first lost segment.
    pub(super) fn resend(&mut self, now: Nanos) -> Option<(i64, i64)> {
        let start = *self.lost.first()?;
        let at = self.outs.partition_point(|out| out.start < start);
        self.sends_again(at, now)
    }

    /// Retransmits the last segment, as a probe.
    pub(super) fn probe(&mut self, now: Nanos) -> Option<(i64, i64)> {
        let at = self.outs.iter().rposition(|out| !out.sacked)?;
        self.sends_again(at, now)
    }

    fn sends_again(&mut self, at: usize, now: Nanos) -> Option<(i64, i64)> {
        self.looks();
        self.turns += 1;
        let stamp = self.stamp;
        let out = self.outs.get_mut(at)?;
        out.stamp = stamp;
        self.lost.remove(&out.start);
        self.under_way.push_back((self.turns, out.start));
        (out.lost, out.again, out.sent, out.turn) = (false, true, now, self.turns);
        Some((out.start, out.end))
    }

    #[cfg(test)]
    fn looks(&mut self) {
        self.steps += 1;
    }

    #[cfg(not(test))]
    #[expect(clippy::unused_self, reason = "tests count")]
    fn looks(&self) {}
}

#[cfg(test)]
mod tests {
    use super::*;

    const SEGMENT: i64 = 1_000;

    /// Cost of `segments` outstanding segments: all but each `nth` are reported one by one in growing ranges; the rest
    /// is retransmitted, lost, and retransmitted after a timeout.
    fn steps(segments: i64, nth: i64) -> u64 {
        let mut board = Board::default();
        let now = |at: i64| Nanos::from_millis(at);
        (0..segments).for_each(|at| board.push(at * SEGMENT, (at + 1) * SEGMENT, now(0), SEGMENT));
        let mut left = 0;
        for at in 0..segments {
            if at % nth == 0 {
                left = (at + 1) * SEGMENT;
                continue;
            }
            assert_eq!(board.report((left, (at + 1) * SEGMENT)), 1);
            board.detect(now(100), now(10), Nanos::ZERO);
            board.resend(now(100));
        }
        for _ in 0..segments {
            board.lose_all();
            board.resend(now(200));
        }
        assert_eq!(board.acknowledge(segments * SEGMENT, SEGMENT).segments as i64, (segments + nth - 1) / nth);
        assert!(board.is_empty() && board.under_way.is_empty() && board.reported.is_empty());
        assert_eq!((board.in_flight(), board.lost(), board.sacked()), (0, 0, 0));
        board.steps
    }

    #[test]
    fn what_an_acknowledgement_costs_does_not_grow_with_what_is_out() {
        for nth in [2, 10, 1_000_000] {
            let [once, twice] = [1_000, 2_000].map(|segments| steps(segments, nth));
            assert!(twice * 10 <= once * 22, "each {nth}th is lost: {once} steps, {twice} for twice as many segments");
        }
    }
}
