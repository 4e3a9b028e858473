//! What a sender has out: the segments, what is reported of them, what counts as lost.

use std::collections::VecDeque;

use crate::time::Nanos;

/// A segment that was sent and not acknowledged.
#[derive(Clone, Copy, Debug)]
pub(super) struct Out {
    pub(super) start: i64,
    pub(super) end: i64,
    pub(super) sent: Nanos,
    /// Its latest transmission's place among all.
    pub(super) turn: u64,
    pub(super) sacked: bool,
    pub(super) lost: bool,
    pub(super) again: bool,
}

/// What an acknowledgement did to it.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Freed {
    /// Segments that are known to have arrived since.
    pub(super) segments: u32,
    /// When the newest of those that were sent once was sent.
    pub(super) sent: Option<Nanos>,
}

/// All of them in order of offset.
#[derive(Clone, Debug, Default)]
pub(super) struct Board {
    outs: VecDeque<Out>,
    sacked: u32,
    lost: u32,
    short: u32,
    turns: u64,
    /// The newest transmission known to have arrived.
    newest: u64,
}

impl Board {
    /// Segments in the network: sent, neither reported nor lost.
    pub(super) fn in_flight(&self) -> u32 {
        self.outs.len() as u32 - self.sacked - self.lost
    }

    pub(super) fn is_empty(&self) -> bool {
        self.outs.is_empty()
    }

    pub(super) fn sacked(&self) -> u32 {
        self.sacked
    }

    pub(super) fn lost(&self) -> u32 {
        self.lost
    }

    /// One shorter than a full segment is out.
    pub(super) fn has_short(&self) -> bool {
        self.short > 0
    }

    pub(super) fn push(&mut self, start: i64, end: i64, sent: Nanos, mss: i64) {
        self.turns += 1;
        self.short += u32::from(end - start < mss);
        self.outs.push_back(Out { start, end, sent, turn: self.turns, sacked: false, lost: false, again: false });
    }

    /// Everything below `ack` arrived.
    pub(super) fn acknowledge(&mut self, ack: i64, mss: i64) -> Freed {
        let mut freed = Freed::default();
        while let Some(out) = self.outs.front().filter(|out| out.end <= ack).copied() {
            self.outs.pop_front();
            self.short -= u32::from(out.end - out.start < mss);
            self.sacked -= u32::from(out.sacked);
            self.lost -= u32::from(out.lost);
            if !out.sacked {
                freed.segments += 1;
                self.newest = self.newest.max(out.turn);
                freed.sent = Some(out.sent).filter(|_| !out.again).or(freed.sent);
            }
        }
        freed
    }

    /// Everything in the range arrived.
    pub(super) fn report(&mut self, (left, right): (i64, i64)) -> u32 {
        let first = self.outs.partition_point(|out| out.start < left);
        let mut reported = 0;
        for out in self.outs.iter_mut().skip(first).take_while(|out| out.end <= right) {
            if !out.sacked {
                self.lost -= u32::from(out.lost);
                (out.sacked, out.lost) = (true, false);
                self.sacked += 1;
                reported += 1;
                self.newest = self.newest.max(out.turn);
            }
        }
        reported
    }

    /// What was sent before something that arrived, and by more than `window` before `now`, is lost (RFC 8985 §6.2); true if
    /// anything is that was not.
    pub(super) fn detect(&mut self, now: Nanos, round_trip: Nanos, window: Nanos) -> bool {
        let mut found = 0;
        let newest = self.newest;
        for out in self.outs.iter_mut().filter(|out| !out.sacked && !out.lost && out.turn < newest) {
            if now - out.sent >= round_trip + window {
                out.lost = true;
                found += 1;
            }
        }
        self.lost += found;
        found > 0
    }

    /// A timeout: everything not reported is taken for lost.
    pub(super) fn lose_all(&mut self) {
        for out in self.outs.iter_mut().filter(|out| !out.sacked && !out.lost) {
            out.lost = true;
            self.lost += 1;
        }
    }

    /// The first lost segment is sent again.
    pub(super) fn resend(&mut self, now: Nanos) -> Option<(i64, i64)> {
        if self.lost == 0 {
            return None;
        }
        self.turns += 1;
        let turn = self.turns;
        let out = self.outs.iter_mut().find(|out| out.lost)?;
        self.lost -= 1;
        (out.lost, out.again, out.sent, out.turn) = (false, true, now, turn);
        Some((out.start, out.end))
    }

    /// The last segment is sent again, as a probe.
    pub(super) fn probe(&mut self, now: Nanos) -> Option<(i64, i64)> {
        self.turns += 1;
        let turn = self.turns;
        let out = self.outs.iter_mut().rev().find(|out| !out.sacked)?;
        self.lost -= u32::from(out.lost);
        (out.lost, out.again, out.sent, out.turn) = (false, true, now, turn);
        Some((out.start, out.end))
    }
}
