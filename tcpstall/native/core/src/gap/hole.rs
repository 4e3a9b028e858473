//! Data missing at the receiver below data that arrived, by SACK blocks or by the sequence at a tap.

use crate::time::Nanos;

/// A hole in what the receiver has, on the sender's clock.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Hole {
    /// When data beyond it passed, or the first SACK block above it reached the sender.
    pub since: Nanos,
    /// When the ACK that covers it reached the sender; `None` while it is open.
    pub until: Option<Nanos>,
    /// When the first SACK block above it reached the sender; without one only the sequence at the tap shows it.
    pub reported: Option<Nanos>,
}

impl Hole {
    /// How long it was open between `start` and `end`.
    pub fn within(&self, start: Nanos, end: Nanos) -> Nanos {
        (self.until.map_or(end, |until| until.min(end)) - self.since.max(start)).or_zero()
    }

    /// How long the sender knew of it.
    pub fn known_within(&self, start: Nanos, end: Nanos) -> Nanos {
        self.reported.map_or(Nanos::ZERO, |reported| Hole { since: reported, ..*self }.within(start, end))
    }
}

/// Watches one sender's data for holes: few flows have any.
#[derive(Clone, Copy, Debug, Default, serde::Serialize, serde::Deserialize)]
pub(super) struct Holes {
    open: Option<Hole>,
    /// The sender has sent everything before this offset, whether the tap saw it or not.
    edge: i64,
}

impl Holes {
    /// A segment passed the tap at `now` that bytes up to offset `edge` should have passed before.
    pub(super) fn skips(&mut self, now: Nanos, edge: i64) {
        self.edge = self.edge.max(edge);
        self.open.get_or_insert(Hole { since: now, until: None, reported: None });
    }

    /// SACK blocks come at `now`: the hole of the gap before was theirs if it is the one that is open.
    pub(super) fn confirms(&self, now: Nanos, hole: &mut Hole) {
        if self.open.is_some_and(|open| open.since == hole.since && open.reported.is_none()) {
            hole.reported = hole.reported.or(Some(now));
        }
    }

    /// An ACK of everything before offset `una` reached the sender; SACK blocks above a hole are left after it (`reported`).
    /// Gives the hole that it closed.
    #[inline]
    pub(super) fn on_ack(&mut self, now: Nanos, una: i64, reported: bool) -> Option<Hole> {
        if reported {
            let open = self.open.get_or_insert(Hole { since: now, until: None, reported: None });
            open.reported = open.reported.or(Some(now));
            return None;
        }
        if una < self.edge {
            return None;
        }
        self.open.take().map(|hole| Hole { until: Some(now), ..hole })
    }

    /// Of the one that is open and one `closed` in the gap from `start` to `end`, the longer.
    pub(super) fn longest(&self, closed: Option<Hole>, start: Nanos, end: Nanos) -> Option<Hole> {
        let holes = self.open.into_iter().chain(closed);
        holes.filter(|hole| hole.within(start, end) > Nanos::ZERO).max_by_key(|hole| hole.within(start, end))
    }
}
